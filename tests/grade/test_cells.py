"""What attempts add up to: cells, gates, totals, exit codes."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from reeval.errors import ExitCode, Phase
from reeval.grade.cells import CellFold, TotalsFold, gate_of, run_exit_code
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import PlannedCell, PlannedCompare, PlannedEval
from reeval.schema.record import (
    AttemptFailure,
    AttemptRecord,
    CellRecord,
    EvalRecord,
    FileRef,
    GateResult,
    Outcome,
    RunState,
    SpenderUsage,
    Totals,
)
from reeval.schema.transcript import Turn
from reeval.usage import Usage

CELL = PlannedCell(key="terse/plain/fake", harness="terse", environment="plain", sandbox="fake")
ALL = ResolvedGate(rule="all")
NONE = ResolvedGate(rule="none")
TURN = Turn(prompt="Do it.")

LETTERS = {"p": "pass", "f": "fail", "r": "review", "e": "error", "b": "error", "s": "skipped"}


def rate(minimum: float) -> ResolvedGate:
    return ResolvedGate(rule="pass_rate", minimum=minimum)


def mean(minimum: float) -> ResolvedGate:
    return ResolvedGate(rule="mean_score", minimum=minimum)


def attempt(outcome: str, **fields: Any) -> AttemptRecord:
    common: dict[str, Any] = {
        "eval": "a.eval.py::a",
        "attempt": "terse/plain/fake#1",
        "started_at": 0,
        "duration": 1.0,
        "harness": "terse",
        "sandbox": "fake",
        "run": 1,
    }
    return AttemptRecord(outcome=Outcome(outcome), **{**common, **fields})


def lettered(letters: str) -> list[AttemptRecord]:
    """Make attempts from p(ass) f(ail) r(eview) s(kipped) e(rror) b(ody error)."""
    phases = {"e": AttemptFailure(reason="x", phase=Phase.SANDBOX), "b": AttemptFailure(reason="x", phase=Phase.BODY)}
    return [attempt(LETTERS[letter], failure=phases.get(letter)) for letter in letters]


def scores(*numbers: float | str) -> list[AttemptRecord]:
    """Make scored attempts: a number, ``f`` and a number for a failed verdict, or ``e`` for an error."""
    records = []
    for number in numbers:
        if number == "e":
            records.append(attempt("error", verdict="error", partial_score=99.0))
        elif isinstance(number, str):
            records.append(attempt("scored", verdict="fail", score=float(number[1:])))
        else:
            records.append(attempt("scored", verdict="pass", score=float(number)))
    return records


def folded(records: list[AttemptRecord], gate: ResolvedGate, planned: int | None = None) -> CellRecord:
    fold = CellFold()
    for record in records:
        fold.add(record)
    return fold.record(CELL, planned=len(records) if planned is None else planned, gate=gate)


GATES: list[tuple[str, ResolvedGate, bool | None, bool, float | None]] = [
    # attempts, gate, holds, undecided, value
    ("ppp", ALL, True, False, 1.0),
    ("ppf", ALL, False, False, 2 / 3),
    ("ppr", ALL, False, False, 2 / 3),
    ("r", ALL, False, False, 0.0),
    ("ppe", ALL, None, True, 1.0),
    ("fe", ALL, False, False, 0.0),
    ("e", ALL, None, True, None),
    ("b", ALL, None, True, None),
    ("ppb", ALL, None, True, 1.0),
    ("fb", ALL, False, False, 0.0),
    ("pps", ALL, True, False, 1.0),
    ("ss", ALL, None, False, None),
    ("se", ALL, None, True, None),
    ("", ALL, None, False, None),
    ("ppppf", rate(0.8), True, False, 0.8),
    ("pppff", rate(0.8), False, False, 0.6),
    ("pppppppfff", rate(0.7), True, False, 0.7),
    ("pppps", rate(1), True, False, 1.0),
    ("ff", rate(0), True, False, 0.0),
    ("ppppe", rate(0.8), True, False, 1.0),
    ("pppee", rate(0.8), None, True, 1.0),
    ("pffee", rate(0.8), False, False, 1 / 3),
    ("pfe", rate(0.6), None, True, 0.5),
    ("pppppppppb", rate(0.5), None, True, 1.0),
    ("fffb", rate(0.5), False, False, 0.0),
    ("pf", ResolvedGate(rule="accuracy", minimum=0.5), None, False, None),  # of all questions together, not of a cell
    ("ff", NONE, None, False, None),
    ("eb", NONE, None, False, None),
]


@pytest.mark.parametrize(("letters", "gate", "holds", "undecided", "value"), GATES)
def test_a_gate_holds_fails_or_stays_open(
    letters: str, gate: ResolvedGate, holds: bool | None, undecided: bool, value: float | None
) -> None:
    expected = GateResult(rule=gate.rule, minimum=gate.minimum, holds=holds, undecided=undecided, value=value)
    records = lettered(letters)
    assert folded(records, gate).gate == expected
    assert folded(records[::-1], gate).gate == expected


SCORE_GATES: list[tuple[list[float | str], ResolvedGate, bool | None, bool, float | None]] = [
    ([0, 0], ALL, True, False, 1.0),
    ([5, "f9"], ALL, False, False, 0.5),
    ([5, "e"], ALL, None, True, 1.0),
    (["f5", "e"], ALL, False, False, 0.0),
    ([6, 6], mean(6), True, False, 6.0),
    ([5, 6], mean(6), False, False, 5.5),
    ([7, "f5"], mean(6), True, False, 6.0),
    ([0.7, 0.7, 0.7], mean(0.7), True, False, 0.7),
    ([0.1, 0.2, 0.3], mean(0.2), True, False, 0.2),
    ([6, "e"], mean(6), None, True, 6.0),
    ([12, "e"], mean(6), True, False, 12.0),
    ([1, "e"], mean(6), None, True, 1.0),
    (["e"], mean(6), None, True, None),
    ([0], mean(0), True, False, 0.0),
    ([1, "f1"], NONE, None, False, None),
]


@pytest.mark.parametrize(("numbers", "gate", "holds", "undecided", "value"), SCORE_GATES)
def test_a_gate_on_scores_counts_complete_ones(
    numbers: list[float | str], gate: ResolvedGate, holds: bool | None, undecided: bool, value: float | None
) -> None:
    seen = folded(scores(*numbers), gate).gate
    assert (seen.holds, seen.undecided) == (holds, undecided)
    assert seen.value == (value if value is None else pytest.approx(value, abs=1e-15))


@pytest.mark.parametrize(
    ("letters", "planned", "gate", "holds"),
    [
        ("pp", 3, ALL, None),
        ("pf", 3, ALL, False),
        ("", 3, ALL, None),
        ("pppp", 5, rate(0.8), True),
        ("ppp", 5, rate(0.8), None),
        ("f", 5, rate(0.9), False),
    ],
)
def test_attempts_that_never_ran_leave_a_gate_open_like_errors(
    letters: str, planned: int, gate: ResolvedGate, holds: bool | None
) -> None:
    seen = folded(lettered(letters), gate, planned).gate
    assert (seen.holds, seen.undecided) == (holds, holds is None)


def test_an_error_that_could_not_change_the_gate_is_checked_against_every_ending() -> None:
    random.seed(7)
    for _ in range(300):
        letters = "".join(random.choices("pfse", k=random.randint(1, 7)))
        gate = random.choice([ALL, rate(0.5), rate(0.8)])
        endings = [letters]
        while any("e" in one for one in endings):
            endings = [one.replace("e", end, 1) for one in endings for end in ("pf" if "e" in one else "e")]
        answers = {folded(lettered(one), gate).gate.holds for one in endings}
        seen = folded(lettered(letters), gate).gate
        assert seen.holds == (answers.pop() if len(answers) == 1 else None), letters


def test_a_cell_counts_each_outcome() -> None:
    record = folded(lettered("ppfresb"), ALL, planned=9)
    assert record == CellRecord(
        key="terse/plain/fake",
        harness="terse",
        sandbox="fake",
        environment="plain",
        planned=9,
        passed=2,
        failed=1,
        review=1,
        error=2,
        skipped=1,
        gate=GateResult(rule="all", holds=False, value=0.5),
        duration=1.0,
        tokens=0.0,
        cost=0.0,
    )


def test_a_scored_cell_counts_verdicts_beside_scores() -> None:
    record = folded(scores(2, "f3", 4, "e"), ALL)
    assert (record.scored, record.verdict_failed, record.error, record.complete) == (3, 1, 1, 3)
    assert (record.mean_score, record.decided) == (3.0, 0)
    assert folded(scores("e"), ALL).mean_score is None


def spent(spender: Any, **fields: Any) -> SpenderUsage:
    return SpenderUsage(spender=spender, usage=Usage(**fields))


def test_means_leave_out_errors_and_skips_but_cost_does_not() -> None:
    usage = [spent("agent", input=10, output=10, cost=1.0), spent("judge", input=99, output=99, cost=50.0)]
    records = [
        attempt("pass", duration=2.0, turns=[TURN], usage=usage),
        attempt("fail", duration=4.0, turns=[TURN], usage=[spent("agent", input=10, output=30, cost=1.5)]),
        attempt("error", duration=90.0, turns=[TURN], usage=[spent("agent", input=1, output=1, cost=0.5)]),
        attempt("skipped", duration=0.1),
    ]
    record = folded(records, ALL)
    assert (record.duration, record.tokens, record.cost) == (3.0, 30.0, 3.0)


@pytest.mark.parametrize(
    "unknown",
    [
        attempt("pass", turns=[TURN]),
        attempt("pass", turns=FileRef(file="turns.ndjson", bytes=9, sha256="")),
        attempt("pass", turns=[TURN], usage=[spent("agent", input=1)]),
        attempt("pass", turns=[TURN], usage=[spent("judge", input=1, output=1, cost=1.0)]),
    ],
)
def test_an_unknown_part_makes_tokens_and_cost_unknown(unknown: AttemptRecord) -> None:
    known = attempt("pass", turns=[TURN], usage=[spent("agent", input=10, output=10, cost=1.0)])
    record = folded([known, unknown], ALL)
    assert (record.tokens, record.cost) == (None, None)
    totals = TotalsFold()
    totals.add(unknown)
    assert totals.record(1).cost is None


def test_a_cell_says_what_ran_it() -> None:
    assert folded([attempt("pass", subject="abc"), attempt("error")], ALL).subject == "abc"


def test_totals_count_every_outcome_and_every_spender() -> None:
    fold = TotalsFold()
    for record in [*lettered("ppfresb"), *scores(1, "f2")]:
        fold.add(record)
    fold.add(attempt("pass", turns=[TURN], usage=[spent("agent", cost=1.0), spent("judge", cost=0.5)]))
    totals = fold.record(20)
    assert totals == Totals(planned=20, passed=3, failed=1, review=1, error=2, skipped=1, scored=2, cost=1.5)
    assert totals.finished == 10


def test_a_fold_keeps_nothing_of_an_attempt() -> None:
    fold, totals = CellFold(), TotalsFold()
    for record in lettered("pfresb"):
        fold.add(record)
        totals.add(record)
    record = attempt("pass")
    before = sys.getrefcount(record)
    fold.add(record)
    totals.add(record)
    assert sys.getrefcount(record) == before


# --- compare ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "role", "rule"),
    [
        (None, None, "all"),
        ("variants", "variant", "all"),
        ("variants", "control", "none"),
        ("all", "variant", "all"),
        ("all", "control", "all"),
        ("none", "variant", "none"),
        ("none", "control", "none"),
    ],
)
def test_in_a_compare_the_variants_decide_unless_told_otherwise(gate: Any, role: Any, rule: str) -> None:
    compare = PlannedCompare(control="plain", variants=("house",), gate=gate) if gate else None
    planned = PlannedEval(
        id="a", file="a", path=("a",), slug="a", line=1, kind="pass-fail", mode="run", compare=compare
    )
    cell = PlannedCell(key="a", harness="a", environment="plain", sandbox="fake", role=role)
    assert gate_of(planned, cell).rule == rule


# --- exit codes ------------------------------------------------------------------------------------------

HOLDS = GateResult(rule="all", holds=True)
FAILS = GateResult(rule="all", holds=False)
OPEN = GateResult(rule="all", undecided=True)
SILENT = GateResult(rule="none")


def record_of(*gates: GateResult) -> EvalRecord:
    cells = [CellRecord(key="a", harness="a", sandbox="a", planned=1, gate=gate) for gate in gates]
    return EvalRecord(id="a", file="a", path=("a",), slug="a", kind="pass-fail", cells=cells)


@pytest.mark.parametrize(
    ("gates", "state", "code"),
    [
        ([], "completed", 0),
        ([[]], "completed", 0),
        ([[HOLDS, HOLDS], [HOLDS]], "completed", 0),
        ([[HOLDS, SILENT]], "completed", 0),
        ([[SILENT]], "completed", 0),
        ([[HOLDS], [HOLDS, FAILS]], "completed", 1),
        ([[OPEN, FAILS]], "completed", 1),
        ([[HOLDS, OPEN]], "completed", 3),
        ([[HOLDS]], "failed", 3),
        ([[FAILS]], "failed", 1),
        ([[HOLDS]], "interrupted", 130),
        ([[FAILS]], "interrupted", 130),
        ([[OPEN]], "running", 3),
    ],
)
def test_the_exit_code_says_the_worst(gates: list[list[GateResult]], state: str, code: int) -> None:
    assert run_exit_code([record_of(*one) for one in gates], RunState(state)) == ExitCode(code)
