from __future__ import annotations

from typing import Any

import pytest

from reeval.grade.cells import run_exit_code
from reeval.grade.data.accuracy import with_accuracy
from reeval.schema.record import CellRecord, EvalRecord, GateResult, RunState


def cell(counts: str, rule: str = "accuracy", minimum: float | None = None, **more: Any) -> CellRecord:
    """``pfre.``: an attempt for each letter that passed, failed, is to review, is an error, has not ended."""
    harness = more.pop("harness", "analyst")
    gate = GateResult(rule=rule, minimum=minimum)
    if rule == "all":
        holds = set(counts) == {"p"}
        bad = "f" in counts or "r" in counts
        gate = GateResult(rule=rule, holds=holds if holds or bad else None, undecided=not (holds or bad))
    return CellRecord(
        key=f"{harness}/-/fake",
        harness=harness,
        sandbox="fake",
        planned=len(counts),
        passed=counts.count("p"),
        failed=counts.count("f"),
        review=counts.count("r"),
        error=counts.count("e"),
        gate=gate,
        **more,
    )


def question(number: int, *cells: CellRecord) -> EvalRecord:
    return EvalRecord(
        id=f"auto/q{number}",
        file="agents/eval_questions.yml",
        path=(f"q{number}",),
        slug=f"q{number}",
        kind="pass-fail",
        asks="What?",
        runs=max(one.planned for one in cells),
        cells=list(cells),
    )


def asked(*counts: str, **more: Any) -> list[EvalRecord]:
    return [question(number, cell(one, **more)) for number, one in enumerate(counts)]


def test_every_question_counts_whatever_became_of_it() -> None:
    _, (found,) = with_accuracy(asked("p", "f", "r", "e", "."))
    assert (found.passed, found.total, found.mean) == (1, 5, None)


def test_a_question_passes_when_all_its_attempts_do_and_the_mean_stands_beside() -> None:
    _, (found,) = with_accuracy(asked("ppp", "ppf", "fff"))
    assert (found.passed, found.total, found.mean) == (1, 3, pytest.approx(5 / 9))


def test_each_cell_has_an_accuracy() -> None:
    evals = [question(1, cell("p"), cell("f", harness="other")), question(2, cell("p"), cell("p", harness="other"))]
    _, found = with_accuracy(evals)
    assert [(one.key, one.passed, one.total) for one in found] == [("analyst/-/fake", 2, 2), ("other/-/fake", 1, 2)]


def test_other_evals_are_left_alone() -> None:
    other = EvalRecord(id="x", file="x", path=("x",), slug="x", kind="pass-fail", cells=[cell("f")])
    assert with_accuracy([other]) == ([other], [])
    evals, (found,) = with_accuracy([other, *asked("p")])
    assert evals[0] is other
    assert found.total == 1


@pytest.mark.parametrize(
    ("counts", "minimum", "holds", "exit_code"),
    [
        ("ppppf", 0.8, True, 0),
        ("pppff", 0.8, False, 1),
        ("pppfe", 0.8, None, 3),
        ("pppf.", 0.8, None, 3),
        ("ppffe", 0.8, False, 1),
        ("ppppe", 0.8, True, 0),
        ("pppr", 0.75, True, 0),
        ("ppprr", 0.75, False, 1),
        ("pppppppfff", 0.7, True, 0),
        ("f", 0.0, True, 0),
        ("e", 0.5, None, 3),
    ],
)
def test_the_gate_is_one_over_all_questions(counts: str, minimum: float, holds: bool | None, exit_code: int) -> None:
    evals, (found,) = with_accuracy(asked(*counts, minimum=minimum))
    assert (found.gate.holds, found.gate.undecided) == (holds, holds is None)
    assert run_exit_code(evals, RunState.COMPLETED) == exit_code


@pytest.mark.parametrize(
    ("counts", "holds", "exit_code"), [("pp", True, 0), ("pf", False, 1), ("pe", None, 3), ("fe", False, 1)]
)
def test_all_means_every_question(counts: str, holds: bool | None, exit_code: int) -> None:
    evals, (found,) = with_accuracy(asked(*counts, rule="all"))
    assert (found.gate.holds, found.gate.undecided) == (holds, holds is None)
    assert run_exit_code(evals, RunState.COMPLETED) == exit_code


def test_none_only_reports() -> None:
    evals, (found,) = with_accuracy(asked("f", "e", rule="none"))
    assert found.gate == GateResult(rule="none")
    assert run_exit_code(evals, RunState.COMPLETED) == 0


def test_questions_that_did_not_pass_are_to_blame_only_where_the_gate_does_not_hold() -> None:
    evals, _ = with_accuracy(asked("p", "p", "f", minimum=0.5))
    assert [one.cells[0].gate.holds for one in evals] == [True, True, None]
    evals, _ = with_accuracy(asked("p", "f", "e", minimum=0.9))
    assert [one.cells[0].gate.holds for one in evals] == [True, False, None]
