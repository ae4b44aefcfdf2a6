from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A project for a whole module: one run, many tests of what it recorded."""
    return Shell(tmp_path_factory.mktemp("shared"))
