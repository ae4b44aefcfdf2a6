"""Result blocks: compared as whole texts."""

from __future__ import annotations

import pytest

from reeval.report.screen.blocks import Status, block, status
from reeval.report.screen.ink import Ink
from reeval.report.text import width
from reeval.schema.record import CellRecord, EvalRecord, Outcome
from tests.report.records import HOSTILE, cell, entry, evaluated, gate

UNDECIDED = gate(holds=None, undecided=True)
REPORTS = gate(holds=None, rule="none")


@pytest.mark.parametrize(
    ("record", "word"),
    [
        (evaluated("x", cell(passed=2)), "pass"),
        (evaluated("x", cell(passed=1, failed=1, gate=gate(holds=False))), "fail"),
        (evaluated("x", cell(passed=3, failed=1, gate=gate(holds=True, rule="pass_rate", minimum=0.7))), "pass"),
        (evaluated("x", cell(review=1, gate=gate(holds=False))), "review"),
        (evaluated("x", cell(review=1, failed=1, gate=gate(holds=False))), "fail"),
        (evaluated("x", cell(error=1, gate=UNDECIDED)), "error"),
        (evaluated("x", cell(passed=1, planned=2, gate=UNDECIDED)), "undecided"),
        (evaluated("x", cell(passed=1), cell("b/-/fake", error=1, gate=UNDECIDED)), "error"),
        (evaluated("x", cell(failed=1, gate=gate(holds=False)), cell("b/-/fake", error=1, gate=UNDECIDED)), "fail"),
        (evaluated("x", cell(skipped=2, gate=gate(holds=None))), "skipped"),
        (evaluated("x", cell(failed=2, gate=REPORTS)), "fail"),
        (evaluated("x", cell(passed=2, gate=REPORTS)), "pass"),
        (evaluated("x", cell(failed=2, gate=REPORTS), cell("b/-/fake", passed=2)), "pass"),
        (evaluated("x", cell(scored=2), kind="scored"), "scored"),
        (evaluated("x", cell(scored=2, verdict_failed=1, gate=gate(holds=False)), kind="scored"), "fail"),
        (evaluated("x", mode="todo"), "todo"),
        (evaluated("x", mode="skip"), "skipped"),
    ],
)
def test_the_status_word_is_read_from_the_gates(record: EvalRecord, word: Status) -> None:
    assert status(record) == word


def shown(record: EvalRecord, cells: int | None = None, *, all_cases: bool = False) -> str:
    return "\n".join(block(record, cells=cells, all_cases=all_cases))


def test_an_eval_of_one_attempt_is_one_line() -> None:
    assert shown(evaluated("greets by name", cell(passed=1, duration=0.34))) == "pass greets by name  0.34 s"


def test_an_eval_of_one_cell_says_its_numbers_beside_the_name() -> None:
    record = evaluated("greets", cell(passed=3, error=1, duration=1.25, tokens=3100.0, cost=0.12, gate=UNDECIDED))
    assert shown(record) == "error greets  3 of 3 · 1 error · 1.2 s · 3.1k tokens · $0.12"


def test_harnesses_are_rows() -> None:
    record = evaluated("greets by name", cell("terse/-/fake", passed=2), cell("chatty/-/fake", passed=2))
    assert shown(record) == "pass greets by name\n  harness  pass\n  terse    2 of 2\n  chatty   2 of 2"


def test_columns_are_what_the_eval_varies_and_what_there_is_to_say() -> None:
    record = evaluated(
        "greets",
        cell("terse/plain/fake", failed=4, tokens=3100.0, duration=0.3, gate=REPORTS),
        cell("terse/house/fake", passed=4, tokens=2800.0, duration=12.0),
    )
    assert shown(record) == (
        "pass greets\n"
        "  environment  pass    gate          time    tokens\n"
        "  plain        0 of 4  reports only  0.30 s  3.1k\n"
        "  house        4 of 4  ·             12.0 s  2.8k"
    )


def test_scores_show_the_mean_and_how_many_are_complete() -> None:
    cells: list[CellRecord] = [
        cell("terse/a/fake", scored=4, complete=3, mean_score=6.25, verdict_failed=1, gate=gate(holds=False)),
        cell("terse/b/fake", scored=3, error=1, complete=3, mean_score=6.0, gate=UNDECIDED),
    ]
    assert shown(evaluated("installs", *cells, kind="scored")) == (
        "fail installs\n"
        "  environment  score                       fail  error\n"
        "  a            mean 6.25, 3 of 4 complete  1     ·\n"
        "  b            mean 6, 3 of 4 complete     ·     1"
    )


def test_a_gate_with_a_number_says_whether_it_holds() -> None:
    holds = gate(holds=False, rule="pass_rate", minimum=0.8, value=0.5)
    assert shown(evaluated("x", cell(passed=1, failed=1, gate=holds))) == (
        "fail x  1 of 2 · pass rate ≥ 0.8 does not hold"
    )


CASES = tuple(f"case-{index}" for index in range(12))


def with_cases(*failing: str) -> EvalRecord:
    entries = [entry(f"terse/-/fake[{case}]#1", Outcome.FAIL if case in failing else Outcome.PASS) for case in CASES]
    one = cell(passed=12 - len(failing), failed=len(failing), gate=gate(holds=not failing))
    return evaluated("sorts", one, cases=CASES, attempts=entries)


def test_five_cases_are_listed_what_failed_first() -> None:
    assert shown(with_cases("case-9")) == (
        "fail sorts  11 of 12\n"
        "  case    pass\n"
        "  case-9  0 of 1\n"
        "  case-0  1 of 1\n"
        "  case-1  1 of 1\n"
        "  case-2  1 of 1\n"
        "  case-3  1 of 1\n"
        "  … 7 more"
    )


def test_hidden_cases_that_failed_are_counted() -> None:
    assert shown(with_cases(*CASES[:7])).endswith("  … 7 more, 2 of them not passing")


def test_all_cases_are_listed_when_asked() -> None:
    assert len(block(with_cases(), all_cases=True)) == 14


def test_an_eval_that_did_not_run_says_why() -> None:
    assert shown(evaluated("later", mode="todo")) == "todo later"
    assert shown(evaluated("later", mode="skip", skip_reason="needs a key")) == "skipped later  needs a key"


@pytest.mark.parametrize("cells", [40, 80])
def test_a_block_fits_and_escapes(cells: int) -> None:
    record = evaluated(
        HOSTILE,
        cell("terse-with-a-long-name/plain-environment/fake", passed=2, tokens=3100.0, duration=0.3, cost=0.12),
        cell("名前名前名前名前名前名前名前/other-environment/fake", failed=2, gate=gate(holds=False)),
        notes=(HOSTILE,),
    )
    for line in block(record, cells=cells):
        assert width(line) <= cells
        assert line.isprintable()


def test_a_narrow_block_puts_the_numbers_below_the_name() -> None:
    record = evaluated("a name of some length", cell(passed=2, duration=0.3, tokens=3100.0))
    assert shown(record, 32) == "pass a name of some length\n  2 of 2 · 0.30 s · 3.1k tokens"


def test_color_marks_the_word_and_the_row_that_fails() -> None:
    record = evaluated("x", cell("a/-/fake", passed=1), cell("b/-/fake", failed=1, gate=gate(holds=False)))
    lines = block(record, ink=Ink(color=True))
    assert lines[0] == "\x1b[31mfail\x1b[0m \x1b[1mx\x1b[0m"
    assert lines[3] == "\x1b[31m  b        0 of 1\x1b[0m"


def test_chances_are_shown_where_some_attempts_passed_and_others_did_not() -> None:
    outcomes = [Outcome.PASS, Outcome.PASS, Outcome.PASS, Outcome.FAIL]
    attempts = [entry(f"terse/-/fake#{run}", outcome) for run, outcome in enumerate(outcomes, 1)]
    record = evaluated("it", cell(passed=3, failed=1), runs=4, attempts=attempts)
    assert shown(record).splitlines()[1:] == [
        "  cell          pass@1  pass@2  pass@4  pass^2  pass^4",
        "  terse/-/fake  0.75    1.00    1.00    0.50    0.00",
    ]
    assert "pass@" not in shown(evaluated("it", cell(passed=4), runs=4, attempts=attempts[:1] * 4))
