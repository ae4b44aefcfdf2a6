"""How commands run in a container, and how they end."""

from __future__ import annotations

import time

import anyio
import pytest

from reeval.errors import InfrastructureError, UsageError
from tests.sandboxes.docker.site import DockerSite, needs_engine

pytestmark = [pytest.mark.anyio, needs_engine]

LEAVES_SESSION = "trap '' TERM INT HUP; setsid sleep 4321 >/dev/null 2>&1 & nohup sleep 4321 >/dev/null 2>&1 & "


async def sleepers(sandbox) -> str:
    return (await sandbox.exec("ps | grep -c '[s]leep 4321'")).stdout.strip()


async def test_a_command_gives_its_output_its_exit_code_and_its_time(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        done = await sandbox.exec("echo out; echo err >&2; exit 3")
        assert (done.stdout, done.stderr, done.exit_code, done.truncated) == ("out\n", "err\n", 3, False)
        assert done.command == "echo out; echo err >&2; exit 3"
        assert 0 < done.duration < 30
        done = await sandbox.exec(["printf", "%s|", "a b", "*", "$HOME"])
        assert done.stdout == "a b|*|$HOME|"
        assert (await sandbox.exec(["no-such-program"])).exit_code == 127
        assert (await sandbox.exec("kill -9 $$")).exit_code == -9


async def test_it_is_not_root_and_sees_its_workspace_and_home(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        done = await sandbox.exec("id -u; id -g; pwd; echo $HOME; touch a ~/b /tmp/c && echo can write")
        assert done.stdout.split("\n") == ["1000", "1000", "/workspace", "/home/agent", "can write", ""]
        assert sandbox.workspace == "/workspace"
        done = await sandbox.exec("touch /etc/x; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status")
        assert "Permission denied" in done.stderr
        assert done.stdout.split() == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1"]


async def test_root_can_be_asked_for(docker: DockerSite) -> None:
    async with docker.open(options={"root": True}) as sandbox:
        assert (await sandbox.exec("id -u; touch /etc/x && chown 5:5 /etc/x && echo yes")).stdout == "0\nyes\n"


async def test_a_user_and_a_workspace_can_be_named(docker: DockerSite) -> None:
    async with docker.open(options={"user": "1234:5678", "workdir": "/srv/app"}) as sandbox:
        done = await sandbox.exec("id -u; id -g; pwd; touch x && echo yes")
        assert done.stdout == "1234\n5678\n/srv/app\nyes\n"
        await sandbox.write("y", b"y")
        assert (await sandbox.exec("cat /srv/app/y")).stdout == "y"


async def test_variables_come_from_the_image_the_caller_and_nowhere_else(
    docker: DockerSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_HOST", "no")
    async with docker.open() as sandbox:
        done = await sandbox.exec("env", env={"MINE": "a b\nc", "PATH": "/bin:/x"})
        assert "OF_THE_HOST" not in done.stdout
        assert "MINE=a b\nc\n" in done.stdout
        assert "PATH=/bin:/x\n" in done.stdout
        assert "USER=agent\n" in done.stdout
        assert (await sandbox.exec("echo ${MINE-unset}")).stdout == "unset\n"


@pytest.mark.parametrize("size", [0, 10, 5_000_000])
async def test_standard_input_of_any_length_is_read_to_its_end(docker: DockerSite, size: int) -> None:
    async with docker.open() as sandbox:
        done = await sandbox.exec("wc -c; echo end", stdin=b"x" * size)
        assert done.stdout.split() == [str(size), "end"]
        done = await sandbox.exec("head -c 1 | wc -c", stdin=b"x" * size)
        assert done.exit_code == 0


async def test_a_hundred_megabytes_of_output_are_cut_in_the_middle(docker: DockerSite) -> None:
    async with docker.open(options={"output_limit": 10_000}) as sandbox:
        done = await sandbox.exec("echo first; yes 123456789 | head -c 100000000; echo last; echo err >&2")
        assert done.exit_code == 0
        assert done.truncated
        assert len(done.stdout) < 10_200
        assert done.stdout.startswith("first\n")
        assert done.stdout.endswith("last\n")
        assert "bytes left out" in done.stdout
        assert done.stderr == "err\n"


async def test_output_that_is_no_text_is_replaced(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        assert (await sandbox.exec(r"printf 'a\377\000b'")).stdout == "a\ufffd\0b"


async def test_a_background_child_that_holds_the_output_delays_nobody_and_lives_on(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        began = time.monotonic()
        assert (await sandbox.exec("sleep 4321 & echo done")).stdout == "done\n"
        assert time.monotonic() - began < 20
        assert await sleepers(sandbox) == "1"


async def test_cancelling_ends_everything_that_the_command_started_and_nothing_else(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.exec("sleep 4321 >/dev/null 2>&1 &")
        with anyio.move_on_after(1) as scope:
            await sandbox.exec(LEAVES_SESSION + "echo started; sleep 4321")
        assert scope.cancelled_caught
        assert await sleepers(sandbox) == "1"


async def test_an_agent_that_kills_all_it_can_ends_nothing_of_the_sandbox(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.exec("kill -9 -1")
        await sandbox.write("a", b"still there")
        assert await sandbox.read("a") == b"still there"
        assert (await sandbox.exec("kill -9 -1; kill -9 1; kill 1; echo alive")).stdout == "alive\n"
        assert (await sandbox.exec("echo and well")).stdout == "and well\n"


async def test_the_engines_own_words_are_output_when_a_process_prints_them(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        done = await sandbox.exec("echo OCI runtime exec failed: no; exit 126")
    assert (done.exit_code, done.stdout) == (126, "OCI runtime exec failed: no\n")


async def test_what_the_engine_cannot_start_is_not_the_agents_failure(docker: DockerSite) -> None:
    async with docker.open(options={"root": True}) as sandbox:
        await sandbox.exec("rm -f /bin/sh")
        with pytest.raises(InfrastructureError, match="the engine could not start a process in the sandbox: OCI"):
            await sandbox.exec("true")


async def test_orphans_leave_no_zombies(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.exec("for i in 1 2 3 4 5; do (sleep 0.05 >/dev/null 2>&1 &); done; sleep 0.5")
        assert (await sandbox.exec("grep -l 'State:.Z' /proc/[0-9]*/status | wc -l")).stdout.strip() == "0"


async def test_output_of_a_process_comes_while_it_runs(docker: DockerSite) -> None:
    async with (
        docker.open() as sandbox,
        sandbox.start("echo one; read x; echo got $x; exit 5", stdin="open") as process,
    ):
        seen = b""
        async for chunk in process.stdout():
            seen += chunk
            if seen == b"one\n":
                await process.send(b"two\n")
        assert seen == b"one\ngot two\n"
        assert await process.wait() == 5


async def test_leaving_the_block_ends_a_process_with_all_it_started(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        async with sandbox.start(LEAVES_SESSION + "echo started; sleep 4321") as process:
            async for chunk in process.stdout():
                assert chunk == b"started\n"
                break
        assert await process.wait() == -9
        assert await sleepers(sandbox) == "0"


async def test_a_command_that_cannot_be_run_is_the_callers_fault(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        for command, words in (([], "empty command"), ("a\0b", "null byte"), ("x" * 200_000, "too long")):
            with pytest.raises(UsageError, match=words):
                await sandbox.exec(command)


async def test_many_commands_at_once_get_their_own_output(docker: DockerSite) -> None:
    found: dict[int, str] = {}
    async with docker.open() as sandbox:

        async def run(number: int) -> None:
            found[number] = (await sandbox.exec(f"echo {number}; sleep 0.1")).stdout

        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(run, number)
    assert found == {number: f"{number}\n" for number in range(12)}
