"""What does an eval file declare? The tree of specs that the decorators record and the planner reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from reeval.schema.environment import Environment
from reeval.schema.options import Options, StateOptions

__all__ = [
    "CaseSpec",
    "CompareSpec",
    "Declared",
    "EvalKind",
    "EvalSpec",
    "FileSpec",
    "GroupSpec",
    "Judge",
    "Mode",
    "Question",
    "TodoSpec",
]

EvalKind = Literal["pass-fail", "scored"]
Mode = Literal["run", "skip", "only"]


@dataclass(frozen=True, kw_only=True)
class CaseSpec:
    """One case of an eval: its key in ids (never its position) and the value the body gets."""

    key: str
    value: Any


@dataclass(frozen=True)
class Question:
    """Something a model is asked about attempts. It annotates and never decides."""

    text: str
    across: Literal["environment", "harness"] | tuple[Literal["environment", "harness"], ...] | None = None
    choices: tuple[str, ...] | None = None
    model: str | None = None
    state: StateOptions | None = None
    artifacts: bool | tuple[str, ...] | None = None


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


@dataclass(frozen=True, kw_only=True)
class EvalSpec:
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


@dataclass(frozen=True, kw_only=True)
class TodoSpec:
    """An eval still to write."""

    name: str
    line: int


@dataclass(frozen=True, kw_only=True)
class GroupSpec:
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


@dataclass(frozen=True, kw_only=True)
class FileSpec:
    """What one eval file declares."""

    path: str
    """From the project's root, with ``/``."""
    children: tuple[Declared, ...]
