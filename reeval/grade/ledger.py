"""Which checks does an attempt have, and how do they stand? From their registration to their seal."""

from __future__ import annotations

import inspect
import math

from reeval.authoring import Match
from reeval.errors import UsageError
from reeval.grade.checks.entry import Entry
from reeval.grade.checks.labels import LABEL_LIMIT, check_name, default_label, distinct
from reeval.grade.observing.display import show
from reeval.grade.observing.expectation import MATCHED, mismatched
from reeval.grade.observing.observe import is_match, observe
from reeval.schema.observation import Observation
from reeval.schema.record import CheckRecord
from reeval.schema.spec import EvalKind

__all__ = ["Entry", "Ledger"]


class Ledger:
    """The checks of one attempt, in the order in which they were registered."""

    def __init__(self, kind: EvalKind, file: str = "") -> None:
        self.kind = kind
        self._file = file
        self._entries: list[Entry] = []
        self._keys: dict[str, Entry] = {}
        self._promised = 0.0
        self._closed = False
        self._sealed: list[CheckRecord] | None = None

    # --- registering ----------------------------------------------------------------------------------

    def check(self, match: Match, value: object, line: int | None) -> Entry:
        """Register one check and evaluate it now, so that later changes to ``value`` do not matter."""
        self._refuse_misuse(match, value, line)
        entry = self._new(match.name, default_label(check_name(match, value)), line, measures=match.measures)
        entry.settle(observe(match, value))
        return self._register(entry)

    def pending(
        self, name: str, argument: str, line: int | None, *, measures: bool = False, threshold: float | None = None
    ) -> Entry:
        """Register a check that is settled later.

        A judge's ``argument`` is its question, and its ``threshold`` the minimum of a gate that names none.
        """
        label = default_label(argument if name == "judge" else f"{name} {argument}")
        return self._register(self._new(name, label, line, measures=measures, threshold=threshold))

    def points(self, points: float, line: int | None) -> Entry:
        """Register a direct contribution; its entry takes only ``key`` and ``label``."""
        if self.kind != "scored":
            raise UsageError(f"{self.place(line)}c.score: only a scored eval has points; declare it with scored=True")
        entry = self._new("score", f"score {show(points, 40)}", line)
        entry.contribute(points)
        return self._register(entry)

    def passed_assert(self, label: str, line: int | None) -> None:
        """Record a plain assert that held."""
        self._decided("assert", label, line, MATCHED)

    def failed_assert(self, label: str, message: str, line: int | None) -> None:
        """Record a plain assert whose failure escaped the body: a gate that does not hold, in a scored eval too."""
        self._decided("assert", label, line, mismatched(message))

    def failed(self, label: str, match: str, message: str, line: int | None) -> None:
        """Record that what the body needs is not there, such as a file: a failed gate, and the body ends."""
        self._decided(match, label, line, mismatched(message)).stop_holds()

    # --- ending ---------------------------------------------------------------------------------------

    def close(self) -> None:
        """Take no more checks: the body stopped. What is registered still settles."""
        self._closed = True

    @property
    def closed(self) -> bool:
        """Whether a registration would be refused."""
        return self._closed

    def seal(self) -> list[CheckRecord]:
        """Return every check in source order, labels told apart; nothing can be registered or configured any more."""
        if self._sealed is None:
            self.close()
            labels = distinct(entry.wording for entry in self._entries)
            self._sealed = [entry.seal(label) for entry, label in zip(self._entries, labels, strict=True)]
        return self._sealed

    def sealed(self, entry: Entry) -> CheckRecord:
        """Return the record of one of its entries."""
        return self.seal()[self._entries.index(entry)]

    # --- for the entries ------------------------------------------------------------------------------

    def place(self, line: int | None) -> str:
        """Return how an error begins."""
        if line is None:
            return f"{self._file}: " if self._file else ""
        return f"{self._file}:{line}: " if self._file else f"line {line}: "

    def claim_key(self, entry: Entry, key: str) -> None:
        """Refuse a key that another check has."""
        owner = self._keys.setdefault(key, entry)
        if owner is not entry:
            raise UsageError(f"{entry.place}.key({key!r}): the check {owner.wording!r} has this key; keys are unique")

    def promise(self, entry: Entry, points: float) -> None:
        """Refuse points whose sum is not a finite number any more."""
        if not math.isfinite(self._promised + points):
            raise UsageError(f"{entry.place}{points!r} points make a score too large for a number; use fewer")
        self._promised += points

    def _decided(self, match: str, label: str, line: int | None, observation: Observation) -> Entry:
        entry = self._new(match, default_label(label, LABEL_LIMIT), line)
        entry.decide(observation)
        return self._register(entry)

    def _new(
        self, match: str, label: str, line: int | None, *, measures: bool = False, threshold: float | None = None
    ) -> Entry:
        if self._closed:
            why = "the attempt is over" if self._sealed is not None else "the body was stopped"
            raise UsageError(f"{self.place(line)}{label!r} is registered after {why}; let the stop end the body")
        return Entry(self, match, label or match, line, measures=measures, threshold=threshold)

    def _register(self, entry: Entry) -> Entry:
        self._entries.append(entry)
        return entry

    def _refuse_misuse(self, match: object, value: object, line: int | None) -> None:
        problem = None
        if hasattr(type(value), "__await__"):
            if inspect.iscoroutine(value):
                value.close()  # it will never be awaited
            problem = "its value was not awaited; write c.check(await …, …)"
        elif hasattr(type(value), "or_stop"):
            problem = "its value is a check; check what that one checked"
        elif not is_match(match):
            call = getattr(match, "__name__", None)
            hint = f"call it: {call}(…)" if call and callable(match) else "use a match such as equals(…) or includes(…)"
            problem = f"its second argument is {show(match, 80)}; {hint}"
        if problem:
            raise UsageError(f"{self.place(line)}c.check: {problem}")
