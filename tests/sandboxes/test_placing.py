"""How an environment's files come into a sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.schema.environment import PreparedTree
from tests.sandboxes.site import Site, needs_bubblewrap

pytestmark = pytest.mark.anyio


async def test_a_tree_is_copied_with_modes_links_and_hidden_files(site: Site) -> None:
    tree = site.tree(
        {
            "workspace/a.txt": "a",
            "workspace/bin/run": "#!/bin/sh\necho ran\n",
            "workspace/.hidden/x": "x",
            "home/.rc": "rc",
        }
    )
    workspace = Path(tree.workspace or "")
    (workspace / "bin" / "run").chmod(0o755)
    (workspace / "link").symlink_to("a.txt")
    (workspace / "broken").symlink_to("none")
    (workspace / "empty").mkdir()
    async with site.open(tree=tree) as sandbox:
        result = await sandbox.exec("./bin/run; cat link .hidden/x ~/.rc; readlink broken; ls -d empty; find . | wc -l")
    assert result.stdout == "ran\naxrcnone\nempty/\n9\n".replace("empty/", "empty")


async def test_every_attempt_starts_from_the_same_files(site: Site) -> None:
    tree = site.tree({"workspace/a.txt": "a", "home/h.txt": "h"})
    for _ in range(2):
        async with site.open(tree=tree) as sandbox:
            assert (await sandbox.exec("cat a.txt ~/h.txt; ls -A | wc -l")).stdout == "ah1\n"
            await sandbox.exec("echo changed > a.txt; echo changed > ~/h.txt; touch new")
    prepared = site.root / "prepared"
    assert (prepared / "workspace" / "a.txt").read_text() == "a"
    assert (prepared / "home" / "h.txt").read_text() == "h"


async def test_an_environment_without_files_starts_empty(site: Site) -> None:
    async with site.open(tree=PreparedTree(digest="0")) as sandbox:
        assert (await sandbox.exec("ls -A . ~ $TMPDIR | wc -w")).stdout.strip() in {"3", "2"}


async def test_a_tree_that_is_gone_is_an_infrastructure_error_and_leaves_nothing(site: Site) -> None:
    tree = site.tree({"workspace/a.txt": "a"})
    shutil.rmtree(site.root / "prepared")
    with pytest.raises(InfrastructureError, match="could not be copied") as caught:
        await site.open(tree=tree).__aenter__()
    assert caught.value.phase is Phase.SANDBOX
    assert site.attempts() == []


FULL = """
import sys, anyio, tempfile
from pathlib import Path
from reeval.errors import InfrastructureError
from reeval.schema.environment import PreparedTree
from tests.sandboxes.site import Site, needs_bubblewrap
tempfile.tempdir = sys.argv[1] + "/tmp"
site = Site(Path(sys.argv[1]), "none")
async def attempt(tree, write):
    try:
        async with site.open(tree=tree) as sandbox:
            await sandbox.write("big", b"x" * write)
    except InfrastructureError as error:
        print(error.phase, error)
    print(len(site.attempts()))
anyio.run(attempt, PreparedTree(digest="0", workspace=sys.argv[1] + "/prepared"), 1)
anyio.run(attempt, None, 5_000_000)
"""


@needs_bubblewrap
def test_a_full_disk_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    for name in ("prepared", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "prepared" / "big").write_bytes(b"x" * 2_000_000)
    small_disk = ["bwrap", "--dev-bind", "/", "/", "--size", "1000000", "--tmpfs", str(tmp_path / "tmp")]
    done = subprocess.run(
        [*small_disk, sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=False
    )
    copied, left, written, left_again = done.stdout.splitlines()
    assert copied.startswith("sandbox the environment could not be copied into the sandbox: cp: ")
    assert copied.endswith("No space left on device")
    assert written == "sandbox big: No space left on device (in the system's temporary directory)"
    assert (left, left_again) == ("0", "0")


async def test_fifty_thousand_files_are_placed_watched_and_removed(plain: Site) -> None:
    tree = plain.tree({"workspace/one": "content\n"})
    one = plain.root / "prepared" / "workspace" / "one"
    for directory in range(100):
        (one.parent / f"d{directory}").mkdir()
        for file in range(500):
            os.link(one, one.parent / f"d{directory}" / f"f{file}.txt")
    async with plain.open(tree=tree) as sandbox:
        before = await sandbox.snapshot()
        unchanged = await sandbox.changes(before, await sandbox.snapshot())
        await sandbox.exec("echo more >> d7/f7.txt; rm d8/f8.txt; echo new > d9/new.txt")
        changed = await sandbox.changes(before, await sandbox.snapshot())
    assert not unchanged
    assert [(file.path, file.status) for file in changed.files] == [
        ("d7/f7.txt", "modified"),
        ("d8/f8.txt", "deleted"),
        ("d9/new.txt", "added"),
    ]
    assert "+more\n" in changed.patch
    assert "-content\n" in changed.patch
    assert plain.attempts() == []
    shutil.rmtree(plain.root / "prepared")
