"""Links lead somewhere, and every page can be reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES, anchors_of, links_of, name

LINKS = [(page, link) for page in PAGES for link in links_of(page) if "://" not in link]


def target(page: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = link.partition("#")
    return (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize(("page", "link"), LINKS, ids=[f"{name(page)}->{link}" for page, link in LINKS])
def test_a_link_resolves(page: Path, link: str) -> None:
    path, anchor = target(page, link)
    assert path.exists(), f"{name(page)} links to {link}, and nothing is there"
    assert not anchor or anchor in anchors_of(path), f"{link}: its anchors are {sorted(anchors_of(path))}"


def test_every_page_is_linked_from_another() -> None:
    linked = {target(page, link)[0] for page, link in LINKS if target(page, link)[0] != page}
    assert {name(page) for page in PAGES if page.is_relative_to(DOCS) and page not in linked} <= {"docs/README.md"}


def test_anchors_are_made_as_github_makes_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# `[sandbox.NAME]`\n\n## Two words, and more\n\n```sh\n# no heading\n```\n\n## Two words, and more\n"
    )
    assert anchors_of(page) == {"sandboxname", "two-words-and-more", "two-words-and-more-1"}
