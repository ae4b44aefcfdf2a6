from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandboxes.site import Site, needs_bubblewrap


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(
    params=[pytest.param("require", id="isolated", marks=needs_bubblewrap), pytest.param("none", id="plain")]
)
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A place to open sandboxes in, once isolated and once in plain directories."""
    return Site.at(tmp_path, request.param, monkeypatch)


@pytest.fixture
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site.at(tmp_path, "require", monkeypatch)


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site.at(tmp_path, "none", monkeypatch)
