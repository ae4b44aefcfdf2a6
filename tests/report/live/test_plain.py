"""Plain lines: what a pipe, a file or a CI log gets."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from reeval.errors import Phase
from reeval.report.live.plain import PlainReporter, Verbosity, attempt_line
from reeval.report.live.progress import Progress
from reeval.report.screen.failures import Page
from reeval.report.text import width
from reeval.schema.plan import planned_attempts
from reeval.schema.record import AttemptFailure, Outcome
from reeval.secrets import Masker
from tests.report.records import (
    HOSTILE,
    attempt,
    cell,
    check,
    errored_attempt,
    evaluated,
    failed_attempt,
    gate,
    plan,
    planned,
    planned_attempt,
    run,
    start,
)

NOBODY = Masker()
RECORD = run(evaluated("greets by name", cell(passed=1, failed=1, gate=gate(holds=False))), exit_code=1)


def told(verbosity: Verbosity) -> str:
    out = io.StringIO()
    reporter = PlainReporter(out, masker=NOBODY, verbosity=verbosity)
    two = plan(planned(runs=2))
    reporter.run_started(two, start(), ["sandbox fake: plain directory"])
    for one, record in zip(planned_attempts(two), (attempt(checks=[check()], log="hi"), failed_attempt()), strict=True):
        reporter.attempt_started(one)
        reporter.attempt_finished(one, record)
    reporter.warning("the disk is nearly full")
    reporter.run_finished(RECORD, [failed_attempt(log="")])
    reporter.close()
    return out.getvalue()


def test_a_run_in_plain_lines() -> None:
    head, _, tail = told("normal").partition("\n\n")
    assert head == (
        "run 20261130-142501-x7f3  1 eval, 2 attempts, 10 at a time\n"
        "sandbox fake: plain directory\n"
        "[1/2] pass  evals/greet.eval.py › greets by name @ terse/-/fake#1  0.34 s\n"
        "[2/2] fail  evals/greet.eval.py › greets by name @ terse/-/fake#2  0.34 s  mentions Ada\n"
        "warning: the disk is nearly full"
    )
    assert tail.startswith("fail greets by name  1 of 2\n\nfailures\n")
    assert "\x1b" not in tail


def test_quiet_is_only_the_results() -> None:
    lines = told("quiet").splitlines()
    assert lines[:2] == ["warning: the disk is nearly full", "fail greets by name  1 of 2"]
    assert lines[2].startswith("1 passed, 1 failed in ")
    assert len(lines) == 3


def test_quiet_still_says_what_broke() -> None:
    out = io.StringIO()
    reporter = PlainReporter(out, masker=NOBODY, verbosity="quiet")
    broken = evaluated("greets by name", cell(error=1, gate=gate(holds=None)))
    reporter.run_finished(run(broken, exit_code=3), [errored_attempt()])
    reporter.close()
    assert "1 error\n\nerrors\n\n  evals/greet.eval.py › greets by name\n    terse/-/fake#2  error\n" in out.getvalue()


def test_verbose_also_shows_passing_checks_and_logs() -> None:
    text = told("verbose")
    assert "    ✓ names the file\n    log\n      hi\n" in text


def test_what_broke_an_attempt_stands_in_its_line() -> None:
    progress = Progress(total=1000, began=0.0)
    assert attempt_line(planned_attempt(), errored_attempt(), progress, Page()) == (
        "[   0/1000] error evals/greet.eval.py › greets by name @ terse/-/fake#1  0.34 s  setup: npm ci exited with 1"
    )


def test_a_long_reason_is_cut_visibly() -> None:
    record = errored_attempt(failure=AttemptFailure(reason="a" * 114 + " http://host/v1", phase=Phase.MODEL))
    line = attempt_line(planned_attempt(), record, Progress(total=1, began=0.0), Page())
    assert line.endswith("  model: " + "a" * 112 + "…")


def test_a_scored_attempt_says_its_score() -> None:
    record = attempt(Outcome.SCORED, score=6.25)
    assert attempt_line(planned_attempt(), record, Progress(total=1, began=0.0), Page()).endswith("0.34 s  score 6.25")


@pytest.mark.parametrize("cells", [None, 40, 80])
def test_a_line_is_bounded_and_escaped(cells: int | None) -> None:
    record = failed_attempt(checks=[check(HOSTILE * 100, holds=False)])
    line = attempt_line(planned_attempt(HOSTILE * 100), record, Progress(total=1, began=0.0), Page(cells=cells))
    assert line.isprintable()
    assert width(line) <= (cells or 300)


def test_attempts_of_before_a_resume_are_not_waited_for() -> None:
    out = io.StringIO()
    reporter = PlainReporter(out, masker=NOBODY, done=3)
    reporter.run_started(plan(planned(runs=4)), start(), [])
    reporter.attempt_finished(planned_attempt(number=4), attempt())
    reporter.close()
    assert "[1/1] pass" in out.getvalue()


def test_secrets_are_masked_wherever_they_come_from() -> None:
    out = io.StringIO()
    reporter = PlainReporter(out, masker=Masker(["hunter22"]))
    reporter.run_started(plan(planned("hunter22")), start(), ["fact hunter22"])
    reporter.attempt_finished(planned_attempt("hunter22"), failed_attempt(log="hunter22"))
    reporter.warning("warn hunter22")
    reporter.run_finished(RECORD, [failed_attempt(log="hunter22")])
    reporter.close()
    assert "hunter22" not in out.getvalue()
    assert out.getvalue().count("***") >= 4


def test_a_silent_run_says_that_it_is_alive() -> None:
    out = io.StringIO()
    reporter = PlainReporter(out, masker=NOBODY, heartbeat=0.05)
    reporter.run_started(plan(planned()), start(), [])
    reporter.attempt_started(planned_attempt())
    deadline = time.monotonic() + 10
    while out.getvalue().count("\n") < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    reporter.close()
    assert out.getvalue().splitlines()[1].startswith("… 0 of 1 done · 1 running · ")


def test_a_busy_run_says_how_far_it_is_all_the_same() -> None:
    out = io.StringIO()
    reporter = PlainReporter(out, masker=NOBODY, heartbeat=0.2)
    reporter.run_started(plan(planned(runs=1000)), start(), [])
    deadline = time.monotonic() + 10
    number = 0
    while out.getvalue().count("… ") < 2 and time.monotonic() < deadline:
        number += 1
        reporter.attempt_finished(planned_attempt(number=number), attempt())
        time.sleep(0.06)
    reporter.close()
    beats = [line for line in out.getvalue().splitlines() if line.startswith("… ")]
    assert len(beats) == 2
    assert " of 1,000 done · " in beats[0]


class Slow(io.StringIO):
    """Counts how often it is written to."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        return super().write(text)


def test_thousands_of_lines_are_written_in_a_few_writes_and_the_first_at_once() -> None:
    out = Slow()
    reporter = PlainReporter(out, masker=NOBODY)
    reporter.run_started(plan(planned(runs=5000)), start(), [])
    assert out.writes == 1
    for number in range(1, 5001):
        reporter.attempt_finished(planned_attempt(number=number), attempt())
    reporter.close()
    assert out.getvalue().count("\n") == 5001
    assert out.writes < 500


def test_a_line_is_written_soon_without_another_one() -> None:
    out = io.StringIO()
    reporter = PlainReporter(out, masker=NOBODY)
    reporter.run_started(plan(planned()), start(), [])
    reporter.attempt_finished(planned_attempt(), attempt())
    deadline = time.monotonic() + 10
    while "pass" not in out.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "pass" in out.getvalue()
    reporter.close()


def test_closing_ends_its_thread_and_can_be_repeated() -> None:
    reporter = PlainReporter(io.StringIO(), masker=NOBODY)
    reporter.run_started(plan(planned()), start(), [])
    reporter.close()
    reporter.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "reeval-lines"]


def test_closing_never_waits_for_a_heartbeat() -> None:
    began = time.monotonic()
    for _ in range(50):
        reporter = PlainReporter(io.StringIO(), masker=NOBODY)
        reporter.run_started(plan(planned()), start(), [])
        reporter.attempt_finished(planned_attempt(), attempt())
        time.sleep(0.051)  # the thread is about to write
        reporter.close()
    assert time.monotonic() - began < 30


SCRIPT = """
import sys
from tests.report.records import *
from reeval.report.live.plain import PlainReporter
from reeval.secrets import Masker
reporter = PlainReporter(sys.stdout, masker=Masker())
reporter.run_started(plan(planned()), start(), [])
for number in range(1, 20001):
    reporter.attempt_finished(planned_attempt("名前", number=number), attempt())
reporter.close()
print("went on", file=sys.stderr)
"""
ROOT = Path(__file__).parents[3]


def test_a_reader_that_went_away_does_not_break_the_run() -> None:
    reader, writer = os.pipe()
    child = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=writer, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (0, "went on\n")


def test_a_stream_that_lacks_a_character_gets_an_escape() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=ROOT, env=env, check=True, timeout=60
    )
    assert "evals/greet.eval.py \\u203a \\u540d\\u524d @ terse/-/fake#1" in done.stdout


def test_plain_lines_do_not_load_rich() -> None:
    code = "import sys, reeval.report.live.plain; print('rich' in sys.modules, 'jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "False False\n"
