"""Which questions will be asked, of which model, showing what, and how often?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from reeval.plan.cascade import Cascade
from reeval.plan.config import CONFIG_NAME
from reeval.plan.expand.compare import narrowed_by
from reeval.plan.parts.problems import Problems
from reeval.schema.options import DEFAULT_QUESTIONS_AT_ONCE, StateOptions
from reeval.schema.plan import PlannedCell, PlannedQuestion
from reeval.schema.spec import Factor, Question

__all__ = ["Asked", "Subject", "planned_questions"]

_SHOWN_OF_ATTEMPT: StateOptions = {"task": True, "output": True, "diff": True, "transcript": True}
_SHOWN_OF_PAIR: StateOptions = {"task": True, "diff": True}
"""Without the final message: side by side, the more confident summary would win on wording."""
_ADVICE = {"environment": "add a compare or drop across", "harness": "add another or drop across"}


@dataclass(frozen=True, slots=True)
class Subject:
    """The eval that questions are asked about."""

    cells: Sequence[PlannedCell]
    repeats: int
    """Attempts of each cell: cases × runs."""
    cascade: Cascade
    place: str
    analysis_model: str | None = None
    compare_dropped: str | None = None
    """The profile or flag that turned its compare off."""

    def dropped_by(self, factor: Factor) -> str | None:
        """Return the profile or flag that leaves one value of a factor; None when none does."""
        if factor == "environment" and self.compare_dropped:
            return self.compare_dropped
        return narrowed_by(self.cascade.source(factor))


@dataclass(slots=True)
class Asked:
    """The questions that stay, and what the dry run says about the others."""

    questions: list[PlannedQuestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def planned_questions(questions: Sequence[Question], subject: Subject, problems: Problems) -> Asked:
    """Resolve an eval's questions; what cannot be asked is a problem, or a note where a profile or flag did it."""
    asked = Asked()
    for number, question in enumerate(questions, 1):
        label = f"question {number}"
        if question.state and "contents" in question.state:
            problems.add(subject.place, f"{label} shows contents, which only a judge can; drop it from state")
        factors = _factors(question)
        varied = _varied(factors, subject, label, asked.notes, problems)
        if factors and not varied:
            continue
        planned = _planned(question, varied, subject)
        if planned.model is None:
            problems.add(subject.place, f"{label} {_NO_MODEL}")
        if "harness" in varied and planned.state.get("transcript"):
            asked.notes.append(f"{label} shows the transcript across harnesses: tool names can give a side away")
        asked.questions.append(planned)
    return asked


_NO_MODEL = (
    "has no model; give it model=, set question.model or judge.model in an option, "
    f"or [analysis] model in {CONFIG_NAME}"
)


def _factors(question: Question) -> tuple[Factor, ...]:
    across = question.across
    return () if across is None else (across,) if isinstance(across, str) else across


def _varied(
    factors: tuple[Factor, ...], subject: Subject, label: str, notes: list[str], problems: Problems
) -> tuple[Factor, ...]:
    """Return the factors by which there are pairs."""
    varied: list[Factor] = []
    for factor in factors:
        if _pairs(factor, subject.cells):
            varied.append(factor)
        elif by := subject.dropped_by(factor):
            left = "is dropped" if len(factors) == 1 else f"is not asked across {factor}"
            notes.append(f"{label} {left}: {by} leaves one {factor}")
        elif subject.cells:
            problems.add(subject.place, f"{label} is across={factor!r}, but {_no_pair(factor, subject.cells)}")
    return tuple(varied)


def _no_pair(factor: Factor, cells: Sequence[PlannedCell]) -> str:
    """Say why no two cells differ in ``factor`` alone, and what to do."""
    if len({getattr(cell, factor) for cell in cells}) == 1:
        return f"this eval has one {factor}; {_ADVICE[factor]}"
    alone = f"this eval has no two cells that differ in the {factor} alone"
    if len(sandboxes := list(dict.fromkeys(cell.sandbox for cell in cells))) == 1:
        return f"{alone}; {_ADVICE[factor]}"
    return (
        f"{alone}: they also differ in the sandbox, {' and '.join(sandboxes)}; run all of them in one sandbox, with "
        f"isolation set in its [sandbox.NAME] table ([sandbox.local] without one), or drop across"
    )


def _planned(question: Question, varied: tuple[Factor, ...], subject: Subject) -> PlannedQuestion:
    options, judge = subject.cascade.get("question"), subject.cascade.get("judge")
    model = question.model or options.get("model") or subject.analysis_model or judge.get("model")
    defaults = _SHOWN_OF_PAIR if varied else _SHOWN_OF_ATTEMPT
    state = {**defaults, **options.get("state", {}), **(question.state or {})}
    artifacts = options.get("artifacts", False) if question.artifacts is None else question.artifacts
    pairs = sum(_pairs(factor, subject.cells) for factor in varied)
    return PlannedQuestion(
        text=question.text,
        across=varied,
        choices=question.choices,
        model=model,
        state=cast("StateOptions", {key: value for key, value in state.items() if value}),
        artifacts=artifacts if isinstance(artifacts, bool) else tuple(artifacts),
        count=(pairs if varied else len(subject.cells)) * subject.repeats,
        max_concurrent=options.get("max_concurrent", DEFAULT_QUESTIONS_AT_ONCE),
    )


def _pairs(factor: Factor, cells: Sequence[PlannedCell]) -> int:
    """Count the unordered pairs of cells that differ in ``factor`` alone."""
    held: Factor = "harness" if factor == "environment" else "environment"
    alike: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for cell in cells:
        alike[getattr(cell, held), cell.sandbox].add(getattr(cell, factor))
    return sum(len(values) * (len(values) - 1) // 2 for values in alike.values())
