"""The pictures of the guide are what comes."""

from __future__ import annotations

from reeval.report.pictures.svg import svg_text
from reeval.report.pictures.terminal import plot_lines
from reeval.report.screen.ink import PLAIN
from tests.docs.pages import DOCS, text_of
from tests.report.pictures.samples import GUIDE, drawn


def test_the_picture_of_lifts_is_what_a_run_writes() -> None:
    picture = drawn(*GUIDE)
    assert (DOCS / "guide" / "lifts.svg").read_text(encoding="utf-8") == svg_text(picture)
    assert f"![lifts with their 95 % intervals: {picture.summary}](lifts.svg)" in text_of("guide/records-and-sql.md")


def test_the_plot_is_what_a_terminal_shows() -> None:
    lines = "\n".join(plot_lines(drawn(*GUIDE), ink=PLAIN, cells=80))
    assert f"```text\n{lines}\n```" in text_of("guide/records-and-sql.md")
