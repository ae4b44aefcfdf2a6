"""What does an eval file declare? The tree of specs that the decorators record and the planner reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack, get_args

import msgspec

from reeval.errors import DeclarationError, did_you_mean
from reeval.schema.data.questions import DataQuestion
from reeval.schema.environment import Environment
from reeval.schema.options import Options, StateOptions

__all__ = [
    "CaseSpec",
    "CompareSpec",
    "Declared",
    "EvalKind",
    "EvalSpec",
    "Factor",
    "FileSpec",
    "GroupSpec",
    "Judge",
    "Mode",
    "Question",
    "QuestionDetails",
    "TodoSpec",
]

EvalKind = Literal["pass-fail", "scored"]
Factor = Literal["environment", "harness"]
"""What can differ between the two sides of a question."""
Mode = Literal["run", "skip", "only"]


class CaseSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One case of an eval: its key in ids (never its position) and the value the body gets."""

    key: str
    value: Any


class QuestionDetails(TypedDict, total=False):
    """How one question is asked; what is missing comes from the option ``question``."""

    model: str | None
    state: StateOptions | None
    artifacts: bool | Sequence[str] | None


@dataclass(frozen=True, init=False)
class Question:
    """Something a model is asked about attempts. It annotates and never decides."""

    text: str
    across: Factor | tuple[Factor, ...] | None = None
    choices: tuple[str, ...] | None = None
    model: str | None = None
    state: StateOptions | None = None
    artifacts: bool | tuple[str, ...] | None = None

    def __init__(
        self,
        text: str,
        *,
        across: Factor | Sequence[Factor] | None = None,
        choices: Sequence[str] | None = None,
        **options: Unpack[QuestionDetails],
    ) -> None:
        """Ask ``text`` of each attempt, or ``across`` a factor of each pair of attempts.

        ``choices`` makes it closed: at least two different answers, and only without ``across``.
        Raises ``DeclarationError``.
        """
        problem = _question_problem(text, across, choices, set(options) - QuestionDetails.__annotations__.keys())
        if problem:
            raise DeclarationError(f"Question({text!r}) {problem}")
        artifacts = options.get("artifacts")
        fields = {
            "text": text,
            "across": across if across is None or isinstance(across, str) else tuple(across),
            "choices": None if choices is None else tuple(choices),
            "model": options.get("model"),
            "state": options.get("state"),
            "artifacts": artifacts if artifacts is None or isinstance(artifacts, bool) else tuple(artifacts),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)


def _question_problem(text: Any, across: Any, choices: Any, unknown: set[str]) -> str | None:
    """Say what cannot be asked like this; None: it can. The values are as yet of any type."""
    if unknown:
        word = min(unknown)
        return f"has no option {word!r}{did_you_mean(word, Question.__dataclass_fields__)}"
    if not isinstance(text, str) or not text.strip():
        return "needs a text"
    if across is not None and choices is not None:
        return "has choices and across; a pair is answered by a side or a tie, so drop one of them"
    return _across_problem(across) or _choices_problem(choices)


def _across_problem(across: Any) -> str | None:
    factors = [across] if isinstance(across, str) else across or ()
    known = all(factor in get_args(Factor) for factor in factors)
    if across is None or (known and factors and len(set(factors)) == len(factors)):
        return None
    return f"is across={across!r}; across takes 'environment', 'harness', or both in a list"


def _choices_problem(choices: Any) -> str | None:
    if choices is None:
        return None
    if isinstance(choices, str) or not all(isinstance(choice, str) and choice.strip() for choice in choices):
        return f"has choices={choices!r}; choices takes a list of texts"
    if len(set(choices)) < len(choices) or len(choices) < 2:
        return f"has choices={list(choices)!r}; give at least two different ones"
    return None


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A reusable judge: a rubric that a model measures by, from 0 to 1."""

    name: str
    rubric: str
    anchors: dict[float, str] | None = None
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class CompareSpec:
    """Run the same eval on a control and on variants."""

    variants: tuple[Environment | str, ...]
    baseline: Environment | str | None = None
    gate: Literal["variants", "all", "none"] = "variants"
    min_lift: float | None = None
    harness: tuple[str, ...] | None = None


class EvalSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One eval as it was written, before any cascade."""

    name: str
    kind: EvalKind
    body: Callable[..., Any]
    blocking: bool
    """A plain ``def``: runs in a thread."""
    line: int
    """Of the decorator, in the file."""
    options: Options
    description: str | None = None
    mode: Mode = "run"
    skip_reason: str | None = None
    cases: tuple[CaseSpec, ...] | None = None
    """None: the body takes only ``c``. Empty never occurs."""
    compare: CompareSpec | None = None
    questions: tuple[Question, ...] | None = None
    """None: the group's; ``()`` clears them."""
    task: str = ""
    """Digest of what the eval asks and how it grades: source, project imports, loaded files, cases."""
    judge_models: tuple[str, ...] = ()
    """Models of the judges that its body names."""
    data: DataQuestion | None = None
    """A data question, whose ``body`` is never called: a run has its own."""


class TodoSpec(msgspec.Struct, frozen=True, kw_only=True):
    """An eval still to write."""

    name: str
    line: int


class GroupSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Evals and groups that share options."""

    name: str
    line: int
    options: Options
    children: tuple[Declared, ...]
    description: str | None = None
    mode: Mode = "run"
    skip_reason: str | None = None
    compare: CompareSpec | None = None
    questions: tuple[Question, ...] | None = None


Declared = EvalSpec | GroupSpec | TodoSpec


class FileSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What one eval file declares."""

    path: str
    """From the project's root, with ``/``."""
    children: tuple[Declared, ...]

    @property
    def asks(self) -> bool:
        """Whether it holds data questions, which stand in files of their own."""
        return any(isinstance(child, EvalSpec) and child.data for child in self.children[:1])
