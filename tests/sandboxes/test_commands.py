"""What commands do in a sandbox, isolated or not."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import time

import anyio
import pytest

from reeval.errors import UsageError
from tests.sandboxes.site import Site, open_files, processes_with, wait_until_gone

pytestmark = pytest.mark.anyio


async def test_a_shell_string_and_an_argv_list_run_in_the_workspace(site: Site) -> None:
    async with site.open() as sandbox:
        shell = await sandbox.exec("pwd; echo $0 two >&2; exit 3")
        argv = await sandbox.exec(["printf", "%s|", "a b", "$HOME", "*"])
    assert (shell.stdout, shell.exit_code, shell.ok) == (f"{sandbox.workspace}\n", 3, False)
    assert shell.stderr.endswith("two\n")
    assert (argv.stdout, argv.exit_code, argv.ok) == ("a b|$HOME|*|", 0, True)
    assert argv.command == "printf '%s|' 'a b' '$HOME' '*'"
    assert argv.duration > 0


async def test_the_environment_is_built_from_scratch(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_ONLY", "secret")
    async with site.open() as sandbox:
        result = await sandbox.exec(["env"], env={"GIVEN": "a\nb"})
    given = result.stdout
    assert "HOST_ONLY" not in given
    assert "GIVEN=a\nb\n" in given
    lines = dict(line.split("=", 1) for line in given.splitlines() if "=" in line)
    assert {name: lines[name] for name in ("LANG", "TZ", "USER")} == {
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "USER": "agent",
    }
    assert len(lines["REEVAL_ATTEMPT"]) == 16, "a word that tells the agent neither eval nor variant"


async def test_home_and_tmp_are_private_and_writable(site: Site) -> None:
    async with site.open() as first, site.open() as second:
        done = await first.exec('echo 1 > ~/h && echo 1 > "$TMPDIR/t" && ls -a ~ "$TMPDIR"')
        seen = await second.exec('ls ~ "$TMPDIR"')
    assert done.ok, done.stderr
    assert "h\n" not in seen.stdout
    assert "t\n" not in seen.stdout


async def test_python3_is_the_python_that_runs_reeval(site: Site) -> None:
    async with site.open() as sandbox:
        result = await sandbox.exec(["python3", "-c", "import sys; print(sys.version, sys.base_prefix, sep=chr(10))"])
    assert result.stdout == f"{sys.version}\n{sys.base_prefix}\n"


@pytest.mark.parametrize("size", [0, 5, 65_536, 65_537, 3_000_000])
async def test_standard_input_of_any_size_arrives_and_ends(site: Site, size: int) -> None:
    async with site.open() as sandbox:
        result = await sandbox.exec("wc -c", stdin=b"x" * size)
    assert result.stdout.strip() == str(size)


async def test_a_command_that_does_not_read_its_input_is_no_problem(site: Site) -> None:
    async with site.open() as sandbox:
        assert (await sandbox.exec("exec true", stdin=b"x" * 60_000)).ok
        assert (await sandbox.exec("exec true", stdin=b"x" * 2_000_000)).ok


async def test_a_program_that_is_not_there_ends_with_127(site: Site) -> None:
    async with site.open() as sandbox:
        missing = await sandbox.exec(["no-such-program", "x"])
        await sandbox.write("script", b"no program")
        forbidden = await sandbox.exec(["./script"])
    assert missing.exit_code == 127
    assert "no-such-program" in missing.stderr
    assert forbidden.exit_code == 126


async def test_a_signal_gives_a_negative_exit_code(site: Site) -> None:
    async with site.open() as sandbox:
        assert (await sandbox.exec("kill -9 $$")).exit_code == -9
        assert (await sandbox.exec("kill -15 $$")).exit_code == -15


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo a\0b", "embedded null byte"),
        ([], "an empty command cannot be run"),
        ("echo \ud83d", "surrogates not allowed"),
        (["true", "x" * 3_000_000], "too long for this system"),
    ],
)
async def test_a_command_that_no_system_can_run_is_the_callers_error(site: Site, command: str, problem: str) -> None:
    async with site.open() as sandbox:
        with pytest.raises(UsageError, match=problem):
            await sandbox.exec(command)
        assert (await sandbox.exec("true")).ok


@pytest.mark.parametrize(
    "prompt", ["", "a b\n\tc", "'\"`$(id)\\;&|*?[]{}~!#%", "-n", "é ü 漢字 🙂 \u202e \x1b[31m\x07", "\udcff"]
)
async def test_every_odd_character_arrives_as_it_is(site: Site, prompt: str) -> None:
    async with site.open() as sandbox:
        by_argument = await sandbox.exec(
            ["python3", "-c", "import sys, os; os.write(1, os.fsencode(sys.argv[1]))", prompt]
        )
        quoted = await sandbox.exec(f"printf %s {shlex.quote(prompt)}")
    expected = os.fsencode(prompt).decode("utf-8", "replace")
    assert (by_argument.stdout, quoted.stdout) == (expected, expected)
    assert quoted.command.encode(), "a record can hold it"


async def test_output_that_is_no_text_is_replaced(site: Site) -> None:
    async with site.open() as sandbox:
        result = await sandbox.exec(r"printf 'a\377\355\240\200\0b'; printf '\377' >&2")
    assert (result.stdout, result.stderr) == ("a\ufffd\ufffd\ufffd\ufffd\0b", "\ufffd")
    assert not result.truncated


async def test_a_gigabyte_of_output_costs_bounded_memory(site: Site) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with site.open() as sandbox:
        result = await sandbox.exec("echo first; head -c 1G /dev/zero; echo; echo last")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert result.truncated
    assert result.stdout.startswith("first\n")
    assert result.stdout.endswith("last\n")
    assert "bytes left out" in result.stdout
    assert grown < 30_000, f"{grown} kB more"


async def test_output_on_both_streams_at_once_blocks_nobody(site: Site) -> None:
    both = "for i in 1 2 3 4; do head -c 200000 /dev/zero >&2; head -c 200000 /dev/zero; done"
    async with site.open(options={"output_limit": 5000}) as sandbox:
        result = await sandbox.exec(both)
    assert result.ok
    assert result.truncated
    assert "795,000 bytes left out" in result.stdout
    assert "795,000 bytes left out" in result.stderr


async def test_a_command_may_close_its_output_early(site: Site) -> None:
    async with site.open() as sandbox:
        result = await sandbox.exec("echo out; exec >&- 2>&-; sleep 0.3; exit 4")
    assert (result.stdout, result.exit_code) == ("out\n", 4)


async def test_a_background_child_that_holds_the_output_delays_nobody_and_lives_on(site: Site) -> None:
    script = "(while :; do echo tick; echo tick >> ticks; sleep 0.05; done) & echo started"
    async with site.open() as sandbox:
        began = time.monotonic()
        result = await sandbox.exec(script)
        took = time.monotonic() - began
        first = await sandbox.read("ticks")
        for _ in range(100):
            await anyio.sleep(0.05)
            if len(later := await sandbox.read("ticks")) > len(first):
                break
    assert result.stdout.startswith("started") or "started\n" in result.stdout
    assert took < 5
    # It still prints: its output is read although nobody waits for it, so it neither blocks nor dies of a closed pipe.
    assert len(later) > len(first)


async def test_a_background_child_that_floods_the_output_delays_nobody(site: Site) -> None:
    async with site.open() as sandbox:
        began = time.monotonic()
        result = await sandbox.exec("yes & sleep 0.05; exit 5")
    assert result.exit_code == 5
    assert time.monotonic() - began < 10


async def test_fifty_commands_at_once_do_not_mix_their_output(site: Site) -> None:
    results = {}

    async def one(number: int) -> None:
        results[number] = await sandbox.exec(f"echo {number}; echo e{number} >&2; exit {number}")

    async with site.open() as sandbox, anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(one, number)
    assert [(results[n].stdout, results[n].stderr, results[n].exit_code) for n in range(50)] == [
        (f"{n}\n", f"e{n}\n", n) for n in range(50)
    ]


async def test_a_started_process_is_read_while_it_runs_and_ends_with_its_block(site: Site) -> None:
    async with site.open() as sandbox:
        async with sandbox.start("echo one; echo err >&2; read x; echo got $x; sleep 4321.1", stdin=b"hi\n") as process:
            read = b""
            async for chunk in process.stdout():
                read += chunk
                if b"got" in read:
                    break
            assert process.stderr_text() == "err\n"
            assert processes_with("4321.1")
        assert wait_until_gone("4321.1") == []
    assert read == b"one\ngot hi\n"


async def test_a_started_process_that_ends_gives_its_exit_code_and_leaves_its_children(site: Site) -> None:
    async with site.open() as sandbox:
        async with sandbox.start("sleep 4321.2 >/dev/null 2>&1 & echo done; exit 6") as process:
            output = b"".join([chunk async for chunk in process.stdout()])
            assert await process.wait() == 6
        assert output == b"done\n"
        assert processes_with("4321.2")
    assert wait_until_gone("4321.2") == []


async def test_a_process_can_be_talked_to_while_it_runs(site: Site) -> None:
    async with site.open() as sandbox, sandbox.start("while read x; do echo got $x; done", stdin="open") as process:
        output = process.stdout()
        answers = []
        for word in (b"one", b"two"):
            await process.send(word + b"\n")
            answers.append(await anext(output))
    assert answers == [b"got one\n", b"got two\n"]


async def test_more_is_sent_than_a_pipe_holds_and_a_process_that_reads_no_more_is_an_error(site: Site) -> None:
    async with site.open() as sandbox, sandbox.start("head -c 1000000 | wc -c", stdin="open") as process:
        await process.send(b"x" * 1_000_000)
        assert b"".join([chunk async for chunk in process.stdout()]).strip() == b"1000000"
        with pytest.raises(OSError):
            await process.send(b"x" * 1_000_000)


async def test_a_started_process_can_be_killed_while_somebody_reads_it(site: Site) -> None:
    async with site.open() as sandbox, sandbox.start("while :; do echo x; sleep 0.01; done") as process:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read_all, process)
            await anyio.sleep(0.05)
            await process.kill()
        assert await process.wait() == -9


async def _read_all(process: object) -> None:
    async for _ in process.stdout():  # type: ignore[attr-defined]
        pass


async def test_an_error_in_the_block_of_a_process_comes_out_as_it_is(site: Site) -> None:
    with pytest.raises(ZeroDivisionError):
        async with site.open() as sandbox, sandbox.start("sleep 4321.3"):
            raise ZeroDivisionError
    assert wait_until_gone("4321.3") == []


async def test_no_file_descriptor_is_left_open(site: Site) -> None:
    async with site.open() as sandbox:
        await sandbox.exec("true")
        before = open_files()
        for _ in range(5):
            await sandbox.exec("echo x", stdin=b"x")
            await sandbox.exec("echo x", stdin=b"x" * 100_000)
            async with sandbox.start("cat", stdin="open") as process:
                await process.send(b"x")
            with pytest.raises(UsageError):
                await sandbox.exec("\0")
            with anyio.move_on_after(0.02):
                await sandbox.exec("sleep 9")
            async with sandbox.start("sleep 9"):
                pass
        assert open_files() == before


async def test_a_workspace_that_the_agent_removed_is_empty_for_the_next_command(site: Site) -> None:
    async with site.open() as sandbox:
        await sandbox.exec('echo x > x; rm -rf "$PWD"')
        result = await sandbox.exec("ls -A; pwd")
    assert result.stdout == f"{sandbox.workspace}\n"


async def test_commands_see_files_of_the_body_and_the_other_way_round(site: Site) -> None:
    async with site.open() as sandbox:
        await sandbox.write("in/a.txt", b"from the body")
        result = await sandbox.exec("cat in/a.txt; echo from the command > out.txt; echo h > ~/h.txt")
        assert await sandbox.read("out.txt") == b"from the command\n"
        assert await sandbox.read("~/h.txt") == b"h\n"
    assert result.stdout == "from the body"


def test_planning_loads_neither_the_event_loop_nor_patterns() -> None:
    heavy = "'anyio', 'pathspec', 'subprocess'"
    code = f"import sys, reeval.sandboxes.local.kind; print([m for m in ({heavy}) if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
