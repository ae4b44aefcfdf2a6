from __future__ import annotations

import time

import pytest

from reeval.errors import Phase
from reeval.schema.record import Outcome, ScoreState
from tests.run.kit import Stage
from tests.run.test_turns import never_ends, writes


def test_a_plain_body_has_the_same_calls(stage: Stage) -> None:
    stage.harnesses["terse"].answer = writes
    record = stage.record("""
import time
@evaluate("works")
def works(c):
    turn = c.send("a.txt")
    c.check(turn.message, includes("Done")).or_stop()
    c.write_file("b.txt", "by the eval")
    c.check(c.exec("cat a.txt b.txt"), command_succeeded()).label("cats")
    assert c.read_text("b.txt") == "by the eval"
    assert c.read_bytes("b.txt") == b"by the eval" and c.exists("b.txt")
    with c.serve("echo $PORT; exec sleep 60") as server:
        while not server.log():
            time.sleep(0.01)
        c.check(server.log(), includes(str(server.port)))
        assert server.url.endswith(str(server.port))
    c.changed_paths(["a.txt"])
    c.observe("turns", len(c.turns))
    c.diagnostic("run", {"number": c.run, "harness": c.cell.harness, "case": c.case})
    c.attach("note.txt", "text")
    c.judge("Is it kind?").optional()
""")
    assert record.outcome == Outcome.PASS
    assert [check.label for check in record.checks if check.holds is False] == []
    assert [check.line for check in record.checks][:2] == [7, 9]
    assert record.diagnostics == ['run {"number":1,"harness":"terse","case":null}']
    assert stage.recorder.artifacts == {"note.txt": b"text"}


def test_a_plain_body_of_a_scored_eval_adds_up_its_points(stage: Stage) -> None:
    record = stage.record("""
@evaluate("scores", scored=True)
def scores(c):
    c.check(1, equals(1)).score(2)
    c.score(1).key("style")
""")
    assert (record.outcome, record.score, record.score_state) == (Outcome.SCORED, 3, ScoreState.COMPLETE)


def test_a_plain_body_stops_and_fails_on_a_missing_file(stage: Stage) -> None:
    stage.run("""
@evaluate("stops")
def stops(c):
    c.check(1, equals(2)).or_stop()
    c.check("never", equals("reached"))
@evaluate("reads")
def reads(c):
    c.read_text("out.json")
    c.check("never", equals("reached"))
@evaluate("skips")
def skips(c):
    c.skip("not today")
@evaluate("asserts")
def asserts(c):
    assert c.run == 2
@evaluate("raises")
def raises(c):
    raise SystemExit(3)
""")
    outcomes = {record.eval.rpartition("::")[2]: record for record in stage.recorder.records}
    assert [record.label for record in outcomes["stops"].checks] == ["equals 2"]
    assert [(record.label, record.line) for record in outcomes["reads"].checks] == [("out.json exists", 9)]
    assert outcomes["skips"].skip_reason == "not today"
    assert [check.label for check in outcomes["asserts"].checks] == ["c.run == 2"]
    assert outcomes["raises"].outcome == Outcome.ERROR


def test_a_hundred_plain_bodies_run_at_once(stage: Stage) -> None:
    stage.runs = stage.max_concurrent = 100
    stage.run("""
import threading
all_of_them = threading.Barrier(100)
@evaluate("meets")
def meets(c):
    c.send("Do it.")
    all_of_them.wait(timeout=30)
    c.check(1, equals(1))
""")
    assert [record.outcome for record in stage.recorder.records] == [Outcome.PASS] * 100


def test_a_plain_body_is_given_up_at_its_timeout_and_can_do_nothing_after_it(stage: Stage) -> None:
    stage.timeout = 0.3
    marker = stage.root / "after.txt"
    began = time.monotonic()
    record = stage.record(f"""
import pathlib, time
@evaluate("sleeps")
def sleeps(c):
    try:
        time.sleep(1)
        c.check(1, equals(1))
    except BaseException as error:
        pathlib.Path({str(marker)!r}).write_text(type(error).__name__)
        raise
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.BODY
    assert record.checks == []
    while not marker.exists() or not marker.read_text():
        assert time.monotonic() < began + 10
        time.sleep(0.05)
    assert marker.read_text() == "BodyStop"


def test_a_plain_body_that_waits_for_a_call_is_ended_at_its_timeout(stage: Stage) -> None:
    stage.harnesses["terse"].answer = never_ends
    stage.timeout = 0.3
    record = stage.record("""
@evaluate("waits")
def waits(c):
    c.send("Take your time.")
""")
    assert record.outcome == Outcome.FAIL
    assert record.failure is not None
    assert record.failure.reason == "timeout"
    assert record.failure.detail == "the limit of 0.3 s passed while turn 1 was still running"
    assert record.turns[0].status == "failed"


def test_a_plain_function_that_returns_an_awaitable_is_refused(stage: Stage) -> None:
    record = stage.record("""
import functools
async def work(c):
    c.check(1, equals(1))
def body(c):
    return work(c)
evaluate("hands over")(body)
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert "make it `async def`" in record.failure.reason


@pytest.mark.parametrize("word", ["def", "async def"])
def test_what_a_body_prints_and_logs_goes_to_its_own_log(
    stage: Stage, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.runs = 5
    stage.run(f"""
import logging, sys
@evaluate("speaks")
{word} speaks(c):
    print("run", c.run)
    print("to stderr", file=sys.stderr)
    logging.getLogger("mine").info("logged %d", c.run)
    logging.debug("too much")
    logging.getLogger("httpx2").info("a request of the agent's")
    c.check(1, equals(1))
""")
    logs = {record.run: record.log for record in stage.recorder.records}
    assert logs == {run: f"run {run}\nto stderr\nINFO mine: logged {run}\n" for run in range(1, 6)}
    assert capsys.readouterr() == ("", "")


def test_a_log_is_bounded_and_says_so(stage: Stage) -> None:
    record = stage.record("""
@evaluate("speaks much")
async def speaks(c):
    for number in range(100_000):
        print(f"line {number}")
""")
    assert isinstance(record.log, str)
    assert record.log.startswith("line 0\n")
    assert record.log.endswith("line 99999\n")
    assert "characters left out" in record.log
    assert len(record.log) < 66_000
