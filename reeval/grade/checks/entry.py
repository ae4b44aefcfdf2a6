"""What may be said about one registered check, and how does it stand? Its configuration, its result, its record."""

from __future__ import annotations

from typing import NoReturn, Protocol

from reeval.errors import UsageError
from reeval.grade.checks.labels import LABEL_LIMIT, blank_problem, default_label, wording_problem
from reeval.grade.observing.display import clip, show
from reeval.grade.observing.expectation import MATCHED, finite
from reeval.grade.observing.observe import vetted
from reeval.schema.observation import CheckStatus, Observation
from reeval.schema.record import CheckRecord
from reeval.schema.spec import EvalKind

__all__ = ["Book", "Entry"]

_DOUBTS = (CheckStatus.UNAVAILABLE, CheckStatus.ERRORED)


class Book(Protocol):
    """What an entry asks of the ledger it stands in."""

    @property
    def kind(self) -> EvalKind:
        """Whether points or gates are the rule."""
        ...

    def close(self) -> None:
        """Take no more checks."""
        ...

    def place(self, line: int | None) -> str:
        """Return how an error begins."""
        ...

    def claim_key(self, entry: Entry, key: str) -> None:
        """Refuse a key that another check has."""
        ...

    def promise(self, entry: Entry, points: float) -> None:
        """Refuse points whose sum is not a finite number any more."""
        ...


class Entry:
    """One registered check. Its methods configure it, each at most once, in any order; it never becomes another."""

    __slots__ = (
        "_book",
        "_duration",
        "_frozen",
        "_key",
        "_label",
        "_line",
        "_match",
        "_measures",
        "_minimum",
        "_observation",
        "_points",
        "_set",
        "_stopped",
        "_threshold",
    )

    def __init__(
        self, book: Book, match: str, label: str, line: int | None, *, measures: bool, threshold: float | None
    ) -> None:
        self._book = book
        self._match = match
        self._label = label
        self._line = line
        self._measures = measures
        self._threshold = threshold
        self._observation: Observation | None = None
        self._key: str | None = None
        self._minimum: float | None = None
        self._points: float | None = None
        self._stopped = False
        self._frozen: str | None = None
        self._duration: float | None = None
        self._set: frozenset[str] = frozenset()

    # --- configuring ----------------------------------------------------------------------------------

    def label(self, text: str) -> None:
        """Say what it is about: one line of at most 256 characters; what an agent said in it is made to fit."""
        self._refuse_late("label")
        if problem := blank_problem(text):
            self._refuse("label", problem)
        self._label = default_label(text, LABEL_LIMIT)
        self._set |= {"label"}

    def key(self, key: str) -> None:
        """Give it an identity of its own in the attempt."""
        self._refuse_late("key")
        self._key = self._words("key", key)
        self._book.claim_key(self, self._key)
        self._set |= {"key"}

    def gate(self, minimum: float | None = None) -> None:
        """Make it decide; a measurement needs ``minimum``, finite and from 0 to 1."""
        self._refuse_late("gate")
        if self._match == "score":
            self._refuse("gate", "points of their own hold nothing; gate a check")
        if "optional" in self._set:
            self._refuse("gate", "it is optional, so it never decides; drop one of the two")
        if self._measures:
            self._minimum = self._gate_minimum(minimum)
        elif minimum is not None:
            self._refuse("gate", f"{self._match} matches or does not, so it has no minimum; write .gate()")
        self._set |= {"gate"}

    def score(self, points: float) -> None:
        """Make it contribute; ``points`` are finite and not negative."""
        self._refuse_late("score")
        if self._book.kind != "scored":
            self._refuse("score", "only a scored eval has points; declare it with scored=True")
        if self._match == "score":
            self._refuse("score", "it has its points already; it takes only .key and .label")
        self._promise(points)
        self._set |= {"score"}

    def optional(self) -> None:
        """Show it and never let it decide."""
        self._refuse_late("optional")
        if self._book.kind == "scored":
            self._refuse("optional", "in a scored eval a check decides only by .gate(); leave that out")
        if "gate" in self._set:
            self._refuse("optional", "it has a gate, so it decides; drop one of the two")
        self._set |= {"optional"}

    def _gate_minimum(self, minimum: float | None) -> float:
        number = self._threshold if minimum is None else minimum
        if number is None:
            self._refuse("gate", f"{self._match} measures, so it needs a minimum; write .gate(0.8)")
        value = self._number("gate", number)
        if value > 1:
            self._refuse("gate", f"a minimum is from 0 to 1, got {show(minimum, 80)}")
        return value

    def _promise(self, points: float) -> None:
        value = self._number("score", points)
        self._book.promise(self, value)
        self._points = value

    # --- settling -------------------------------------------------------------------------------------

    def settle(self, observation: Observation, duration: float | None = None) -> None:
        """Take the result of a check that was pending; ``duration`` in seconds, when it took long enough to matter."""
        if self._observation is not None or self._frozen == "sealed":
            self._refuse("settle", "it is settled already")
        self._observation = vetted(self._match, observation, measures=self._measures)
        self._duration = duration

    def contribute(self, points: float) -> None:
        """Become a direct contribution."""
        self._promise(points)
        self._observation = MATCHED

    def decide(self, observation: Observation) -> None:
        """Become a gate in both kinds of eval, as a plain assert is."""
        self._set |= {"gate"}
        self._observation = observation

    def require_minimum(self) -> None:
        """Refuse ``or_stop`` where there is nothing that could hold."""
        if self._match == "score":
            self._refuse("or_stop", "points of their own hold nothing; stop on a check")
        if self._measures and self._minimum is None:
            self._refuse("or_stop", "it measures, so it needs a minimum to stop on; write .gate(0.8).or_stop()")

    def stop_holds(self) -> bool:
        """Say whether the body may go on after ``or_stop``; if not, nothing can be registered any more."""
        self.require_minimum()
        if self._observation is None:
            self._refuse("or_stop", f"{self._match} settles when the body ends, so nothing can wait for it")
        self._frozen = self._frozen or "stopped on"
        holds = self._meets(self._observation)
        if not holds:
            self._stopped = True
            self._book.close()
        return holds

    @property
    def settled(self) -> bool:
        """Whether it has been evaluated."""
        return self._observation is not None

    def seal(self, label: str) -> CheckRecord:
        """Return its record; called by the ledger, once."""
        self._frozen = "sealed"
        seen = self._observation or Observation(
            status=CheckStatus.UNAVAILABLE, message="the attempt ended before it was evaluated"
        )
        doubtful = seen.status in _DOUBTS
        gate = self._decides()
        return CheckRecord(
            label=label,
            match=self._match,
            status=seen.status,
            key=self._key,
            measurement=seen.measurement,
            gate=gate,
            minimum=self._minimum,
            holds=self._meets(seen) if gate and not doubtful else None,
            points=self._points,
            earned=None if doubtful else self._earned(seen),
            optional="optional" in self._set,
            stopped=self._stopped,
            message=seen.message,
            line=self._line,
            duration=self._duration,
        )

    @property
    def wording(self) -> str:
        """Its label before repeats are told apart."""
        return self._label

    @property
    def place(self) -> str:
        """Where it was registered, for an error."""
        return self._book.place(self._line)

    def _decides(self) -> bool:
        if "gate" in self._set:
            return True
        return self._book.kind == "pass-fail" and not self._measures and "optional" not in self._set

    def _meets(self, seen: Observation) -> bool:
        if seen.status == CheckStatus.MEASURED:
            return seen.measurement is not None and self._minimum is not None and seen.measurement >= self._minimum
        return seen.status == CheckStatus.MATCHED

    def _earned(self, seen: Observation) -> float | None:
        if self._points is None:
            return None
        if seen.status == CheckStatus.MEASURED:
            return (seen.measurement or 0.0) * self._points
        return self._points if seen.status == CheckStatus.MATCHED else 0.0

    def _refuse_late(self, method: str) -> None:
        if self._frozen:
            self._refuse(method, f"it is {self._frozen} already; configure a check before that")
        if method in self._set:
            self._refuse(method, "it is set already; say it once")

    def _words(self, method: str, text: str) -> str:
        problem = wording_problem(text)
        if problem:
            self._refuse(method, problem)
        return clip(text, LABEL_LIMIT)

    def _number(self, method: str, number: object) -> float:
        value = finite(number)
        if value is None or value < 0:
            self._refuse(method, f"takes a finite number from 0, got {show(number, 80)}")
        return value + 0.0  # -0.0 becomes 0.0

    def _refuse(self, method: str, problem: str) -> NoReturn:
        raise UsageError(f"{self.place}.{method} of the check {self.wording!r}: {problem}")
