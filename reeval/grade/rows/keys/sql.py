"""What are the keys in SQL? The same as in Python, for whole columns at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reeval.grade.rows.keys.changes import FACTORS, Change
from reeval.grade.rows.keys.families import Family, Reading
from reeval.grade.rows.keys.numbers import EXPONENT_SHIFT, INFINITE_KEY, NAN_KEY
from reeval.grade.rows.keys.strict import LONGEST_NUMBER, PATTERNS

__all__ = ["NumberKeys", "changed_sql", "double_sql", "family_of_sql", "key_sql", "parses_sql", "staged", "whole_sql"]

_PREFIXES: tuple[tuple[str, Family], ...] = (
    ('"NULL"', Family.NULL),
    ("BOOLEAN", Family.BOOLEAN),
    ("DECIMAL", Family.NUMBER),
    ("DATE", Family.TIME),
    ("TIMESTAMP", Family.TIME),
    ("TIME", Family.CLOCK),
    ("VARCHAR", Family.TEXT),
    ("ENUM", Family.TEXT),
    ("UUID", Family.UUID),
    ("BLOB", Family.BLOB),
)
_NUMBERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    *("FLOAT", "DOUBLE"),
}


@dataclass(frozen=True)
class NumberKeys:
    """How the keys of one column of numbers are made."""

    double: str
    """SQL of the value as a double."""
    limit: float
    """At most this and not whole: noise."""
    exact_whole: str | None = None
    """SQL of the value as a HUGEINT, when numbers are compared as they are; else keys have 4 significant figures."""


def family_of_sql(type: str) -> Family | None:
    """Return the family of a column of a DuckDB type; None: its keys are made in Python."""
    if type in _NUMBERS:
        return Family.NUMBER
    if type.endswith("]"):
        return None
    return next((family for prefix, family in _PREFIXES if type.startswith(prefix)), None)


def double_sql(column: str, family: Family) -> str:
    """Return a number, a boolean or a number's text as a double."""
    if family is Family.BOOLEAN:
        return f"CAST(CAST({column} AS INTEGER) AS DOUBLE)"
    return f"TRY_CAST({column} AS DOUBLE)"


def whole_sql(column: str, family: Family) -> str:
    """Return a number rounded to a whole one, half away from zero; NULL when it is too big."""
    if family is Family.BOOLEAN:
        return f"CAST(CAST({column} AS INTEGER) AS HUGEINT)"
    if family is Family.TEXT:
        return f"coalesce(TRY_CAST({column} AS HUGEINT), TRY_CAST(round(TRY_CAST({column} AS DOUBLE)) AS HUGEINT))"
    return f"TRY_CAST(round({column}) AS HUGEINT)"


def changed_sql(change: Change, column: str, double: str) -> str:
    """Return the changed value: a double of a number, a text of a text."""
    if change in FACTORS:
        return f"({double}) * {FACTORS[change]!r}::DOUBLE"
    return {
        Change.UNSIGNED: f"abs({double})",
        Change.NULL_IS_ZERO: f"coalesce({double}, 0)",
        Change.SAME_CASE: f"regexp_replace(trim(lower({column})), '\\s+', ' ', 'g')",
        Change.NULL_IS_EMPTY: f"coalesce({column}, '')",
    }[change]


def parses_sql(column: str, reading: Reading) -> str:
    """Return whether the text says a value of the reading, strictly."""
    fits = f"regexp_full_match({column}, '{PATTERNS[reading]}')"
    if reading is Reading.NUMBER:
        return f"({fits} AND length({column}) <= {LONGEST_NUMBER})"
    if reading is Reading.TIME:
        real = f"TRY_CAST(CASE WHEN {fits} THEN {column} END AS TIMESTAMPTZ) IS NOT NULL"
        return f"({fits} AND {real} AND {column}[1:4] <> '0000')"
    return fits


def key_sql(column: str, family: Family, reading: Reading) -> str:
    """Return the key of a value that is no number: BIGINT, VARCHAR or BLOB."""
    if reading is Reading.NULL:
        return f"CASE WHEN {column} IS NOT NULL THEN 1 END"
    if reading is Reading.BOOLEAN:
        return f"lower({column}) = 'true'" if family is Family.TEXT else column
    if reading is Reading.TIME:
        return _time(f"TRY_CAST({column} AS TIMESTAMPTZ)" if family is Family.TEXT else column)
    if reading is Reading.CLOCK:
        return f"epoch_us(CAST({column} AS TIME))"
    if reading is Reading.UUID:
        return f"lower(CAST({column} AS VARCHAR))"
    return column if reading is Reading.BLOB else f"nfc_normalize(CAST({column} AS VARCHAR))"


def staged(numbers: Mapping[str, NumberKeys], others: Mapping[str, str], source: str) -> str:
    """Return a query of all keys by name; in stages, since SQL repeats what a later expression uses twice."""
    kept = "".join(f", {name}" for name in others)
    first = ", ".join(
        [
            *(f"{keys.double} AS {name}_d" for name, keys in numbers.items()),
            *(f"{keys.exact_whole} AS {name}_w" for name, keys in numbers.items() if keys.exact_whole),
            *(f"{sql} AS {name}" for name, sql in others.items()),
        ]
    )
    query = f"SELECT {first} FROM {source}"
    if not numbers:
        return query
    carried = "".join(f", {name}_w" for name, keys in numbers.items() if keys.exact_whole) + kept
    quiet = ", ".join(f"{_quiet(name, keys.limit)} AS {name}_d" for name, keys in numbers.items())
    query = f"SELECT {quiet}{carried} FROM ({query})"
    powers = ", ".join(f"{name}_d, {_power(name)} AS {name}_e" for name in numbers)
    query = f"SELECT {powers}{carried} FROM ({query})"
    digits = ", ".join(f"{name}_d, {name}_e, {_digits(name)} AS {name}_m" for name in numbers)
    query = f"SELECT {digits}{carried} FROM ({query})"
    last = ", ".join(
        f"{_exact(name) if keys.exact_whole else _rounded(name)} AS {name}" for name, keys in numbers.items()
    )
    return f"SELECT {last}{kept} FROM ({query})"


def _quiet(name: str, limit: float) -> str:
    if limit <= 0:
        return f"{name}_d"
    return f"CASE WHEN abs({name}_d) <= {limit!r}::DOUBLE AND {name}_d <> trunc({name}_d) THEN 0.0 ELSE {name}_d END"


def _power(name: str) -> str:
    """Return the exponent; NULL of what has none: 0, NaN, infinity."""
    return f"CASE WHEN {name}_d <> 0 AND isfinite({name}_d) THEN CAST(floor(log10(abs({name}_d))) AS INTEGER) END"


def _digits(name: str) -> str:
    """Return the first 12 significant figures; the power is split where it would leave the doubles."""
    shift = f"(11 - {name}_e)"
    scaled = (
        f"CASE WHEN abs({name}_e) < 280 THEN abs({name}_d) * pow(10.0::DOUBLE, {shift}) "
        f"ELSE abs({name}_d) * pow(10.0::DOUBLE, {shift} // 2) * pow(10.0::DOUBLE, {shift} - {shift} // 2) END"
    )
    return f"CAST(round({scaled}) AS BIGINT)"


def _special(name: str) -> str:
    return (
        f"CASE WHEN {name}_d IS NULL THEN NULL WHEN {name}_d = 0 THEN 0 WHEN isnan({name}_d) THEN {NAN_KEY} "
        f"WHEN {name}_d > 0 THEN {INFINITE_KEY} ELSE {-INFINITE_KEY} END"
    )


def _rounded(name: str) -> str:
    four = f"(({name}_m + 50000000) // 100000000)"
    key = f"({name}_e + {EXPONENT_SHIFT}) * 10000 + {four} + CASE WHEN {four} = 10000 THEN 1000 ELSE 0 END"
    signed = f"CASE WHEN {name}_d < 0 THEN -({key}) ELSE {key} END"
    return f"CAST(CASE WHEN {name}_e IS NULL THEN {_special(name)} ELSE {signed} END AS BIGINT)"


def _exact(name: str) -> str:
    """Return the text that ``exact_key`` gives: format() rounds as Python does."""
    figures = f"format('{{:.11e}}', {name}_d)"
    whole = f"coalesce(CAST({name}_w AS VARCHAR), CAST({name}_d AS VARCHAR))"
    huge = f"abs({name}_d) >= 1e38"
    return (
        f"CASE WHEN {name}_e IS NULL THEN CAST({_special(name)} AS VARCHAR) "
        f"WHEN {huge} THEN CAST({name}_d AS VARCHAR) "
        f"WHEN abs({name}_d) >= 1e12 OR {figures} LIKE '%e+12' THEN {whole} ELSE {figures} END"
    )


def _time(value: str) -> str:
    far = "CASE WHEN {0} > TIMESTAMP '1970-01-01' THEN 253402300799999999 ELSE -62135596800000000 END"
    stamp = f"TRY_CAST({value} AS TIMESTAMP)"
    return f"CASE WHEN {value} IS NULL THEN NULL ELSE coalesce(epoch_us({stamp}), {far.format(stamp)}) END"
