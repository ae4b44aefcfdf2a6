"""Where do declarations go while an eval file is read?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from reeval.errors import DeclarationError
from reeval.schema.options import Options
from reeval.schema.spec import CaseSpec, CompareSpec, EvalKind, Mode, Question

__all__ = [
    "MODULE_LOADS",
    "Beside",
    "Collector",
    "Draft",
    "EvalDraft",
    "GroupDraft",
    "Load",
    "TodoDraft",
    "collecting",
    "collector",
]


@dataclass(kw_only=True, slots=True)
class Beside:
    """What ``@compare`` and ``@questions`` say beside a function."""

    line: int
    function: Callable[..., Any]
    compare: CompareSpec | None = None
    questions: tuple[Question, ...] | None = None


@dataclass(kw_only=True, slots=True)
class TodoDraft:
    """An eval still to write."""

    name: str
    line: int


@dataclass(kw_only=True, slots=True)
class Draft(TodoDraft):
    """A declaration that decorators above it may still add to."""

    function: Callable[..., Any]
    options: Options
    description: str | None = None
    mode: Mode = "run"
    skip_reason: str | None = None
    beside: Beside


@dataclass(kw_only=True, slots=True)
class EvalDraft(Draft):
    """An eval as far as it is declared."""

    kind: EvalKind
    blocking: bool
    code: CodeType
    """Of the innermost function, below wrappers and partials."""
    cases: tuple[CaseSpec, ...] | None = None


@dataclass(kw_only=True, slots=True)
class GroupDraft(Draft):
    """A group as far as it is declared."""

    children: list[TodoDraft] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """A file that was read at declaration."""

    path: str
    sha256: str
    line: int
    """Of the eval file, where it was asked for; 0: by a module that was being imported."""


MODULE_LOADS = "@reeval_loads"
"""The name in a module's globals of what it loaded while it was imported: the first file that imports it runs it."""


class Collector:
    """Everything one eval file has declared so far."""

    def __init__(self, root: Path, path: str) -> None:
        self.root = root
        self.path = path
        """From the root, with ``/``."""
        self.file = str(root / path)
        self.children: list[TodoDraft] = []
        self.evals: list[EvalDraft] = []
        """In the order of declaration, over all groups."""
        self.loads: list[Load] = []
        self._open = [self.children]
        self._drafts: dict[int, Draft] = {}
        self._by_code: dict[int, list[EvalDraft]] = {}
        self._beside: dict[int, Beside] = {}

    def line(self) -> int:
        """Return the line of the eval file that is running; refuse a module that declares while it is imported."""
        line, importing = self._place()
        if importing is not None:
            raise DeclarationError(
                f"{importing.f_code.co_filename} declares evals while it is imported, which works only for the first "
                "file that imports it; declare them in a function there, and call that in the eval file"
            )
        return line

    def remember(self, path: str, sha256: str) -> None:
        """Remember a file that was read for the line, or the imported module, that is running."""
        line, importing = self._place()
        load = Load(path=path, sha256=sha256, line=line)
        if importing is None:
            self.loads.append(load)
        else:
            importing.f_globals.setdefault(MODULE_LOADS, []).append(load)

    def _place(self) -> tuple[int, FrameType | None]:
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return frame.f_lineno, None
            if frame.f_code.co_name == "<module>":
                return 0, frame
            frame = frame.f_back
        return 0, None

    def draft(self, function: Callable[..., Any]) -> Draft | None:
        """Return what ``function`` was declared as."""
        return self._drafts.get(id(function))

    def add(self, draft: TodoDraft) -> None:
        """Register a draft in the innermost open group."""
        self._open[-1].append(draft)
        if isinstance(draft, Draft):
            self._drafts[id(draft.function)] = draft
        if isinstance(draft, EvalDraft):
            self.evals.append(draft)
            self._by_code.setdefault(id(draft.code), []).append(draft)

    def with_code(self, code: CodeType) -> list[EvalDraft]:
        """Return the evals declared so far whose body has this code."""
        return self._by_code.get(id(code), [])

    def beside(self, function: Callable[..., Any], line: int) -> Beside:
        """Return where ``@compare`` and ``@questions`` of ``function`` go, whether it is declared yet or not."""
        draft = self._drafts.get(id(function))
        return draft.beside if draft else self._beside.setdefault(id(function), Beside(line=line, function=function))

    def claim(self, function: Callable[..., Any], line: int) -> Beside:
        """Return what stands beside ``function``; it is no longer left over."""
        return self._beside.pop(id(function), None) or Beside(line=line, function=function)

    def left_over(self) -> list[Beside]:
        """Return what stands beside functions that declare nothing."""
        return list(self._beside.values())

    @contextmanager
    def inside(self, group: GroupDraft) -> Iterator[None]:
        """Register what is declared in the block in ``group``."""
        self._open.append(group.children)
        try:
            yield
        finally:
            self._open.pop()


_collector: ContextVar[Collector | None] = ContextVar("reeval_collector", default=None)


def collector() -> Collector | None:
    """Return the collector of the file that is being read; None: no file is, and nothing is recorded."""
    return _collector.get()


@contextmanager
def collecting(into: Collector) -> Iterator[None]:
    """Collect the declarations of the block."""
    token = _collector.set(into)
    try:
        yield
    finally:
        _collector.reset(token)
