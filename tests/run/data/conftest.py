from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.data.kit import DataStage
from tests.run.kit import Stage


@pytest.fixture
def data(tmp_path: Path) -> DataStage:
    return DataStage(Stage(tmp_path))
