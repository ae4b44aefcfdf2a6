"""How do the rows of a query print: as a table that fits the terminal, as CSV, as JSON, to a file?"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from reeval.cli.output import print_lines, terminal_width
from reeval.errors import RecordError
from reeval.report.text import cut, escape, one_line, pad, width, wrap

if TYPE_CHECKING:
    from reeval.record.history import Answer

__all__ = ["Place", "printed", "target"]

Row = tuple[Any, ...]

_SAMPLE = 1000
"""Rows that decide how wide a table's columns are: the rest is printed as it comes."""
_WIDEST = 60
"""Cells that a column is padded to where nothing is cut."""
_NARROW = 12
"""Cells that a column keeps when it must give room to others."""
_GAP = 2


@dataclass(frozen=True)
class Place:
    """Where the rows go."""

    stream: TextIO
    path: Path | None = None
    """The file that becomes the output once everything is in it."""

    def lines(self, lines: Iterator[str]) -> None:
        """Write lines, some at a time."""
        while some := list(islice(lines, 500)):
            print_lines(some, self.stream)


@contextmanager
def target(output: Path | None, *, binary: bool) -> Iterator[Place]:
    """Yield where to write: stdout, or a file that appears whole or not at all."""
    if output is None:
        yield Place(sys.stdout)
        return
    new = output.with_name(f".{output.name}.{os.getpid()}.new").absolute()
    try:
        if binary:
            yield Place(sys.stdout, new)
        else:
            with new.open("w", encoding="utf-8", newline="") as stream:
                yield Place(stream, new)
        new.replace(output)
    except OSError as error:
        raise RecordError(f"{output}: cannot be written: {(error.strerror or str(error)).lower()}") from error
    finally:
        new.unlink(missing_ok=True)


def printed(answer: Answer, form: str, place: Place) -> int:
    """Print the answer and return how many rows it has."""
    if form == "parquet":
        ((count,),) = answer.rows
        return int(count)
    counted = _Counted(answer.rows)
    make: dict[str, Callable[[Sequence[str], Iterator[Row], Place], Iterator[str]]] = {
        "table": _table,
        "csv": _csv,
        "json": _json,
    }
    place.lines(make[form](answer.columns, counted, place))
    return counted.count


class _Counted(Iterator[Row]):
    """Rows that are counted as they pass."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self.count = 0

    def __next__(self) -> Row:
        row = next(self._rows)
        self.count += 1
        return row


# --- a table ------------------------------------------------------------------------------------------


def _table(columns: Sequence[str], rows: Iterator[Row], place: Place) -> Iterator[str]:
    room = terminal_width(place.stream)
    sample = list(islice(rows, _SAMPLE))
    if not sample:
        return
    right = [all(_is_number(row[at]) for row in sample) for at in range(len(columns))]
    names = [escape(name) for name in columns]
    texts = [[_cell(value, room) for value in row] for row in sample]
    natural = [max(width(name), *(width(row[at]) for row in texts)) for at, name in enumerate(names)]
    widths = [min(one, _WIDEST) for one in natural] if room is None else _fitted(natural, room)
    if len(widths) < len(names):
        left = names[len(widths) :]
        count = "1 column does" if len(left) == 1 else f"{len(left)} columns do"
        said = f"{count} not fit: {', '.join(left)}; name those you want"
        print_lines(wrap(said, terminal_width(sys.stderr)), sys.stderr)
    for cells in chain([names], texts, ([_cell(value, room) for value in row] for row in rows)):
        yield _line(cells, widths, right, cutting=room is not None)


def _fitted(natural: list[int], room: int) -> list[int]:
    """Return the widths of the columns that fit: first the widest give way, then the last ones go."""
    count, used = 0, -_GAP
    for one in natural:
        used += min(one, _NARROW) + _GAP
        if used > room and count:
            break
        count += 1
    widths = [min(one, room) for one in natural[:count]]
    while sum(widths) > room - _GAP * (count - 1):
        widths[widths.index(max(widths))] -= 1
    return widths


def _line(cells: list[str], widths: list[int], right: list[bool], *, cutting: bool) -> str:
    shown = []
    for at, room in enumerate(widths):
        text = cut(cells[at], room) if cutting else cells[at]
        shown.append(pad(text, room, right=right[at]))
    return (" " * _GAP).join(shown).rstrip()


def _cell(value: Any, room: int | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return str(round(value, 6))
    text = value if isinstance(value, str) else _text(value)
    return escape(text) if room is None else one_line(text, room)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))


# --- CSV and JSON -------------------------------------------------------------------------------------


def _csv(columns: Sequence[str], rows: Iterator[Row], place: Place) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="")
    shown: Callable[[str], str] = escape if place.stream.isatty() else str
    for row in chain([tuple(columns)], rows):
        writer.writerow(["" if value is None else shown(_text(value)) for value in row])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _json(columns: Sequence[str], rows: Iterator[Row], place: Place) -> Iterator[str]:
    names = _unique(columns)
    escaped = place.stream.isatty()
    for row in rows:
        data = {name: _plain(value) for name, value in zip(names, row, strict=True)}
        yield json.dumps(data, ensure_ascii=escaped, separators=(",", ":"))


def _unique(columns: Sequence[str]) -> list[str]:
    """Return names of which no two are equal: an object would lose a column."""
    names: list[str] = []
    for name in columns:
        number, new = 1, name
        while new in names:
            number += 1
            new = f"{name}_{number}"
        names.append(new)
    return names


def _text(value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, str):
        return plain
    return json.dumps(plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return a value of DuckDB as JSON data."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return _foreign(value)


def _foreign(value: Any) -> str | float:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat(" ", "milliseconds") if isinstance(value, datetime) else str(value)
