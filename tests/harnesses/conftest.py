from __future__ import annotations

from pathlib import Path

import pytest

from tests.harnesses.rooms import PlainRoom


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def room(tmp_path: Path) -> PlainRoom:
    return PlainRoom(tmp_path)
