"""What does an exception that leaves a body say about it?"""

from __future__ import annotations

import asyncio
import traceback

from reeval.errors import ControlFlow, UserError

__all__ = ["told", "without_control"]

DETAIL = 8000
"""Characters of a traceback that are kept: its end, where the error is."""
REASON = 500
"""Characters of an exception's own text that are kept."""


def without_control(error: BaseException) -> BaseException | None:
    """Drop what only ends a body on purpose, also inside exception groups; None when nothing is left."""
    if isinstance(error, BaseExceptionGroup):
        return error.split((ControlFlow, asyncio.CancelledError))[1]
    return None if isinstance(error, ControlFlow) else error


def told(error: BaseException, root: str) -> tuple[str, str]:
    """Return the reason in one line and a bounded traceback, from the project's own frames where there are any."""
    cause = _only(error)
    try:
        text = str(cause)
    except Exception:  # noqa: BLE001 - an exception of the author's making
        text = "(its text cannot be shown)"
    name = type(cause).__name__
    reason = text if text and isinstance(cause, UserError) else f"{name}: {text}" if text else name
    return _bounded(reason), _traceback(error, root)


def _only(error: BaseException) -> BaseException:
    """Return what a group is about when that is one thing: a task group wraps even a single error."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _bounded(text: str) -> str:
    return text if len(text) <= REASON else f"{text[:REASON]}…"


def _traceback(error: BaseException, root: str) -> str:
    try:
        trace = traceback.TracebackException.from_exception(error, limit=-100, compact=True)
        _trim(trace, f"{root}/", depth=0)
        text = "".join(trace.format())
    except Exception as problem:  # noqa: BLE001 - an exception whose traceback cannot be made still is one
        return f"(the traceback cannot be shown: {type(problem).__name__})"
    return text if len(text) <= DETAIL else f"…{text[-DETAIL:]}"


def _trim(trace: traceback.TracebackException | None, root: str, depth: int) -> None:
    """Keep the frames below the project's root, unless there are none."""
    if trace is None or depth > 10:
        return
    own = [
        frame for frame in trace.stack if frame.filename.startswith(root) and "/site-packages/" not in frame.filename
    ]
    if own:
        trace.stack = traceback.StackSummary.from_list(own)
    for inner in (trace.__cause__, trace.__context__, *(trace.exceptions or ())):
        _trim(inner, root, depth + 1)
