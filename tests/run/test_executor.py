from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio
import msgspec
import pytest

from reeval.errors import PlanError
from reeval.run.executor import LocalExecutor
from reeval.schema.plan import Plan, encode_plan, planned_attempts
from reeval.schema.record import AttemptRecord
from tests.run.kit import Stage
from tests.run.test_turns import writes

SOURCE = """
from .words import greeting
@group("greetings")
def greetings():
    @evaluate.each(["Ada", "Bob C."], "greets {}")
    async def greets(c, name):
        print("greeting", name)
        turn = await c.send("a.txt")
        c.check(turn.message, includes("Done")).label("answers")
        await c.check(c.case, equals("Ada")).or_stop()
        c.file_changed("a.txt")
        assert greeting(name) == "Hello, Ada"
        c.observe("name", name)
"""
SCRIPT = """
import sys
from pathlib import Path
import anyio, msgspec
from reeval.run.executor import LocalExecutor
from reeval.schema.plan import decode_plan
from tests.run.kit import Stage
from tests.run.test_turns import writes

stage = Stage(Path(sys.argv[1]))
stage.harnesses["terse"].answer = writes
plan = decode_plan(Path(sys.argv[2]).read_bytes())
executor = LocalExecutor(stage.tools())
record = anyio.run(executor.execute, plan, sys.argv[3], stage.recorder)
assert stage.recorder.records == [record]
sys.stdout.buffer.write(msgspec.json.encode(record))
"""


def timeless(record: AttemptRecord) -> AttemptRecord:
    assert isinstance(record.turns, list)
    turns = [msgspec.structs.replace(turn, started=0, duration=0) for turn in record.turns]
    return msgspec.structs.replace(
        record, started_at=0, duration=0, start_duration=record.start_duration and 1, turns=turns
    )


def planned(stage: Stage) -> Plan:
    stage.write(SOURCE)
    (stage.root / "evals/words.py").write_text("def greeting(name):\n    return f'Hello, {name}'\n")
    stage.harnesses["terse"].answer = writes
    return stage.plan()


def test_an_attempt_run_from_json_in_a_fresh_process_gives_the_same_record(stage: Stage, tmp_path: Path) -> None:
    plan = planned(stage)
    executor = LocalExecutor(stage.tools())
    (tmp_path / "plan.json").write_bytes(encode_plan(plan))
    for attempt in planned_attempts(plan):
        here = anyio.run(executor.execute, plan, attempt.key, stage.recorder)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(stage.root), str(tmp_path / "plan.json"), attempt.key],
            capture_output=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        there = msgspec.json.decode(done.stdout, type=AttemptRecord)
        assert timeless(there) == timeless(msgspec.json.decode(msgspec.json.encode(here), type=AttemptRecord))
        assert here.log == f"greeting {'Ada' if attempt.case == 'greets Ada' else 'Bob C.'}\n"


@pytest.mark.parametrize(
    "key",
    [
        "evals/it.eval.py::nothing@terse/-/plain#1",
        "evals/it.eval.py::greetings::greets {}@terse/-/plain#1",
        "evals/it.eval.py::greetings::greets {}@terse/-/plain[nobody]#1",
        "evals/it.eval.py::greetings::greets {}@terse/-/plain[greets Ada]#2",
        "",
    ],
)
def test_a_key_that_the_plan_does_not_have_is_refused(stage: Stage, key: str) -> None:
    with pytest.raises(PlanError, match="has no attempt"):
        anyio.run(LocalExecutor(stage.tools()).execute, planned(stage), key, stage.recorder)


def test_an_eval_that_is_gone_is_refused(stage: Stage) -> None:
    plan = planned(stage)
    key = next(planned_attempts(plan)).key
    stage.write("@evaluate('another')\nasync def another(c): ...")
    with pytest.raises(PlanError, match="is gone since the run was planned"):
        anyio.run(LocalExecutor(stage.tools()).execute, plan, key, stage.recorder)
