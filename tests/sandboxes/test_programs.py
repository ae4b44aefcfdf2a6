"""Programs of the host stand in a sandbox, read-only, with their ``bin`` on the ``PATH``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandboxes.site import Site, needs_bubblewrap

pytestmark = pytest.mark.anyio


def program(top: Path, name: str, says: str) -> str:
    path = top / name / "bin" / "tool"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return str(top / name)


async def test_a_program_is_found_by_its_name_and_at_its_path(site: Site, tmp_path: Path) -> None:
    first, second = program(tmp_path, "one", "one"), program(tmp_path, "two", "two")
    async with site.kind.open(site.request(programs=(first, second))) as sandbox:
        named = await sandbox.exec("tool")
        pathed = await sandbox.exec([f"{second}/bin/tool"])
        started = await sandbox.exec(["sh", "-c", "command -v tool"])
    assert (named.stdout, pathed.stdout) == ("one\n", "two\n")
    assert started.stdout == f"{first}/bin/tool\n"


@needs_bubblewrap
async def test_an_isolated_agent_cannot_change_it(isolated: Site, tmp_path: Path) -> None:
    directory = program(tmp_path, "one", "one")
    async with isolated.kind.open(isolated.request(programs=(directory,))) as sandbox:
        done = await sandbox.exec(f"echo hacked > {directory}/bin/tool; rm -rf {directory}; touch {directory}/new")
        again = await sandbox.exec("tool")
    assert not done.ok
    assert again.stdout == "one\n"


async def test_without_programs_nothing_is_added(site: Site) -> None:
    async with site.kind.open(site.request()) as sandbox:
        path = (await sandbox.exec('printf %s "$PATH"')).stdout
    assert not path.startswith(":")
    assert all(path.split(":"))
