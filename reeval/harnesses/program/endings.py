"""How did a program end, in words, and was it the machinery's fault?"""

from __future__ import annotations

import signal
from contextlib import suppress

from reeval.harnesses.bounds import NOTE_LIMIT

__all__ = ["described", "killed", "not_started"]

_SHELL_SIGNALS = range(129, 129 + 64)
"""What a shell returns for a command that a signal ended."""


def not_started(exit_code: int | None) -> bool:
    """Say whether this exit code means that there was no such program, or that it could not be executed."""
    return exit_code in {126, 127}


def killed(exit_code: int) -> bool:
    """Say whether a signal ended the program."""
    return exit_code < 0 or exit_code in _SHELL_SIGNALS


def described(exit_code: int, stderr: str) -> str:
    """Return ``exit code 3: the end of standard error`` or ``killed by SIGSEGV``."""
    words = f"killed by {_signal(exit_code)}" if killed(exit_code) else f"exit code {exit_code}"
    said = stderr.strip()[-NOTE_LIMIT:]
    return f"{words}: {said}" if said else words


def _signal(exit_code: int) -> str:
    number = -exit_code if exit_code < 0 else exit_code - 128
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
