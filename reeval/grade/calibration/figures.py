"""How far do two raters agree? Each figure is of pairs: what a person found, then what the judge did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import fsum, sqrt
from typing import TypeVar

__all__ = ["Scores", "accuracy", "bias", "kappa", "mean_error", "rank_correlation", "ranks"]

Label = TypeVar("Label", bound=Hashable)
Scores = tuple[float, float]


def accuracy(counts: Mapping[tuple[Label, Label], int]) -> float | None:
    """Return the share of pairs that are equal; None of no pair."""
    total = sum(counts.values())
    return _equal(counts) / total if total else None


def kappa(counts: Mapping[tuple[Label, Label], int]) -> float | None:
    """Return Cohen's kappa: how far agreement goes beyond chance, 1 at most, 0 by chance alone.

    None where chance alone would agree on everything, because both use only one and the same label, and of no pair.
    Source: Cohen, "A coefficient of agreement for nominal scales", 1960.
    """
    ones: Counter[Label] = Counter()
    others: Counter[Label] = Counter()
    for (one, other), count in counts.items():
        ones[one] += count
        others[other] += count
    # Whole numbers, so that "by chance alone" is exact: (p_o - p_e) / (1 - p_e), each share times the total squared.
    total = ones.total()
    chance = sum(count * others[label] for label, count in ones.items())
    return (_equal(counts) * total - chance) / (total**2 - chance) if total**2 > chance else None


def _equal(counts: Mapping[tuple[Label, Label], int]) -> int:
    return sum(count for (one, other), count in counts.items() if one == other)


def mean_error(pairs: Sequence[Scores]) -> float | None:
    """Return the mean absolute difference; None of no pair."""
    return fsum(abs(other - one) for one, other in pairs) / len(pairs) if pairs else None


def bias(pairs: Sequence[Scores]) -> float | None:
    """Return the mean of the judge minus the person: above 0 the judge is generous. None of no pair."""
    return fsum(other - one for one, other in pairs) / len(pairs) if pairs else None


def rank_correlation(pairs: Sequence[Scores]) -> float | None:
    """Return Spearman's rho, -1 to 1: the correlation of ranks, equal values sharing the mean of theirs.

    None where one side has only equal values: there is no order to agree with.
    """
    ones, others = ranks([one for one, _ in pairs]), ranks([other for _, other in pairs])
    middle = (len(pairs) + 1) / 2
    spread = fsum((rank - middle) ** 2 for rank in ones) * fsum((rank - middle) ** 2 for rank in others)
    if not spread:
        return None
    together = fsum((one - middle) * (other - middle) for one, other in zip(ones, others, strict=True))
    return max(-1.0, min(1.0, together / sqrt(spread)))  # rounding must not leave the range


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, from 1; equal values share the mean of theirs."""
    counts = Counter(values)
    rank: dict[float, float] = {}
    below = 0
    for value in sorted(counts):
        rank[value] = below + (counts[value] + 1) / 2
        below += counts[value]
    return [rank[value] for value in values]
