"""How often does a compare without a true difference say that something helped or made it worse?

    python benchmarks/simulate.py [compares, by default 2000]

Prints a Markdown table. Without cases, and for 8 blocks of ``until_decided``, every possible result is counted instead
of simulated. The same numbers come every time; it takes some minutes on one core.
"""

from __future__ import annotations

import heapq
import itertools
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from reeval.grade.compared.boschloo import helped_region
from reeval.grade.compared.estimates import newcombe
from reeval.grade.compared.lifts import Said, Side, lift
from reeval.grade.compared.pooled import Stratum, pooled_lift
from reeval.grade.compared.stopping import Pair, settled_runs, until_decided

RATES = (0.05, 0.2, 0.5, 0.8, 0.95)
RUNS = (4, 8, 20, 50)
CASES = (5, 6, 10, 20)
CORRELATION = 0.3
"""Between two attempts of one case."""
MOST = 50
"""Blocks of ``until_decided``."""
AT_ONCE = 40
SLOWER = 20
"""How much longer a pass takes than a failure, on one side."""

Row = tuple[str, str, Sequence[float]]


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"Claims without a true difference, in %, of {times:,} compares each.\n")
    print("| Compare | How | " + " | ".join(f"rate {rate:g}" for rate in RATES) + " |")
    print("|---|---|" + "--:|" * len(RATES))
    for name, how, claims in rows(times):
        print(f"| {name} | {how} | " + " | ".join(f"{100 * claim:.1f}" for claim in claims) + " |", flush=True)


def rows(times: int) -> Iterator[Row]:
    for runs in RUNS:
        yield f"{runs} runs a side", "counted", [counted(region(runs), rate) for rate in RATES]
        yield f"{runs} runs a side, interval alone", "counted", [counted(interval_only(runs), rate) for rate in RATES]
    for cases, runs in itertools.product(CASES, (1, 4, 20)):
        yield f"{cases} cases × {runs}", "simulated", each(times, partial(with_cases, cases=cases, runs=runs))
    for name, one in (
        ("6 cases × 4, one attempt in five an error", lambda r, s: with_cases(r, s, 6, 4, errors=0.2)),
        (
            "10 cases × 4, the variant changes each case, but not their mean",
            lambda r, s: with_cases(r, s, 10, 4, own=1.0),
        ),
        ("10 evals × 4", lambda r, s: several(r, s, 4, 4)),
        ("10 evals, 4 against 20", lambda r, s: several(r, s, 4, 20)),
        ("scores, 4 runs a side", lambda r, s: scores(r, s, 4, 4)),
        ("scores, 4 against 20", lambda r, s: scores(r, s, 4, 20)),
        (f"until decided, {MOST} at most", lambda r, s: sequence(r, s, 0)),
        (f"until decided, 6 cases × {MOST} at most", lambda r, s: sequence(r, s, 6)),
        (f"until decided, 20 cases × {MOST} at most", lambda r, s: sequence(r, s, 20)),
        ("the same, the variant changes each case, but not their mean", lambda r, s: sequence(r, s, 20, own=1.0)),
        (f"until decided, {AT_ONCE} at once, slow passes", lambda r, s: by_time(r, s, by_plan=True)),
        ("the same, fed by completion (what reeval does not do)", lambda r, s: by_time(r, s, by_plan=False)),
    ):
        yield name, "simulated", each(times, one)


def each(times: int, claims: Callable[[random.Random, float], bool]) -> list[float]:
    return [sum(claims(random.Random(f"{rate} {one}"), rate) for one in range(times)) / times for rate in RATES]


# --- counted ------------------------------------------------------------------------------------------------


def region(runs: int) -> np.ndarray:
    """Which results make a claim: [passes of the control, passes of the variant]."""
    helped: np.ndarray = helped_region(runs, runs)
    return np.logical_or(helped, helped[::-1, ::-1])


def interval_only(runs: int) -> np.ndarray:
    ends = [[newcombe((x, runs), (y, runs)) or (0, 0) for y in range(runs + 1)] for x in range(runs + 1)]
    return np.array([[low > 0 or high < 0 for low, high in row] for row in ends])


def counted(claims: np.ndarray, rate: float) -> float:
    """The probability of a claim when both sides pass at this rate."""
    runs = len(claims) - 1
    chances = np.ones(1)
    for _ in range(runs):
        chances = np.convolve(chances, [1 - rate, rate])
    return float(chances @ claims @ chances)


# --- simulated ----------------------------------------------------------------------------------------------


def case_rate(source: random.Random, rate: float) -> float:
    """A case's own rate: cases differ, and two attempts of one case agree more often than two of different ones."""
    strength = 1 / CORRELATION - 1
    return source.betavariate(rate * strength, (1 - rate) * strength)


def passes(source: random.Random, rate: float, runs: int, errors: float = 0.0) -> list[bool]:
    return [source.random() < rate for _ in range(runs) if source.random() >= errors]


def with_cases(
    source: random.Random, rate: float, cases: int, runs: int, *, errors: float = 0.0, own: float = 0.0
) -> bool:
    sides: tuple[dict[str | None, list[bool]], dict[str | None, list[bool]]] = ({}, {})
    for case in range(cases):
        control = case_rate(source, rate)
        variant = case_rate(source, rate) if source.random() < own else control
        sides[0][str(case)] = passes(source, control, runs, errors)
        sides[1][str(case)] = passes(source, variant, runs, errors)
    return claims_of(*(Side(attempts=side) for side in sides))


def claims_of(control: Side, variant: Side, *, scored: bool = False) -> bool:
    return lift(control, variant, scored=scored, seed="simulation").said is not Said.OPEN


def several(source: random.Random, rate: float, control: int, variant: int) -> bool:
    strata = []
    for number in range(10):
        own = case_rate(source, rate)
        sides = [Side(attempts={None: passes(source, own, runs)}) for runs in (control, variant)]
        strata.append(Stratum(eval=str(number), control=sides[0], variant=sides[1]))
    return pooled_lift(strata, seed="simulation").said is not Said.OPEN


def scores(source: random.Random, rate: float, control: int, variant: int) -> bool:
    """Most scores are full or nothing, some lie between."""
    drawn = [[round(case_rate(source, rate), 1) for _ in range(runs)] for runs in (control, variant)]
    return claims_of(*(Side(attempts={None: values}) for values in drawn), scored=True)


def sequence(source: random.Random, rate: float, cases: int, *, own: float = 0.0) -> bool:
    control = [case_rate(source, rate) for _ in range(cases)] or [rate]
    variant = [case_rate(source, rate) if source.random() < own else same for same in control]
    runs: list[list[Pair]] = [
        [(source.random() < a, source.random() < b) for a, b in zip(control, variant, strict=True)] for _ in range(MOST)
    ]
    return until_decided(runs, most=MOST, cases=bool(cases), seed="simulation").said is not Said.OPEN


def by_time(source: random.Random, rate: float, *, by_plan: bool) -> bool:
    """Attempts that run side by side, passes of the variant slower; is anything ever claimed, looking at each end?"""
    finished = list(ends(source, rate))
    if not by_plan:
        sides: list[list[bool]] = [[], []]
        for side, _, passed in finished:
            sides[side].append(passed)
        pairs: list[list[Pair]] = [[pair] for pair in zip(*sides, strict=True)]
        return until_decided(pairs, most=MOST, seed="simulation").said is not Said.OPEN
    known: tuple[dict[tuple[str | None, int], bool], ...] = ({}, {})
    for number, (side, run, passed) in enumerate(finished, 1):
        known[side][None, run] = passed
        # Looking is slow and what was told stays told, so every tenth end will do.
        if number % 10 == 0 and until_decided(settled_runs(*known), most=MOST, seed="simulation").run is not None:
            return True
    return False


def ends(source: random.Random, rate: float) -> Iterator[tuple[int, int, bool]]:
    """The attempts as they end: side, run, passed."""
    waiting = [(side, run) for run in range(1, MOST + 1) for side in (0, 1)]
    running: list[tuple[float, int, int, bool]] = []
    now = 0.0
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            side, run = waiting.pop(0)
            passed = source.random() < rate
            length = source.uniform(0.5, 1.5) * (SLOWER if passed and side else 1)
            heapq.heappush(running, (now + length, side, run, passed))
        now, side, run, passed = heapq.heappop(running)
        yield side, run, passed


if __name__ == "__main__":
    main()
