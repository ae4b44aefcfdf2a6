from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from tests.environments.placed.places import Place
from tests.sandboxes.docker.conftest import docker
from tests.sandboxes.docker.site import DockerSite, needs_engine
from tests.sandboxes.site import Site, needs_bubblewrap

__all__ = ["docker"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(
    params=[
        pytest.param("isolated", marks=needs_bubblewrap),
        pytest.param("plain"),
        pytest.param("docker", marks=needs_engine),
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Each kind of sandbox there is."""
    if request.param == "docker":
        return Place("docker", cast("DockerSite", request.getfixturevalue("docker")))
    isolation = "require" if request.param == "isolated" else "none"
    return Place(request.param, Site.at(tmp_path, isolation, monkeypatch))
