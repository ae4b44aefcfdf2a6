"""An attempt as a timeline: the Trace Event Format, held to what viewers need."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import msgspec

from reeval.report.pictures.timeline import trace_text
from reeval.schema.record import AttemptRecord, Outcome
from reeval.schema.transcript import Notice, Reasoning, Text, ToolCall, Turn
from reeval.usage import Usage


def shell(command: str, **parts: Any) -> ToolCall:
    return ToolCall(name="shell", input={"command": command}, ok=True, **parts)


TURN = Turn(
    prompt="Go.",
    message="Done.",
    agent="codex 1.2.3",
    started=0.5,
    duration=4.0,
    usage=Usage(input=10, output=2),
    events=(
        Text(text="I begin."),
        Reasoning(text="hm"),
        shell("make", started=1.0, duration=2.0),
        shell("make test", started=1.5, duration=2.0),
        shell("ls", duration=0.25),
        ToolCall(name="edit", input={"path": "a"}, started=3.75),
        Notice(kind="retry", message="429"),
    ),
)
RECORD = AttemptRecord(
    eval="evals/a.eval.py::a",
    attempt="codex/-/local#1",
    outcome=Outcome.PASS,
    started_at=1_790_000_000_000,
    duration=5.0,
    harness="codex",
    sandbox="local",
    run=1,
    turns=[TURN],
)


def events(record: AttemptRecord) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(trace_text(record))["traceEvents"]
    return found


def spans(record: AttemptRecord) -> dict[str, tuple[int, int, int]]:
    """Name → row, begin and length in microseconds."""
    return {one["name"]: (one["tid"], one["ts"], one["dur"]) for one in events(record) if one["ph"] == "X"}


def test_attempt_turns_and_calls_stand_at_their_times() -> None:
    assert spans(RECORD) == {
        "codex/-/local#1": (1, 0, 5_000_000),
        "turn 1": (2, 500_000, 4_000_000),
        "shell: make": (3, 1_500_000, 2_000_000),
        "shell: make test": (4, 2_000_000, 2_000_000),
        "shell: ls": (3, 4_000_000, 250_000),
    }


def test_what_has_no_length_is_a_moment() -> None:
    moments = [(one["name"], one["ts"]) for one in events(RECORD) if one["ph"] == "i"]
    assert moments == [("said", 500_000), ("edit", 4_250_000), ("retry", 4_250_000)]


def test_a_call_whose_begin_is_not_known_says_so() -> None:
    told = {one["name"]: one["args"].get("time") for one in events(RECORD) if one["ph"] == "X"}
    assert told["shell: ls"] == "after the event before it"
    assert told["shell: make"] is None


def test_every_event_has_what_viewers_need() -> None:
    for one in events(RECORD):
        assert one.keys() >= {"ph", "pid", "tid", "name", "args"}
        assert one["ph"] == "M" or isinstance(one["ts"], int)
    named = {(one["name"], one["tid"]) for one in events(RECORD) if one["ph"] == "M"}
    assert named == {("process_name", 0), *(("thread_name", row) for row in (1, 2, 3, 4))}


def test_spans_of_a_row_never_overlap() -> None:
    # In the order in which they end, as agents report them; each begins when another ends, between two microseconds.
    times = [(step * 0.0000016, step * 0.0000016 + length * 0.0000016) for length in (1, 3) for step in range(50)]
    calls = [shell("x", started=begin, duration=end - begin) for begin, end in sorted(times, key=lambda time: time[1])]
    turns = [Turn(prompt="", started=step * 0.0000016, duration=0.0000016, events=tuple(calls)) for step in range(9)]
    rows: dict[int, list[tuple[int, int]]] = {}
    for one in events(msgspec.structs.replace(RECORD, turns=turns)):
        if one["ph"] == "X":
            rows.setdefault(one["tid"], []).append((one["ts"], one["ts"] + one["dur"]))
    for spans in rows.values():
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(spans)))


def test_a_turn_tells_what_it_used_and_long_texts_are_cut() -> None:
    record = AttemptRecord(
        eval="e",
        attempt="a",
        outcome=Outcome.FAIL,
        started_at=0,
        duration=1,
        harness="x",
        sandbox="s",
        run=1,
        turns=[Turn(prompt="x" * 10_000, duration=1.0, usage=Usage(input=10, output=2))],
    )
    turn = next(one for one in events(record) if one["name"] == "turn 1")
    assert len(turn["args"]["prompt"]) < 3000
    assert turn["args"]["usage"]["input"] == 10


def test_an_attempt_without_turns_is_still_a_timeline() -> None:
    record = AttemptRecord(
        eval="e", attempt="a", outcome=Outcome.ERROR, started_at=0, duration=0, harness="x", sandbox="s", run=1
    )
    assert spans(record) == {"a": (1, 0, 0)}


def test_a_shell_call_without_a_command_is_called_by_its_name() -> None:
    turn = Turn(prompt="Go.", message="", duration=1.0, events=(ToolCall(name="shell", duration=0.5),))
    assert "shell" in spans(msgspec.structs.replace(RECORD, turns=[turn]))
