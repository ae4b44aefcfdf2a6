"""How is a program called with a prompt: on its standard input, or as an argument?"""

from __future__ import annotations

import shlex
from typing import Literal

from reeval.errors import InfrastructureError, Phase

__all__ = ["PROMPT", "invocation", "misquoted"]

PROMPT = "{prompt}"
"""Where the prompt goes in a command."""

_LONGEST_ARGUMENT = 131_071
"""Bytes. Linux takes no longer single argument, whatever ``ARG_MAX`` says."""
_PROBE = "'\x01 \x01'"
_PROBED = "\x01 \x01"


def invocation(
    command: str | tuple[str, ...], mode: Literal["stdin", "argument"], prompt: str
) -> tuple[str | list[str], bytes | None]:
    """Return the command to run and what it reads; without ``{prompt}`` an argument goes to the end."""
    if mode == "stdin":
        return (command if isinstance(command, str) else list(command)), prompt.encode("utf-8", "replace")
    size = len(prompt.encode("utf-8", "replace"))
    if "\0" in prompt or size > _LONGEST_ARGUMENT:
        what = "holds a NUL character" if "\0" in prompt else f"has {size} bytes, more than an argument can"
        raise InfrastructureError(Phase.HARNESS, f'the prompt {what}; write prompt = "stdin" for this harness')
    if isinstance(command, str):
        quoted = shlex.quote(prompt)
        return (command.replace(PROMPT, quoted) if PROMPT in command else f"{command} {quoted}"), None
    if any(PROMPT in word for word in command):
        return [word.replace(PROMPT, prompt) for word in command], None
    return [*command, prompt], None


def misquoted(command: str) -> bool:
    """Say whether ``{prompt}`` stands inside quotes of a shell string, where its own quotes would end them."""
    try:
        words = shlex.split(command.replace(PROMPT, _PROBE))
    except ValueError:
        return True
    return sum(word.count(_PROBED) for word in words) != command.count(PROMPT) or any("'\x01" in word for word in words)
