"""Where does a body's output go? To the log of its own attempt, however many run at once."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import IO, Any

from reeval.run.stage.text import Excerpt

__all__ = ["LOG_LIMIT", "LogHandler", "RoutedStream", "current_log"]

LOG_LIMIT = 64 * 1024
"""Characters of an attempt's log that are kept."""

current_log: ContextVar[Excerpt | None] = ContextVar("current_log", default=None)
"""The log of the attempt whose body runs here; tasks and threads that copy the context share it."""


class RoutedStream:
    """Stands in for ``sys.stdout`` or ``sys.stderr``: what a body writes goes to its log, the rest where it went."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        """Where everything else goes."""

    def write(self, text: str) -> int:
        """Write to the log of the body that runs here, else to the stream."""
        log = current_log.get()
        if log is None:
            return self.stream.write(text)
        log.add(text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each line."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the stream; a log needs none."""
        if current_log.get() is None:
            self.stream.flush()

    def isatty(self) -> bool:
        """A log is no terminal."""
        return current_log.get() is None and self.stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class LogHandler(logging.Handler):
    """Puts what a body logs into its attempt's log."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Add one line."""
        log = current_log.get()
        if log is not None:
            log.add(f"{self.format(record)}\n")
        elif logging.lastResort is not None and record.levelno >= logging.lastResort.level and self._alone():
            # The root logger has no handler but this one, so that Python would have written it to standard error.
            logging.lastResort.handle(record)

    def _alone(self) -> bool:
        return logging.getLogger().handlers == [self]
