"""How likely is it that one of k attempts passes, and that all of them do? pass@k and pass^k of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reeval.grade.compared.estimates import pass_at, pass_hat
from reeval.report.screen.ink import Ink
from reeval.report.screen.table import table
from reeval.report.text import one_line
from reeval.schema.record import EvalRecord, Outcome

__all__ = ["Passes", "cell_passes", "pass_lines", "shown_k", "split_id"]

_MOST = 5
"""Values of k that are shown: the powers of two, and all attempts."""


@dataclass(frozen=True)
class Passes:
    """What attempts of one cell say of several of them."""

    cell: str
    at: dict[int, float]
    """k → the chance that at least one of k passes; with cases the mean of theirs."""
    hat: dict[int, float]
    """k → the chance that all of k pass."""


def shown_k(runs: int) -> list[int]:
    """Return the values of k that are shown of so many runs: 1, 2, 4, 8, … and the runs themselves."""
    powers = [2**power for power in range(_MOST) if 2**power < runs]
    return [*powers[: _MOST - 1], runs] if runs > 0 else []


def split_id(attempt: str) -> tuple[str, str | None]:
    """``terse/plain/fake[case]#1`` → ``terse/plain/fake``, ``case``; words of an id hold neither bracket nor #."""
    before = attempt.rpartition("#")[0]
    cell, bracket, rest = before.partition("[")
    return cell, rest.removesuffix("]") if bracket else None


def cell_passes(record: EvalRecord) -> list[Passes]:
    """Return pass@k and pass^k of every cell with at least two decided attempts of a case; none of a scored eval."""
    if record.kind == "scored" or record.runs < 2:
        return []
    counts: dict[str, dict[str | None, list[int]]] = {cell.key: {} for cell in record.cells}
    for entry in record.attempts:
        cell, case = split_id(entry.attempt)
        if cell in counts and entry.outcome in {Outcome.PASS, Outcome.FAIL, Outcome.REVIEW}:
            seen = counts[cell].setdefault(case, [0, 0])
            seen[0] += entry.outcome is Outcome.PASS
            seen[1] += 1
    found = [_passes(cell, list(cases.values()), shown_k(record.runs)) for cell, cases in counts.items()]
    return [passes for passes in found if len(passes.at) > 1]


def _passes(cell: str, cases: Sequence[Sequence[int]], wanted: Sequence[int]) -> Passes:
    at: dict[int, float] = {}
    hat: dict[int, float] = {}
    for k in wanted:
        # Every case with k attempts counts once; where errors left some without, they say nothing of this k.
        pairs = [(pass_at(k, passed, decided), pass_hat(k, passed, decided)) for passed, decided in cases]
        known = [(one, all_of) for one, all_of in pairs if one is not None and all_of is not None]
        if known:
            at[k] = sum(one for one, _ in known) / len(known)
            hat[k] = sum(all_of for _, all_of in known) / len(known)
    return Passes(cell, at, hat)


def pass_lines(record: EvalRecord, ink: Ink, cells: int | None, indent: str) -> list[str]:
    """Return a table of pass@k and pass^k; nothing where there is one attempt of each case."""
    found = cell_passes(record)
    if not found:
        return []
    wanted = sorted({k for passes in found for k in passes.at})
    head = ["cell", *(f"pass@{k}" for k in wanted), *(f"pass^{k}" for k in wanted if k > 1)]
    rows = [
        [
            one_line(passes.cell),
            *(_rate(passes.at.get(k)) for k in wanted),
            *(_rate(passes.hat.get(k)) for k in wanted if k > 1),
        ]
        for passes in found
    ]
    first, *rest = table(head, rows, keep=2, cells=cells, indent=indent)
    return [ink("dim", first), *rest]


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
