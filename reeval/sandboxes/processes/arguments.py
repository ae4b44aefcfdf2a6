"""Which arguments is a command started with in any sandbox, and what is said of one that cannot be?"""

from __future__ import annotations

import shlex

from reeval.authoring import Command
from reeval.errors import UsageError

__all__ = ["PLAIN", "arguments_of", "command_text", "refusal", "too_long"]

PLAIN = 'exec "$@"'
"""A script that runs its arguments: through a shell, a program that is not there ends with 127 everywhere."""


def arguments_of(command: Command) -> list[str]:
    """Return a shell string as the arguments of a shell, and a list as it is; raise ``UsageError`` for an empty one."""
    if isinstance(command, str):
        return ["/bin/sh", "-c", command]
    if not command:
        raise UsageError("an empty command cannot be run; write a shell string or a list that is not empty")
    return list(command)


def command_text(command: Command) -> str:
    """Return a command as valid text: what is no UTF-8 is replaced, as in its output."""
    text = command if isinstance(command, str) else shlex.join(command)
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def refusal(command: Command, why: object) -> UsageError:
    """Return what to raise for a command that no system runs."""
    return UsageError(f"the command {command_text(command)[:200]!r} cannot be run: {why}")


def too_long(command: Command) -> UsageError:
    """Return what to raise for a command that this system does not take."""
    size = len(command_text(command))
    return UsageError(f"a command of {size:,} characters is too long for this system; write a file and run that")
