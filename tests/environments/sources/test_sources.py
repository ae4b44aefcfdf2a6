"""Git sources: what of them arrives, and what they must never do."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reeval.environments.prepare import prepare
from reeval.environments.sources.mirror import MIRRORS
from reeval.environments.sources.pinned import Pinned, pin_sources
from reeval.errors import PlanError
from reeval.schema.environment import Environment, Layout, PreparedTree, Skill, Workspace
from reeval.shelf import hold
from tests.environments.sources.repositories import Repository


class Site:
    """A project and a source beside it."""

    def __init__(self, top: Path) -> None:
        self.root = top / "project"
        self.cache = top / "cache"
        self.root.mkdir()
        self.source = Repository(top / "source")

    def prepare(self, url: str = "../source", commits: dict[str, str] | None = None, **fields: Any) -> PreparedTree:
        return self.prepare_environment(Environment(name="e", workspace=Workspace(git=url, **fields)), commits)

    def prepare_environment(self, environment: Environment, commits: dict[str, str] | None = None) -> PreparedTree:
        return prepare(environment, Layout(), self.root, self.cache, commits)

    def files(self, **fields: Any) -> dict[str, str]:
        return shown(self.prepare(**fields).workspace)

    def refusal(self, **fields: Any) -> str:
        with pytest.raises(PlanError) as caught:
            self.prepare(**fields)
        assert not list(self.cache.glob("sources/.building*"))
        return str(caught.value)

    def pin(self, *environments: Environment, known: dict[str, str] | None = None) -> Pinned:
        self.fetched: list[str] = []
        return pin_sources(environments, self.root, self.cache, known=known or {}, fetching=self.fetched.append)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def shown(top: str | None) -> dict[str, str]:
    assert top is not None
    found = {}
    for path in sorted(Path(top).rglob("*")):
        text = f"-> {path.readlink()}" if path.is_symlink() else "/" if path.is_dir() else path.read_text()
        executable = path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o100
        found[str(path.relative_to(top))] = text + ("*" if executable else "")
    return found


# --- what arrives -------------------------------------------------------------------------------------


def test_files_arrive_with_their_modes_and_links_and_without_the_history(site: Site) -> None:
    site.source.write("run.sh", "#!").chmod(0o755)
    (site.source.path / "link").symlink_to("sub/a.txt")
    site.source.commit({"sub/a.txt": "a", "ü 🐍\n": "odd", ".gitignore": "x", ".reeval/runs/1": "earlier"})
    assert site.files() == {
        ".gitignore": "x",
        "link": "-> sub/a.txt",
        "run.sh": "#!*",
        "sub": "/",
        "sub/a.txt": "a",
        "ü 🐍\n": "odd",
    }


def test_branches_tags_and_commits_are_found(site: Site) -> None:
    first = site.source.commit({"a": "first"})
    site.source.git("tag", "light")
    site.source.git("tag", "--annotate", "--message=x", "full")
    site.source.git("branch", "feature/old")
    site.source.commit({"a": "second"})
    assert site.files() == {"a": "second"}
    for ref in ("light", "full", "feature/old", "refs/tags/full", "refs/heads/feature/old", first, first.upper()):
        assert site.files(ref=ref) == {"a": "first"}, ref
    assert site.files(ref="main") == {"a": "second"}


def test_a_source_can_be_written_in_every_way(site: Site) -> None:
    site.source.commit({"a": "x"})
    for url in ("../source", str(site.source.path), site.source.path.as_uri()):
        assert site.files(url=url) == {"a": "x"}


def test_a_folder_of_a_source_can_be_the_workspace(site: Site) -> None:
    site.source.commit({"a": "no", "apps/shop/b": "yes", "apps/shop/c/d": "too"})
    for path in ("apps/shop", "./apps/shop/", "apps//shop"):
        assert site.files(path=path) == {"b": "yes", "c": "/", "c/d": "too"}


def test_skills_come_from_a_source_by_their_folder_or_by_its_name(site: Site, tmp_path: Path) -> None:
    files = {f"skills/{name}/{path}": "x" for name in ("greet", "other") for path in ("SKILL.md", "ref/a.md")}
    site.source.commit({**files, "README.md": "no"})
    Repository(tmp_path / "house.git").commit({"SKILL.md": "own"})
    some = Skill(kind="git", url="../source", path="skills", exclude=("ref/",))
    whole = Skill(kind="git", url="../house.git")
    picked = Skill(kind="git", url="../source", path="skills", only=("greet",))
    named = Skill(kind="git", url="../source", path="skills/greet")
    made = site.prepare_environment(Environment(name="e", skills=(some, whole)))
    assert made.skills == ("greet", "other", "house")
    assert [path for path in shown(made.workspace) if path.endswith(".md")] == [
        ".agents/skills/greet/SKILL.md",
        ".agents/skills/house/SKILL.md",
        ".agents/skills/other/SKILL.md",
    ]
    for skill in (picked, named):
        assert site.prepare_environment(Environment(name="e", skills=(skill,))).skills == ("greet",)


def test_equal_content_is_an_equal_tree_wherever_it_comes_from(site: Site) -> None:
    site.source.commit({"a/b": "x"})
    (site.root / "app" / "a").mkdir(parents=True)
    (site.root / "app" / "a" / "b").write_text("x")
    local = site.prepare_environment(Environment(name="e", workspace=Workspace(path="app")))
    assert site.prepare().digest == local.digest


def test_a_submodule_is_an_empty_directory_as_in_a_plain_clone(site: Site) -> None:
    commit = site.source.commit({"a": "x"})
    site.source.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
    site.source.git("commit", "--quiet", "--message=module")
    assert site.files() == {"a": "x", "vendor": "/", "vendor/lib": "/"}


# --- once ---------------------------------------------------------------------------------------------


def test_a_branch_is_resolved_once_and_said_with_its_commit(site: Site) -> None:
    first = site.source.commit({"a": "first"})
    environment = Environment(name="e", workspace=Workspace(git="../source", ref="main"))
    pinned = site.pin(environment)
    assert pinned.commits == {"../source@main": first}
    assert pinned.facts == (f"git source ../source@main is commit {first[:12]}",)
    assert site.fetched == ["../source@main"]
    site.source.commit({"a": "second"})
    assert shown(site.prepare_environment(environment, dict(pinned.commits)).workspace) == {"a": "first"}
    again = site.pin(environment, known=dict(pinned.commits))
    assert (again.commits, site.fetched) == (pinned.commits, [])
    assert site.pin(environment).commits != pinned.commits


def test_a_commit_that_was_fetched_needs_its_source_no_more(site: Site) -> None:
    commit = site.source.commit({"a": "x", "b/c": "y"})
    environment = Environment(name="e", workspace=Workspace(git="../source", ref=commit))
    assert site.pin(environment).facts == ()
    site.source.path.rename(site.source.path.with_name("gone"))
    assert site.files(ref=commit) == {"a": "x", "b": "/", "b/c": "y"}
    assert site.files(ref=commit, path="b") == {"c": "y"}
    assert "cannot be read" in site.refusal(ref="main")


def test_many_at_once_fetch_a_source_once(site: Site) -> None:
    commit = site.source.commit({f"f{number}": "x" * 1000 for number in range(50)})
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: site.prepare(ref=commit), range(8)))
    assert len({tree.digest for tree in made}) == 1
    repositories = [path for path in (site.cache / MIRRORS).iterdir() if path.is_dir()]
    assert len(repositories) == 1
    assert len(list((site.cache / "sources").iterdir())) == 1


def test_two_processes_at_once_come_to_the_same(site: Site) -> None:
    site.source.commit({"a": "x"})
    code = (
        "import sys; from pathlib import Path; from reeval.environments.prepare import prepare\n"
        "from reeval.schema.environment import Environment, Layout, Workspace\n"
        "made = Environment(name='e', workspace=Workspace(git='../source', init=True))\n"
        "print(prepare(made, Layout(), Path(sys.argv[1]), Path(sys.argv[2])).digest)"
    )
    command = [sys.executable, "-c", code, str(site.root), str(site.cache)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert len({process.communicate(timeout=60)[0] for process in running}) == 1
    assert [process.returncode for process in running] == [0, 0, 0]


def _emptied(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(b"")


@pytest.mark.parametrize("what", ["{commit}", "{commit}^{{tree}}", "{commit}:b", "{commit}:b/c", "HEAD"])
@pytest.mark.parametrize("harm", [_emptied, Path.unlink])
def test_a_mirror_that_is_damaged_is_said_and_made_anew(site: Site, what: str, harm: Callable[[Path], None]) -> None:
    Repository(site.root / "of-the-user").path.joinpath(".git").rename(site.root / ".git")
    site.cache = site.root / ".reeval" / "cache"
    commit = site.source.commit({"a": "x", "b/c": "y"})
    environment = Environment(name="e", workspace=Workspace(git="../source", ref=commit, path="b"))
    site.pin(Environment(name="e", workspace=Workspace(git="../source", ref=commit, path="/")))
    (mirror,) = (path for path in (site.cache / MIRRORS).iterdir() if path.is_dir())
    if what == "HEAD":
        harm(mirror / what)
    else:
        name = site.source.git("rev-parse", what.format(commit=commit))
        harm(mirror / "objects" / name[:2] / name[2:])
    site.pin(environment)
    assert shown(site.prepare_environment(environment).workspace) == {"c": "y"}
    told = site.fetched[1:]
    # A commit that is not there is fetched like one that never was.
    assert len(told) == (0 if what == "{commit}" and harm is Path.unlink else 1)
    assert all(f"anew: its copy in {mirror} is damaged (" in one for one in told)
    assert not (site.root / ".git" / "refs" / "commits").exists()


def test_a_mirror_that_is_damaged_and_cannot_be_removed_is_told_with_its_place(site: Site) -> None:
    commit = site.source.commit({"a": "x", "b/c": "y"})
    site.prepare(ref=commit, path="b")
    (mirror,) = (path for path in (site.cache / MIRRORS).iterdir() if path.is_dir())
    name = site.source.git("rev-parse", f"{commit}^{{tree}}")
    _emptied(mirror / "objects" / name[:2] / name[2:])
    held = hold(mirror)
    assert held is not None
    said = site.refusal(ref=commit)
    assert said.startswith(
        f"environment 'e': workspace: the git source '../source' cannot be read: its copy in {mirror} "
    )
    assert said.endswith("; remove that directory")
    held.release()
    assert site.files(ref=commit) == {"a": "x", "b": "/", "b/c": "y"}


# --- what cannot be used ------------------------------------------------------------------------------


def test_what_a_source_does_not_have_is_said(site: Site) -> None:
    assert "the git source '../source' has no commit yet; make one, or name a ref" in site.refusal()
    commit = site.source.commit({"a": "x"})
    site.source.git("branch", "both")
    site.source.commit({"a": "y"})
    site.source.git("tag", "both")
    assert site.refusal(ref="nope") == (
        "environment 'e': workspace: 'nope' is no branch and no tag of the git source '../source'; correct ref"
    )
    assert "a commit is written with all of its 40 digits" in site.refusal(ref=commit[:8])
    assert "'both' is a branch and a tag of '../source'; write 'refs/heads/both' or 'refs/tags/both'" in site.refusal(
        ref="both"
    )
    assert f"there is no commit {'ab' * 20} in the git source '../source'" in site.refusal(ref="ab" * 20)
    assert "there is no folder 'no/such' in commit" in site.refusal(path="no/such")
    assert "there is no folder 'a' in commit" in site.refusal(path="a")
    assert "does not appear to be a git repository; correct the URL" in site.refusal(url="../project")


class Refusing(BaseHTTPRequestHandler):
    """A server that wants a password for everything."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_source_that_wants_a_password_is_refused_without_asking_for_one(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_ASKPASS", "/bin/echo")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        said = site.refusal(url=f"http://127.0.0.1:{server.server_port}/x.git")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert "terminal prompts disabled" in said
    assert "reeval never asks for a password: set up a credential helper or an ssh key for it" in said


def test_a_host_that_is_not_there_is_said_with_what_works_without_a_network(site: Site) -> None:
    said = site.refusal(url="http://127.0.0.1:9/x.git")
    assert "without a network only a full commit hash that was fetched before works" in said


@pytest.mark.parametrize("url", ["ext::sh -c 'touch ran'", "fd::17", "--upload-pack=touch ran", "-u"])
def test_a_url_that_runs_a_program_runs_none(site: Site, url: str) -> None:
    assert "cannot be read" in site.refusal(url=url)
    assert not list(site.root.rglob("ran")) + list(site.cache.rglob("ran"))


def test_a_ref_is_never_an_option(site: Site) -> None:
    site.source.commit({"a": "x"})
    assert "is no branch" in site.refusal(ref="--upload-pack=touch ran")


def test_neither_hooks_nor_filters_of_a_source_run(site: Site) -> None:
    mark = site.root / "ran"
    hook = site.source.path / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    site.source.commit({"a.txt": "text\n", "hooks/post-checkout": "x"})
    site.source.git("config", "filter.evil.smudge", f"touch {mark}")
    site.source.git("config", "uploadpack.packObjectsHook", f"touch {mark}; exec")
    site.source.commit({".gitattributes": "*.txt filter=evil eol=crlf export-ignore\n"})
    assert Path(site.prepare().workspace or "", "a.txt").read_bytes() == b"text\n"
    assert not mark.exists()


def test_a_users_own_template_and_hooks_do_not_run(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("reference-transaction", "post-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
        (hooks / name).chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(f"[init]\n templateDir = {hooks.parent}\n[core]\n hooksPath = {hooks}\n")
    site.source.commit({"a": "x"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(site.source.path / ".git"))
    site.prepare(init=True)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "sub/../../x"])
def test_a_link_that_leaves_the_source_is_refused(site: Site, target: str) -> None:
    (site.source.path / "link").symlink_to(target)
    site.source.commit({"a": "x"})
    assert f"'link' is a symbolic link to {target!r}, which leaves the directory" in site.refusal()


def raw_tree(source: Repository, *entries: tuple[str, bytes, str]) -> str:
    """Make a commit of a tree that ``git add`` would never make: mode, name, object."""
    body = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(object) for mode, name, object in entries)
    done = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
        cwd=source.path,
        input=body,
        capture_output=True,
        check=True,
    )
    commit = source.git("commit-tree", done.stdout.decode().strip(), "-m", "x")
    source.git("update-ref", "refs/heads/main", commit)
    return commit


def test_a_tree_made_by_hand_writes_nothing_outside(site: Site) -> None:
    blob = site.source.git("hash-object", "-w", "--stdin", stdin="x")
    link = site.source.git("hash-object", "-w", "--stdin", stdin=os.fspath(site.root))
    folder = raw_tree(site.source, ("100644", b"planted", blob))
    below = site.source.git("rev-parse", f"{folder}^{{tree}}")
    for name in (b"..", b".git", b".GIT", b"."):
        raw_tree(site.source, ("40000", name, below))
        assert "which no checkout may write" in site.refusal()
    raw_tree(site.source, ("120000", b"a", link), ("40000", b"a", below))
    assert "'a' is a file and a directory at once" in site.refusal()
    raw_tree(site.source, ("100644", b"a", blob), ("40000", b"a", below))
    assert "'a' is a file and a directory at once" in site.refusal()
    assert not list(site.root.iterdir())


def test_files_in_git_lfs_are_said_to_be_pointers(site: Site) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    site.source.commit({"big.bin": pointer, "a": "x"})
    environment = Environment(name="e", workspace=Workspace(git="../source"))
    for _ in range(2):
        assert site.pin(environment).facts[1:] == (
            "1 file is in Git LFS, so the pointers of ../source stand there instead: big.bin",
        )


# --- a history of one commit --------------------------------------------------------------------------


def git_in(workspace: str | None, *arguments: str) -> str:
    assert workspace is not None
    done = subprocess.run(
        ["git", *arguments],
        cwd=workspace,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_init_gives_one_commit_that_is_the_same_everywhere(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site.source.commit({"a": "x", ".gitignore": "*.log"})
    first = site.prepare(init=True)
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n name = Somebody\n[core]\n autocrlf = true\n excludesFile = /dev/stdin\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    second = prepare(
        Environment(name="f", workspace=Workspace(git="../source", init=True)), Layout(), site.root, tmp_path / "other"
    )
    assert first.digest == second.digest
    assert first.digest != site.prepare().digest
    commits = [git_in(tree.workspace, "log", "--all", "--format=%H %an %at %s") for tree in (first, second)]
    assert commits[0] == commits[1]
    assert commits[0].endswith("author 946684800 Start")
    assert git_in(first.workspace, "branch", "--show-current") == "main"


def test_everything_that_is_placed_is_in_the_commit_and_an_agent_can_add_to_it(site: Site) -> None:
    made = site.prepare_environment(
        Environment(
            name="e",
            workspace=Workspace(init=True),
            files={"a.txt": "x", "skip.log": "y", ".gitignore": "*.log"},
            rules="Be kind.",
            skills=(Skill(kind="inline", name="s", content="c"),),
        )
    )
    assert git_in(made.workspace, "status", "--short") == ""
    assert git_in(made.workspace, "ls-files").splitlines() == [
        ".agents/skills/s/SKILL.md",
        ".gitignore",
        "AGENTS.md",
        "a.txt",
    ]
    Path(made.workspace or "", "new").write_text("x")
    git_in(made.workspace, "add", "new")
    git_in(made.workspace, "commit", "-m", "mine")
    assert git_in(made.workspace, "rev-list", "--count", "HEAD") == "2"


def test_an_empty_workspace_can_have_a_history(site: Site) -> None:
    made = site.prepare_environment(Environment(name="e", workspace=Workspace(init=True)))
    assert git_in(made.workspace, "rev-list", "--count", "HEAD") == "1"
