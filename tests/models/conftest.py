from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models.bench import Bench
from tests.servers.models import ModelServer


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as started:
        yield started


@pytest.fixture(params=["anthropic", "openai", "openai-chat", "google"])
def remote(request: pytest.FixtureRequest, server: ModelServer, tmp_path: Path) -> Bench:
    """A model of each kind that speaks HTTP, on the server."""
    return Bench(kind=request.param, server=server, root=tmp_path)


@pytest.fixture
def chat(server: ModelServer, tmp_path: Path) -> Bench:
    return Bench(kind="openai-chat", server=server, root=tmp_path)


@pytest.fixture
def fresh_modules() -> Iterator[None]:
    """Let a test import modules of its own project, and forget them after it."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        if name.startswith(("judges", "reeval_model_")):
            del sys.modules[name]
    sys.path[:] = path
