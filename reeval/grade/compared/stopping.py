"""Has a compare, or a cell, seen enough? ``until_decided`` and ``best_of``, asked again after every run.

``until_decided`` may be asked after every block (one attempt a side) because its evidence is a bet against "both sides
have one rate": where that is true the stake grows twentyfold in at most 5 % of all compares, however often one looks
(Ville's inequality). What counts as a block is decided by the plan, never by which attempt was faster.

With cases no bet is made: more runs bring no more cases, and cases that happen to gain would win any bet in the end.
There one looks a few times, and the looks share the 5 % (Bonferroni).

Sources: Turner, Ly and Grünwald, "Generic e-variables for exact sequential k-sample tests that allow for optional
stopping", 2024; for the interval Turner and Grünwald, "Exact anytime-valid confidence intervals for contingency tables
and beyond", 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reeval.grade.calibration.intervals import Interval
from reeval.grade.compared.boschloo import LEVEL
from reeval.grade.compared.lifts import FEWEST_ATTEMPTS, Lift, Said, Side, lift

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Pair", "Stopped", "best_of", "looks", "settled_runs", "until_decided"]

Pair = tuple[bool | None, bool | None]
"""Whether the control's and the variant's attempt passed; None: an error that stayed, which drops the pair."""
Outcomes = Mapping[tuple[str | None, int], bool | None]
"""One side's settled attempts: (case, run from 1) → passed. An attempt that is not there is not settled."""

_PRIOR = 0.3
"""Passes, and failures, that each side is thought to have had before the first. Any number is valid; with this one the
least number of pairs can tell 0 from 1, and middling rates are told nearly as fast as with more."""
_MOST_LOOKS = 4
"""With cases: each look more lowers the level of all."""
_STEP = 0.01
"""Points between the differences that are tried for the interval."""


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """What is known after the blocks so far."""

    said: Said
    run: int | None
    """The run after which it was told; later ones are not looked at. None: not yet."""
    pairs: int
    """With a decided attempt on both sides, up to then."""
    lift: float | None
    interval: Interval | None
    """95 %, valid whenever one looks."""
    evidence: float | None
    """By how much the stake has grown; 20 tells. None with cases."""


def settled_runs(
    control: Outcomes, variant: Outcomes, *, others: Sequence[Outcomes] = (), cases: Sequence[str | None] = (None,)
) -> list[list[Pair]]:
    """Return the pairs of every run, in order, that is settled on all sides: ``others`` are further variants.

    A run that is not settled ends it, even if later ones are: where passes take longer than failures, looking at what
    finished first would see one side's failures before the other's passes.
    """
    runs: list[list[Pair]] = []
    while True:
        keys = [(case, len(runs) + 1) for case in cases]
        if not keys or not all(key in side for key in keys for side in (control, variant, *others)):
            return runs
        runs.append([(control[key], variant[key]) for key in keys])


def until_decided(
    runs: Sequence[Sequence[Pair]], *, most: int, cases: bool = False, seed: str, open_interval: bool = True
) -> Stopped:
    """Return what can be told after these runs, of at most ``most``; ``seed`` is the run's id.

    A run has the pairs of all ``cases``, or one pair without cases. At least 4 pairs, and 6 cases. With cases it can be
    told only after the runs that ``looks`` names.
    """
    if cases:
        return _with_cases(runs, most, seed)
    pairs = [pair for run in runs[:most] for pair in run]
    seen: list[tuple[int, int]] = []
    evidence = 1.0
    for run, (a, b) in enumerate(pairs, 1):
        if a is None or b is None:
            continue
        evidence *= _factor((a, b), seen)
        seen.append((int(a), int(b)))
        if len(seen) >= FEWEST_ATTEMPTS and evidence >= 1 / LEVEL:
            interval = _confidence(seen)
            if interval[0] >= 0 or interval[1] <= 0:
                return _stopped(seen, interval, evidence, run)
    return _stopped(seen, _confidence(seen) if seen and open_interval else None, evidence, None)


def looks(most: int, cases: int) -> list[int]:
    """Return the runs after which a compare with cases may be told, the last one first.

    At most 4, each half as far as the one before, and so few that each look has a level which so many cases can reach.
    """
    affordable = max(1, int(LEVEL * 2 ** (cases - 1))) if cases < 60 else _MOST_LOOKS
    runs = [most >> halvings for halvings in range(min(_MOST_LOOKS, affordable))]
    return [run for run in runs if run]


def _stopped(seen: Sequence[tuple[int, int]], interval: Interval | None, evidence: float, run: int | None) -> Stopped:
    said = Said.OPEN
    if run is not None and interval is not None:
        said = Said.HELPED if interval[0] >= 0 else Said.WORSE
    gain = sum(b - a for a, b in seen) / len(seen) if seen else None
    return Stopped(said=said, run=run, pairs=len(seen), lift=gain, interval=interval, evidence=evidence)


def _with_cases(runs: Sequence[Sequence[Pair]], most: int, seed: str) -> Stopped:
    planned = looks(most, len(runs[0]) if runs else 0)
    for run in reversed(planned):
        if run <= len(runs):
            found = _lift_of(runs[:run], LEVEL / len(planned), seed)
            if found.said is not Said.OPEN:
                return _by_cases(found, found.said, run)
    return _by_cases(_lift_of(runs[:most], LEVEL / len(planned), seed), Said.OPEN, None)


def _lift_of(runs: Sequence[Sequence[Pair]], level: float, seed: str) -> Lift:
    sides: tuple[dict[str | None, list[bool]], dict[str | None, list[bool]]] = ({}, {})
    for pairs in runs:
        for case, (a, b) in enumerate(pairs):
            if a is not None and b is not None:
                sides[0].setdefault(str(case), []).append(a)
                sides[1].setdefault(str(case), []).append(b)
    return lift(Side(attempts=sides[0]), Side(attempts=sides[1]), seed=seed, level=level)


def _by_cases(found: Lift, said: Said, run: int | None) -> Stopped:
    pairs, _ = found.decided
    return Stopped(said=said, run=run, pairs=pairs, lift=found.lift, interval=found.interval, evidence=None)


def _factor(pair: tuple[bool, bool], seen: Sequence[tuple[int, int]]) -> float:
    """Return by how much a pair lets the stake grow.

    Its probability under rates guessed from earlier pairs, divided by that under their mean: at most 1 in the mean when
    both sides have one rate, whatever that is and whatever was guessed.
    """
    guess = [(sum(side) + _PRIOR) / (len(seen) + 2 * _PRIOR) for side in zip(*seen, strict=True)] or [0.5, 0.5]
    mean = sum(guess) / 2
    factor = 1.0
    for passed, rate in zip(pair, guess, strict=True):
        factor *= rate / mean if passed else (1 - rate) / (1 - mean)
    return factor


def _confidence(pairs: Sequence[tuple[int, int]]) -> Interval:
    """Return the differences that the evidence does not speak against twentyfold, rounded outwards."""
    import numpy as np

    differences = np.linspace(-1, 1, round(2 / _STEP) + 1)[1:-1]
    outcomes = np.array(pairs, dtype=float)
    counts = np.arange(len(pairs))[:, None]
    guesses = (np.cumsum(outcomes, axis=0) - outcomes + _PRIOR) / (counts + 2 * _PRIOR)
    control = _nearest(guesses[:, :1], guesses[:, 1:], differences)
    logs = _log_chance(outcomes, guesses[:, :1], guesses[:, 1:]) - _log_chance(outcomes, control, control + differences)
    kept = np.flatnonzero(logs.sum(axis=0) < np.log(1 / LEVEL))
    ends = np.array([-1.0, *differences, 1.0])
    return (float(ends[kept[0]]), float(ends[kept[-1] + 2])) if len(kept) else (-1.0, 1.0)


def _nearest(control: NDArray[Any], variant: NDArray[Any], differences: NDArray[Any]) -> NDArray[Any]:
    """Return the control's rate that, with the variant that much above, comes nearest to a guess.

    Nearest in relative entropy, which is where the factor is 1 in the mean at most (Turner and Grünwald, theorem 1).
    The slope of the entropy falls from one end to the other, so halving finds where it is 0.
    """
    import numpy as np

    shape = np.broadcast_shapes(control.shape, differences.shape)
    low = np.broadcast_to(np.maximum(0.0, -differences), shape)
    high = np.broadcast_to(np.minimum(1.0, 1.0 - differences), shape)
    for _ in range(32):
        middle = (low + high) / 2
        other = middle + differences
        rising = (control - middle) * other * (1 - other) + (variant - other) * middle * (1 - middle) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return np.asarray((low + high) / 2)


def _log_chance(outcomes: NDArray[Any], control: NDArray[Any], variant: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    rates = zip((outcomes[:, :1], outcomes[:, 1:]), (control, variant), strict=True)
    return np.asarray(sum(np.log(np.where(passed > 0, rate, 1 - rate)) for passed, rate in rates))


def best_of(passed: int, failed: int, errors: int, of: int) -> bool | None:
    """Return whether a cell of ``of`` attempts passes by majority; None: the ones to come can still decide.

    Errors have no vote; a tie, which only an even number of votes can have, is no majority.
    """
    left = of - passed - failed - errors
    if passed > failed + left:
        return True
    return False if failed and failed >= passed + left else None
