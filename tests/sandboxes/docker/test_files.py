"""What bodies and harnesses can read and write in a container, when the agent made the links."""

from __future__ import annotations

import pytest

from tests.sandboxes.docker.site import DockerSite, needs_engine
from tests.sandboxes.test_paths import NAMES

pytestmark = [pytest.mark.anyio, needs_engine]

ALL_BYTES = bytes(range(256))


async def test_files_of_any_name_and_content_are_written_read_and_seen_by_processes(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        for name in (*NAMES, "two\n\n", "a/deep/er/é"):
            path = f"./{name}"
            assert not await sandbox.exists(path)
            await sandbox.write(path, ALL_BYTES + b"\n\n")
            assert await sandbox.read(path) == ALL_BYTES + b"\n\n"
            assert await sandbox.exists(path)
        counted = await sandbox.exec("ls -A | wc -l; ls a/deep/er")
        assert counted.stdout.split()[-1] == "é"
        big = ALL_BYTES * 40_000
        await sandbox.write("~/big 'file'", big)
        assert await sandbox.read("~/big 'file'") == big
        assert await sandbox.read("/home/agent/big 'file'", 1000) == big[:1000]
        assert await sandbox.read("~/big 'file'", 0) == b""
        await sandbox.write("empty", b"")
        assert await sandbox.read("empty") == b""


async def test_what_cannot_be_read_says_why_and_names_the_path(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.exec(
            "mkdir d; touch f; mkfifo pipe; ln -s b a; ln -s a b; ln -s none broken; touch no; chmod 0 no"
        )
        for path, error in (
            ("none", FileNotFoundError),
            ("none/none", FileNotFoundError),
            ("d", IsADirectoryError),
            (".", IsADirectoryError),
            ("", IsADirectoryError),
            ("~", IsADirectoryError),
            ("f/x", NotADirectoryError),
            ("a\0b", FileNotFoundError),
            ("n" * 256, OSError),
            ("../etc/passwd", PermissionError),
            ("d/../../etc/passwd", PermissionError),
            ("~/../../etc/passwd", PermissionError),
            ("/etc/passwd", PermissionError),
            ("/workspaces/x", PermissionError),
            ("pipe", PermissionError),
            ("no", PermissionError),
            ("broken", FileNotFoundError),
            ("a", OSError),
        ):
            with pytest.raises(error) as caught:
                await sandbox.read(path)
            assert caught.value.filename == path


async def test_a_link_of_the_agent_never_leads_out(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.exec(
            "ln -s /etc/passwd a; ln -s ../etc b; ln -s /proc/1/environ c; ln -s /workspace/../etc/group d"
        )
        for path in ("a", "b/passwd", "c", "d", "b/new"):
            with pytest.raises(PermissionError, match="leads out of the sandbox"):
                await sandbox.read(path)
            with pytest.raises(PermissionError):
                await sandbox.write(path, b"overwritten")
            assert not await sandbox.exists(path)


async def test_links_inside_are_followed_as_processes_would_follow_them(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.write("real/a.txt", b"a")
        await sandbox.write("~/h.txt", b"h")
        await sandbox.exec(
            "ln -s real/a.txt r; ln -s /workspace/real/a.txt s; ln -s s t; ln -s real u; ln -s /home/agent v"
        )
        for path in ("r", "s", "t", "u/a.txt"):
            assert await sandbox.read(path) == b"a"
        assert await sandbox.read("v/h.txt") == b"h"
        await sandbox.write("u/new/b.txt", b"b")
        assert await sandbox.read("real/new/b.txt") == b"b"


async def test_writing_over_a_file_replaces_its_content_and_keeps_its_mode(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.write("run.sh", b"long content")
        await sandbox.exec("chmod 755 run.sh")
        for data in (b"short", b"x" * 10_000):
            await sandbox.write("run.sh", data)
            assert await sandbox.read("run.sh") == data
        assert (await sandbox.exec("stat -c %a run.sh")).stdout == "755\n"


async def test_what_stands_in_the_way_of_a_write_is_said(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.exec("mkdir d; touch f; touch no; chmod 444 no; mkdir closed; chmod 555 closed")
        for path, error in (
            ("d", IsADirectoryError),
            ("f/below", NotADirectoryError),
            ("no", PermissionError),
            ("closed/x", PermissionError),
        ):
            for data in (b"x", b"x" * 10_000):
                with pytest.raises(error):
                    await sandbox.write(path, data)
