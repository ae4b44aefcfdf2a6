"""How is an agent's JSON read, without ever failing at what a new version prints?"""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import msgspec

from reeval.harnesses.agents.agent import Ending
from reeval.harnesses.agents.streams.calls import Calls
from reeval.harnesses.agents.streams.shapes import fitted
from reeval.harnesses.bounds import NUMBER_LIMIT
from reeval.harnesses.program.stream import StreamEvent, decode_line

__all__ = ["JsonTranslator", "amount", "at", "cost_at", "exit_code_at", "joined", "listed", "relative", "text_at"]

_SHOWN = 1000
"""Bytes of an odd line that are looked at for a note."""


class JsonTranslator(ABC):
    """A translator for agents that print one JSON object a line: write ``event``, and ``end`` where that says more."""

    shape: ClassVar[Any] = dict[str, Any]
    """What an object is read as. A struct of the keys that are looked at is read faster; each needs a default."""

    def __init__(self, workspace: str, servers: Sequence[str] = ()) -> None:
        self._decode = msgspec.json.Decoder(self.shape).decode
        self.workspace = workspace
        self.servers = tuple(servers)
        """Names of the MCP servers."""
        self.session: str | None = None
        self.calls = Calls()
        """Calls that have begun."""

    def begin(self) -> None:
        """Start a turn."""
        self.calls = Calls()

    @abstractmethod
    def event(self, found: Any) -> Iterable[StreamEvent | str]:
        """Return the events of one object; what it raises for odd values becomes a note."""

    def lines(self, lines: Sequence[bytes]) -> Iterator[StreamEvent | str]:
        """Yield the events of lines, with a note for one that is not what ``event`` takes it for."""
        for line in lines:
            found = self._read(line)
            if found is not None:
                try:
                    # What came before an odd value stays.
                    yield from self.event(found)
                except (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError) as error:
                    yield f"unusable event ({type(error).__name__}): {_start(line)}"
            elif line.strip():
                yield f"no JSON object: {_start(line)}"

    def _read(self, line: bytes) -> Any:
        """Return what a line holds, in its shape; None for no object."""
        try:
            return self._decode(line)
        except (msgspec.DecodeError, RecursionError):
            with suppress(msgspec.ValidationError):
                return fitted(decode_line(line), self.shape)
            return None

    def end(self, ending: Ending) -> Iterator[StreamEvent | str]:  # noqa: ARG002 - for those that override it
        """Return the calls whose end was never reported."""
        yield from self.calls.rest()


def at(found: Any, *path: str) -> Any:
    """Return what stands at a path of keys; None where there is nothing."""
    for key in path:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found


# A long stream is mostly the functions below: each looks its one key up by itself.


def text_at(found: Any, key: str) -> str:
    """Return the text at a key; empty where there is none."""
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, str) else ""


def amount(found: Any, key: str) -> int | None:
    """Return the whole number from 0 at a key; None where there is none, or one that is no amount of anything."""
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= NUMBER_LIMIT else None


def cost_at(found: Any, key: str) -> float | None:
    """Return the number from 0 at a key, such as US dollars; None where there is none."""
    value = found.get(key) if isinstance(found, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def exit_code_at(found: Any, key: str) -> int | None:
    """Return the exit code at a key; None where there is none. It may be negative: minus the number of a signal."""
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= NUMBER_LIMIT else None


def listed(found: Any, key: str) -> list[Any]:
    """Return the list at a key; empty where there is none."""
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, list) else []


def joined(content: Any) -> str:
    """Return the text of a content: a text itself, or blocks of which those with a ``text`` count, line by line."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else [content]
    texts = [block if isinstance(block, str) else text_at(block, "text") for block in blocks]
    return "\n".join(filter(None, texts))


def _start(line: bytes) -> str:
    return line[:_SHOWN].decode("utf-8", "replace")


def relative(path: str, workspace: str) -> str:
    """Return a path as it stands in the workspace, where it is in it."""
    if path.startswith(f"{workspace}/"):
        return posixpath.normpath(path[len(workspace) + 1 :])
    return path
