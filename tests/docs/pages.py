"""The pages of the documentation, taken apart: headings, tables, links and code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in TOP if (ROOT / name).is_file())]

_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)")
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """One block of code."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def id(self) -> str:
        return f"{name(self.page)}:{self.line}"


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path | str) -> str:
    return (DOCS / page if isinstance(page, str) else page).read_text(encoding="utf-8")


def blocks(language: str) -> list[Block]:
    """Every block of code in this language, in all pages."""
    return [block for page in PAGES for block in blocks_of(page) if block.language == language]


def blocks_of(page: Path) -> Iterator[Block]:
    text = text_of(page)
    for found in _FENCE.finditer(text):
        yield Block(page, text.count("\n", 0, found.start()) + 1, found["language"].strip(), found["text"])


def prose_of(page: Path | str) -> str:
    """The page without its blocks of code."""
    return _FENCE.sub("", text_of(page))


def links_of(page: Path) -> list[str]:
    return _LINK.findall(_CODE.sub("code", prose_of(page)))


def anchors_of(page: Path) -> set[str]:
    """What can follow a ``#`` in a link to the page, as GitHub makes it from headings."""
    anchors: set[str] = set()
    seen: Counter[str] = Counter()
    for heading in re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        anchors.add(f"{plain}-{seen[plain]}" if seen[plain] else plain)
        seen[plain] += 1
    return anchors


def section(page: str, heading: str) -> str:
    """The text from a heading to the next one that is not below it."""
    found = re.search(
        rf"^(?P<level>#+) {re.escape(heading)}\n(?P<text>.*?)(?=^#{{1,6}} |\Z)", text_of(page), re.DOTALL | re.MULTILINE
    )
    assert found, f"{page} has no heading {heading!r}"
    return found["text"]


def tables(text: str) -> list[dict[str, str]]:
    """Each table of a text: the first cell of a row, without backticks → the rest of the row."""
    found = []
    for table in re.findall(r"(?:^\|.*\|\n)+", f"{text}\n", re.MULTILINE):
        rows = [re.split(r"(?<!\\)\|", line.strip().strip("|"), maxsplit=1) for line in table.splitlines()[2:]]
        found.append({first.strip().strip("`").replace("\\|", "|"): rest.strip() for first, rest in rows})
    return found


def rows(page: str, heading: str) -> dict[str, str]:
    """The rows of all tables in a section."""
    return {key: rest for table in tables(section(page, heading)) for key, rest in table.items()}
