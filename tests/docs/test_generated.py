"""What is generated is current, and says everything."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType

import pytest

from tests.docs.pages import DOCS, name, tables, text_of

PAGES = ("reference/commands.md", "reference/record.md", "reference/tables.md")


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


generate = load_generator()


@pytest.mark.parametrize("page", PAGES)
def test_generated_parts_are_current(page: str) -> None:
    text = text_of(page)
    assert generate.rendered(text) == text, "run: make docs"


def test_every_generated_part_stands_in_one_page() -> None:
    assert [name(page) for page in generate.pages()] == [f"docs/{page}" for page in PAGES]
    named = [part for page in PAGES for part in re.findall(r"<!-- generated: ([\w-]+) -->", text_of(page))]
    assert sorted(named) == sorted(generate.PARTS)


def test_a_stale_part_is_written_again() -> None:
    stale = "before\n<!-- generated: tables -->\nstale words\n<!-- end -->\nafter\n"
    fresh = generate.rendered(stale)
    assert "stale words" not in fresh
    assert fresh.startswith("before\n")
    assert fresh.endswith("<!-- end -->\nafter\n")
    assert generate.rendered(fresh) == fresh


@pytest.mark.parametrize("page", PAGES)
def test_everything_that_is_generated_has_a_meaning(page: str) -> None:
    silent = [
        key for table in tables(text_of(page)) for key, rest in table.items() if rest.split("|")[-1].strip() == ""
    ]
    assert silent == []


def test_no_meaning_is_left_over() -> None:
    owners = {cls.__name__: cls for part in generate._ROOTS for cls in generate.structs_of(part)}
    owners |= {cls.__name__: cls for cls in generate.words_of()}
    for key in generate._PLAIN:
        owner, dot, member = key.rpartition(".")
        assert any(hasattr(cls, member) for name, cls in owners.items() if name == owner or not dot), key
