"""The committed JSON Schema: current, described, and true of real records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reeval.errors import Phase
from reeval.record.compile import write_record
from reeval.record.format.json_schema import record_schema, schema_text
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.record import ArtifactRef, AttemptFailure, ObservationRecord, Outcome, RunEnd, RunState, SpenderUsage
from reeval.schema.transcript import (
    Changes,
    FileChange,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    WebFetch,
    WebSearch,
)
from reeval.secrets import Masker
from reeval.usage import Usage
from tests.record.samples import attempt, big_turn, check, planned_attempt, start, turn

COMMITTED = Path(__file__).parents[2] / "docs" / "reference" / "record.schema.json"


def test_the_committed_schema_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m reeval.record.format.json_schema > docs/reference/record.schema.json"
    )


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(record_schema())


def test_every_type_and_most_fields_are_described() -> None:
    for name, definition in record_schema()["$defs"].items():
        assert definition["description"].strip(), name
    attempt_id = record_schema()["$defs"]["AttemptRecord"]["properties"]["attempt"]
    assert attempt_id["description"] == "Its id in the eval: ``terse/plain/fake#1``."


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": record_schema()["$defs"]})


def valid(name: str, data: Any) -> None:
    validator(name).validate(data)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    events = (
        Text(text="t"),
        Reasoning(text="r"),
        ToolCall(name="shell", input={"command": "ls"}, ok=True, exit_code=0),
        FileEdit(path="a"),
        WebSearch(query="q"),
        WebFetch(url="u"),
        Notice(kind="retry", message="m"),
    )
    changes = Changes(files=(FileChange(path="a", status="added"),), patch="+a")
    with RunStore(tmp_path).create(Masker()) as writer:
        writer.start(start(writer.directory.name, git_commit="abc", git_dirty=True))
        ref = writer.artifact(planned_attempt(), "a.txt", b"x")
        writer.attempt(
            attempt(
                1,
                outcome=Outcome.FAIL,
                turns=[turn(events=events, changes=changes, usage=Usage(input=1), unreported=("cost",))],
                artifacts=[ArtifactRef(name="a", ref=ref)],
                observations=[ObservationRecord(name="o", value={"a": [1, None]})],
                usage=[SpenderUsage(spender="agent", usage=Usage(input=1, cost=0.5))],
                failure=AttemptFailure(reason="r", phase=Phase.BODY),
            )
        )
        writer.supersede("evals/greet.eval.py::old", "its task changed")
        writer.attempt(attempt(2, turns=[big_turn()], checks=[check(f"c{number}") for number in range(99)]))
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=5, notes=["n"]))
        write_record(RunDirectory(writer.directory))
    return RunDirectory(writer.directory)


def lines(path: Path) -> Iterator[Any]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def test_a_real_record_fits_the_schema(run: RunDirectory) -> None:
    valid("RunRecord", json.loads((run.path / "record.json").read_text()))


def test_every_line_of_a_real_journal_fits_the_schema(run: RunDirectory) -> None:
    names = {"run": "RunStart", "attempt": "AttemptRecord", "superseded": "Superseded", "end": "RunEnd"}
    seen = [line["type"] for line in lines(run.journal)]
    assert seen == ["run", "attempt", "superseded", "attempt", "end"]
    for line in lines(run.journal):
        valid(names[line["type"]], line)


def test_the_parts_in_files_fit_the_schema(run: RunDirectory) -> None:
    (turns,) = run.path.rglob("turns.ndjson")
    (checks,) = run.path.rglob("checks.json")
    for line in lines(turns):
        valid("Turn", line)
    for one in json.loads(checks.read_text()):
        valid("CheckRecord", one)


def test_a_record_that_is_none_does_not_fit() -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid("RunRecord", {"run_id": "x"})
