"""What does a body do with a check that it registered? Each handle configures one entry of the ledger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NoReturn, Self

from reeval.errors import UsageError
from reeval.grade.checks.entry import Entry
from reeval.run.body.calls import Call, Calls

__all__ = ["BlockingHandle", "BlockingScoredHandle", "Handle", "PointsHandle", "ScoredHandle"]


class _Handle:
    """What every handle can do."""

    __slots__ = ("_calls", "_entry", "_settle")

    def __init__(self, entry: Entry, calls: Calls, settle: Callable[[], Awaitable[None]] | None = None) -> None:
        self._entry = entry
        self._calls = calls
        self._settle = settle
        """Asks a judge; None: nothing has to be waited for."""

    def __bool__(self) -> NoReturn:
        raise UsageError("a check has no truth value; write `await check.or_stop()`, or assert on the value itself")

    def key(self, key: str) -> Self:
        """Give it a stable identity."""
        self._entry.key(key)
        return self

    def label(self, text: str) -> Self:
        """Say what it is about."""
        self._entry.label(text)
        return self


class _Deciding(_Handle):
    __slots__ = ()

    def gate(self, minimum: float | None = None) -> Self:
        """Make it decide."""
        self._entry.gate(minimum)
        return self

    async def _settled(self) -> None:
        self._entry.require_minimum()  # Before a model is paid for nothing.
        if self._settle is not None:
            await self._settle()

    def _stop_unless_it_holds(self) -> None:
        if not self._entry.stop_holds():
            raise self._calls.stop()


class _Awaited(_Deciding):
    __slots__ = ()

    def or_stop(self) -> Call[None]:
        """Await it to end the body here unless this check holds."""
        return self._calls.new("check(…).or_stop", self._or_stop)

    async def _or_stop(self) -> None:
        await self._settled()
        self._stop_unless_it_holds()


class _Blocking(_Deciding):
    __slots__ = ()

    def or_stop(self) -> None:
        """End the body here unless this check holds."""
        if self._settle is not None:
            self._calls.wait(self._calls.new("judge(…).or_stop", self._settled))
        self._stop_unless_it_holds()


class _Optional(_Deciding):
    __slots__ = ()

    def optional(self) -> Self:
        """Show it and never let it decide."""
        self._entry.optional()
        return self

    # No protocol of ``authoring`` has it: type checkers refuse the call before it runs.
    def score(self, *_points: object) -> NoReturn:
        """Refuse points."""
        raise UsageError("points belong to a scored eval, @evaluate(…, scored=True); drop .score() or make it one")


class _Scored(_Deciding):
    __slots__ = ()

    def score(self, points: float) -> Self:
        """Contribute points."""
        self._entry.score(points)
        return self

    # As above.
    def optional(self) -> NoReturn:
        """Refuse what says nothing here."""
        raise UsageError("in a scored eval nothing decides without .gate(); drop .optional()")


class Handle(_Awaited, _Optional):
    """Implements ``authoring.Check``."""

    __slots__ = ()


class ScoredHandle(_Awaited, _Scored):
    """Implements ``authoring.ScoredCheck``."""

    __slots__ = ()


class BlockingHandle(_Blocking, _Optional):
    """Implements ``authoring.BlockingCheck``."""

    __slots__ = ()


class BlockingScoredHandle(_Blocking, _Scored):
    """Implements ``authoring.BlockingScoredCheck``."""

    __slots__ = ()


class PointsHandle(_Handle):
    """Implements ``authoring.ScoreHandle``."""

    __slots__ = ()
