"""What of a git source is refused before git is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from reeval.plan.parts.sources import source_problem

URLS = [
    "https://example.com/me/x.git",
    "http://localhost:8080/x",
    "ssh://git@example.com:22/x.git",
    "git@example.com:me/x.git",
    "example.com:x",
    "git://example.com/x",
    "there",
    "./there",
    "HTTPS://example.com/x",
]

BAD_URLS = [
    ("", "is no URL"),
    ("-u", "is no URL"),
    ("--upload-pack=touch x", "is no URL"),
    ("https://example.com/x\nHost: y", "is no URL"),
    ("ext::sh -c true", "names a helper (ext::), which can run any program"),
    ("fd::3", "names a helper (fd::)"),
    ("hg::https://example.com", "names a helper (hg::)"),
    ("ftp://example.com/x", "has the scheme 'ftp'; it can be https, http, ssh, git, file"),
    ("https:///x", "names no host"),
    ("ssh://-oProxyCommand=x/y", "names no host"),
    ("-oProxyCommand=x:y", "is no URL"),
    ("me@-oProxyCommand=x:y", "names no host"),
    ("https://me:word@example.com/x", "holds a user or a password; leave it out of the URL"),
    ("https://token@example.com/x", "holds a user or a password"),
    ("ssh://git:word@example.com/x", "holds a user or a password"),
    ("https://[::1/x", "cannot be read"),
    ("not/there", "is a path where nothing is; paths start at"),
    ("file:///not/there", "is a file:// URL where nothing is"),
]

REFS = ["main", "v1.2.3", "feature/x", "refs/tags/v1", "a" * 40, "release-2026_11", "ümlaut", "@"]
BAD_REFS = ["", "-x", "--upload-pack=x", "a b", "a..b", "a:b", "a^", "a~1", "*", "a@{1}", "/a", "a/", "a//b", "x.lock"]
BAD_PATHS = ["/etc", "..", "a/../../b", "a\0b"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path


@pytest.mark.parametrize("url", URLS)
def test_every_way_to_write_a_source_is_fine(root: Path, url: str) -> None:
    assert source_problem(url, None, None, root) is None


def test_an_existing_file_url_is_fine(root: Path) -> None:
    assert source_problem((root / "there").as_uri(), None, "a/b", root) is None


@pytest.mark.parametrize(("url", "said"), BAD_URLS)
def test_a_url_that_git_could_take_for_something_else_is_refused(root: Path, url: str, said: str) -> None:
    problem = source_problem(url, None, None, root)
    assert problem is not None
    assert f" {said}" in problem
    assert "word" not in problem.partition(said)[0]
    assert "token" not in problem


@pytest.mark.parametrize("ref", REFS)
def test_branches_tags_and_commits_are_refs(root: Path, ref: str) -> None:
    assert source_problem("there", ref, None, root) is None


@pytest.mark.parametrize("ref", BAD_REFS)
def test_what_no_ref_can_be_is_refused(root: Path, ref: str) -> None:
    assert source_problem("there", ref, None, root) == (
        f"the git source 'there' has ref {ref!r}; write a branch, a tag, or a commit with all of its digits"
    )


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_folder_outside_of_a_source_is_refused(root: Path, path: str) -> None:
    assert f"has path {path!r}; write a folder from the source's top" in str(source_problem("there", None, path, root))
