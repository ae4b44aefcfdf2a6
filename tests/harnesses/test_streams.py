"""What real agents printed comes to what it came to when it was recorded (see ``streams/record.py``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.program.stream import StreamEvent
from tests.harnesses.streams.record import PLACE, SCENARIOS, WORKSPACE, came_to, ending_of

RECORDED = sorted(PLACE.glob("*/*.json"))


def replayed(path: Path, change: Any = lambda data: data) -> list[Any]:
    """Read a recorded conversation again, each stream changed, and return what its turns come to."""
    recorded = json.loads(path.read_text())
    agent = agent_named(path.parent.name)
    translator = agent.translator(WORKSPACE, tuple(recorded["servers"]))
    found = []
    for number, turn in enumerate(recorded["turns"], 1):
        data = change(path.with_name(f"{path.stem}-{number}.jsonl").read_bytes())
        found.append(came_to(agent, translator, data, ending_of(turn["ending"]), first=number == 1))
    return found


def expected(path: Path) -> list[Any]:
    return [turn["came_to"] for turn in json.loads(path.read_text())["turns"]]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stream_comes_to_its_turn(path: Path) -> None:
    assert replayed(path) == expected(path)


def test_every_agent_has_every_scenario() -> None:
    for agent in {path.parent for path in RECORDED}:
        assert {path.stem for path in agent.glob("*.json")} == SCENARIOS.keys()


def with_more(data: bytes) -> bytes:
    """What a new version may print: events and keys that nobody knows, in all objects."""

    def grown(value: Any) -> Any:
        if isinstance(value, dict):
            return {**{key: grown(item) for key, item in value.items()}, "brand_new": {"a": [1, None]}}
        return [*map(grown, value)] if isinstance(value, list) else value

    lines = []
    for line in data.splitlines():
        try:
            lines.append(json.dumps(grown(json.loads(line))).encode())
        except ValueError:
            lines.append(line)
        lines.append(b'{"type": "brand.new", "item": {"type": "brand_new", "id": 7}}')
    return b"\n".join(lines) + b"\n"


def without_notes(turns: list[Any]) -> list[Any]:
    """Leave out notes and what calls were given: a shape that grew stands in them as it is."""
    for turn in turns:
        events = [one for one in turn.get("events", ()) if one.get("kind") != "note"]
        turn["events"] = [{key: item for key, item in one.items() if key != "input"} for one in events]
    return turns


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_unknown_events_and_keys_change_nothing(path: Path) -> None:
    assert without_notes(replayed(path, with_more)) == without_notes(expected(path))


def damaged(data: bytes) -> bytes:
    """Lines that are not JSON among the others, and values of every wrong type."""
    odd: list[bytes] = []
    for line in data.splitlines():
        odd += [b"Warning: something", b"{", b"[]", b"null", line]
    return b"\n".join(odd) + b"\n"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_lines_that_are_not_json_are_notes(path: Path) -> None:
    assert without_notes(replayed(path, damaged)) == without_notes(expected(path))


def test_gemini_tells_how_a_command_ended_in_place_of_an_output_alone() -> None:
    def silent(data: bytes) -> bytes:
        return data.replace(b'"output":"oops"', b'"output":"Command exited with code: 3"')

    first, _ = replayed(PLACE / "gemini/ok.json", silent)
    ran, failed = (event for event in first["events"] if event.get("name") == "shell")
    assert (ran.get("ok"), ran.get("exit_code")) == (None, None)
    assert (failed["ok"], failed["exit_code"]) == (False, 3)


def test_a_stream_of_opencode_that_breaks_off_is_no_finished_turn() -> None:
    def broken(data: bytes) -> bytes:
        return data[: data.rindex(b'"reason":"tool-calls"')] + b'"reason":"tool-calls"}}\n'

    for turn in replayed(PLACE / "opencode/ok.json", broken):
        assert (turn["phase"], turn["retryable"]) == ("harness", False)
        assert "ended without saying how its turn ended" in turn["reason"]


WRONG = [None, 3, True, 10**400, "x", [], {}, [None, 3, "x", {}], {"type": 3}, {"message": "x", "content": 3}]


@pytest.mark.parametrize("agent", sorted({path.parent.name for path in RECORDED}))
@pytest.mark.parametrize("scenario", ["ok", "no-key"])
def test_a_value_of_any_type_anywhere_never_fails(agent: str, scenario: str) -> None:
    path = PLACE / agent / f"{scenario}-1.jsonl"
    translator = agent_named(agent).translator(WORKSPACE, ("demo",))
    for line in path.read_bytes().splitlines():
        found = json.loads(line) if line.startswith(b"{") else {}
        for twisted in twists(found):
            translator.begin()
            for event in translator.lines([json.dumps(twisted).encode()]):
                assert event == written_and_read(event)
    list(translator.end(ending_of({"exit_code": 1, "stderr": "", "result": '{"messages": [3]}'})))


def written_and_read(event: StreamEvent | str) -> Any:
    return msgspec.json.decode(msgspec.json.encode(event), type=StreamEvent | str)


def twists(value: Any) -> Any:
    """Yield the value with each of its parts replaced by each wrong one."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value[:3]):
            for wrong in [*WRONG, *twists(item)]:
                copy: Any = value.copy()
                copy[key] = wrong
                yield copy
