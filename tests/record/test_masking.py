"""No secret reaches the disk, and no record loses its form for it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from reeval.errors import Phase
from reeval.record.store import RunDirectory, RunStore
from reeval.schema.environment import Environment, Secret
from reeval.schema.record import (
    AttemptFailure,
    ObservationRecord,
    Outcome,
    RunEnd,
    RunState,
    SpenderUsage,
)
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
from tests.record.samples import attempt, check, plan, planned_attempt, planned_eval, start, turn

SECRET = 'tok"en\\1é'


def everywhere(text: str) -> dict[str, object]:
    """Every field of an attempt that can hold free text."""
    calls = ToolCall(name=text, native=text, input={"command": text, text: [text]}, output=f"a {text} b")
    others = (Text(text=text), Reasoning(text=text), FileEdit(path=text), WebSearch(query=text), WebFetch(url=text))
    changes = Changes(files=(FileChange(path=text, status="added"),), patch=f"+{text}")
    return {
        "turns": [
            turn(text, text, error=text, model=text, session=text, changes=changes, events=(calls, *others)),
            turn(events=(Notice(kind="error", message=text),)),
        ],
        "checks": [check(text, key=text, message=text)],
        "diff": text,
        "log": text,
        "failure": AttemptFailure(reason=text, phase=Phase.BODY, detail=text),
        "skip_reason": text,
        "observations": [ObservationRecord(name=text, value=[{text: text}])],
        "diagnostics": [text],
        "usage": [SpenderUsage(spender="agent", usage=Usage(input=5), model=text)],
        "model": text,
    }


def written(path: Path) -> str:
    return "\n".join(str(file) + file.read_text() for file in path.rglob("*") if file.is_file())


@pytest.mark.parametrize("padding", [0, 5000], ids=["in its line", "in files"])
def test_no_form_of_a_secret_is_written_anywhere(tmp_path: Path, padding: int) -> None:
    store, masker = RunStore(tmp_path), Masker([SECRET])
    text = f"{SECRET} {msgspec.json.encode(SECRET).decode()}" + "x" * padding
    planned = plan(planned_eval(description=SECRET, skip_reason=SECRET, notes=(SECRET,)))
    with store.create(masker) as writer:
        writer.start(start("x", planned, command=["reeval", "run", "-k", SECRET], git_branch=SECRET))
        writer.attempt(attempt(1, **everywhere(text)))
        writer.artifact(planned_attempt(), "a.txt", SECRET.encode())
        writer.supersede("evals/greet.eval.py::x", f"{SECRET} changed")
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=1, notes=[SECRET]))
    everything = written(tmp_path)
    assert "***" in everything
    for form in (SECRET, msgspec.json.encode(SECRET).decode()[1:-1], "tok", "1é"):
        assert form not in everything
    run = RunDirectory(writer.directory)
    (stored,) = run.attempts()
    assert run.turns(stored)[0].tool_calls[0].output.startswith("a ***")
    assert run.plan().evals[0].description == "***"


@pytest.mark.parametrize("secret", ["pass", "fake", "1790000000001", "attempt", "completed", "terse", "type", "tool"])
def test_a_secret_that_is_a_word_of_the_format_breaks_nothing(tmp_path: Path, secret: str) -> None:
    store = RunStore(tmp_path)
    environment = Environment(name="fake", env={"KEY": Secret(name="terse")}, files={"type": "pass"})
    planned = msgspec.structs.replace(start("x"), plan=msgspec.to_builtins(plan())).plan
    planned["environments"] = {"fake": msgspec.to_builtins(environment)}
    with store.create(Masker([secret])) as writer:
        writer.start(start("x", plan=planned))
        writer.attempt(attempt(1, **everywhere(f"the {secret} is")))
        writer.end(RunEnd(state=RunState.COMPLETED, ended_at=1))
    run = RunDirectory(writer.directory)
    index = run.index()
    assert index.problems == []
    assert index.end is not None
    (stored,) = run.attempts()
    assert (stored.attempt, stored.outcome, stored.started_at) == ("terse/-/fake#1", Outcome.PASS, 1_790_000_000_001)
    assert stored.model == "the *** is"
    assert run.plan().kind == "pass-fail"
    assert run.plan().harnesses["terse"].kind == "fake"


def test_a_number_in_free_data_can_be_the_secret(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    with store.create(Masker(["123456"])) as writer:
        writer.start(start("x"))
        stored = writer.attempt(
            attempt(1, observations=[ObservationRecord(name="n", value=[123456, 1234567, 5, True])])
        )
    assert stored.observations[0].value == ["***", "***7", 5, True]


def test_without_a_secret_in_it_a_record_stays_the_same_object(tmp_path: Path) -> None:
    with RunStore(tmp_path).create(Masker(["hunter22"])) as writer:
        writer.start(start("x"))
        record = attempt(1, **everywhere("nothing to hide"))
        assert writer.attempt(record) == record
        plain = attempt(2)
        assert writer.attempt(plain) is plain
