"""What is seen of changes in a workspace."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.changes.contents import MOST_HASHED, MOST_SHOWN
from reeval.sandboxes.changes.diff import MOST_PATCH, changes_between
from reeval.sandboxes.changes.ignores import Budget, Rules
from reeval.sandboxes.changes.objects import ObjectStore
from reeval.sandboxes.changes.snapshot import DEPTH, RACY, Tracker
from reeval.schema.transcript import Changes
from tests.sandboxes.site import Site


class Watched:
    """A workspace, and what changed in it."""

    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.prepared = root / "prepared"
        self.state = root / "state"
        self.workspace.mkdir()
        self.tracker = Tracker(str(self.workspace), ObjectStore(self.state), prepared=False)

    def place(self) -> None:
        """Begin again with what is there as the copy of a prepared tree."""
        subprocess.run(["cp", "-pPR", self.workspace, self.prepared], check=True)
        self.tracker = Tracker(str(self.workspace), ObjectStore(self.state), prepared=True)
        self.tracker.snapshot()

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def changes(self, action: Callable[[], object]) -> Changes:
        before = self.tracker.snapshot()
        action()
        return changes_between(before, self.tracker.snapshot(), self.prepared, self.tracker.store)

    def listed(self, action: Callable[[], object]) -> list[tuple[str, str, bool]]:
        return [(file.path, file.status, file.binary) for file in self.changes(action).files]


@pytest.fixture(params=["fresh", "prepared"])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Watched:
    """A workspace with a few files, made by setup or copied from a prepared tree."""
    found = Watched(tmp_path)
    for path, text in {
        "a.txt": "one\ntwo\n",
        "src/b.py": "b = 1\n",
        "src/deep/c.py": "c\n",
        "run.sh": "exit\n",
    }.items():
        found.write(path, text)
    (found.workspace / "link").symlink_to("a.txt")
    if request.param == "prepared":
        found.place()
    return found


def age(*files: Path) -> None:
    """Make a snapshot trust what it knows of files: as if they had been written long before it."""
    for file in files:
        os.utime(file, ns=(1, 1))


def test_added_modified_and_deleted_files_are_listed_with_their_patch(watched: Watched) -> None:
    def act() -> None:
        watched.write("a.txt", "one\n2\n")
        watched.write("new dir/n.txt", "new\n")
        (watched.workspace / "src" / "deep" / "c.py").unlink()

    changes = watched.changes(act)
    assert [(file.path, file.status, file.binary) for file in changes.files] == [
        ("a.txt", "modified", False),
        ("new dir/n.txt", "added", False),
        ("src/deep/c.py", "deleted", False),
    ]
    assert not changes.truncated
    lines = [line for line in changes.patch.splitlines() if not line.startswith("index ")]
    assert lines == [
        "diff --git a/a.txt b/a.txt",
        "--- a/a.txt",
        "+++ b/a.txt",
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "+2",
        "diff --git a/new dir/n.txt b/new dir/n.txt",
        "new file mode 100644",
        "--- /dev/null",
        "+++ b/new dir/n.txt\t",
        "@@ -0,0 +1 @@",
        "+new",
        "diff --git a/src/deep/c.py b/src/deep/c.py",
        "deleted file mode 100644",
        "--- a/src/deep/c.py",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-c",
    ]


def test_the_patch_applies_to_the_workspace_as_it_was(watched: Watched, tmp_path: Path) -> None:
    subprocess.run(["cp", "-pPR", watched.workspace, tmp_path / "copy"], check=True)

    def act() -> None:
        watched.write("a.txt", "one\n2\nthree")
        watched.write("ü \t\n\"'\\.txt", "odd\n")
        (watched.workspace / "src" / "b.py").rename(watched.workspace / "moved.py")
        (watched.workspace / "run.sh").chmod(0o755)
        (watched.workspace / "link").unlink()
        (watched.workspace / "link").symlink_to("moved.py")

    patch = watched.changes(act).patch
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path / "copy", check=True)
    difference = subprocess.run(["diff", "-r", "--no-dereference", watched.workspace, tmp_path / "copy"], check=False)
    assert difference.returncode == 0
    assert os.access(tmp_path / "copy" / "run.sh", os.X_OK)


def test_nothing_changed_is_nothing_and_starts_no_git(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/none")
    assert watched.changes(lambda: None) == Changes()
    assert watched.changes((watched.workspace / "a.txt").touch) == Changes()
    assert watched.changes(lambda: watched.write("a.txt", "one\ntwo\n")) == Changes()
    assert watched.changes((watched.workspace / "empty").mkdir) == Changes()


def test_an_unchanged_workspace_gives_the_same_snapshot(watched: Watched) -> None:
    age(*[path for path in watched.workspace.rglob("*") if path.is_file()])
    import time

    first = watched.tracker.snapshot()
    time.sleep(RACY / 1e9 + 0.05)
    second = watched.tracker.snapshot()
    assert watched.tracker.snapshot() is second
    assert first.files.keys() == second.files.keys()


def test_a_write_that_keeps_size_and_times_is_seen(watched: Watched) -> None:
    def act() -> None:
        file = watched.workspace / "a.txt"
        status = file.stat()
        file.write_text("one\nTWO\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert watched.listed(act) == [("a.txt", "modified", False)]


def test_writes_right_after_a_snapshot_are_always_seen(watched: Watched) -> None:
    for number in range(200):
        act = partial(watched.write, "a.txt", f"{number:08}")
        assert watched.listed(act) == [("a.txt", "modified", False)]


def test_directories_that_change_places_are_seen_also_with_equal_sizes_and_times(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    age(watched.write("left/x", "L"), watched.write("right/x", "R"))
    watched.place()

    def swap() -> None:
        workspace = watched.workspace
        (workspace / "left").rename(workspace / "t")
        (workspace / "right").rename(workspace / "left")
        (workspace / "t").rename(workspace / "right")

    changes = watched.changes(swap)
    assert [file.path for file in changes.files] == ["left/x", "right/x"]
    assert "-L\n" in changes.patch


def test_the_executable_bit_and_links_are_seen_and_not_followed(watched: Watched) -> None:
    def act() -> None:
        (watched.workspace / "run.sh").chmod(0o755)
        (watched.workspace / "link").unlink()
        (watched.workspace / "link").symlink_to("/etc/passwd")
        (watched.workspace / "directory").symlink_to("/etc")

    changes = watched.changes(act)
    assert [(file.path, file.status) for file in changes.files] == [
        ("directory", "added"),
        ("link", "modified"),
        ("run.sh", "modified"),
    ]
    assert "old mode 100644\nnew mode 100755" in changes.patch
    assert "+/etc/passwd" in changes.patch
    assert "root:" not in changes.patch


@pytest.mark.parametrize("first", ["file", "directory", "link"])
@pytest.mark.parametrize("second", ["file", "directory", "link"])
def test_a_path_may_become_another_kind_of_thing(watched: Watched, first: str, second: str) -> None:
    def make(kind: str, word: str) -> None:
        path = watched.workspace / "thing"
        subprocess.run(["rm", "-rf", path], check=True)
        if kind == "file":
            path.write_text(word)
        elif kind == "link":
            path.symlink_to(word)
        else:
            path.mkdir()
            (path / "inner").write_text(word)

    make(first, "before")
    changes = watched.changes(lambda: make(second, "after"))
    assert changes
    assert "-before" in changes.patch
    assert "+after" in changes.patch


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("new\nline", "new\nline"),
        ("tab\t\"quote'", "tab\t\"quote'"),
        ("\udcff\udcfe", "\\xff\\xfe"),
        ("é漢🙂", "é漢🙂"),
        ("-rf", "-rf"),
        (":(glob)*", ":(glob)*"),
        (" ", " "),
    ],
)
def test_every_odd_file_name_is_listed_as_valid_text(watched: Watched, name: str, shown: str) -> None:
    changes = watched.changes(lambda: watched.write(name, "content\n"))
    assert [(file.path, file.status) for file in changes.files] == [(shown, "added")]
    assert "+content" in changes.patch
    assert changes.patch.encode()


def test_binary_and_large_files_are_listed_and_not_shown(watched: Watched) -> None:
    def act() -> None:
        watched.write("image.bin", b"\x89PNG\0\r\n" * 100)
        watched.write("large.txt", "x\n" * MOST_SHOWN)
        watched.write("latin.txt", b"caf\xe9\n")

    changes = watched.changes(act)
    assert [(file.path, file.binary) for file in changes.files] == [
        ("image.bin", True),
        ("large.txt", True),
        ("latin.txt", False),
    ]
    assert "image.bin" not in changes.patch
    assert "large.txt" not in changes.patch
    assert "+caf\ufffd" in changes.patch


def test_a_large_file_that_was_only_touched_has_not_changed(watched: Watched) -> None:
    large = watched.write("large.txt", "x\n" * MOST_SHOWN)
    assert watched.listed(lambda: os.utime(large)) == []
    assert watched.listed(lambda: watched.write("large.txt", "y\n" * MOST_SHOWN)) == [("large.txt", "modified", True)]


def test_a_file_too_large_to_read_is_listed_at_once(watched: Watched) -> None:
    def act() -> None:
        with (watched.workspace / "sparse").open("wb") as file:
            file.truncate(MOST_HASHED * 10_000)

    assert watched.listed(act) == [("sparse", "added", True)]


def test_a_long_patch_is_cut_at_a_line_and_says_so(watched: Watched) -> None:
    changes = watched.changes(lambda: watched.write("long.txt", "0123456789\n" * 60_000))
    assert changes.truncated
    assert [file.path for file in changes.files] == ["long.txt"]
    assert MOST_PATCH - 100 < len(changes.patch) < MOST_PATCH + 100
    assert changes.patch.endswith("+0123456789\n[… the patch is cut here, at 256 KiB …]\n")


def test_dependencies_caches_and_version_control_are_not_looked_into(watched: Watched) -> None:
    def act() -> None:
        for path in (
            ".git/HEAD",
            "sub/.git/objects/x",
            "node_modules/m/i.js",
            "sub/node_modules/m/i.js",
            ".venv/bin/x",
            "venv/bin/x",
            "src/__pycache__/b.pyc",
            ".pytest_cache/x",
            "pkg.egg-info/PKG-INFO",
        ):
            watched.write(path, "x")
        watched.write("sub/.gitmodules", "x")
        watched.write("worktree/.git", "gitdir: /elsewhere")

    assert watched.listed(act) == [("sub/.gitmodules", "added", False)]


def test_a_nested_repository_is_an_ordinary_directory(watched: Watched) -> None:
    def act() -> None:
        watched.write("nested/code.py", "x = 1\n")
        for command in (
            ["init", "-q"],
            ["add", "."],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *command], cwd=watched.workspace / "nested", check=True)

    assert watched.listed(act) == [("nested/code.py", "added", False)]


def test_gitignore_files_hold_for_new_files_at_every_level(watched: Watched) -> None:
    watched.write(".gitignore", "*.log\n/dist/\n!keep.log\nlogs/\n")
    watched.write("src/.gitignore", "*.tmp\n!special.log\n")

    def act() -> None:
        for path in (
            "x.log",
            "keep.log",
            "dist/x.js",
            "sub/dist/x.js",
            "src/x.tmp",
            "x.tmp",
            "src/special.log",
            "a/logs/keep.log",
        ):
            watched.write(path, "x")

    assert [path for path, _, _ in watched.listed(act)] == [
        "keep.log",
        "src/special.log",
        "sub/dist/x.js",
        "x.tmp",
    ]


def test_nobody_hides_a_change_by_ignoring_it(watched: Watched) -> None:
    def act() -> None:
        watched.write(".gitignore", "*\n")
        watched.write("src/.gitignore", "*\n")
        watched.write("a.txt", "changed\n")
        watched.write("src/b.py", "changed\n")
        (watched.workspace / "src" / "deep" / "c.py").unlink()

    assert watched.listed(act) == [
        (".gitignore", "added", False),
        ("a.txt", "modified", False),
        ("src/.gitignore", "added", False),
        ("src/b.py", "modified", False),
        ("src/deep/c.py", "deleted", False),
    ]


def test_what_stays_is_not_deleted_because_it_is_ignored_later(watched: Watched) -> None:
    assert watched.listed(lambda: watched.write(".gitignore", "src/\na.txt\n")) == [(".gitignore", "added", False)]
    assert watched.listed(lambda: watched.write("src/b.py", "later\n")) == [("src/b.py", "modified", False)]


@pytest.mark.parametrize(
    "text",
    [
        b"*a" * 2000,
        b"[" * 5000,
        b"**/" * 500 + b"x",
        b"\xff\xfe\0",
        b"!\n!!\n\\\n/\n",
        b"x\n" * 100_000,
        b"[z-a]\n[[:x:]]\n",
    ],
)
def test_no_gitignore_of_an_agent_can_stop_the_look(watched: Watched, text: bytes) -> None:
    def act() -> None:
        watched.write(".gitignore", text)
        watched.write("a" * 250, "x")

    assert ("a" * 250, "added", False) in watched.listed(act)


def test_patterns_that_take_long_are_given_up_and_hide_nothing(tmp_path: Path) -> None:
    watched = Watched(tmp_path)

    def act() -> None:
        watched.write(".gitignore", "a*a*ab\n" * 9000)
        for number in range(30):
            watched.write(f"{'a' * 240}{number}", "x")

    assert len(watched.listed(act)) == 31


def test_when_the_time_for_patterns_is_spent_nothing_is_ignored() -> None:
    assert Rules().below("", b"*.log").ignored("x.log", directory=False)
    assert not Rules(budget=Budget(-1)).below("", b"*.log").ignored("x.log", directory=False)


@pytest.mark.parametrize(
    ("patterns", "path", "ignored"),
    [
        ("*.log", "a/b/x.log", True),
        ("/x.log", "a/x.log", False),
        ("a/x.log", "b/a/x.log", False),
        ("**/a/x", "b/a/x", True),
        ("a/**/x", "a/b/c/x", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a/", False),
        ("a/**\n!a/keep", "a/keep", False),
        ("*", "x", True),
        ("**", "ab", True),
        ("*\n!*/\n!*.py", "d/", False),
        ("*\n!*/\n!*.py", "d/x.py", False),
        ("*\n!*/\n!*.py", "d/x.js", True),
        ("logs/", "logs/", True),
        ("logs/", "logs", False),
        ("*.log\n!keep/", "keep/x.log", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("!keep.log\n*.log", "keep.log", True),
        ("\\#x", "#x", True),
        ("# x", "# x", False),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("x?", "xy", True),
        ("x?", "x/", False),
        ("caf\u00e9", "caf\u00e9", True),
        ("", "x", False),
    ],
)
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path, patterns: str, path: str, ignored: bool) -> None:
    assert Rules().below("", patterns.encode()).ignored(path.rstrip("/"), directory=path.endswith("/")) is ignored
    (tmp_path / ".gitignore").write_text(patterns)
    made = tmp_path / path
    (made if path.endswith("/") else made.parent).mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = ["git", "check-ignore", "-q", "--no-index", path.rstrip("/")]
    by_git = subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    assert by_git is ignored


def test_pipes_and_sockets_are_no_files_and_block_nobody(watched: Watched) -> None:
    def act() -> None:
        os.mkfifo(watched.workspace / "pipe")
        (watched.workspace / "a.txt").unlink()
        os.mkfifo(watched.workspace / "a.txt")

    assert watched.listed(act) == [("a.txt", "deleted", False)]


def test_directories_below_each_other_without_end_are_one_thing(watched: Watched) -> None:
    def act() -> None:
        watched.write("/".join(["d"] * (DEPTH + 5)) + "/x", "x")

    ((path, status, binary),) = watched.listed(act)
    assert (path, status, binary) == ("/".join(["d"] * (DEPTH + 1)) + "/", "added", True)


def test_a_workspace_that_is_gone_is_an_empty_one(watched: Watched) -> None:
    listed = watched.listed(lambda: subprocess.run(["rm", "-rf", watched.workspace], check=True))
    assert {status for _, status, _ in listed} == {"deleted"}
    assert len(listed) == 5


def test_a_workspace_that_the_agent_locked_is_looked_at(watched: Watched) -> None:
    def act() -> None:
        watched.write("new", "x")
        watched.workspace.chmod(0)

    assert watched.listed(act) == [("new", "added", False)]


def test_a_workspace_that_became_a_link_is_not_followed(watched: Watched) -> None:
    def act() -> None:
        subprocess.run(["rm", "-rf", watched.workspace], check=True)
        watched.workspace.symlink_to("/etc")

    assert {status for _, status, _ in watched.listed(act)} == {"deleted"}


def test_changes_between_any_two_snapshots_can_be_asked_for(watched: Watched) -> None:
    first = watched.tracker.snapshot()
    watched.write("a.txt", "second\n")
    second = watched.tracker.snapshot()
    watched.write("a.txt", "third\n")
    third = watched.tracker.snapshot()
    watched.write("a.txt", "fourth\n")

    def between(before: object, after: object) -> str:
        return changes_between(before, after, watched.prepared, watched.tracker.store).patch  # type: ignore[arg-type]

    assert "+second" in between(first, second)
    assert "-second" in between(second, third)
    assert "+third" in between(second, third)
    assert "+two" in between(third, first)


def test_the_machines_git_settings_change_nothing(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gitconfig").write_text("[diff]\n\tnoprefix = true\n\tmnemonicPrefix = true\n[color]\n\tui = always\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_DIR", "/none")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")

    def act() -> None:
        watched.write(".gitattributes", "*.txt -diff\n")
        watched.write("a.txt", "changed\n")

    assert "--- a/a.txt\n+++ b/a.txt\n" in watched.changes(act).patch


def test_without_git_a_change_to_show_is_an_infrastructure_error(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/none")
    with pytest.raises(InfrastructureError, match=r"git is needed .* apt install git") as caught:
        watched.changes(lambda: watched.write("a.txt", "changed\n"))
    assert caught.value.phase is Phase.SANDBOX


def test_a_prepared_tree_that_is_gone_is_an_infrastructure_error(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    age(watched.write("a.txt", "x"))
    watched.place()
    subprocess.run(["rm", "-rf", watched.prepared], check=True)
    before = watched.tracker._last
    watched.write("a.txt", "changed\n")
    with pytest.raises(InfrastructureError, match=r"'a\.txt' was removed from the cache"):
        changes_between(before, watched.tracker.snapshot(), watched.prepared, watched.tracker.store)  # type: ignore[arg-type]


def test_git_finds_nothing_wrong_with_the_objects(watched: Watched) -> None:
    watched.changes(lambda: (watched.write("a-b", "x"), watched.write("a/b", "y"), watched.write("a.c/d/e", "z")))
    checked = subprocess.run(
        ["git", "fsck", "--strict", "--full"],
        cwd=watched.state,
        capture_output=True,
        text=True,
        check=False,
        env={"GIT_DIR": str(watched.state), "PATH": os.environ["PATH"]},
    )
    problems = [
        line
        for line in (checked.stdout + checked.stderr).splitlines()
        if "dangling" not in line and "notice" not in line
    ]
    assert (problems, checked.returncode) == ([], 0)


@pytest.mark.anyio
async def test_only_the_differences_within_a_send_are_its_own(site: Site) -> None:
    async with site.open(tree=site.tree({"workspace/a.txt": "a\n", "workspace/b.txt": "b\n"})) as sandbox:
        await sandbox.exec("echo setup > b.txt; echo setup > s.txt")
        await sandbox.write("eval.txt", b"by the eval")
        before = await sandbox.snapshot()
        await sandbox.exec("echo agent > a.txt; echo agent >> s.txt")
        after = await sandbox.snapshot()
        await sandbox.exec("rm -rf *")
        changes = await sandbox.changes(before, after)
    assert [(file.path, file.status) for file in changes.files] == [("a.txt", "modified"), ("s.txt", "modified")]
    assert "-a\n+agent\n" in changes.patch
    assert " setup\n+agent\n" in changes.patch


@pytest.mark.anyio
async def test_files_an_agent_made_unreadable_are_listed(site: Site) -> None:
    async with site.open() as sandbox:
        before = await sandbox.snapshot()
        await sandbox.exec("mkdir d; echo x > d/x; echo y > y; chmod 000 d y")
        changes = await sandbox.changes(before, await sandbox.snapshot())
    assert {file.path.split("/")[0] for file in changes.files} == {"d", "y"}
