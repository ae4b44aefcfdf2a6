from __future__ import annotations

import json
import os
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic_core import ValidationError

from reeval.errors import ConfigError, InfrastructureError, Phase
from reeval.harnesses.command import KIND, CommandOptions
from reeval.harnesses.layouts import LAYOUTS
from reeval.plan.toml.options import options_form
from reeval.plan.toml.tables import validate
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Text, Turn
from tests.harnesses.rooms import PlainRoom

pytestmark = pytest.mark.anyio


def planned(command: Any, *, model: str | None = None, effort: str | None = None, **options: Any) -> PlannedHarness:
    return PlannedHarness(
        id="mine", kind="command", model=model, effort=effort, options={"command": command, **options}
    )


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def sends(room: PlainRoom, harness: PlannedHarness, *prompts: str, root: Path = Path()) -> list[Turn]:
    async with KIND.open(harness, root).session(room) as session:
        return [await session.send(prompt) for prompt in prompts]


def events(*lines: Any, then: str = "true") -> str:
    """A shell command that prints lines of events."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return f"cat <<'END'\n{text}\nEND\n{then}"


async def ended_as(room: PlainRoom, harness: PlannedHarness) -> Turn | InfrastructureError:
    try:
        return (await sends(room, harness, "go"))[0]
    except InfrastructureError as error:
        return error


# --- the prompt ---------------------------------------------------------------------------------------

ODD = "odd \"'`$(touch x)\\ ;&|\n\t\x01 ü 🐍 {prompt} * ?"


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("cat", {}),
        (["cat"], {}),
        ("printf %s", {"prompt": "argument"}),
        ("printf %s {prompt}; true", {"prompt": "argument"}),
        ("printf '%s' --p={prompt} | cut -c5-", {"prompt": "argument"}),
        (["printf", "%s"], {"prompt": "argument"}),
        (["printf", "%s", "{prompt}"], {"prompt": "argument"}),
        ([*python("import sys; print(sys.argv[1][2:])"), "--{prompt}"], {"prompt": "argument"}),
    ],
)
async def test_every_odd_prompt_arrives_as_it_is(room: PlainRoom, command: Any, options: dict[str, Any]) -> None:
    prompt = ODD.replace("\n", " ") if "cut" in command else ODD
    (turn,) = await sends(room, planned(command, **options), prompt)
    assert turn.message == prompt
    assert not await (await room.sandbox()).exists("x")


@pytest.mark.parametrize("command", ["echo '{prompt}'", 'echo "{prompt}"', "echo '{prompt}", 'x="a {prompt}" y'])
def test_a_prompt_inside_quotes_is_refused(command: str) -> None:
    with pytest.raises(ConfigError, match="outside of quotes"):
        KIND.open(planned(command, prompt="argument"), Path())


@pytest.mark.parametrize(("prompt", "said"), [("a\0b", "NUL"), ("x" * 200_000, "200000 bytes")])
async def test_a_prompt_that_no_argument_can_hold_says_what_to_write(room: PlainRoom, prompt: str, said: str) -> None:
    with pytest.raises(InfrastructureError, match=said) as caught:
        await sends(room, planned("cat", prompt="argument"), prompt)
    assert 'prompt = "stdin"' in caught.value.reason


async def test_an_empty_and_a_large_prompt_arrive_on_standard_input(room: PlainRoom) -> None:
    turns = await sends(room, planned("wc -c | tr -d ' '"), "", "x" * 1_000_000, "\ud800")
    assert [turn.message for turn in turns] == ["0", "1000000", "1"]


async def test_the_program_is_told_turn_session_model_and_effort(tmp_path: Path) -> None:
    room = PlainRoom(tmp_path, env={"FROM_ROOM": "r", "MODE": "room"})
    command = 'echo "$REEVAL_TURN $REEVAL_SESSION $REEVAL_MODEL $REEVAL_EFFORT $FROM_ROOM $MODE"'
    first, second = await sends(room, planned(command, model="m-1", effort="high", env={"MODE": "own"}), "a", "b")
    session = first.session
    assert session is not None
    assert second.session == session
    assert first.message == f"1 {session} m-1 high r own"
    assert second.message == f"2 {session} m-1 high r own"


async def test_the_session_is_the_same_in_a_repeat_and_another_in_another_attempt(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    rooms = [PlainRoom(tmp_path / name, key=key) for name, key in (("a", "x#1"), ("b", "x#1"), ("c", "x#2"))]
    one, again, other = [(await sends(room, planned("true"), "p"))[0].session for room in rooms]
    assert one == again != other


# --- text ---------------------------------------------------------------------------------------------


async def test_text_is_the_message_and_nothing_else_is_known(room: PlainRoom) -> None:
    (turn,) = await sends(room, planned("printf 'I wrote it.\\n\\n'; echo noise >&2"), "go")
    assert (turn.message, turn.status, turn.usage, turn.model) == ("I wrote it.", "completed", None, None)
    assert turn.events == (Text(text="I wrote it."),)
    assert set(turn.unreported) == set(Channel)


async def test_no_output_is_an_empty_message(room: PlainRoom) -> None:
    (turn,) = await sends(room, planned("true"), "go")
    assert (turn.message, turn.events, turn.status) == ("", (), "completed")


async def test_a_text_program_gives_up_by_its_exit_code(room: PlainRoom) -> None:
    (turn,) = await sends(room, planned("echo so far; echo 'too hard' >&2; exit 3"), "go")
    assert (turn.status, turn.message, turn.error) == ("failed", "so far", "exit code 3: too hard")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program-here", "could not be started"),
        (["no-such-program-here"], "could not be started"),
        ("./not-executable", "could not be started"),
        ("kill -SEGV $$", "killed by SIGSEGV"),
        ("sh -c 'kill -KILL $$'; exit $?", "killed by SIGKILL"),
    ],
)
@pytest.mark.parametrize("output", ["text", "events"])
async def test_a_program_that_does_not_start_or_dies_is_the_machinerys_error(
    room: PlainRoom, command: Any, said: str, output: str
) -> None:
    await (await room.sandbox()).write("not-executable", b"x")
    error = await ended_as(room, planned(command, output=output))
    assert isinstance(error, InfrastructureError)
    assert error.phase == Phase.HARNESS
    assert said in error.reason


async def test_output_without_end_is_read_in_bounded_memory(room: PlainRoom) -> None:
    tracemalloc.start()
    (turn,) = await sends(room, planned("echo first; head -c 100000000 /dev/zero | tr '\\0' 'x'; echo last"), "go")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert turn.message.startswith("first\nxxx")
    assert turn.message.endswith("xxxlast")
    assert "bytes left out]" in turn.message
    assert len(turn.message) < 2_000_100
    assert peak < 30_000_000


async def test_text_that_is_not_utf8_is_replaced(room: PlainRoom) -> None:
    (turn,) = await sends(room, planned(["printf", "a\\377b"]), "go")
    assert turn.message == "a\ufffdb"


# --- events: how it ended -----------------------------------------------------------------------------

DONE = {"type": "done"}
GAVE_UP = {"type": "error", "message": "too hard"}
PROVIDER = {"type": "error", "kind": "provider", "message": "429 overloaded"}


@pytest.mark.parametrize(
    ("lines", "then", "status", "error"),
    [
        ([DONE], "true", "completed", None),
        ([DONE], "exit 3", "completed", None),
        ([GAVE_UP], "true", "failed", "too hard"),
        ([GAVE_UP, DONE], "exit 3", "failed", "too hard"),
        ([DONE, GAVE_UP], "true", "failed", "too hard"),
        ([{"type": "error", "message": ""}], "true", "failed", "the agent gave up and did not say why"),
    ],
)
async def test_what_the_program_said_decides_before_its_exit_code(
    room: PlainRoom, lines: list[Any], then: str, status: str, error: str | None
) -> None:
    turn = await ended_as(room, planned(events(*lines, then=then), output="events"))
    assert isinstance(turn, Turn)
    assert (turn.status, turn.error) == (status, error)


@pytest.mark.parametrize(
    ("lines", "then", "phase", "said"),
    [
        ([], "true", Phase.HARNESS, "without a 'done' event"),
        ([{"type": "message", "text": "bye"}], "true", Phase.HARNESS, "without a 'done' event"),
        ([], "echo boom >&2; exit 3", Phase.HARNESS, "the program died: exit code 3: boom"),
        ([GAVE_UP], "exit 3", Phase.HARNESS, "after the error 'too hard': exit code 3"),
        ([PROVIDER], "true", Phase.MODEL, "429 overloaded"),
        ([PROVIDER], "exit 3", Phase.MODEL, "429 overloaded"),
        ([PROVIDER, DONE], "true", Phase.MODEL, "429 overloaded"),
    ],
)
async def test_a_death_and_a_lost_provider_are_no_failure_of_the_agent(
    room: PlainRoom, lines: list[Any], then: str, phase: Phase, said: str
) -> None:
    error = await ended_as(room, planned(events(*lines, then=then), output="events"))
    assert isinstance(error, InfrastructureError)
    assert error.phase == phase
    assert said in error.reason


# --- processes ----------------------------------------------------------------------------------------


async def test_a_background_process_that_holds_the_output_does_not_hold_the_turn(room: PlainRoom) -> None:
    started = time.monotonic()
    (turn,) = await sends(room, planned("echo hi; sleep 60 &"), "go")
    assert turn.message == "hi"
    assert time.monotonic() - started < 20


async def test_a_program_that_lingers_after_done_is_ended(room: PlainRoom) -> None:
    started = time.monotonic()
    (turn,) = await sends(room, planned(events(DONE, then="sleep 60"), output="events"), "go")
    assert turn.status == "completed"
    assert time.monotonic() - started < 30


async def test_a_program_that_closes_its_output_early_may_work_on(room: PlainRoom) -> None:
    await sends(room, planned("echo hi; exec >&-; sleep 0.3; echo late > late"), "go")
    assert room.file("late") == "late\n"


async def test_a_turn_over_its_limit_is_a_failed_turn_with_what_was_said(room: PlainRoom) -> None:
    said = events({"type": "message", "text": "thinking"}, then="sleep 60")
    (turn,) = await sends(room, planned(said, output="events", turn_timeout=0.5), "go")
    assert (turn.status, turn.message) == ("failed", "thinking")
    assert turn.error == "no end within 0.5 s (turn_timeout)"


async def test_cancelling_a_turn_ends_the_program(room: PlainRoom) -> None:
    with anyio.move_on_after(0.5):
        await sends(room, planned("echo $$ > pid; exec sleep 60"), "go")
    with pytest.raises(ProcessLookupError):
        os.kill(int(room.file("pid")), 0)


async def test_an_error_of_the_sandbox_keeps_its_type(room: PlainRoom) -> None:
    class Lost(PlainRoom):
        async def sandbox(self) -> Any:
            raise InfrastructureError(Phase.SANDBOX, "gone")

    error = await ended_as(Lost(Path()), planned("cat"))
    assert isinstance(error, InfrastructureError)
    assert error.phase == Phase.SANDBOX


# --- files --------------------------------------------------------------------------------------------


async def test_the_projects_own_program_is_placed_before_the_first_turn(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "agents" / "lib" / "__pycache__").mkdir(parents=True)
    (root / "agents" / "run.sh").write_text('#!/bin/sh\ncat "$HOME/lib/sub name.txt"\n')
    (root / "agents" / "run.sh").chmod(0o755)
    (root / "agents" / "lib" / "sub name.txt").write_text("placed")
    (root / "agents" / "lib" / "__pycache__" / "x.pyc").write_text("stale")
    harness = planned(
        '"$HOME/bin/run it.sh"',
        files={"~/bin/run it.sh": "agents/run.sh", "~/lib": "agents/lib", "a b": "agents/run.sh"},
    )
    room = PlainRoom(tmp_path)
    (turn,) = await sends(room, harness, "go", root=root)
    assert turn.message == "placed"
    sandbox = await room.sandbox()
    assert not await sandbox.exists("~/lib/__pycache__")
    assert (await sandbox.exec("test -x 'a b'")).ok


async def test_without_files_a_session_starts_no_sandbox(room: PlainRoom) -> None:
    await sends(room, planned("cat"))
    assert room.started == 0


def test_a_missing_program_is_said_with_its_table(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[harness.mine\]: files: 'agents/run' cannot be read: No such file"):
        KIND.open(planned("run", files={"~/run": "agents/run"}), tmp_path)


async def test_files_that_cannot_be_placed_are_the_machinerys_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    error = await ended_as_root(PlainRoom(tmp_path), planned("cat", files={"a": "x", "a/b": "x"}), tmp_path)
    assert error.phase == Phase.HARNESS
    assert "'a/b' cannot be placed" in error.reason


async def ended_as_root(room: PlainRoom, harness: PlannedHarness, root: Path) -> InfrastructureError:
    with pytest.raises(InfrastructureError) as caught:
        await sends(room, harness, "go", root=root)
    return caught.value


def test_the_fingerprint_follows_what_is_placed(tmp_path: Path) -> None:
    program = tmp_path / "p"
    program.write_text("1")
    harness = planned("p", files={"~/p": "p"})
    first = KIND.fingerprint(harness, tmp_path)
    assert first == KIND.fingerprint(harness, tmp_path) != ""
    program.chmod(0o755)
    second = KIND.fingerprint(harness, tmp_path)
    program.write_text("2")
    assert len({first, second, KIND.fingerprint(harness, tmp_path)}) == 3
    assert KIND.fingerprint(planned("p"), tmp_path) == ""


# --- options ------------------------------------------------------------------------------------------

BAD = [
    ({"command": ""}, "not an empty one"),
    ({"command": []}, "not an empty one"),
    ({"command": [""]}, "not an empty one"),
    ({"command": "x {prompt}"}, 'prompt = "argument"'),
    ({"command": ["x", "{prompt}"]}, 'prompt = "argument"'),
    ({"command": "x", "turn_timeout": 0}, "more than 0 seconds, not 0"),
    ({"command": "x", "layout": "codx"}, "'codex', not 'codx'"),
    ({"command": "x", "output": "json"}, "json"),
    ({"command": "x", "unreported": ["toools"]}, "toools"),
    ({}, "command"),
]


@pytest.mark.parametrize(("options", "said"), BAD)
def test_options_that_cannot_be_called_are_refused_by_both_readers(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        KIND.open(PlannedHarness(id="mine", kind="command", options=options), Path())
    assert said in str(caught.value)
    with pytest.raises(ValidationError) as refused:
        validate(options, options_form(CommandOptions))
    assert said in str(refused.value)


def test_the_kind_tells_the_planner_what_it_needs() -> None:
    assert not KIND.in_process
    assert KIND.layout({"command": "x", "layout": "qwen"}) == LAYOUTS["qwen"]
    assert KIND.unreported({"command": "x"}) == frozenset(Channel)
    assert KIND.unreported({"command": "x", "output": "events"}) == frozenset()
    silent = {"command": "x", "output": "events", "unreported": ["searches"]}
    assert KIND.unreported(silent) == {Channel.SEARCHES}
