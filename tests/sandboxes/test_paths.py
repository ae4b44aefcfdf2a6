"""What bodies and harnesses can read and write, when the agent made the links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reeval.sandboxes.local.paths import Roots
from tests.sandboxes.site import Site, open_files

pytestmark = pytest.mark.anyio

NAMES = [
    "a b",
    "-rf",
    "é\u0301漢🙂",
    "new\nline",
    "tab\there",
    "quo'\"te",
    "back\\slash",
    "%s",
    "~",
    "…",
    "a" * 255,
    "\udcff",
]


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    for name in ("ws", "home", "tmp", "host"):
        (tmp_path / name).mkdir()
    (tmp_path / "host" / "passwd").write_text("root:x:0")
    hosts = {"/workspace": "ws", "/home/agent": "home", "/scratch": "tmp"}
    return Roots("/workspace", "/home/agent", {seen: str(tmp_path / name) for seen, name in hosts.items()})


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("a.txt", "ws/a.txt"),
        ("./x/../a.txt", "ws/a.txt"),
        ("deep/er/a.txt", "ws/deep/er/a.txt"),
        ("/workspace/b/a.txt", "ws/b/a.txt"),
        ("~/.config/a", "home/.config/a"),
        ("/home/agent/a", "home/a"),
        ("/scratch/a", "tmp/a"),
    ],
)
def test_a_path_is_written_and_read_where_processes_see_it(roots: Roots, tmp_path: Path, path: str, host: str) -> None:
    (tmp_path / "ws" / "x").mkdir()
    assert not roots.exists(path)
    roots.write(path, b"text")
    assert (tmp_path / host).read_bytes() == b"text"
    assert roots.read(path) == b"text"
    assert roots.exists(path)


@pytest.mark.parametrize("name", NAMES)
def test_every_odd_file_name_can_be_used(roots: Roots, tmp_path: Path, name: str) -> None:
    path = f"./{name}"
    roots.write(path, b"text")
    assert [file.name for file in (tmp_path / "ws").iterdir()] == [name]
    assert roots.read(path) == b"text"


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("none", FileNotFoundError),
        ("none/none", FileNotFoundError),
        ("d", IsADirectoryError),
        (".", IsADirectoryError),
        ("", IsADirectoryError),
        ("~", IsADirectoryError),
        ("f/x", NotADirectoryError),
        ("a\0b", FileNotFoundError),
        ("n" * 256, OSError),
        ("../host/passwd", PermissionError),
        ("d/../../host/passwd", PermissionError),
        ("~/../host/passwd", PermissionError),
        ("/etc/passwd", PermissionError),
        ("/workspaces/x", PermissionError),
        ("pipe", PermissionError),
    ],
)
def test_what_cannot_be_read_says_why_and_names_the_path(
    roots: Roots, tmp_path: Path, path: str, error: type[OSError]
) -> None:
    (tmp_path / "ws" / "d").mkdir()
    (tmp_path / "ws" / "f").touch()
    os.mkfifo(tmp_path / "ws" / "pipe")
    with pytest.raises(error) as caught:
        roots.read(path)
    assert caught.value.filename == path


@pytest.mark.parametrize(
    "target", ["{host}/passwd", "../host/passwd", "/etc/passwd", "/proc/self/environ", "/workspace/../host/passwd"]
)
def test_a_link_of_the_agent_never_leads_out(roots: Roots, tmp_path: Path, target: str) -> None:
    link = tmp_path / "ws" / "link"
    link.symlink_to(target.format(host=tmp_path / "host"))
    with pytest.raises(PermissionError, match="leads out of the sandbox"):
        roots.read("link")
    with pytest.raises(PermissionError):
        roots.write("link", b"overwritten")
    assert not roots.exists("link")
    assert (tmp_path / "host" / "passwd").read_text() == "root:x:0"


def test_a_linked_directory_never_leads_out(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "ws" / "d").symlink_to(tmp_path / "host")
    for path in ("d/passwd", "d/../home/x", "d/new"):
        with pytest.raises(PermissionError, match="leads out"):
            roots.write(path, b"x")
    assert not roots.exists("d/passwd")
    assert [file.name for file in (tmp_path / "host").iterdir()] == ["passwd"]


def test_links_inside_are_followed_as_processes_would_follow_them(roots: Roots, tmp_path: Path) -> None:
    roots.write("real/a.txt", b"a")
    roots.write("~/h.txt", b"h")
    workspace = tmp_path / "ws"
    (workspace / "relative").symlink_to("real/a.txt")
    (workspace / "absolute").symlink_to("/workspace/real/a.txt")
    (workspace / "chain").symlink_to("absolute")
    (workspace / "directory").symlink_to("real")
    (workspace / "home").symlink_to("/home/agent")
    (workspace / "real" / "up").symlink_to("../relative")
    assert [roots.read(path) for path in ("relative", "absolute", "chain", "directory/a.txt", "real/up")] == [b"a"] * 5
    assert roots.read("home/h.txt") == b"h"
    roots.write("directory/new/b.txt", b"b")
    assert (workspace / "real" / "new" / "b.txt").read_bytes() == b"b"


def test_links_that_lead_nowhere_or_in_circles_end(roots: Roots, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    (workspace / "a").symlink_to("b")
    (workspace / "b").symlink_to("a")
    (workspace / "broken").symlink_to("none")
    assert not roots.exists("a")
    assert not roots.exists("broken")
    with pytest.raises(OSError, match="Too many levels"):
        roots.read("a")
    with pytest.raises(FileNotFoundError):
        roots.read("broken")


def test_at_most_the_limit_is_read(roots: Roots) -> None:
    roots.write("big", b"x" * 100_000)
    assert [len(roots.read("big", limit)) for limit in (0, 10, 200_000, None)] == [0, 10, 100_000, 100_000]


def test_writing_over_a_file_replaces_its_content_and_keeps_its_mode(roots: Roots, tmp_path: Path) -> None:
    roots.write("run.sh", b"long content")
    (tmp_path / "ws" / "run.sh").chmod(0o755)
    roots.write("run.sh", b"short")
    assert roots.read("run.sh") == b"short"
    assert (tmp_path / "ws" / "run.sh").stat().st_mode & 0o777 == 0o755


def test_what_stands_in_the_way_of_a_write_is_said(roots: Roots, tmp_path: Path) -> None:
    roots.write("file", b"x")
    (tmp_path / "ws" / "directory").mkdir()
    with pytest.raises(IsADirectoryError):
        roots.write("directory", b"x")
    with pytest.raises(NotADirectoryError):
        roots.write("file/below", b"x")


def test_no_directory_stays_open(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "ws" / "link").symlink_to("/home/agent/none")
    before = open_files()
    for path in ("a/b/c", "link", "../x", "~", "."):
        roots.exists(path)
        with pytest.raises(OSError):
            roots.read(path)
    assert open_files() == before


async def test_a_link_to_a_host_file_reads_nothing_in_either_mode(site: Site) -> None:
    secret = site.root / "secret"
    secret.write_text("s3cret")
    async with site.open() as sandbox:
        await sandbox.exec(f"ln -s {secret} a; ln -s {site.root} b; ln -s /etc/passwd c")
        for path in ("a", "b/secret", "c", str(secret), "../../../secret"):
            with pytest.raises((PermissionError, FileNotFoundError)):
                await sandbox.read(path)
            assert not await sandbox.exists(path)
