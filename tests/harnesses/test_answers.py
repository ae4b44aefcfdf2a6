"""What lines of events make of a turn, without any program."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import msgspec
import pytest

from reeval.errors import InfrastructureError
from reeval.harnesses.program.answers import EventAnswer, TextAnswer
from reeval.harnesses.program.lines import Lines, Tail
from reeval.schema.transcript import (
    Channel,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)
from reeval.usage import Usage


def turn_of(*lines: Any, unreported: frozenset[Channel] = frozenset()) -> Turn:
    answer = EventAnswer(unreported)
    for line in lines:
        answer.feed((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
    return answer.turn("p", "s", None)


def test_every_event_has_its_place_in_the_turn() -> None:
    turn = turn_of(
        {"type": "model", "name": "m-1"},
        {"type": "reasoning", "text": "hm"},
        {"type": "message", "text": "first"},
        {"type": "tool", "name": "shell", "native": "Bash", "input": {"command": "ls"}, "output": "a", "ok": True}
        | {"exit_code": 0, "duration": 0.5},
        {"type": "tool", "name": "mcp__db__query"},
        {"type": "edit", "path": "a.py", "kind": "create"},
        {"type": "edit", "path": "b.py"},
        {"type": "search", "query": "q", "ok": False},
        {"type": "fetch", "url": "u"},
        {"type": "retry", "message": "once more"},
        {"type": "usage", "input": 10, "output": 2, "cache_read": 5, "cost": 0.25},
        {"type": "message", "text": "last"},
        {"type": "done"},
    )
    assert turn == Turn(
        prompt="p",
        message="last",
        events=(
            Reasoning(text="hm"),
            Text(text="first"),
            ToolCall(
                name="shell",
                native="Bash",
                input={"command": "ls"},
                output="a",
                ok=True,
                exit_code=0,
                duration=0.5,
            ),
            ToolCall(name="mcp__db__query"),
            FileEdit(path="a.py", kind="create"),
            FileEdit(path="b.py"),
            WebSearch(query="q", ok=False),
            WebFetch(url="u"),
            Notice(kind="retry", message="once more"),
            Text(text="last"),
        ),
        usage=Usage(input=10, output=2, cache_read=5, cost=0.25),
        model="m-1",
        session="s",
    )


@pytest.mark.parametrize(
    ("used", "usage", "unreported"),
    [
        ([], None, {"usage", "cost"}),
        ([{"input": 1, "output": 2}], Usage(input=1, output=2), {"cost"}),
        ([{"input": 1, "output": 2}, {"input": 10, "output": 20}], Usage(input=11, output=22), {"cost"}),
        ([{"input": 1, "output": 2, "cost": 0.5}, {"input": 1, "output": 2}], Usage(input=2, output=4), {"cost"}),
        ([{"output": 2, "cost": 0.5}], Usage(output=2, cost=0.5), {"usage"}),
    ],
)
def test_usage_events_add_up_and_unknown_stays_unknown(
    used: list[dict[str, Any]], usage: Usage | None, unreported: set[str]
) -> None:
    turn = turn_of({"type": "model", "name": "m"}, *({"type": "usage", **one} for one in used))
    assert turn.usage == usage
    assert set(turn.unreported) == unreported


def test_the_last_query_is_that_of_the_answer() -> None:
    turn = turn_of({"type": "sql", "query": "SELECT 1"}, {"type": "sql", "query": "SELECT 2"}, {"type": "done"})
    assert (turn.sql, turn.events) == ("SELECT 2", ())
    assert turn_of({"type": "done"}).sql is None


def test_a_turn_says_what_the_program_never_reports() -> None:
    turn = turn_of(unreported=frozenset({Channel.SEARCHES}))
    assert set(turn.unreported) == {Channel.SEARCHES, Channel.USAGE, Channel.COST, Channel.MODEL}


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (b"warning: old config", "not JSON: warning: old config"),
        (b"[1]", "no known type: [1]"),
        (b'{"text": "x"}', 'no known type: {"text": "x"}'),
        (b'{"type": "telemetry", "x": 1}', 'no known type: {"type": "telemetry", "x": 1}'),
        (b'{"type": ["done"]}', 'no known type: {"type": ["done"]}'),
        (b'{"type": "message"}', "unusable message event (Object missing required field `text`)"),
        (b'{"type": "edit", "path": "a", "kind": "move"}', "unusable edit event (Invalid enum value 'move'"),
        (b'{"type": "usage", "input": -1}', "unusable usage event (input is -1, which is no amount"),
        (b'{"type": "usage", "input": 1%s}' % (b"0" * 400), "unusable usage event (input is 1000"),
        (b"[" * 5000, "not JSON: [[["),
        (b"\xff\xfe{", "not JSON: \ufffd\ufffd{"),
    ],
)
def test_what_cannot_be_read_is_a_note_and_the_rest_counts(line: bytes, note: str) -> None:
    turn = turn_of(line, {"type": "message", "text": "fine"}, {"type": "done"})
    assert turn.message == "fine"
    (odd, _) = turn.events
    assert isinstance(odd, Notice)
    assert odd.kind == "note"
    assert odd.message.startswith(note)
    assert len(odd.message) < 600


@pytest.mark.parametrize("odd", [{"exit_code": 10**30}, {"exit_code": -(10**30)}, {"duration": -1}, {"started": 1e300}])
def test_a_call_counts_without_a_number_that_none_can_have(odd: dict[str, Any]) -> None:
    numbers = {"exit_code": -9, "started": 0.0, "duration": 2.5}
    (call,) = turn_of({"type": "tool", "name": "shell", **numbers, **odd}).tool_calls
    assert call == ToolCall(name="shell", **{**numbers, **dict.fromkeys(odd)})  # type: ignore[arg-type]


def test_keys_that_are_not_known_and_empty_lines_change_nothing() -> None:
    turn = turn_of({"type": "message", "text": "hi", "id": 7}, b"", b"  \r")
    assert turn.events == (Text(text="hi"),)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (rb'{"type": "message", "text": "a\ud83db"}', "a\ufffdb"),
        (rb'{"type": "message", "text": "a\udc0db"}', "a\ufffdb"),
        (rb'{"type": "message", "text": "\ud83d\udc0d \ud83d"}', "🐍 \ufffd"),
        (b'{"type": "message", "text": "a\xffb"}', "a\ufffdb"),
        (b'{"type": "message", "text": "a\\u0000\\u001b[31mb"}', "a\0\x1b[31mb"),
    ],
)
def test_text_of_every_kind_can_be_written_back(line: bytes, text: str) -> None:
    turn = turn_of(line)
    assert turn.message == text
    assert msgspec.json.decode(msgspec.json.encode(turn), type=Turn) == turn


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_the_same_however_the_output_is_cut(size: int) -> None:
    lines = [{"type": "message", "text": f"ü {number}"} for number in range(20)] + [{"type": "done"}]
    output = "\r\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    answer = EventAnswer()
    for start in range(0, len(output), size):
        answer.feed(output[start : start + size])
    assert answer.error(0, "") is None
    turn = answer.turn("p", "s", None)
    assert [event.text for event in turn.events if isinstance(event, Text)] == [f"ü {number}" for number in range(20)]


def test_a_last_line_without_end_counts_once() -> None:
    answer = EventAnswer()
    answer.feed(b'{"type": "message", "text": "x"}\n{"type": "done"}')
    assert answer.error(1, "") is None
    assert answer.turn("p", "s", None).events == (Text(text="x"),)


def test_odd_lines_beyond_a_few_are_counted_and_not_kept() -> None:
    turn = turn_of(*[b"noise"] * 1000)
    assert len(turn.events) == 21
    assert turn.events[-1] == Notice(
        kind="note", message="980 events or odd lines beyond what is kept of a turn were left out"
    )


def test_a_flood_of_events_costs_bounded_memory() -> None:
    answer = EventAnswer()
    output = json.dumps({"type": "tool", "name": "shell", "output": "x" * 100_000}).encode() + b"\n"
    tracemalloc.start()
    for _ in range(500):
        answer.feed(output)
    for _ in range(20_000):
        answer.feed(b'{"type":"edit","path":"a"}\n')
    answer.feed(b'{"type":"message","text":"end"}\n{"type":"done"}\n')
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    turn = answer.turn("p", "s", None)
    assert answer.error(0, "") is None
    assert turn.message == "end"
    assert len(turn.events) <= 10_001
    assert {Channel.TOOLS, Channel.EDITS} <= set(turn.unreported)
    assert Channel.SEARCHES not in turn.unreported
    assert peak < 30_000_000


def test_big_texts_are_cut_in_the_middle() -> None:
    turn = turn_of(
        {"type": "tool", "name": "shell", "input": {"command": "x" * 300_000}, "output": "a" + "b" * 300_000 + "c"},
        {"type": "message", "text": "a" + "b" * 3_000_000 + "c"},
    )
    (call, text) = turn.events
    assert isinstance(call, ToolCall)
    assert isinstance(text, Text)
    for kept, limit in (
        (call.output, 200_000),
        (call.input, 200_000),
        (text.text, 2_000_000),
        (turn.message, 2_000_000),
    ):
        assert limit < len(kept) < limit + 100
        assert "characters left out]" in kept
        assert kept[-1] in "c}"


def test_an_input_that_is_nested_without_end_is_left_out() -> None:
    line = b'{"type": "tool", "name": "x", "input": ' + b"[" * 400 + b"]" * 400 + b"}"
    turn = turn_of(line)
    assert turn.tool_calls[0].input == "left out: nested deeper than 50 levels"
    assert msgspec.json.encode(turn)


def test_a_line_that_never_ends_is_dropped_and_said() -> None:
    answer = EventAnswer()
    for _ in range(100):
        answer.feed(b"x" * 100_000)
    answer.feed(b'\n{"type": "done"}\n')
    assert answer.error(0, "") is None
    turn = answer.turn("p", "s", None)
    assert Channel.TOOLS in turn.unreported
    (note,) = turn.events
    assert note == Notice(kind="note", message=f"1 lines of more than {4 << 20} bytes were left out")


def test_lines_and_their_remains() -> None:
    lines = Lines(limit=4)
    assert list(lines.feed(b"a\nbb")) == [b"a"]
    assert list(lines.feed(b"cc\nddddd\n\ne")) == [b"bbcc"]
    assert list(lines.rest()) == [b"e"]
    assert lines.dropped == 1


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ([], ""),
        ([b"abc"], "abc"),
        ([b"abcd", b"efgh"], "abcdefgh"),
        ([b"abcd", b"efgh", b"ijkl"], "abcd\n[4 bytes left out]\nijkl"),
        ([bytes([65 + n]) for n in range(12)], "ABCD\n[4 bytes left out]\nIJKL"),
        ([b"x" * 1000], f"xxxx\n[{1000 - 8} bytes left out]\nxxxx"),
        ([b"aaa\xc3", b"\xbc"], "aaaü"),
    ],
)
def test_head_and_tail_are_kept_however_chunks_come(chunks: list[bytes], text: str) -> None:
    tail = Tail(8)
    for chunk in chunks:
        tail.feed(chunk)
    assert tail.text() == text


def test_a_program_that_dies_by_a_signal_is_never_a_failed_turn() -> None:
    for exit_code in (-11, -9, 137, 139):
        with pytest.raises(InfrastructureError, match="killed by SIG"):
            TextAnswer().error(exit_code, "")
    assert TextAnswer().error(255, "") == "exit code 255"
