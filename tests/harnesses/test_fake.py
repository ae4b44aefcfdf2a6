from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from pydantic_core import ValidationError

from reeval.errors import ConfigError, InfrastructureError, Phase
from reeval.harnesses.fake import KIND, FakeOptions
from reeval.harnesses.layouts import LAYOUTS
from reeval.plan.toml.options import options_form
from reeval.plan.toml.tables import validate
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, FileEdit, Text, ToolCall, Turn
from reeval.usage import Usage
from tests.harnesses.rooms import PlainRoom

pytestmark = pytest.mark.anyio


def planned(model: str | None = None, **options: Any) -> PlannedHarness:
    return PlannedHarness(id="terse", kind="fake", model=model, options=options)


async def sends(room: PlainRoom, harness: PlannedHarness, *prompts: str) -> list[Turn]:
    async with KIND.open(harness, Path()).session(room) as session:
        return [await session.send(prompt) for prompt in prompts]


async def test_without_options_it_says_done_and_starts_no_sandbox(room: PlainRoom) -> None:
    (turn,) = await sends(room, planned(), "hello")
    assert turn == Turn(
        prompt="hello",
        message="Done.",
        events=(Text(text="Done."),),
        unreported=(Channel.COST, Channel.MODEL, Channel.USAGE),
    )
    assert room.started == 0


async def test_steps_really_happen_and_are_reported_as_an_agent_would(room: PlainRoom) -> None:
    script = [
        [
            {"exec": "cat a/b.txt; echo oops >&2; exit 3"},
            {"write": {"a/b.txt": "one", "~/c": "two"}},
            {"exec": ["cat", "a/b.txt"]},
            {"write": {"a/b.txt": "three"}},
            {"reply": "first"},
            {"reply": "last"},
        ]
    ]
    (turn,) = await sends(room, planned(script=script), "go")
    assert room.file("a/b.txt") == "three"
    assert room.file("~/c") == "two"
    failed, made, _, second, _, read, changed, edit, *said = turn.events
    assert isinstance(failed, ToolCall)
    assert (failed.name, failed.ok, failed.exit_code) == ("shell", False, 3)
    assert "oops" in failed.output
    assert made == ToolCall(name="edit", input={"path": "a/b.txt"}, ok=True)
    assert second == ToolCall(name="edit", input={"path": "~/c"}, ok=True)
    assert isinstance(read, ToolCall)
    assert (read.input, read.output, read.exit_code) == ({"command": "cat a/b.txt"}, "one", 0)
    assert (changed, edit) == (made, FileEdit(path="a/b.txt", kind="modify"))
    assert said == [Text(text="first"), Text(text="last")]
    assert (turn.message, turn.status, room.started) == ("last", "completed", 1)


async def test_each_send_plays_the_next_list_and_the_last_one_repeats(room: PlainRoom) -> None:
    script = [[{"reply": "one"}], [{"reply": "two"}], []]
    turns = await sends(room, planned(script=script), "a", "b", "c", "d")
    assert [turn.message for turn in turns] == ["one", "two", "", ""]


async def test_an_error_step_ends_the_turn_as_failed_and_the_next_send_goes_on(room: PlainRoom) -> None:
    script = [[{"reply": "so far"}, {"error": "out of ideas"}, {"write": {"never": ""}}], [{"reply": "again"}]]
    first, second = await sends(room, planned(script=script), "a", "b")
    assert (first.status, first.error, first.message) == ("failed", "out of ideas", "so far")
    assert (second.status, room.started) == ("completed", 0)


async def test_a_step_may_claim_the_query_of_the_answer(room: PlainRoom) -> None:
    script = [[{"reply": "I counted."}, {"sql": "SELECT 1 -- {prompt}"}], [{"reply": "No query."}]]
    first, second = await sends(room, planned(script=script), "how many?", "and now?")
    assert (first.message, first.sql) == ("I counted.", "SELECT 1 -- how many?")
    assert second.sql is None


async def test_a_path_that_cannot_be_written_is_a_failed_call_and_the_script_goes_on(room: PlainRoom) -> None:
    script = [[{"write": {"d/x": "1"}}, {"write": {"d": "2"}}, {"reply": "on"}]]
    (turn,) = await sends(room, planned(script=script), "a")
    assert turn.events[2:] == (
        ToolCall(name="edit", input={"path": "d"}, ok=False, output="Is a directory"),
        Text(text="on"),
    )


async def test_the_prompt_fills_texts_and_never_commands(room: PlainRoom) -> None:
    prompt = "odd \"'`$(x)\\ \x01 ü 🐍 {prompt}"
    script = [[{"write": {"p": "<{prompt}>"}}, {"exec": "echo '{prompt}'"}, {"reply": "{prompt}!"}]]
    (turn,) = await sends(room, planned(script=script), prompt)
    assert turn.message == f"{prompt}!"
    assert room.file("p") == f"<{prompt}>"
    assert turn.tool_calls[1].output == "{prompt}\n"


async def test_commands_see_the_agents_variables(tmp_path: Path) -> None:
    room = PlainRoom(tmp_path, env={"TOKEN": "s3cret"})
    (turn,) = await sends(room, planned(script=[[{"exec": "echo $TOKEN"}]]), "a")
    assert turn.tool_calls[0].output == "s3cret\n"


async def test_output_of_commands_is_bounded(room: PlainRoom) -> None:
    (turn,) = await sends(room, planned(script=[[{"exec": "head -c 900000 /dev/zero | tr '\\0' x"}]]), "a")
    output = turn.tool_calls[0].output
    assert len(output) < 200_100
    assert "[700000 characters left out]" in output


async def test_flakes_are_decided_by_the_attempt_alone(tmp_path: Path) -> None:
    harness = planned(flake_rate=0.5, script=[[{"reply": "wrote"}]])

    async def messages() -> list[str]:
        rooms = [PlainRoom(tmp_path, key=f"e@fake/-/fake#{run}") for run in range(200)]
        return [(await sends(room, harness, "a"))[0].message for room in rooms]

    first = await messages()
    assert first == await messages()
    flaked = [message for message in first if message != "wrote"]
    assert 70 <= len(flaked) <= 130
    assert all("wrote nothing" in message for message in flaked)


@pytest.mark.parametrize(("rate", "message"), [(0, "wrote"), (1, "I wrote nothing this time (flake_rate).")])
async def test_the_ends_of_the_flake_rate_are_never_and_always(room: PlainRoom, rate: float, message: str) -> None:
    turns = await sends(room, planned(flake_rate=rate, script=[[{"reply": "wrote"}]]), "a", "b")
    assert [turn.message for turn in turns] == [message, message]


async def test_a_skill_of_the_environment_chooses_the_other_script(tmp_path: Path) -> None:
    harness = planned(with_skill={"name": "house", "script": [[{"reply": "Ahoy"}]]})
    (with_it, later) = await sends(PlainRoom(tmp_path, skills=("x", "house")), harness, "a", "b")
    (without,) = await sends(PlainRoom(tmp_path, skills=("x",)), harness, "a")
    assert (with_it.message, later.message, without.message) == ("Ahoy", "Ahoy", "Done.")
    assert with_it.tool_calls == (ToolCall(name="skill", input={"skill": "house"}, ok=True),)
    assert later.tool_calls == without.tool_calls == ()


async def test_broken_machinery_fails_before_the_first_turn(room: PlainRoom) -> None:
    with pytest.raises(InfrastructureError, match="no such account") as caught:
        await sends(room, planned(fail_with="no such account"), "a")
    assert caught.value.phase == Phase.HARNESS


async def test_so_many_sessions_hang_and_the_later_ones_do_not(room: PlainRoom) -> None:
    harness = KIND.open(planned(hang_start=2), Path())
    ready = []
    for _ in range(4):
        with anyio.move_on_after(0.05) as limit:
            async with harness.session(room):
                pass
        ready.append(not limit.cancelled_caught)
    assert ready == [False, False, True, True]


async def test_a_hanging_session_can_be_cancelled_every_time(room: PlainRoom) -> None:
    for _ in range(2):
        with anyio.move_on_after(0.05) as limit:
            await sends(room, planned(hang_start=True), "a")
        assert limit.cancelled_caught


async def test_a_delay_can_be_cancelled(room: PlainRoom) -> None:
    with anyio.move_on_after(0.05) as limit:
        await sends(room, planned(delay=60), "a")
    assert limit.cancelled_caught


async def test_usage_and_model_are_reported_as_configured(room: PlainRoom) -> None:
    (turn,) = await sends(room, planned("tiny-1", usage={"input": 12, "output": 3, "cost": 0.5}), "a")
    assert turn.usage == Usage(input=12, output=3, cost=0.5)
    assert turn.model == "tiny-1"
    assert turn.unreported == ()


def test_a_turn_survives_the_journal() -> None:
    room = PlainRoom(Path())

    async def one() -> Turn:
        return (await sends(room, planned("m"), "hi"))[0]

    turn = anyio.run(one)
    line = msgspec.json.encode(turn)
    assert msgspec.json.decode(line, type=Turn) == turn
    assert len(line) < 150


def test_the_kind_tells_the_planner_what_it_needs() -> None:
    assert KIND.in_process
    assert KIND.layout({}).rules == "AGENTS.md"
    assert KIND.layout({"layout": "claude-code"}) == LAYOUTS["claude-code"]
    assert KIND.unreported({}) == {Channel.USAGE, Channel.COST}
    assert KIND.unreported({"usage": {"input": 1, "output": 1}}) == {Channel.COST}
    assert KIND.unreported({"usage": {"input": 1, "output": 1, "cost": 0.1}}) == frozenset()
    assert KIND.fingerprint(planned(), Path()) == ""


BAD = [
    ({"script": []}, "not an empty one"),
    ({"script": [[{}]]}, "not with none of them"),
    ({"script": [[{"exec": "x", "reply": "y"}]]}, "not with exec and reply"),
    ({"script": [[{"write": "x"}]]}, "write"),
    ({"flake_rate": 1.5}, "from 0 to 1, not 1.5"),
    ({"delay": -1}, "0 or more seconds, not -1"),
    ({"hang_start": -1}, "number of sessions, not -1"),
    ({"layout": "claud-code"}, "'claude-code', not 'claud-code'"),
    ({"layout": "zzz"}, "one of claude-code, codex"),
    ({"with_skill": {"name": "x", "script": []}}, "not an empty one"),
]


@pytest.mark.parametrize(("options", "said"), BAD)
def test_options_that_cannot_be_played_are_refused_by_both_readers(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        KIND.open(planned(**options), Path())
    assert str(caught.value).startswith("[harness.terse]: ")
    assert said in str(caught.value)
    with pytest.raises(ValidationError) as refused:
        validate(options, options_form(FakeOptions))
    assert said in str(refused.value)


@pytest.mark.parametrize("options", [{"scrpt": []}, {"script": [[{"exce": "x"}]]}, {"usage": {"inptu": 1}}])
def test_a_misspelt_key_is_refused_at_any_depth(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="not permitted"):
        validate(options, options_form(FakeOptions))


def test_options_survive_the_plan() -> None:
    written = {
        "script": [[{"exec": ["ls"]}, {"exec": "ls"}, {"write": {"a": "b"}}], [{"error": "x"}]],
        "with_skill": {"name": "s", "script": [[{"reply": "r"}]]},
        "usage": {"input": 1},
        "hang_start": 1,
    }
    options = validate(written, options_form(FakeOptions))
    assert isinstance(options, FakeOptions)
    assert options.hang_start is not True
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(written)), FakeOptions) == options
