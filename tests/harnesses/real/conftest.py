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


@pytest.fixture(params=[one for one in SUBJECTS.values() if one.faults], ids=lambda one: one.kind)
def quick(request: pytest.FixtureRequest) -> Subject:
    """Each agent that starts fast enough to be started for every fault."""
    need(request.param.kind)
    return request.param
