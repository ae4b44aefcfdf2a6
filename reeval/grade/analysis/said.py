"""Which numbers and quotes stand in the words of a claim? Digits, percentages, counts in words, and quotation marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reeval.grade.analysis.figures import Figure, holds

__all__ = ["SHORTEST_QUOTE", "Said", "agrees", "numbers_in", "plain", "quoted_in", "without_names"]

SHORTEST_QUOTE = 4
"""Characters: a shorter one stands everywhere."""
_PERCENT = re.compile(r"(?<=\d)\s*(?:%|percent(?:age points?)?\b|per cent\b|pp\b)", re.IGNORECASE)
_JOINED = re.compile(
    r"(?<=\d)-(?=(?:out-)?of-\d|(?:attempt|run|time|eval|case|cell|percent)s?\b)|(?<=of)-(?=\d)", re.IGNORECASE
)
"""Hyphens of ``9-of-10`` and ``10-attempt``: words of a number, and no name."""
_NUMBER = re.compile(
    r"(?P<sign>(?<![\d\w])[+\-−])?(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<rest>\.\d+)?(?P<mark>%)?"
)
_UNIT = re.compile(r"(?<=\d)(?:ms|s|x|×|k|M|min|h)(?=[^\w%]*$)")
_NAME = re.compile(r"[^\W\d_]|[#@_]")
"""In what is a name, such as ``gpt-5`` or ``greet.py:12``, rather than a number."""
_COUNTED = re.compile(r"\s*(?:of|out of|attempts?|runs?|times|evals?|cases?|cells?)\b", re.IGNORECASE)
_COUNTING = re.compile(r"(?:\bof|\bin|/)\s*$", re.IGNORECASE)
_POINTS = re.compile(r"\s*points?\b", re.IGNORECASE)
_COUNTS = "two three four five six seven eight nine ten eleven twelve"
_WORDS = {word: value for value, word in enumerate(_COUNTS.split(), 2)}
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b(?=\s+(?:of|out of|attempts?|runs?|times|percent)\b)", re.IGNORECASE)
_QUOTED = re.compile(r'["“„«]([^"“”„«»]+)["”“»]')


@dataclass(frozen=True, kw_only=True)
class Said:
    """A number in a text."""

    value: float
    decimals: int = 0
    scales: tuple[float, ...] = (1.0,)
    """What it may be a multiple of: 0.01 for percent."""
    signed: bool = False
    counted: bool = False
    """It counts or rates attempts, so that only a figure can bear it, and no quote."""


def plain(text: str) -> str:
    """Return a text with each run of blanks as one, as quotes are compared."""
    return " ".join(text.split())


def quoted_in(text: str) -> list[str]:
    """Return what stands between double quotation marks."""
    return [found for found in map(plain, _QUOTED.findall(text)) if len(found) >= SHORTEST_QUOTE]


def without_names(text: str, names: Iterable[str]) -> str:
    """Return a text without ids and labels, whose digits say nothing: the longest first, since one holds another."""
    for name in sorted(set(names), key=len, reverse=True):
        if name and not name.isdigit():
            text = text.replace(name, " ")
    return text


def numbers_in(text: str) -> Iterator[Said]:
    """Yield every number of a text; digits that belong to a name are none."""
    text = _PERCENT.sub("%", _JOINED.sub(" ", text))
    for word in re.finditer(r"\S+", text):
        core = _UNIT.sub("", word[0])
        if not _NAME.search(core):
            for found in _NUMBER.finditer(core):
                start, end = word.start() + found.start(), word.start() + found.end()
                yield _said(found, text[max(0, start - 12) : start], text[end : end + 24])
    for found in _WORD.finditer(text):
        yield Said(value=_WORDS[found[1].lower()], counted=True)


def _said(found: re.Match[str], before: str, after: str) -> Said:
    sign = -1 if found["sign"] in {"-", "−"} else 1
    percent = found["mark"] is not None
    points = not percent and _POINTS.match(after)
    return Said(
        value=sign * float(found["digits"].replace(",", "") + (found["rest"] or "")),
        decimals=len(found["rest"] or ".") - 1,
        scales=(0.01,) if percent else (1.0, 0.01) if points else (1.0,),
        signed=found["sign"] is not None,
        counted=percent or bool(_COUNTED.match(after) or after.startswith("/") or _COUNTING.search(before)),
    )


def agrees(said: Said, figure: Figure) -> bool:
    """Say whether a number in a text is this figure; without a sign it may be said of a change in either direction."""
    values = (said.value,) if said.signed else (said.value, -said.value)
    scales = said.scales if figure.unit == "share" else tuple(one for one in said.scales if one == 1.0)
    return any(holds(value, figure, decimals=said.decimals, scale=scale) for value in values for scale in scales)
