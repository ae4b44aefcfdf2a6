"""What of a finished attempt goes into its journal line, and what into files beside it?

A part (turns, checks, diff, log, …) over ``PART_LIMIT`` bytes becomes a file. A file ends at ``FILE_LIMIT``
bytes, and the rest of a line at ``REST_LIMIT``; what is cut says so.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Literal

import msgspec

from reeval.schema.plan import PlannedAttempt
from reeval.schema.record import AttemptFailure, AttemptRecord, CheckRecord, FileRef, ObservationRecord
from reeval.schema.recorded.answers import JudgmentRecord
from reeval.schema.recorded.data import DataRecord
from reeval.schema.transcript import CommandResult, Turn

__all__ = [
    "CHECKS",
    "COMMANDS",
    "DATA",
    "DIFF",
    "FILE_LIMIT",
    "JUDGMENTS",
    "LOG",
    "PART_LIMIT",
    "TURNS",
    "attempt_folder",
    "cut_bytes",
    "decode_checks",
    "decode_commands",
    "decode_data",
    "decode_judgments",
    "decode_statuses",
    "decode_tool_calls",
    "decode_turns",
    "folder",
    "numbered",
    "safe_name",
    "with_parts_as_files",
]

PART_LIMIT = 4096
"""Bytes of a part that still fits into its line."""
FILE_LIMIT = 64 * 1024 * 1024
"""Bytes of one file."""
REST_LIMIT = 64 * 1024
"""Bytes of everything in a line that cannot be a file."""
TURNS, CHECKS, DIFF, LOG = "turns.ndjson", "checks.json", "diff.patch", "logs/body.log"
JUDGMENTS, COMMANDS, DATA = "judgments.json", "commands.json", "data.json"

_CUT = "\n… cut: {} more bytes\n"
_TEXT_LIMIT = 16 * 1024
_SHORT_LIMIT = 4096
_MOST = 100
_RESERVED = frozenset({"events.ndjson", "record.json", "summary.md", "lifts.svg", "questions", "analysis"})
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST_NAME = 80


class _Status(msgspec.Struct):
    status: Literal["completed", "failed"] = "completed"


class _Type(msgspec.Struct):
    type: str = ""


class _Events(msgspec.Struct):
    events: list[_Type] = []


_encoder = msgspec.json.Encoder()
_status = msgspec.json.Decoder(_Status)
_events = msgspec.json.Decoder(_Events)
_turn = msgspec.json.Decoder(Turn)
_checks = msgspec.json.Decoder(list[CheckRecord])
_judgments = msgspec.json.Decoder(list[JudgmentRecord])
_commands = msgspec.json.Decoder(list[CommandResult])
_data = msgspec.json.Decoder(list[DataRecord])

Keep = Callable[[str, bytes, bool], FileRef]
"""Stores a part by its name; the flag says that it was cut already."""


def with_parts_as_files(record: AttemptRecord, keep: Keep) -> AttemptRecord:
    """Return the record as its line holds it: every part that is too big stored by ``keep``, the rest bounded."""
    parts: dict[str, Any] = {}
    if isinstance(record.turns, list) and len(data := _encoder.encode_lines(record.turns)) > PART_LIMIT:
        parts["turns"] = keep(TURNS, *((data, False) if len(data) <= FILE_LIMIT else _shortened_lines(record.turns)))
    for name, file in (("checks", CHECKS), ("judgments", JUDGMENTS), ("commands", COMMANDS), ("data", DATA)):
        part = getattr(record, name)
        if isinstance(part, list) and len(data := _encoder.encode(part)) > PART_LIMIT:
            parts[name] = keep(file, data, False)  # noqa: FBT003 - the type names it
    for name, file in (("diff", DIFF), ("log", LOG)):
        text = getattr(record, name)
        if isinstance(text, str) and len(text) > PART_LIMIT // 4 and len(data := text.encode()) > PART_LIMIT:
            parts[name] = keep(file, *cut_bytes(data))
    return _bounded(msgspec.structs.replace(record, **parts) if parts else record)


def cut_bytes(data: bytes) -> tuple[bytes, bool]:
    """Return at most ``FILE_LIMIT`` bytes, with a note at the end where they were cut, and whether they were."""
    if len(data) <= FILE_LIMIT:
        return data, False
    note = _CUT.format(f"{len(data) - FILE_LIMIT:,}").encode()
    return data[: FILE_LIMIT - len(note)] + note, True


def _size(part: object) -> int:
    return len(_encoder.encode(part))


def _shortened_lines(turns: list[Turn]) -> tuple[bytes, bool]:
    lines, room = [], FILE_LIMIT
    for turn in turns:
        line = _encoder.encode(_shortened(turn)) + b"\n"
        if len(line) > room:
            break
        lines.append(line)
        room -= len(line)
    return b"".join(lines), True


def _shortened(value: Any) -> Any:
    """Return a turn whose long texts are cut in the middle."""
    if isinstance(value, str):
        return _middle(value, _TEXT_LIMIT)
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_shortened, value))
    if isinstance(value, msgspec.Struct):
        texts = {name: _shortened(getattr(value, name)) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **texts)
    return value


def _middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters cut …\n{text[-half:]}"


def _bounded(record: AttemptRecord) -> AttemptRecord:
    """Return the record with what has no file cut, when it is too much for a line."""
    rest = msgspec.structs.replace(record, turns=[], checks=[], diff="", log="", judgments=[], commands=[], data=[])
    if _size(rest) <= REST_LIMIT:
        return record
    observations = _first([_bounded_observation(seen) for seen in record.observations[:_MOST]])
    lost = {
        "observations": len(record.observations) - len(observations),
        "diagnostics": max(0, len(record.diagnostics) - _MOST),
        "artifacts": max(0, len(record.artifacts) - _MOST),
    }
    said = [f"{count:,} more {name} were cut from the record" for name, count in lost.items() if count]
    return msgspec.structs.replace(
        record,
        failure=record.failure and _bounded_failure(record.failure),
        skip_reason=record.skip_reason and _middle(record.skip_reason, _SHORT_LIMIT),
        observations=observations,
        diagnostics=[*(_middle(text, 500) for text in record.diagnostics[:_MOST]), *said],
        artifacts=record.artifacts[:_MOST],
    )


def _first(observations: list[ObservationRecord]) -> list[ObservationRecord]:
    """Return the observations that fit together."""
    kept, room = [], REST_LIMIT // 2
    for seen in observations:
        room -= _size(seen)
        if room < 0:
            break
        kept.append(seen)
    return kept


def _bounded_failure(failure: AttemptFailure) -> AttemptFailure:
    texts = {name: _middle(getattr(failure, name), _SHORT_LIMIT) for name in ("reason", "analysis", "detail")}
    return msgspec.structs.replace(failure, **texts)


def _bounded_observation(seen: ObservationRecord) -> ObservationRecord:
    data = _encoder.encode(seen.value)
    if len(data) <= _SHORT_LIMIT:
        return seen
    value = _middle(data.decode(), _SHORT_LIMIT)
    return ObservationRecord(name=_middle(seen.name, 200), value=value)


def decode_turns(data: bytes) -> list[Turn]:
    """Read ``turns.ndjson``; raise ``msgspec.MsgspecError`` when it is none."""
    return _turn.decode_lines(data)


def decode_statuses(data: bytes) -> list[Literal["completed", "failed"]]:
    """Read only how each turn of a ``turns.ndjson`` ended; raise ``msgspec.MsgspecError`` when it is none."""
    return [turn.status for turn in _status.decode_lines(data)]


def decode_tool_calls(data: bytes) -> int:
    """Count the tool calls of a ``turns.ndjson``; raise ``msgspec.MsgspecError`` when it is none."""
    return sum(event.type == "tool" for turn in _events.decode_lines(data) for event in turn.events)


def decode_checks(data: bytes) -> list[CheckRecord]:
    """Read ``checks.json``; raise ``msgspec.MsgspecError`` when it is none."""
    return _checks.decode(data)


def decode_commands(data: bytes) -> list[CommandResult]:
    """Read ``commands.json``; raise ``msgspec.MsgspecError`` when it is none."""
    return _commands.decode(data)


def decode_data(data: bytes) -> list[DataRecord]:
    """Read ``data.json``; raise ``msgspec.MsgspecError`` when it is none."""
    return _data.decode(data)


def decode_judgments(data: bytes) -> list[JudgmentRecord]:
    """Read ``judgments.json``; raise ``msgspec.MsgspecError`` when it is none."""
    return _judgments.decode(data)


def attempt_folder(slug: str, record: AttemptRecord | PlannedAttempt) -> str:
    """Return where the files of an attempt are, from the run's directory: ``<eval slug>/<cell>[/<case>]/<run>``."""
    if isinstance(record, PlannedAttempt):
        cell = (record.cell.harness, record.cell.environment, record.cell.sandbox)
    else:
        cell = (record.harness, record.environment, record.sandbox)
    case = () if record.case is None else (record.case,)
    return folder(*slug.split("/"), *cell, *case, str(record.run))


def folder(*names: str) -> str:
    """Join names to a relative path that is safe on any file system."""
    return "/".join(map(safe_name, names))


def safe_name(name: str) -> str:
    """Return ``name`` as one file name: other characters as ``-``, and a digest where something was lost."""
    safe = "".join(char if char in _SAFE else "-" for char in name)
    if safe.strip(".") and safe == name and len(name) <= _LONGEST_NAME and name not in _RESERVED:
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem, dot, suffix = safe[-_LONGEST_NAME:].rpartition(".")
    if dot and 0 < len(suffix) <= 8 and stem.strip("."):
        return f"{stem[: _LONGEST_NAME - 20]}-{digest}.{suffix}"
    return f"{safe[: _LONGEST_NAME - 10].strip('.') or 'x'}-{digest}"


def numbered(path: str, number: int) -> str:
    """Return ``turns-2.ndjson`` for ``turns.ndjson`` and 2; a file that is there is never written again."""
    if number == 1:
        return path
    head, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    new = f"{stem}-{number}{dot}{suffix}" if stem else f"{name}-{number}"
    return f"{head}{slash}{new}"
