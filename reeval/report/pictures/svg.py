"""What does ``lifts.svg`` hold? The lifts of a run with their intervals, on a card that is readable anywhere.

The card has a background of its own, light or dark: a page that is dark on a light desktop, or the other way round,
still shows text on what it was made for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from reeval.report.pictures.bars import MARKS, Bar, Picture, tick_text
from reeval.report.text import cut
from reeval.schema.recorded.lifts import Said

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["svg_text"]

_WIDTH, _EDGE = 884, 20
_HEAD, _ROW, _FOOT = 92, 42, 34
_AXIS_LEFT, _AXIS_RIGHT = 310, 606
_WORDS = 630
_VARIANT_CELLS, _ABOUT_CELLS = 32, 40
"""What fits before the axis in common fonts; what is wider all the same is clipped."""
_CLASSES: dict[Said, str] = {"helped": "helped", "made it worse": "worse", "can't tell yet": "open"}


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One lift where it is drawn: ``y`` is the middle of its row, numbers are those of the SVG's plane."""

    bar: Bar
    style: str
    variant: str
    about: str
    y: int
    x: float | None
    span: tuple[float, float] | None


def svg_text(picture: Picture) -> str:
    """Return the whole file. Every text in it is escaped for XML."""
    foot = _HEAD + _ROW * len(picture.bars)
    return _template().render(
        picture=picture,
        marks=MARKS,
        rows=list(_rows(picture)),
        ticks=[(_x(value, picture), tick_text(value), value == 0) for value in picture.ticks],
        width=_WIDTH,
        height=foot + (_FOOT if picture.more else _EDGE),
        edge=_EDGE,
        head=_HEAD,
        foot=foot,
        words=_WORDS,
        names_width=_AXIS_LEFT - _EDGE - 16,
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    source = files("reeval.report").joinpath("templates/lifts.svg.j2").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(source)


def _x(value: float, picture: Picture) -> float:
    middle, half = (_AXIS_LEFT + _AXIS_RIGHT) / 2, (_AXIS_RIGHT - _AXIS_LEFT) / 2
    return round(middle + value / picture.extent * half, 1)


def _rows(picture: Picture) -> Iterator[_Row]:
    for place, bar in enumerate(picture.bars):
        yield _Row(
            bar=bar,
            style=_CLASSES[bar.said],
            variant=cut(bar.variant, _VARIANT_CELLS),
            about=cut(bar.about, _ABOUT_CELLS),
            y=_HEAD + _ROW * place + _ROW // 2,
            x=None if bar.point is None else _x(bar.point, picture),
            span=None if bar.span is None else (_x(bar.span[0], picture), _x(bar.span[1], picture)),
        )
