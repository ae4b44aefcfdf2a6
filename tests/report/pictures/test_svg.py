"""``lifts.svg``: well-formed, whole, and safe whatever names a record holds."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from reeval.report.pictures.svg import svg_text
from tests.report.pictures.samples import ALL, NOTHING, OPEN, SAME, WORSE, drawn, lift
from tests.report.records import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)


def without_style(text: str) -> str:
    return re.sub(r"<style>.*?</style>\n", "", text, flags=re.DOTALL)


def test_a_picture() -> None:
    picture = drawn(("greets by name", lift()), ("adds", WORSE), ("adds", SAME))
    assert (
        without_style(svg_text(picture))
        == """\
<svg xmlns="http://www.w3.org/2000/svg" width="884" height="238" viewBox="0 0 884 238"
     role="img" aria-labelledby="title desc">
<title id="title">Lift over plain: 1 helped, 1 made it worse, 1 can&#39;t tell yet</title>
<desc id="desc">
pass rate of the variant minus the control&#39;s, with its 95 % interval
house, greets by name · scribe: +1.00 [0.31, 1.00], helped
terse, adds · scribe: −0.62 [−0.83, −0.21], made it worse, below min_lift
copy, adds · codex: 0.00 [−0.42, 0.42], can&#39;t tell yet, nothing varied
</desc>
<clipPath id="names"><rect x="20" y="0" width="274" height="238"/></clipPath>
<rect class="card" x="0.5" y="0.5" width="883" height="237" rx="6"/>
<text class="strong" x="20" y="30">Lift over plain</text>
<text class="small" x="20" y="50">pass rate of the variant minus the control&#39;s, with its 95 % interval</text>
<text class="small tick" x="310.0" y="80">−1</text>
<path class="grid" d="M310.0 86V218"/>
<text class="small tick" x="384.0" y="80">−0.5</text>
<path class="grid" d="M384.0 86V218"/>
<text class="small tick" x="458.0" y="80">0</text>
<path class="zero" d="M458.0 86V218"/>
<text class="small tick" x="532.0" y="80">+0.5</text>
<path class="grid" d="M532.0 86V218"/>
<text class="small tick" x="606.0" y="80">+1</text>
<path class="grid" d="M606.0 86V218"/>
<g>
<title>house, greets by name · scribe: +1.00 [0.31, 1.00], helped</title>
<g clip-path="url(#names)">
<text class="strong" x="20" y="110">house</text>
<text class="small" x="20" y="126">greets by name · scribe</text>
</g>
<path class="bar helped" d="M503.9 108v10M606.0 108v10M503.9 113H606.0"/>
<path class="mark helped" d="M606.0 106l7 12h-14z"/>
<text class="strong said helped" x="630" y="110">▲ helped</text>
<text class="small" x="630" y="126">+1.00 [0.31, 1.00]</text>
</g>
<g>
<title>terse, adds · scribe: −0.62 [−0.83, −0.21], made it worse, below min_lift</title>
<g clip-path="url(#names)">
<text class="strong" x="20" y="152">terse</text>
<text class="small" x="20" y="168">adds · scribe</text>
</g>
<path class="bar worse" d="M335.2 150v10M426.9 150v10M335.2 155H426.9"/>
<path class="mark worse" d="M366.2 162l7 -12h-14z"/>
<text class="strong said worse" x="630" y="152">▼ made it worse</text>
<text class="small" x="630" y="168">−0.62 [−0.83, −0.21] · below min_lift</text>
</g>
<g>
<title>copy, adds · codex: 0.00 [−0.42, 0.42], can&#39;t tell yet, nothing varied</title>
<g clip-path="url(#names)">
<text class="strong" x="20" y="194">copy</text>
<text class="small" x="20" y="210">adds · codex</text>
</g>
<path class="bar open" d="M395.8 192v10M520.2 192v10M395.8 197H520.2"/>
<circle class="mark open" cx="458.0" cy="197" r="5.5"/>
<text class="strong said open" x="630" y="194">○ can&#39;t tell yet</text>
<text class="small" x="630" y="210">0.00 [−0.42, 0.42] · nothing varied</text>
</g>
</svg>
"""
    )


def test_it_is_readable_in_light_and_dark() -> None:
    style = parsed(svg_text(drawn())).findtext(f"{SVG}style") or ""
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    classes = set(re.findall(r"\.(card|grid|zero|small|helped|worse|open)\b", light))
    assert classes == set(re.findall(r"\.(\w+)", dark)) - {"mark", "said"}
    assert ".card { fill: #ffffff" in light
    assert ".card { fill: #0d1117" in dark


def luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_text_and_bar_has_enough_contrast_with_its_card() -> None:
    style = parsed(svg_text(drawn())).findtext(f"{SVG}style") or ""
    for scheme in style.split("@media"):
        card = re.search(r"\.card \{ fill: (#\w{6})", scheme)[1]  # type: ignore[index]
        rules = re.findall(r"^(?!\.card|\.grid)(.*)$", scheme, re.MULTILINE)
        colors = set(re.findall(r"#\w{6}", "\n".join(rules))) - {card}
        assert len(colors) == 4
        for color in colors:
            dark, bright = sorted((luminance(card), luminance(color)))
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, color


def test_it_says_everything_to_those_who_do_not_see_it() -> None:
    root = parsed(svg_text(drawn()))
    assert root.attrib["role"] == "img"
    assert [root.find(f"{SVG}{name}").attrib["id"] for name in root.attrib["aria-labelledby"].split()] == [  # type: ignore[union-attr]
        "title", "desc"
    ]  # fmt: skip
    assert root.findtext(f"{SVG}title") == "Lift over plain: 2 helped, 1 made it worse, 3 can't tell yet"
    said = (root.findtext(f"{SVG}desc") or "").split("\n")
    assert said[1] == "pass rate of the variant minus the control's, with its 95 % interval"
    assert said[2:-1] == [bar.sentence for bar in drawn().bars]


def test_what_is_said_is_told_by_shape_and_word_too() -> None:
    root = parsed(svg_text(drawn(("a", lift()), ("b", WORSE), ("c", OPEN))))
    groups = root.findall(f"{SVG}g")
    shapes = [
        [mark.tag.removeprefix(SVG) for mark in group.iter() if "mark" in mark.get("class", "")] for group in groups
    ]
    assert shapes == [["path"], ["path"], ["circle"]]
    points = [mark.attrib["d"] for group in groups for mark in group.iter() if mark.get("class", "").startswith("mark")
              and "d" in mark.attrib]  # fmt: skip
    assert points[0].endswith("l7 12h-14z")
    assert points[1].endswith("l7 -12h-14z")
    words = ["".join(text.itertext()) for text in root.iter(f"{SVG}text") if "said" in text.get("class", "")]
    assert words == ["▲ helped", "▼ made it worse", "○ can't tell yet"]


def test_a_lift_without_numbers_has_words_only() -> None:
    (group,) = parsed(svg_text(drawn(("installs", NOTHING)))).findall(f"{SVG}g")
    assert [one.tag.removeprefix(SVG) for one in group] == ["title", "g", "text", "text"]
    assert group[-1].text == "nothing decided"


def test_many_lifts_are_counted_and_the_picture_has_an_end() -> None:
    root = parsed(svg_text(drawn(*[("adds", OPEN)] * 1000)))
    assert len(root.findall(f"{SVG}g")) == 40
    assert "… 960 more lifts" in [text.text for text in root.iter(f"{SVG}text")]
    assert int(root.attrib["height"]) < 2000


@pytest.mark.parametrize(
    "name", [HOSTILE, "]]></style><script>alert(1)</script>", '"/><a href="x">&amp;', "\ud800\uffff\0"]
)
def test_hostile_names_are_text_and_nothing_else(name: str) -> None:
    bad = lift(name, control=name, harness=name, sandbox=name)
    text = svg_text(drawn((name, bad), (name, lift(sandbox="other"))))
    tags = {one.tag.removeprefix(SVG) for one in parsed(text).iter()}
    assert tags <= {"svg", "title", "desc", "style", "clipPath", "rect", "text", "tspan", "path", "g", "circle"}
    attributes = {name for one in parsed(text).iter() for name in one.attrib}
    assert not [name for name in attributes if name.startswith("on") or name in {"href", "style", "src"}]
    text.encode("utf-8")


def test_long_names_are_cut_where_they_stand_and_whole_in_the_description() -> None:
    name = "a name of an eval that is much longer than what fits beside an axis"
    root = parsed(svg_text(drawn((name, lift()))))
    shown = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert "a name of an eval that is much longer t…" in shown
    assert name in (root.findtext(f"{SVG}desc") or "")
    assert name in (root.findtext(f"{SVG}g/{SVG}title") or "")


def test_every_mark_lies_between_the_ends_of_the_axis() -> None:
    odd = lift(numbers=(7.0, -9.0, 9.0))
    text = svg_text(drawn(*ALL, ("odd", odd)))
    places = [float(x) for x in re.findall(r'class="(?:mark|bar)[^"]*" (?:d="M|cx=")([\d.]+)', text)]
    assert places
    assert all(310 <= place <= 606 for place in places)


@pytest.mark.parametrize(
    ("flags", "said"),
    [(["identical"], "▲ helped · nothing varied"), (["identical", "errors"], "▲ helped · nothing varied …")],
)
def test_notes_stand_beside_what_they_qualify(flags: list[str], said: str) -> None:
    text = svg_text(drawn(("adds", lift(flags=flags, holds=False))))
    words = ["".join(text.itertext()) for text in parsed(text).iter(f"{SVG}text")]
    assert words[-2:] == [said, "+1.00 [0.31, 1.00] · below min_lift"]
