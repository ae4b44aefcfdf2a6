"""What does a judge measure? The median of its votes; a vote that cannot be used makes it an error, never a guess."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import monotonic
from typing import Any

import anyio
import msgspec

from reeval.backends import ModelReply, ModelRequest, Picture
from reeval.errors import InfrastructureError
from reeval.grade.observing.display import show
from reeval.grade.observing.expectation import finite
from reeval.run.asking.material import Section
from reeval.run.asking.wording import JUDGE_SCHEMA, judge_system, prompt
from reeval.schema.spec import Judge
from reeval.secrets import Masker
from reeval.usage import Usage

__all__ = ["Ask", "Ballot", "Measurement", "judge_request", "measure"]

Ask = Callable[[ModelRequest], Awaitable[ModelReply]]
"""Asks one model; raises ``InfrastructureError`` when it gives no valid answer."""

REASON_LIMIT = 2000
"""Characters of a reason that are kept in the record; the judge's own file has all of it."""
ERROR_LIMIT = 1000


class Ballot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a judge, as its file keeps it."""

    reply: Mapping[str, Any] | None = None
    score: float | None = None
    """None: an error."""
    reason: str = ""
    error: str | None = None
    served: str | None = None
    tries: int = 1
    usage: Usage = Usage()
    duration: float = 0.0
    """Seconds."""


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """What the votes of one judge come to."""

    ballots: tuple[Ballot, ...]
    score: float | None = None
    """The median; None: an error."""
    reason: str = ""
    """Of the vote that is the median."""
    spread: float | None = None
    """The largest score minus the smallest; None: one vote, or an error."""
    error: str | None = None
    """Which vote failed, and why."""

    @property
    def usage(self) -> Usage:
        """What all votes used; unknown when that of one is."""
        first, *rest = (ballot.usage for ballot in self.ballots)
        return sum(rest, first)

    @property
    def served(self) -> str | None:
        """What served the votes, as the provider says."""
        return next((ballot.served for ballot in self.ballots if ballot.served), None)


def judge_request(
    judge: Judge | str, sections: Sequence[Section], masker: Masker, pictures: Sequence[Picture] = ()
) -> ModelRequest:
    """Return what a judge, or a bare question, is sent about some material: masked and bounded."""
    if isinstance(judge, Judge):
        system = judge_system(judge.rubric, judge.anchors)
    else:
        system = judge_system(judge, is_rubric=False)
    return ModelRequest(
        system=masker.text(system), prompt=prompt(sections, masker), schema=JUDGE_SCHEMA, pictures=tuple(pictures)
    )


async def measure(ask: Ask, request: ModelRequest, votes: int = 1) -> Measurement:
    """Ask ``votes`` times, an odd number, at the same time; nothing but cancellation is raised."""
    ballots: list[Ballot | None] = [None] * votes

    async def vote(place: int) -> None:
        ballots[place] = await _vote(ask, request)

    if votes == 1:
        return _counted((await _vote(ask, request),))
    async with anyio.create_task_group() as tasks:
        for place in range(votes):
            tasks.start_soon(vote, place)
    return _counted(tuple(ballot for ballot in ballots if ballot is not None))


async def _vote(ask: Ask, request: ModelRequest) -> Ballot:
    began = monotonic()
    try:
        reply = await ask(request)
    except InfrastructureError as error:
        return Ballot(error=_bounded(error.reason, ERROR_LIMIT), duration=_since(began))
    except Exception as error:  # noqa: BLE001 - a defect of a kind of model is never the agent's failure
        return Ballot(error=_bounded(f"{type(error).__name__}: {error}", ERROR_LIMIT), duration=_since(began))
    score, problem = _score(reply.data.get("score"))
    reason = reply.data.get("reason")
    return Ballot(
        reply=reply.data,
        score=score,
        reason=_bounded(reason, REASON_LIMIT) if isinstance(reason, str) else "",
        error=problem,
        served=reply.model,
        tries=reply.tries,
        usage=reply.usage,
        duration=_since(began),
    )


def _score(value: object) -> tuple[float | None, str | None]:
    """Return the score, or what is wrong with it: it is never clamped and never read out of a text."""
    number = finite(value)
    if number is None or not 0 <= number <= 1:
        return None, f"the score is {show(value, 80)}; it has to be a number from 0 to 1"
    return number, None


def _counted(ballots: tuple[Ballot, ...]) -> Measurement:
    for place, ballot in enumerate(ballots, 1):
        if ballot.error is not None:
            which = f"vote {place} of {len(ballots)}: " if len(ballots) > 1 else ""
            return Measurement(ballots=ballots, error=f"{which}{ballot.error}")
    ranked = sorted(((ballot.score or 0.0, place) for place, ballot in enumerate(ballots)))
    score, place = ranked[len(ranked) // 2]
    spread = round(ranked[-1][0] - ranked[0][0], 9) if len(ranked) > 1 else None
    return Measurement(ballots=ballots, score=score, reason=ballots[place].reason, spread=spread)


def _bounded(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def _since(began: float) -> float:
    return round(monotonic() - began, 6)
