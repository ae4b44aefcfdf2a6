"""Which plain asserts of a body held, and which failed?"""

from __future__ import annotations

import ast
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from reeval.declare.source.rewrite import squeezed

__all__ = ["AssertFailure", "AssertSink", "assert_failed", "assert_passed", "failed_asserts", "recording"]

MESSAGE_LENGTH = 1000
SIDE_LENGTH = 200
TAIL_LENGTH = 400
_FAILURE = "reeval_assert"
"""The attribute of an ``AssertionError`` that a rewritten assert leaves."""

_shown = reprlib.Repr()
_shown.maxlevel = 4
_shown.maxstring = _shown.maxother = _shown.maxlong = SIDE_LENGTH
_shown.maxlist = _shown.maxtuple = _shown.maxdict = _shown.maxset = _shown.maxfrozenset = 20


class AssertSink(Protocol):
    """Is told of every assert that holds."""

    def passed(self, label: str, line: int) -> None:
        """Take the assert's source, on one line, and where it stands in the eval file."""
        ...


@dataclass(frozen=True, kw_only=True)
class AssertFailure:
    """A failed assert that left the body."""

    label: str
    """Its source, on one line, at most 200 characters."""
    message: str
    """The author's message and, for a single comparison, both sides; bounded."""
    line: int | None
    """Of the eval file."""


_sink: ContextVar[AssertSink | None] = ContextVar("reeval_asserts", default=None)


@contextmanager
def recording(sink: AssertSink) -> Iterator[None]:
    """Tell ``sink`` of the asserts that hold in the block, in this context and in those copied from it."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


def assert_passed(label: str, line: int) -> None:
    """Record an assert that holds. Rewritten eval files call it."""
    sink = _sink.get()
    if sink is not None:
        sink.passed(label, line)


def assert_failed(
    label: str, line: int, operator: str, sides: tuple[Any, ...], owners: tuple[Any, ...], *message: Any
) -> AssertionError:
    """Return the error of an assert that does not hold. Rewritten eval files raise it.

    ``owners``: what the first side is an attribute of, or nothing.
    """
    seen = "; ".join(part for part in (_seen(operator, sides), *map(_known, owners)) if part)
    error = AssertionError(*message) if message or not seen else AssertionError(seen)
    text = ": ".join(part for part in (*map(_text, message), seen) if part)
    setattr(error, _FAILURE, AssertFailure(label=label, message=_cut(text), line=line))
    return error


def failed_asserts(error: BaseException, eval_file: str | Path) -> list[AssertFailure] | None:
    """Return the failed asserts inside ``error``, the first to fail first.

    None: something other than an assertion error left the body. Looks into exception groups and into causes and
    contexts. ``eval_file`` may be absolute, or relative to the project's root.
    """
    failures: list[AssertFailure] = []
    seen: set[int] = set()
    for leaf in _leaves(error):
        if not isinstance(leaf, AssertionError):
            return None
        chain = list(_chain(leaf, seen))
        failures += [_failure(each, str(eval_file)) for each in reversed(chain)]
    return failures


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _chain(error: BaseException, seen: set[int]) -> Iterator[AssertionError]:
    """Yield the assertion errors from ``error`` back through what it was raised from, each once."""
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if isinstance(current, BaseExceptionGroup):
            for leaf in _leaves(current):
                yield from _chain(leaf, seen)
        elif isinstance(current, AssertionError):
            yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _failure(error: AssertionError, eval_file: str) -> AssertFailure:
    known = getattr(error, _FAILURE, None)
    if isinstance(known, AssertFailure):
        return known
    places = list(_places(error.__traceback__))
    inside = [line for file, line in places if _same(file, eval_file)]
    label = _assert_at(*places[-1]) if places else ""
    if not label and inside:
        file = next(file for file, _ in places if _same(file, eval_file))
        label = _statement_at(file, inside[-1])
    return AssertFailure(label=label or "assert", message=_cut(_text(error)), line=inside[-1] if inside else None)


def _places(traceback: TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next


def _same(file: str, eval_file: str) -> bool:
    return file == eval_file or file.endswith(f"/{eval_file}")


def _assert_at(file: str, line: int) -> str:
    lines, tree = _parsed(file)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return squeezed(lines, node.test)
    return ""


def _statement_at(file: str, line: int) -> str:
    lines, tree = _parsed(file)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    smallest = min(around, key=lambda node: (node.end_lineno or node.lineno) - node.lineno, default=None)
    return "" if smallest is None else squeezed(lines, smallest)


@lru_cache(maxsize=8)
def _parsed(file: str) -> tuple[list[bytes], ast.Module]:
    try:
        source = Path(file).read_bytes()
        return source.splitlines(keepends=True), ast.parse(source)
    except (OSError, SyntaxError, ValueError):  # no file (<string>), or not the one that ran
        return [], ast.Module(body=[], type_ignores=[])


def _seen(operator: str, sides: tuple[Any, ...]) -> str:
    if operator:
        return f" {operator} ".join(map(_show, sides))
    return "" if isinstance(sides[0], bool) else f"got {_show(sides[0])}"


def _known(owner: Any) -> str:
    """Return what a command or a turn says of its failure."""
    from reeval.schema.transcript import CommandResult, Turn

    if isinstance(owner, CommandResult) and not owner.ok:
        output = _tail(owner.stderr) or _tail(owner.stdout)
        exited = f"{_show(owner.command)} exited with {owner.exit_code}"
        return f"{exited}: {output}" if output else exited
    if isinstance(owner, Turn) and owner.status == "failed":
        return f"the turn failed: {_tail(owner.error or 'no reason given')}"
    return ""


def _tail(text: str) -> str:
    text = text.strip()
    return text if len(text) <= TAIL_LENGTH else f"…{text[1 - TAIL_LENGTH :]}"


def _show(value: Any) -> str:
    try:
        text = _shown.repr(value)
    except Exception as error:  # noqa: BLE001 - an author's __repr__ must not hide what failed
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return text if len(text) <= SIDE_LENGTH else f"{text[: SIDE_LENGTH - 1]}…"


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 - as above
        return f"<{type(value).__name__} whose str raised {type(error).__name__}>"


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_LENGTH else f"{text[: MESSAGE_LENGTH - 1]}…"
