"""How much of an odd object is read: all that fits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reeval.harnesses.agents.named import agent_named
from reeval.harnesses.agents.streams.reading import JsonTranslator
from reeval.harnesses.agents.streams.shapes import ExitCode, fitted
from tests.harnesses.real.kit import SUBJECTS


class Inner(msgspec.Struct):
    name: str = "none"
    code: ExitCode | None = None


class Outer(msgspec.Struct):
    type: str = ""
    inner: Inner = msgspec.field(default_factory=Inner)
    many: list[Inner] = []
    free: Any = None


@pytest.mark.parametrize(
    ("found", "read"),
    [
        ({}, Outer()),
        ({"type": "a", "more": 1}, Outer(type="a")),
        ({"type": 3, "free": [3]}, Outer(free=[3])),
        ({"type": "a", "inner": {"name": "n", "code": "3"}}, Outer(type="a", inner=Inner(name="n"))),
        ({"type": "a", "inner": {"name": None, "code": -9}}, Outer(type="a", inner=Inner(code=-9))),
        ({"inner": {"name": "n", "code": 10**400}}, Outer(inner=Inner(name="n"))),
        ({"inner": {"name": "n", "code": True}}, Outer(inner=Inner(name="n"))),
        ({"type": "a", "inner": [1]}, Outer(type="a")),
        ({"many": [3, {"name": "n", "code": "x"}, None]}, Outer(many=[Inner(name="n")])),
        ({"type": "a", "many": {"name": "n"}}, Outer(type="a")),
    ],
)
def test_a_value_that_does_not_fit_counts_as_missing_and_the_rest_stays(found: Any, read: Outer) -> None:
    assert fitted(found, Outer) == read


@pytest.mark.parametrize("found", [None, 3, "x", [{"type": "a"}], object()])
def test_what_is_no_object_does_not_fit(found: Any) -> None:
    for shape in (Outer, dict[str, Any]):
        with pytest.raises(msgspec.ValidationError):
            fitted(found, shape)


@pytest.mark.parametrize("kind", sorted(SUBJECTS))
def test_an_object_without_any_key_is_read_by_every_agent(kind: str) -> None:
    translator = agent_named(kind).translator("/workspace", ())
    assert isinstance(translator, JsonTranslator)
    assert list(translator.lines([b"{}"])) == []
    fitted({}, translator.shape)
