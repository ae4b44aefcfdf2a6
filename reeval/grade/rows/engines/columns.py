"""What are the keys of a column of Python values, under each reading?"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from reeval.grade.rows.keys.cells import NumberKey, cell_key, family_of, from_json, number_key_of
from reeval.grade.rows.keys.changes import Change, changed
from reeval.grade.rows.keys.families import Family, Reading
from reeval.grade.rows.keys.numbers import ABSOLUTE_NOISE, NOISE, is_noise, to_double
from reeval.grade.rows.keys.strict import NotStrict, parsed
from reeval.schema.data.results import Column

__all__ = ["Keys", "ValueColumn"]

Keys = Sequence[Hashable]


@dataclass(eq=False)
class ValueColumn:
    """One column of a result, as Python values."""

    column: Column
    raw: Sequence[Any]
    """As they came."""
    exact: bool
    _made: dict[tuple[Reading, bool, Change | None], Keys | None] = field(default_factory=dict)

    @cached_property
    def values(self) -> Sequence[Any]:
        """What is compared: of JSON, what it holds."""
        return [from_json(cell) for cell in self.raw] if self.column.type == "JSON" else self.raw

    @cached_property
    def family(self) -> Family:
        """The family of all its values."""
        kinds = set(map(type, self.values)) - {type(None)}
        if kinds <= {bool}:
            return Family.BOOLEAN if kinds else Family.NULL
        families = {Family.NUMBER if kind is bool else family_of(kind) for kind in kinds}
        if families <= {Family.TIME, Family.TEXT} and self.column.type.startswith(("DATE", "TIMESTAMP")):
            return Family.TIME  # a year that Python has no date for comes as a text
        return families.pop() if len(families) == 1 else Family.MIXED

    @cached_property
    def peak(self) -> float:
        """The largest finite size; asked of columns that can be read as numbers."""
        return _peak(self._read(Reading.NUMBER))

    @cached_property
    def has_whole_numbers(self) -> bool:
        """Whether it holds integers, by type: what could be an id."""
        return self.family is Family.NUMBER and any(type(value) is int for value in self.values)

    def keys(self, reading: Reading, *, exact: bool | None = None, change: Change | None = None) -> Keys | None:
        """Return a key for each row, None for NULL; None: as this the column cannot be read."""
        what = (reading, self.exact if exact is None else exact, change)
        if what not in self._made:
            self._made[what] = self._make(*what)
        return self._made[what]

    def _make(self, reading: Reading, exact: bool, change: Change | None) -> Keys | None:
        try:
            values = self._read(reading)
        except NotStrict:
            return None
        if change is not None:
            values = list(map(changed(change), values))
        number = number_key_of(exact=exact)
        if reading in {Reading.NUMBER, Reading.FAINT}:
            number = _quiet(number, values, faint=reading is Reading.FAINT)
        return _keyed(values, cell_key(reading, number), shared=reading is not Reading.NESTED)

    def _read(self, reading: Reading) -> Sequence[Any]:
        if self.family is not Family.TEXT or reading in {Reading.TEXT, Reading.NULL, Reading.MIXED}:
            return self.values
        return [None if value is None else parsed(value, reading) for value in self.values]


def _keyed(values: Sequence[Any], key: Callable[[Any], Hashable], *, shared: bool) -> Keys:
    if not shared:
        return [None if value is None else key(value) for value in values]
    known: dict[Any, Hashable] = {None: None}
    try:
        for value in set(values):
            if value is not None:
                known[value] = key(value)
        return [known[value] for value in values]
    except TypeError:  # a value that cannot be hashed
        return [None if value is None else key(value) for value in values]


def _quiet(number: NumberKey, values: Sequence[Any], *, faint: bool) -> NumberKey:
    """Let what is noise beside the largest value be 0."""
    limit = max(NOISE * _peak(values), ABSOLUTE_NOISE if faint else 0.0)
    return lambda value: number(0) if is_noise(value, limit) else number(value)


def _peak(values: Sequence[Any]) -> float:
    sizes = (abs(to_double(value)) for value in values if value is not None)
    return max((size for size in sizes if size < math.inf), default=0.0)
