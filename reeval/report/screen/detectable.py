"""Which lift could the runs of a planned compare show? Said before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reeval.schema.plan import Plan, PlannedEval

__all__ = ["GUESS", "detectable_lines"]

GUESS = 0.5
"""The control's rate where none is recorded."""
_SHOWN_EVALS = 3
_FEWEST_CASES = 6
_FEWEST_RUNS = 4


def detectable_lines(plan: Plan, rates: Mapping[str, float]) -> Iterator[str]:
    """Yield what the compares of a plan can tell, equal ones in one line.

    ``rates``: the control's last known rate by eval id. Scores have no known spread, and runs that are added until it
    is decided no number: nothing is said of them.
    """
    found: dict[str, list[str]] = {}
    for planned in plan.evals:
        if planned.compare and planned.mode == "run" and planned.kind == "pass-fail" and not planned.until:
            found.setdefault(_text(planned, rates.get(planned.id)), []).append(planned.title)
    for text, titles in found.items():
        more = f" and {len(titles) - _SHOWN_EVALS} more" if len(titles) > _SHOWN_EVALS else ""
        yield f"compare: {text}: {', '.join(titles[:_SHOWN_EVALS])}{more}"


def _text(planned: PlannedEval, rate: float | None) -> str:
    runs, cases = planned.runs, len(planned.cases)
    size = f"{runs} a side" + (f" of each of {cases} cases" if cases else "")
    if cases and cases < _FEWEST_CASES:
        return f"{size} can't tell any lift; it takes {_FEWEST_CASES} cases"
    if not cases and runs < _FEWEST_RUNS:
        return f"{size} can't tell any lift; it takes {_FEWEST_RUNS}"
    assumed = f"a control's rate of {GUESS} (a guess)" if rate is None else f"the control's last rate of {rate:.2f}"
    only = f"; only 0 of {runs} against {runs} of {runs} can be told" if not cases and runs == _FEWEST_RUNS else ""
    return f"{size} {_least(planned, GUESS if rate is None else rate)} with 80 % power, at {assumed}{only}"


def _least(planned: PlannedEval, rate: float) -> str:
    from reeval.grade.compared.power import detectable

    found = detectable(planned.runs, rate=rate, cases=len(planned.cases) or None)
    ends = [f"+{found.up:.2f}"] if found.up is not None else []
    ends += [f"−{found.down:.2f}"] if found.down is not None else []
    return f"tell a lift from {' or '.join(ends)} on" if ends else "tell no lift"
