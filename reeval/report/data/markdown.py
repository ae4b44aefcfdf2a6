"""How does an agent's Markdown look in a terminal? Rendered, with nothing in it that the terminal would obey."""

from __future__ import annotations

import io

from reeval.report.screen.failures import Page
from reeval.report.text import printable

__all__ = ["markdown_lines"]

_CHARACTERS = 20_000
"""What is rendered; a longer text is cut, and says so."""
_LINES = 60
_CELLS = 100
"""Where nothing says how wide a line may be."""


def markdown_lines(text: str, page: Page, indent: int) -> list[str]:
    """Return the lines of a message that is Markdown, bounded, each behind ``indent`` spaces."""
    most = 10 * _CHARACTERS if page.full else _CHARACTERS
    cut = len(text) - most
    # Escaped before it is rendered: afterwards a control character could not be told from the renderer's own.
    safe = "\n".join(printable(text[:most]))
    lines = _rendered(safe, max(20, (page.cells or _CELLS) - indent), color=page.ink.color)
    more = len(lines) - _LINES
    if more > 0 and not page.full:
        lines = [*lines[:_LINES], f"… {more:,} more line{'s' if more > 1 else ''}"]
    if cut > 0:
        lines.append(f"… {cut:,} more characters")
    return [(" " * indent + line).rstrip() for line in lines]


def _rendered(text: str, cells: int, *, color: bool) -> list[str]:
    from markdown_it import MarkdownIt
    from rich.console import Console
    from rich.markdown import Markdown

    out = io.StringIO()
    console = Console(
        file=out,
        width=cells,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    rendered = Markdown("", hyperlinks=False, code_theme="ansi_dark")
    # HTML stays text: rich would leave out what an agent wrote as HTML.
    rendered.parsed = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).parse(text)
    console.print(rendered)
    return out.getvalue().strip("\n").split("\n")
