"""What does a run say about the evals themselves? Remarks that change no outcome.

The fold keeps a bounded number of places and counts the rest.
"""

from __future__ import annotations

from reeval.grade.observing.display import squeeze
from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptRecord, CheckRecord, FileRef, Outcome

__all__ = ["PLACES", "Remarks"]

PLACES = 20
"""Places that one kind of remark names."""


class Remarks:
    """The remarks of a run, attempt by attempt, in any order."""

    def __init__(self) -> None:
        self._failed_turns = _Places()
        self._unused = _Places()
        self._reviews = _Places()

    def add(self, attempt: AttemptRecord) -> None:
        """Look at one finished attempt, whose big parts were read back or are left out."""
        if attempt.outcome == Outcome.REVIEW and not attempt.data:  # a data question says itself what is to review
            self._reviews.add((attempt.eval,), attempt.attempt)
        if _went_well(attempt) and _has_failed_turn(attempt):
            self._failed_turns.add((attempt.eval,), attempt.attempt)
        for check in () if isinstance(attempt.checks, FileRef) else attempt.checks:
            if _unused(check):
                self._unused.add((attempt.eval, check.match, check.label), attempt.attempt)

    def lines(self) -> list[str]:
        """Return the remarks, each in one line."""
        return [
            *self._reviews.lines(
                "{0}: {attempts} ended in review, since nothing in it decides; register a check that must hold"
            ),
            *self._failed_turns.lines(
                "{0}: {attempts} ended well although a turn of the agent failed ({example}); "
                "check turn.status if that matters"
            ),
            *self._unused.lines(
                "{0}: nothing uses what {1} measures in {2!r}; give it .gate(minimum) or .score(points), "
                "or record it with c.observe"
            ),
        ]


class _Places:
    """Where one kind of thing was seen: how often, and in which attempt first."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], tuple[int, str]] = {}
        self._others = 0

    def add(self, place: tuple[str, ...], attempt: str) -> None:
        count, example = self._seen.get(place, (0, attempt))
        if count or len(self._seen) < PLACES:
            self._seen[place] = (count + 1, min(example, attempt))
        else:
            self._others += 1

    def lines(self, form: str) -> list[str]:
        lines = []
        for place, (count, example) in sorted(self._seen.items()):
            words = (squeeze(word, 200) for word in place)
            attempts = "1 attempt" if count == 1 else f"{count} attempts"
            lines.append(form.format(*words, attempts=attempts, example=example))
        if self._others:
            lines.append(f"and the same {self._others} times elsewhere")
        return lines


def _went_well(attempt: AttemptRecord) -> bool:
    return attempt.outcome == Outcome.PASS or (attempt.outcome == Outcome.SCORED and attempt.verdict == "pass")


def _has_failed_turn(attempt: AttemptRecord) -> bool:
    return not isinstance(attempt.turns, FileRef) and any(turn.status == "failed" for turn in attempt.turns)


def _unused(check: CheckRecord) -> bool:
    return (
        check.status == CheckStatus.MEASURED
        and not (check.gate or check.optional or check.stopped)
        and check.points is None
    )
