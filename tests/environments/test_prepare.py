from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reeval.environments.prepare import TREES, prepare
from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.schema.environment import Environment, HostFile, Layout, PreparedTree, Skill, Workspace

CLAUDE = Layout(rules="CLAUDE.md", skills="~/.claude/skills")


class Project:
    """A project's root with a cache beside it."""

    def __init__(self, top: Path) -> None:
        self.root = top / "project"
        self.cache = top / "cache"
        self.root.mkdir()

    def write(self, path: str, text: str = "", *, mode: int = 0o644) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)
        return target

    def prepare(self, layout: Layout | None = None, **fields: Any) -> PreparedTree:
        return prepare(Environment(name="plain", **fields), layout or Layout(), self.root, self.cache)

    def refusal(self, **fields: Any) -> str:
        with pytest.raises(PlanError) as caught:
            self.prepare(**fields)
        assert not self.built()
        return str(caught.value)

    def built(self) -> list[Path]:
        trees = self.cache / TREES
        return sorted(trees.iterdir()) if trees.exists() else []


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def shown(top: str | None) -> dict[str, str]:
    """Path → content; a link as ``-> target``, a directory as ``/``, an executable with ``*``."""
    assert top is not None
    found = {}
    for path in sorted(Path(top).rglob("*")):
        text = f"-> {path.readlink()}" if path.is_symlink() else "/" if path.is_dir() else path.read_text()
        executable = path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o100
        found[str(path.relative_to(top))] = text + ("*" if executable else "")
    return found


# --- what is in a tree --------------------------------------------------------------------------------


def test_an_environment_without_files_has_no_tree(project: Project) -> None:
    tree = project.prepare()
    assert (tree.workspace, tree.home, tree.skills) == (None, None, ())
    assert tree.digest == project.prepare(env={"A": "b"}).digest
    assert project.built() == []


def test_a_workspace_is_copied_without_its_history_and_records(project: Project) -> None:
    for path in (".git/config", "sub/.git", ".reeval/runs/1", "a.txt", "sub/deep/b.txt", ".gitignore"):
        project.write(f"app/{path}", path)
    project.write("app/run.sh", "#!", mode=0o755)
    (project.root / "app" / "empty").mkdir()
    (project.root / "app" / "link").symlink_to("sub/deep/b.txt")
    (project.root / "app" / "sub" / "up").symlink_to("../a.txt")
    (project.root / "app" / "broken").symlink_to("not/there")
    tree = project.prepare(workspace=Workspace(path="app"))
    assert shown(tree.workspace) == {
        ".gitignore": ".gitignore",
        "a.txt": "a.txt",
        "broken": "-> not/there",
        "empty": "/",
        "link": "-> sub/deep/b.txt",
        "run.sh": "#!*",
        "sub": "/",
        "sub/deep": "/",
        "sub/deep/b.txt": "sub/deep/b.txt",
        "sub/up": "-> ../a.txt",
    }
    assert tree.home is None


def test_files_lie_on_the_workspace_rules_on_files_and_skills_on_all(project: Project) -> None:
    for name in ("a", "b", "AGENTS.md"):
        project.write(f"app/{name}", "workspace")
    project.write("host/b.sh", "host", mode=0o755)
    tree = project.prepare(
        workspace=Workspace(path="app"),
        files={"./b": HostFile(path="host/b.sh"), "new/c": "text", "AGENTS.md": "files", "~/.config/x": "home"},
        rules="rules",
        skills=(Skill(kind="inline", name="s", content="body"),),
    )
    assert shown(tree.workspace) == {
        ".agents": "/",
        ".agents/skills": "/",
        ".agents/skills/s": "/",
        ".agents/skills/s/SKILL.md": '---\nname: s\ndescription: ""\n---\n\nbody\n',
        "AGENTS.md": "rules",
        "a": "workspace",
        "b": "host*",
        "new": "/",
        "new/c": "text",
    }
    assert shown(tree.home) == {".config": "/", ".config/x": "home"}
    assert tree.skills == ("s",)


def test_rules_and_skills_go_where_the_agent_reads_them(project: Project) -> None:
    project.write("rules.md", "from the host")
    skill = Skill(kind="inline", name="s", content="x")
    tree = project.prepare(CLAUDE, rules=HostFile(path="rules.md"), skills=(skill,))
    assert shown(tree.workspace) == {"CLAUDE.md": "from the host"}
    assert ".claude/skills/s/SKILL.md" in shown(tree.home)
    assert tree.digest != project.prepare(rules=HostFile(path="rules.md"), skills=(skill,)).digest


@pytest.mark.parametrize("name", ["ü 🐍", "a\nb\t'\"\\", "-rf", "~", "...", "\x01", "a" * 255])
def test_every_odd_file_name_is_kept(project: Project, name: str) -> None:
    project.write(f"app/{name}", "x")
    tree = project.prepare(workspace=Workspace(path="app"), files={f"d/{name}": "y"})
    assert shown(tree.workspace) == {name: "x", "d": "/", f"d/{name}": "y"}


def test_a_file_name_that_is_not_utf8_is_kept(project: Project) -> None:
    (project.root / "app").mkdir()
    odd = os.fsencode(project.root / "app") + b"/\xff\xfe"
    with open(odd, "wb") as file:  # noqa: PTH123 - Path takes no bytes
        file.write(b"\0\xff")
    tree = project.prepare(workspace=Workspace(path="app"))
    assert tree.workspace is not None
    with open(os.fsencode(tree.workspace) + b"/\xff\xfe", "rb") as file:  # noqa: PTH123
        assert file.read() == b"\0\xff"


# --- skills -------------------------------------------------------------------------------------------


def skills_of(project: Project, **fields: Any) -> dict[str, str]:
    tree = project.prepare(Layout(skills="s"), skills=(Skill(kind="local", **fields),))
    files = {path: text for path, text in shown(tree.workspace).items() if text != "/"}
    assert tree.skills == tuple(sorted({path.split("/")[1] for path in files}))
    return files


def test_a_directory_with_a_skill_file_is_one_skill(project: Project) -> None:
    project.write("skills/house/SKILL.md", "house")
    project.write("skills/house/scripts/run.py", "run", mode=0o755)
    project.write("skills/house/tests/big.txt", "big")
    project.write("skills/house/__pycache__/x.pyc", "pyc")
    everything = skills_of(project, path="skills/house/")
    assert sorted(everything) == [
        "s/house/SKILL.md",
        "s/house/__pycache__/x.pyc",
        "s/house/scripts/run.py",
        "s/house/tests/big.txt",
    ]
    assert everything["s/house/scripts/run.py"] == "run*"
    some = skills_of(project, path="skills/house", only=("*.py", "tests/"), exclude=("big.*",))
    assert sorted(some) == ["s/house/SKILL.md", "s/house/scripts/run.py"]


def test_a_directory_of_skills_gives_each_and_only_and_exclude_choose(project: Project) -> None:
    for name in ("a", "b", "c-old"):
        project.write(f"skills/{name}/SKILL.md", name)
        project.write(f"skills/{name}/x/SKILL.md", name)
    project.write("skills/README.md")
    project.write("skills/d/other.md")
    assert sorted({path.split("/")[1] for path in skills_of(project, path="skills")}) == ["a", "b", "c-old"]
    assert sorted(skills_of(project, path="skills", only=("b", "c-*"), exclude=("c-old", "x"))) == ["s/b/SKILL.md"]


def test_an_inline_skill_is_a_directory_with_front_matter(project: Project) -> None:
    skill = Skill(
        kind="inline",
        name="greet",
        description='Says "hi": ---\nalways',
        content="Do it.\n\n",
        files={"ref/a.md": "more"},
    )
    tree = project.prepare(Layout(skills="s"), skills=(skill,))
    assert shown(tree.workspace) == {
        "s": "/",
        "s/greet": "/",
        "s/greet/SKILL.md": '---\nname: greet\ndescription: "Says \\"hi\\": ---\\nalways"\n---\n\nDo it.\n',
        "s/greet/ref": "/",
        "s/greet/ref/a.md": "more",
    }


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("../x", "'../x' leaves the workspace with '..'"),
        ("a/../../x", "leaves the workspace"),
        ("~/../x", "'~/../x' leaves the home with '..'"),
        ("/etc/passwd", "'/etc/passwd' is absolute"),
        ("~//etc/passwd", "is absolute"),
        ("", "'' names no file"),
        (".", "names no file"),
        ("~/", "names no file"),
        ("a/", "names no file"),
        ("~", "is not a path of the agent's home"),
        ("a\0b", "NUL"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(project: Project, path: str, said: str) -> None:
    message = project.refusal(files={path: "x"})
    assert message.startswith("environment 'plain': files: ")
    assert said in message


def refusals(project: Project) -> list[tuple[dict[str, Any], str]]:
    project.write("app/d/x")
    project.write("app/f")
    (project.root / "app" / "l").symlink_to("d")
    project.write("skills/one/SKILL.md")
    project.write("skills/bad name/SKILL.md")
    project.write("skills/none/README.md")
    app = Workspace(path="app")
    inline = Skill(kind="inline", name="one")
    return [
        ({"files": {"a": "", "a/b": ""}}, "'a/b' needs 'a' to be a directory, but it is a file; rename one"),
        ({"files": {"~/a/b": "", "~/a": ""}}, "'~/a' is a directory already"),
        ({"workspace": app, "files": {"d": ""}}, "'d' is a directory already"),
        ({"workspace": app, "files": {"f/x": ""}}, "needs 'f' to be a directory, but it is a file"),
        ({"workspace": app, "files": {"l/x": ""}}, "needs 'l' to be a directory, but it is a link"),
        ({"workspace": Workspace(path="ap")}, "workspace 'ap' is not a directory"),
        ({"workspace": Workspace(path="app/f")}, "workspace 'app/f' is not a directory"),
        ({"files": {"a": HostFile(path="no")}}, "host file 'no' cannot be used: No such file"),
        ({"files": {"a": HostFile(path="app")}}, "host file 'app' is not a regular file"),
        ({"files": {"a": "\ud800"}}, "'a': its text cannot be written as UTF-8"),
        ({"rules": HostFile(path="no")}, "rules: host file 'no' cannot be used"),
        ({"skills": (Skill(kind="local", path="no"),)}, "skill 'no' is not a directory"),
        ({"skills": (Skill(kind="local"),)}, "is not a directory"),
        ({"skills": (Skill(kind="local", path="skills/none"),)}, "holds no SKILL.md"),
        ({"skills": (Skill(kind="local", path="skills/bad name"),)}, "'bad name' cannot be a skill's name"),
        ({"skills": (Skill(kind="local", path="skills/one"), inline)}, "two skills are called 'one'"),
        ({"skills": (Skill(kind="inline", name="../x"),)}, "'../x' cannot be a skill's name"),
        ({"skills": (Skill(kind="inline"),)}, "'' cannot be a skill's name"),
        ({"skills": (replace(inline, files={"../x": ""}),)}, "leaves the workspace"),
        ({"skills": (replace(inline, files={"~/x": ""}),)}, "cannot be a file of a skill"),
        ({"skills": (replace(inline, files={"SKILL.md": ""}),)}, "cannot be a file of a skill"),
        ({"skills": (replace(inline, files={"a": "", "a/b": ""}),)}, "to be a directory"),
    ]


@pytest.mark.parametrize("number", range(22))
def test_what_does_not_fit_together_is_refused_with_its_place(project: Project, number: int) -> None:
    cases = refusals(project)
    assert len(cases) == 22
    fields, said = cases[number]
    message = project.refusal(**fields)
    assert message.startswith("environment 'plain': ")
    assert said in message


@pytest.mark.parametrize(
    "target",
    ["/etc/passwd", "../outside", "d/../../outside", "out/and", "../app/f", "self/../../outside", ".git/x/../../.."],
)
def test_a_link_that_leaves_the_workspace_is_refused(project: Project, target: str) -> None:
    project.write("app/d/x")
    project.write("app/f")
    project.write("outside")
    (project.root / "app" / "self").symlink_to(".")
    link = project.root / "app" / "link"
    if target == "out/and":
        (project.root / "app" / "d" / "deep").mkdir()
        (project.root / "app" / "out").symlink_to("d/deep")
        link.symlink_to("out/../../../outside")
    else:
        link.symlink_to(target)
    message = project.refusal(workspace=Workspace(path="app"))
    assert "'link' is a symbolic link to" in message


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


@pytest.mark.parametrize("make", [fifo, unix_socket])
def test_special_files_are_refused(
    project: Project, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = project.root / "app"
    app.mkdir()
    monkeypatch.chdir(app)  # A socket's path is short.
    make(Path("odd"))
    assert "'odd' is a socket, a pipe or a device" in project.refusal(workspace=Workspace(path="app"))


# --- digests ------------------------------------------------------------------------------------------


def test_equal_contents_are_one_tree_whatever_they_are_called(project: Project) -> None:
    project.write("app/a", "1")
    first = project.prepare(workspace=Workspace(path="app"))
    os.utime(project.root / "app" / "a", (1, 1))
    other = prepare(
        Environment(name="other", files={"a": "1"}), Layout(rules="X", skills="y"), project.root, project.cache
    )
    assert other == first
    assert [path.name for path in project.built()] == [first.digest]


def test_every_change_of_content_is_another_tree(project: Project) -> None:
    path = project.write("app/a", "1")
    digests = []

    def remember() -> None:
        digests.append(project.prepare(workspace=Workspace(path="app")).digest)

    remember()
    path.write_text("2")
    remember()
    path.chmod(0o755)
    remember()
    path.rename(path.with_name("b"))
    remember()
    (project.root / "app" / "e").mkdir()
    remember()
    (project.root / "app" / "l").symlink_to("b")
    remember()
    (project.root / "app" / "l").unlink()
    (project.root / "app" / "l").symlink_to("e")
    remember()
    digests.append(project.prepare(workspace=Workspace(path="app"), files={"~/b": "x"}).digest)
    assert len(set(digests)) == len(digests) == 8


def test_names_and_contents_cannot_be_mixed_up(project: Project) -> None:
    one = project.prepare(files={"a": "b", "c": "d"})
    two = project.prepare(files={"a": "b\0\nworkspace/c", "c": "d"})
    three = project.prepare(files={"ab": "", "c": "d"})
    assert len({one.digest, two.digest, three.digest}) == 3


def test_a_tree_is_built_once_and_marked_as_used(project: Project) -> None:
    tree = project.prepare(files={"a": "1"})
    (built,) = project.built()
    before = built.stat()
    os.utime(built, (1, 1))
    again = project.prepare(files={"a": "1"})
    assert again == tree
    assert built.stat().st_ino == before.st_ino
    assert built.stat().st_mtime > 1


def test_modes_follow_the_executable_bit_alone(project: Project) -> None:
    project.write("app/a", mode=0o600)
    project.write("app/b", mode=0o777)
    tree = project.prepare(workspace=Workspace(path="app"))
    assert tree.workspace is not None
    modes = [(Path(tree.workspace) / name).stat().st_mode & 0o777 for name in "ab"]
    assert modes == [0o644, 0o755]


# --- two at once, and faults --------------------------------------------------------------------------


def test_many_threads_at_once_build_one_tree(project: Project) -> None:
    for number in range(200):
        project.write(f"app/{number}", str(number))
    trees: list[PreparedTree] = []
    threads = [
        threading.Thread(target=lambda: trees.append(project.prepare(workspace=Workspace(path="app"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(trees) == 8
    assert len({tree.digest for tree in trees}) == 1
    assert [path.name for path in project.built()] == [trees[0].digest]
    assert len(shown(trees[0].workspace)) == 200


IMPORTS = """
import resource, signal, sys
from pathlib import Path
from reeval.environments.prepare import prepare
from reeval.errors import InfrastructureError
from reeval.schema.environment import Environment, Layout, Workspace
"""
FILL = """
try:
    prepare(Environment(name="big", files={"a": "x" * 100_000}), Layout(), Path("."), Path(sys.argv[1]))
except InfrastructureError as error:
    print(error.phase, error.reason)
"""
LIMIT = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
"""

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def python(code: str, cache: Path) -> list[str]:
    return [sys.executable, "-c", IMPORTS + code, str(cache)]


def in_bubblewrap(*options: str, code: str, cache: Path) -> str:
    """Run Python as somebody who may not read everything, whoever runs the tests."""
    bubblewrap = ["bwrap", "--unshare-user", "--uid", "1000", "--gid", "1000", "--dev-bind", "/", "/", *options, "--"]
    done = subprocess.run([*bubblewrap, *python(code, cache)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_file_that_cannot_be_written_leaves_nothing_behind(project: Project) -> None:
    done = subprocess.run(python(LIMIT + FILL, project.cache), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("setup environment 'big': its files cannot be written to ")
    assert "File too large" in done.stdout
    assert project.built() == []


@needs_bubblewrap
def test_a_full_disk_says_so_and_leaves_nothing_behind(project: Project) -> None:
    project.cache.mkdir()
    listed = f"{FILL}\nprint(sorted(Path(sys.argv[1], 'trees').iterdir()))"
    done = in_bubblewrap("--size", "65536", "--tmpfs", str(project.cache), code=listed, cache=project.cache)
    reason, left = done.splitlines()
    assert reason.startswith("setup environment 'big': its files cannot be written to ")
    assert reason.endswith("No space left on device; run `reeval clean` or free some space")
    assert left == "[]"


@needs_bubblewrap
@pytest.mark.parametrize("path", ["app/closed/file", "app/file"])
def test_what_nobody_may_read_is_said_by_name(project: Project, path: str) -> None:
    project.write(path)
    closed = project.root / "app" / path.split("/")[1]
    closed.chmod(0)
    code = f"""
workspace = Workspace(path={str(project.root / "app")!r})
try:
    prepare(Environment(name="big", workspace=workspace), Layout(), Path("."), Path(sys.argv[1]))
except InfrastructureError as error:
    print(error.phase, error.reason)
"""
    try:
        said = in_bubblewrap(code=code, cache=project.cache)
    finally:
        closed.chmod(0o700)
    assert said.startswith("setup ")
    assert f"{closed.name}' cannot be read: Permission denied" in said
    assert project.built() == []


def test_a_cache_that_is_a_file_is_said(project: Project) -> None:
    project.cache.write_text("")
    with pytest.raises(InfrastructureError) as caught:
        project.prepare(files={"a": ""})
    assert caught.value.phase == Phase.SETUP
    assert "Not a directory; make the directory writable" in caught.value.reason


def test_a_workspace_of_50000_files_is_prepared_and_found_again(project: Project) -> None:
    for folder in range(100):
        directory = project.root / "app" / f"d{folder}"
        directory.mkdir(parents=True)
        for number in range(500):
            with open(f"{directory}/f{number}", "w") as file:  # noqa: PTH123 - quick
                file.write(f"{folder} {number}")
    tree = project.prepare(workspace=Workspace(path="app"))
    assert project.prepare(workspace=Workspace(path="app")) == tree
    assert tree.workspace is not None
    assert sum(len(files) for _, _, files in os.walk(tree.workspace)) == 50_000
    assert Path(tree.workspace, "d7", "f8").read_text() == "7 8"
