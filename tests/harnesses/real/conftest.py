from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harnesses.real.kit import SUBJECTS, Subject, need
from tests.servers.agents import AgentServer


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server() -> Iterator[AgentServer]:
    with AgentServer() as serving:
        yield serving


@pytest.fixture(params=SUBJECTS.values(), ids=SUBJECTS.keys())
def subject(request: pytest.FixtureRequest) -> Subject:
    """Each agent in turn."""
    need(request.param.kind)
    return request.param
