"""What a person types is what is meant."""

from __future__ import annotations

import pytest

from reeval.cli.argv import as_meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["run", "--resume"], ["run", "--resume=last"]),
        (["run", "--resume", "-q"], ["run", "--resume=last", "-q"]),
        (["run", "--resume", "20261130"], ["run", "--resume", "20261130"]),
        (["run", "--retry-errors", "--json"], ["run", "--retry-errors=last", "--json"]),
        (["run", "--resume=last"], ["run", "--resume=last"]),
        (["query", "-- all\nSELECT 1", "--run", "last"], ["query", " -- all\nSELECT 1", "--run", "last"]),
        (["query", "--x\nSELECT 1"], ["query", " --x\nSELECT 1"]),
        (["query", "--format", "csv"], ["query", "--format", "csv"]),
    ],
)
def test_what_is_typed_is_what_is_meant(typed: list[str], meant: list[str]) -> None:
    assert as_meant(typed) == meant
