"""The JUnit file, read back by an XML parser."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from reeval.errors import RecordError
from reeval.report.junit import DETAILED, junit_lines, write_junit
from reeval.schema.record import Outcome, RunRecord
from tests.report.records import (
    HOSTILE,
    Reader,
    cell,
    check,
    entry,
    errored_attempt,
    evaluated,
    failed_attempt,
    gate,
    run,
)


def mixed() -> RunRecord:
    greets = evaluated(
        "greets by name",
        cell(passed=1, failed=1, error=1, skipped=1, gate=gate(holds=False)),
        attempts=[
            entry(),
            entry("terse/-/fake#2", Outcome.FAIL, line=(0, 1)),
            entry("terse/-/fake#3", Outcome.ERROR, line=(1, 1)),
            entry("terse/-/fake#4", Outcome.SKIPPED, reason="no network"),
        ],
    )
    return run(greets, evaluated("later", mode="todo"), evaluated("other", cell(passed=1), file="evals/b.eval.py"))


def test_a_suite_for_each_file_and_a_case_for_each_attempt() -> None:
    text = "\n".join(junit_lines(mixed(), Reader(failed_attempt(log=""), errored_attempt())))
    assert text == (
        """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="reeval 20261130-142501-x7f3" tests="5" failures="1" errors="1" skipped="2" time="1.360">
<testsuite name="evals/b.eval.py" tests="0" failures="0" errors="0" skipped="0" time="0.000">
</testsuite>
<testsuite name="evals/greet.eval.py" tests="5" failures="1" errors="1" skipped="2" time="1.360">
<testcase classname="evals/greet.eval.py" name="greets by name @ terse/-/fake#1" time="0.340"/>
<testcase classname="evals/greet.eval.py" name="greets by name @ terse/-/fake#2" time="0.340">
<failure message="mentions Ada">terse/-/fake#1  fail
  ✗ mentions Ada  line 12
      expected text that includes 'greet.js'
      got 'Done.'</failure>
</testcase>
<testcase classname="evals/greet.eval.py" name="greets by name @ terse/-/fake#3" time="0.340">
<error message="setup: npm ci exited with 1">terse/-/fake#2  error
  setup: npm ci exited with 1
    npm ERR! missing: left-pad</error>
</testcase>
<testcase classname="evals/greet.eval.py" name="greets by name @ terse/-/fake#4" time="0.340">
<skipped message="no network"/>
</testcase>
<testcase classname="evals/greet.eval.py" name="later" time="0.000">
<skipped message="todo"/>
</testcase>
</testsuite>
</testsuites>"""
    )


def test_any_text_makes_a_document_that_parses() -> None:
    worst = HOSTILE + '\x00\x0b\udcff\ufffe & ]]> "'
    bad = evaluated(worst, cell(failed=1), attempts=[entry(worst, Outcome.FAIL)], file=worst)
    skipped = evaluated("x", cell(skipped=1), attempts=[entry(worst, Outcome.SKIPPED, reason=worst)])
    record = failed_attempt(attempt=worst, checks=[check(worst, holds=False, message=worst)], log=worst)
    text = "\n".join(junit_lines(run(bad, skipped, run_id=worst), Reader(record)))
    root = ET.fromstring(text.encode("utf-8"))
    failure = root.find(".//failure")
    assert failure is not None
    assert "\\x1b[2J" in (failure.text or "")
    assert root.find(".//img") is None


def test_a_failed_verdict_is_a_failure() -> None:
    side = cell(scored=1, gate=gate(holds=False))
    one = evaluated("x", side, attempts=[entry(outcome=Outcome.SCORED, verdict="fail")], kind="scored")
    record = failed_attempt()
    assert sum(line.startswith("<failure") for line in junit_lines(run(one, kind="scored"), Reader(record))) == 1


def test_a_miss_that_decides_nothing_is_skipped_with_the_reason() -> None:
    sides = (cell("terse/bare/fake", failed=1, gate=gate(rule="none", holds=None)), cell("terse/full/fake", passed=1))
    one = evaluated(
        "x", *sides, attempts=[entry("terse/bare/fake#1", Outcome.FAIL), entry("terse/full/fake#1", Outcome.PASS)]
    )
    lines = list(junit_lines(run(one), Reader()))
    assert 'tests="2" failures="0" errors="0" skipped="1"' in lines[1]
    assert lines.count('<skipped message="it did not pass, which decides nothing here"/>') == 1


def test_details_are_bounded_and_passing_attempts_are_never_read() -> None:
    many = [entry(f"terse/-/fake#{index}", Outcome.FAIL, reason="timeout") for index in range(DETAILED + 10)]
    reader = Reader(failed_attempt(checks=[], log=""))
    one = evaluated("x", cell(failed=1, gate=gate(holds=False)), attempts=[entry("terse/-/fake#9999"), *many])
    lines = list(junit_lines(run(one), reader))
    assert len(reader.read) == DETAILED
    assert lines.count('<failure message="timeout"/>') == 10


def test_it_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "made" / "junit.xml"
    write_junit(path, mixed(), Reader(failed_attempt(), errored_attempt()))
    assert ET.parse(path).getroot().tag == "testsuites"
    assert [one.name for one in path.parent.iterdir()] == ["junit.xml"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"junit\.xml: the JUnit file cannot be written: "):
        write_junit(tmp_path / "file" / "junit.xml", mixed(), Reader(failed_attempt(), errored_attempt()))


def test_what_did_not_run_is_a_skipped_case_of_its_eval() -> None:
    cut = evaluated("greets by name", cell(passed=1, planned=3), attempts=[entry()])
    suites = ET.fromstring("\n".join(junit_lines(run(cut), Reader())))
    assert (suites.get("tests"), suites.get("skipped"), suites.get("failures")) == ("2", "1", "0")
    last = list(suites.iter("testcase"))[-1]
    assert last.get("name") == "greets by name: 2 attempts not run"
    assert [child.get("message") for child in last] == ["the run ended before"]
