"""What did a body record that never decides? Observations, diagnostics and attached files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from reeval.backends import Picture
from reeval.errors import UsageError
from reeval.run.asking.pictures import as_picture
from reeval.schema.record import ArtifactRef, FileRef, ObservationRecord

__all__ = ["Notes"]

NAME_LIMIT = 256
"""Characters of a name."""
OBSERVATION_LIMIT = 64 * 1024
"""Bytes of one observation as JSON."""
MOST_PICTURES = 20
DIAGNOSTIC_LIMIT = 4000
"""Characters of one diagnostic."""


class Notes:
    """Collects what ``c.observe``, ``c.diagnostic`` and ``c.attach`` are given, as it is at that moment."""

    def __init__(self, keep: Callable[[str, bytes], FileRef]) -> None:
        self._keep = keep
        self.observations: list[ObservationRecord] = []
        self.diagnostics: list[str] = []
        self.artifacts: list[ArtifactRef] = []
        self.pictures: dict[str, Picture] = {}
        """Attached images that a model can be sent, by name; the first so many."""

    def observe(self, name: str, value: Any) -> None:
        """Record a JSON value."""
        self.observations.append(ObservationRecord(name=_name("observe", name), value=_json("observe", name, value)))

    def diagnostic(self, text: str, data: Any = None) -> None:
        """Record an explanation, cut where it is too long."""
        if not isinstance(text, str):
            raise UsageError(f"c.diagnostic takes a text, got {type(text).__name__}")
        if data is not None:
            text = f"{text} {msgspec.json.encode(_json('diagnostic', text[:60], data)).decode()}"
        cut = text if len(text) <= DIAGNOSTIC_LIMIT else f"{text[:DIAGNOSTIC_LIMIT]}…"
        self.diagnostics.append(cut)

    def attach(self, name: str, data: bytes | str) -> None:
        """Keep a file under a name of its own."""
        _name("attach", name)
        if name.startswith("/") or "\\" in name or not {"", ".", ".."}.isdisjoint(name.split("/")):
            raise UsageError(f"c.attach takes a plain relative name, got {name!r}; write for example 'screen.png'")
        if any(kept.name == name for kept in self.artifacts):
            raise UsageError(f"c.attach has kept a file named {name!r} already; give this one another name")
        if not isinstance(data, bytes | str):
            raise UsageError(f"c.attach takes bytes or text for {name!r}, got {type(data).__name__}")
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        self.artifacts.append(ArtifactRef(name=name, ref=self._keep(name, content)))
        picture = as_picture(name, content) if len(self.pictures) < MOST_PICTURES else None
        if picture is not None:
            self.pictures[name] = picture


def _name(call: str, name: object) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
        raise UsageError(f"c.{call} takes a printable name of 1 to {NAME_LIMIT} characters, got {str(name)[:80]!r}")
    return name


def _json(call: str, name: str, value: Any) -> Any:
    """Return a copy of ``value`` as JSON data: what the body does to it later must not matter."""
    try:
        data = msgspec.json.encode(value)
        if len(data) <= OBSERVATION_LIMIT:
            return msgspec.json.decode(data)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise UsageError(f"c.{call}({name!r}, …) takes JSON data: {error}") from error
    raise UsageError(
        f"c.{call}({name!r}, …) takes at most {OBSERVATION_LIMIT:,} bytes of JSON, got {len(data):,}; use c.attach"
    )
