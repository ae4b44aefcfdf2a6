"""What does one ``c.judge`` ask for? The judge, its model, its material, and how often it is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from reeval.errors import DeclarationError, UsageError, did_you_mean
from reeval.grade.observing.display import show
from reeval.grade.observing.paths import canonical
from reeval.run.asking.material import Section, as_text, explicit
from reeval.schema.options import DEFAULT_THRESHOLD, JudgeOptions, StateOptions
from reeval.schema.spec import Judge
from reeval.schema.transcript import Turn

__all__ = ["JudgeCall", "is_exact", "judge_call"]

_SHOWN: StateOptions = {"task": True, "output": True, "diff": True, "files": True}
_KNOWN = ("model", "threshold", "votes", "state", "artifacts")
_MOST_VOTES = 99


class JudgeCall(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement that a body asked for."""

    judge: Judge | str
    """A text is a bare question."""
    model: str | None
    """None: nobody names one."""
    threshold: float
    votes: int
    at_once: int | None
    """Calls at once of judges with this model; None: as the provider allows."""
    state: StateOptions
    material: tuple[Section, ...] | None
    """What is shown in place of the state; None: the state is."""
    artifacts: bool | tuple[str, ...]
    turns: tuple[Turn, ...]
    """Up to the one that is judged."""
    output: str | None
    """The value that is judged in place of the final message."""

    @property
    def question(self) -> str:
        """The rubric, or the bare question."""
        return self.judge.rubric if isinstance(self.judge, Judge) else self.judge

    @property
    def name(self) -> str | None:
        """The judge's name; None: a bare question."""
        return self.judge.name if isinstance(self.judge, Judge) else None


def judge_call(
    judge: Judge | str,
    material: Mapping[str, Any] | None,
    on: object,
    options: Mapping[str, Any],
    defaults: JudgeOptions,
    turns: tuple[Turn, ...],
) -> JudgeCall:
    """Return what is asked for, as it is at this moment; raise ``UsageError`` when it cannot be.

    ``on`` is another turn, any JSON value, or ``...`` for the latest turn.
    """
    question: object = judge.rubric if isinstance(judge, Judge) else judge
    if not isinstance(question, str) or not question.strip():
        raise UsageError(f"c.judge takes a judge or a question, got {show(judge, 80)}")
    artifacts = _artifacts(options.get("artifacts", False))
    own = _own({name: value for name, value in options.items() if name != "artifacts"})
    if material is not None and (own.get("state") or on is not ...):
        raise UsageError(f"c.judge: material is all that is shown; drop {'on' if on is not ... else 'state'}")
    merged = cast("JudgeOptions", {**defaults, **own})
    judged, output = _judged(on, turns)
    definition = judge.model if isinstance(judge, Judge) else None
    state = {**_SHOWN, **defaults.get("state", {}), **own.get("state", {})}
    return JudgeCall(
        judge=judge,
        model=own.get("model") or definition or defaults.get("model"),
        threshold=_threshold(merged.get("threshold", DEFAULT_THRESHOLD)),
        votes=_votes(merged.get("votes", 1)),
        at_once=merged.get("max_concurrent"),
        state=_state(cast("StateOptions", state)) if material is None else {},
        material=None if material is None else _material(material),
        artifacts=artifacts,
        turns=judged,
        output=output,
    )


def is_exact(path: str) -> bool:
    """Say whether an entry of ``contents`` names one file rather than a pattern."""
    return not path.startswith("!") and not path.endswith("/") and not set(path) & set("*?[")


def _own(options: Mapping[str, Any]) -> JudgeOptions:
    """Hold the options of a call to the types of the option ``judge``."""
    if not options:
        return {}
    for name in options:
        if name not in _KNOWN:
            raise UsageError(f"c.judge has no option {name!r}{did_you_mean(name, (*_KNOWN, 'material', 'on'))}")
    from reeval.declare.options import check_options

    try:
        valid = check_options({"judge": {name: value for name, value in options.items() if value is not None}})
    except DeclarationError as error:
        raise UsageError(str(error).replace("the option judge", "c.judge", 1)) from None
    return cast("JudgeOptions", valid["judge"])


def _threshold(value: float) -> float:
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise UsageError(f"c.judge: threshold is {value!r}; it is a number from 0 to 1")
    return value


def _votes(value: int) -> int:
    if value % 2 == 0 or not 0 < value <= _MOST_VOTES:
        raise UsageError(f"c.judge: votes is {value!r}; it is an odd number such as 3, at most {_MOST_VOTES}")
    return value


def _artifacts(value: object) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise UsageError(f"c.judge: artifacts is {show(value, 80)}; it is True, or a list of names given to c.attach")


def _state(state: StateOptions) -> StateOptions:
    for path in state.get("contents", ()):
        if is_exact(path):
            canonical("c.judge: contents", path)
    return cast("StateOptions", {key: value for key, value in state.items() if value})


def _material(material: Any) -> tuple[Section, ...]:
    if not isinstance(material, Mapping) or not material or not all(isinstance(name, str) for name in material):
        raise UsageError(f"c.judge: material is a mapping of names to JSON values, got {show(material, 80)}")
    try:
        return tuple(explicit(material))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise UsageError(f"c.judge: material holds what is no JSON data: {error}; give it texts") from error


def _judged(on: object, turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], str | None]:
    """Return the turns up to the one that is judged, and the value that stands for its output."""
    if on is ...:
        return tuple(turns), None
    if isinstance(on, Turn):
        place = next((number for number, turn in enumerate(turns, 1) if turn is on), None)
        return (on,) if place is None else tuple(turns[:place]), None
    try:
        return tuple(turns), as_text(on)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise UsageError(f"c.judge: on is a turn or a JSON value: {error}; give it a text") from error
