"""How do observations combine? Three-valued: what is unknown stays so unless something definite decides."""

from __future__ import annotations

from collections.abc import Sequence

from reeval.grade.observing.expectation import MATCHED, mismatched
from reeval.schema.observation import CheckStatus, Observation

__all__ = ["every", "some"]

_DOUBTFUL = (CheckStatus.ERRORED, CheckStatus.UNAVAILABLE)
"""The worse first."""


def every(seen: Sequence[Observation]) -> Observation:
    """All matched → matched; any mismatch decides; else the worst doubt."""
    return _of_status(seen, CheckStatus.MISMATCHED) or _doubt(seen) or MATCHED


def some(seen: Sequence[Observation]) -> Observation:
    """Any match decides; else the worst doubt; else mismatched, with every reason."""
    decided = _of_status(seen, CheckStatus.MATCHED) or _doubt(seen)
    return decided or mismatched("none of them:\n" + "\n".join(_shares(seen)))


def _doubt(seen: Sequence[Observation]) -> Observation | None:
    return _of_status(seen, _DOUBTFUL[0]) or _of_status(seen, _DOUBTFUL[1])


def _of_status(seen: Sequence[Observation], status: CheckStatus) -> Observation | None:
    return next((one for one in seen if one.status == status), None)


def _shares(seen: Sequence[Observation]) -> list[str]:
    room = 900 // max(len(seen), 1)
    return ["- " + one.message[: max(room, 40)].replace("\n", "; ") for one in seen]
