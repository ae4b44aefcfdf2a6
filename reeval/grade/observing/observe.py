"""What does a match see in a value, whatever it does? Exceptions and wrong types become ``errored``."""

from __future__ import annotations

import math

from reeval.authoring import Match
from reeval.grade.observing.display import MESSAGE_LIMIT, clip, show
from reeval.grade.observing.expectation import errored
from reeval.schema.observation import CheckStatus, Observation

__all__ = ["is_match", "observe", "vetted"]


def is_match(value: object) -> bool:
    """Say whether ``value`` has all that a match has; a class of matches is none."""
    return not isinstance(value, type) and all(
        hasattr(value, name) for name in ("name", "argument", "measures", "observe")
    )


def observe(match: Match, value: object) -> Observation:
    """Evaluate ``match`` on ``value``; an ``Exception`` in it is data, control flow passes through."""
    try:
        seen: object = match.observe(value)
    except Exception as error:  # noqa: BLE001 - a defect of the match is never the agent's failure
        return errored(f"{match.name} raised {described(error)}")
    return vetted(match.name, seen, measures=match.measures)


def vetted(name: str, seen: object, *, measures: bool) -> Observation:
    """Return ``seen`` if it is what a match may return, else ``errored``; a measurement is never clamped."""
    if not isinstance(seen, Observation):
        return errored(f"{name} returned {show(seen)}, which is not an Observation")
    problem = _problem(seen, measures=measures)
    if problem:
        return errored(f"{name} {problem}")
    if len(seen.message) <= MESSAGE_LIMIT and seen.message.isascii():
        return seen
    return Observation(status=seen.status, measurement=seen.measurement, message=clip(seen.message))


def described(error: BaseException) -> str:
    """Return an exception's type and text, bounded, even when its text cannot be made."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an exception of the author's making
        text = "(its text cannot be shown)"
    return clip(f"{type(error).__name__}: {text}" if text else type(error).__name__, MESSAGE_LIMIT // 2)


def _problem(seen: Observation, *, measures: bool) -> str | None:
    if seen.status in (CheckStatus.UNAVAILABLE, CheckStatus.ERRORED):
        return None
    if (seen.status == CheckStatus.MEASURED) != measures:
        return f"settled as {seen.status}, but {'measures' if measures else 'does not measure'}"
    if seen.measurement is None:
        return "measured nothing" if measures else None
    if not measures:
        return f"settled as {seen.status} with a measurement"
    if not math.isfinite(seen.measurement) or not 0 <= seen.measurement <= 1:
        return f"measured {seen.measurement!r}, which is not a number from 0 to 1"
    return None
