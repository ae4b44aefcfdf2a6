"""The kinds of models, each loaded when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reeval.models.kinds import KINDS


def test_every_kind_stands_under_its_own_name() -> None:
    assert {name: kind.name for name, kind in KINDS.items()} == {name: name for name in KINDS}
    assert sorted(KINDS) == list(KINDS)
    assert len(KINDS) == 5


def test_another_name_is_no_kind() -> None:
    assert "mistral" not in KINDS
    assert 3 not in KINDS
    with pytest.raises(KeyError):
        KINDS["mistral"]


def test_asking_whether_a_kind_is_there_loads_none() -> None:
    code = (
        "import sys\nfrom reeval.models.kinds import KINDS\n'fake' in KINDS, list(KINDS)\n"
        "print(*[name for name in sys.modules if name.startswith('reeval.models.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["reeval.models.kinds"]
