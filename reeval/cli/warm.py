"""What does the end of a run need that can be loaded while attempts wait? The history's engine, the summary."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

__all__ = ["warming"]

_SHORT = 1.0
"""Seconds. A run that ends sooner hardly waits, and a second thread would only be in its way."""

_TURN = 0.0005
"""Seconds that this thread may keep an attempt waiting that wakes up; usually they are ten times as many."""


@contextmanager
def warming() -> Iterator[None]:
    """Load it in a thread; leaving the block waits for what was begun, so that no thread loads while modules go."""
    ended = Event()
    thread = Thread(target=_load_unless, args=(ended,), name="warm-up", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _load_unless(ended: Event) -> None:
    if ended.wait(_SHORT):
        return
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        import reeval.record.history  # noqa: F401 - it loads the engine
        from reeval.report.summary import template

        template()
    finally:
        sys.setswitchinterval(usual)
