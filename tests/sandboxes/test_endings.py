"""How commands and sandboxes end: with everything they started, whatever that did."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes import directories
from reeval.sandboxes.processes.kin import children_of
from reeval.sandboxes.processes.running import Running
from tests.sandboxes.site import Site, needs_bubblewrap, processes_with, wait_until_gone

pytestmark = pytest.mark.anyio

DOUBLE_FORK = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if {bare}:
            os.execve(sys.executable, ["python3", "-c", "import time; time.sleep(99) # {word}"], {{}})
        os.execvp("sleep", ["sleep", "{word}"])
    os._exit(0)
"""


def escaping(word: str, *, bare: bool = False) -> list[str]:
    """A command that leaves a process in a session and a parent of its own, with or without its environment."""
    return ["python3", "-c", DOUBLE_FORK.format(word=word, bare=bare)]


async def test_a_cancelled_command_ends_with_everything_it_started(site: Site) -> None:
    script = "trap '' TERM INT; sleep 4322.1 & setsid sleep 4322.2 & nohup sleep 4322.3 >/dev/null 2>&1 & sleep 4322.4"
    async with site.open() as sandbox:
        other = await sandbox.exec("sleep 4329.1 >/dev/null 2>&1 &")
        with anyio.move_on_after(0.3):
            await sandbox.exec(script)
        assert wait_until_gone("4322.") == []
        assert other.ok
        assert processes_with("4329.1"), "what another command left belongs to the attempt and lives on"
        assert (await sandbox.exec("echo still here")).stdout == "still here\n"
    assert wait_until_gone("4329.1") == []


async def test_a_command_that_prints_forever_ends_at_its_timeout(site: Site) -> None:
    async with site.open() as sandbox:
        began = time.monotonic()
        with anyio.move_on_after(0.3) as scope:
            await sandbox.exec("yes; echo 4323.1")
        assert scope.cancelled_caught
    assert time.monotonic() - began < 10
    assert wait_until_gone("4323.1") == []


async def test_processes_that_left_their_session_die_with_the_attempt(site: Site) -> None:
    async with site.open() as sandbox:
        assert (await sandbox.exec(escaping("4324.1"))).ok
        assert (await sandbox.exec(escaping("4324.2", bare=True))).ok
        await sandbox.exec("setsid sleep 4324.3 >/dev/null 2>&1 &")
        for _ in range(1000):  # the last one is started in the background
            if len(processes_with("4324.")) == 3:
                break
            await anyio.sleep(0.01)
        assert len(processes_with("4324.")) == 3
    assert wait_until_gone("4324.") == []


async def test_an_error_in_the_block_ends_the_sandbox_all_the_same(site: Site) -> None:
    async def attempt() -> None:
        async with site.open() as sandbox:
            await sandbox.exec(escaping("4325.1"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await attempt()
    assert wait_until_gone("4325.") == []
    assert site.attempts() == []


async def test_cancelling_the_attempt_ends_and_removes_everything(site: Site) -> None:
    with anyio.move_on_after(0.5) as scope:
        async with site.open() as sandbox:
            await sandbox.exec(escaping("4326.1"))
            await sandbox.exec("sleep 4326.2")
    assert scope.cancelled_caught
    assert wait_until_gone("4326.") == []
    assert site.attempts() == []


@pytest.mark.parametrize("files", ["mkdir -p a/b && echo x > a/b/c && chmod -R a-w a", "ln -s / root", "mkfifo f"])
async def test_whatever_an_attempt_leaves_is_removed(site: Site, files: str) -> None:
    async with site.open() as sandbox:
        assert (await sandbox.exec(files)).ok
        assert len(site.attempts()) == 1
    assert site.attempts() == []


async def test_directories_deeper_than_python_can_follow_are_removed(site: Site) -> None:
    deep = "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')"
    async with site.open() as sandbox:
        assert (await sandbox.exec(["python3", "-c", deep])).ok
        before = await sandbox.snapshot()
        assert not await sandbox.changes(before, await sandbox.snapshot())
    assert site.attempts() == []


async def test_a_kept_sandbox_stays_says_where_and_is_not_swept(site: Site) -> None:
    told: list[str] = []
    request = replace(site.request(tree=None, egress=None, keep=True, options={}), kept=told.append)
    async with site.kind.open(request) as sandbox:
        await sandbox.write("a.txt", b"look")
        kept = site.host_workspace()
    assert (kept / "a.txt").read_bytes() == b"look"
    assert told == [str(kept.parent)]
    assert await site.kind.sweep(site.root) == []
    assert (kept / "a.txt").exists()


KILLED = """
import sys, os, time, tempfile, anyio
from pathlib import Path
tempfile.tempdir = sys.argv[2] + "/tmp"
from tests.sandboxes.site import Site
async def main():
    site = Site(Path(sys.argv[2]), sys.argv[1])
    async with site.open() as sandbox:
        await sandbox.exec("setsid sleep 4327.1 >/dev/null 2>&1 &")
        print("ready", flush=True)
        await sandbox.exec("sleep 4327.2")
anyio.run(main)
"""


def killable(site: Site) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, site.isolation, str(site.root)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


async def test_a_live_run_is_never_swept_and_a_killed_one_is(site: Site) -> None:
    with killable(site) as process:
        assert await site.kind.sweep(site.root) == []
        assert len(site.attempts()) == 1
        assert processes_with("4327.1")
        process.kill()
    assert len(site.attempts()) == 1
    if site.isolated:
        assert wait_until_gone("4327.") == [], "isolated processes end with reeval, without a sweep"
    assert await site.kind.sweep(site.root / "elsewhere") == [], "another project's"
    (swept,) = await site.kind.sweep(site.root)
    assert Path(swept).name.startswith("reeval-run-")
    assert site.attempts() == []
    assert wait_until_gone("4327.") == []


async def test_a_run_that_was_interrupted_leaves_nothing(site: Site) -> None:
    with killable(site) as process:
        process.send_signal(signal.SIGINT)
    assert list((site.root / "tmp").iterdir()) == []
    assert wait_until_gone("4327.") == []


@pytest.mark.parametrize(
    "owner",
    ["", "{}", "[]", "no json", '{"pid": "x"}', '{"kept": false, "pid": 99999999999, "root": "/x", "host": "h"}'],
)
def test_what_no_run_of_this_project_is_known_to_have_left_stays(plain: Site, owner: str) -> None:
    directory = plain.root / "tmp" / "reeval-x-1"
    directory.mkdir()
    (directory / "owner.json").write_text(owner)
    (plain.root / "tmp" / "reeval-x-2").symlink_to(directory)
    (plain.root / "tmp" / "reeval-x-3").mkdir()
    assert directories.leftovers(plain.root) == []


@needs_bubblewrap
async def test_nothing_inside_can_end_an_isolated_sandbox_by_killing_all_it_sees(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        await sandbox.exec("sleep 4328.1 >/dev/null 2>&1 &")
        await sandbox.exec("kill -9 -1; kill -9 1; kill -15 1")
        assert wait_until_gone("4328.1") == []
        assert (await sandbox.exec("echo alive")).stdout == "alive\n"


@needs_bubblewrap
async def test_orphans_are_reaped_so_that_nobody_waits_for_a_zombie(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        result = await sandbox.exec(
            "for i in 1 2 3 4 5; do (sleep 0.0$i &); done; sleep 0.5; ps -e -o stat= | grep -c Z"
        )
    assert result.stdout == "0\n"


@needs_bubblewrap
async def test_a_killed_command_is_left_to_no_process_of_the_machine_to_reap(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        for _ in range(10):  # the machine's first process may be quick at times
            async with sandbox.start("echo started; sleep 4328.2") as process:
                assert isinstance(process, Running)
                await anext(process.stdout())
                (child,) = children_of(process.pid)
                await process.kill()
                assert not is_there(child)
                assert await process.wait() == -9


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def mounts(pid: int, path: Path) -> bool:
    return str(path) in Path(f"/proc/{pid}/mountinfo").read_text()


@needs_bubblewrap
async def test_a_sandbox_whose_first_process_died_is_an_infrastructure_error(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        await sandbox.exec("true")
        for pid in processes_with("while c=; read x"):
            if mounts(pid, isolated.root):
                os.kill(pid, signal.SIGKILL)
        await anyio.sleep(1)
        with pytest.raises(InfrastructureError, match="first process is gone") as caught:
            await sandbox.exec("true")
    assert caught.value.phase is Phase.SANDBOX


async def test_a_fork_bomb_ends_with_the_attempt(site: Site) -> None:
    bomb = textwrap.dedent("""
        import os, time
        end = time.monotonic() + 20
        for _ in range(7):  # 128 processes that go on making others
            os.fork()
        while time.monotonic() < end:
            if os.fork() == 0:
                time.sleep(0.02)
                os._exit(0)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]: pass
            except ChildProcessError: pass
            time.sleep(0.01)
        # 4330.1
    """)
    async with site.open() as sandbox:
        with anyio.move_on_after(0.8):
            await sandbox.exec(["python3", "-c", bomb])
        assert wait_until_gone("4330.1") == []
