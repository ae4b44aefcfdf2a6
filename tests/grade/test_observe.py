"""What a match of an author's own may do, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from reeval.errors import BodyStop
from reeval.grade.observing.observe import observe
from reeval.schema.observation import CheckStatus, Observation


@dataclass(frozen=True)
class Own:
    """A match of an author's own, which returns or raises what it is given."""

    result: Any
    measures: bool = False
    name: str = "own"
    argument: str = ""

    def observe(self, value: object) -> Observation:
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result  # type: ignore[no-any-return]


def seen(status: str, **fields: Any) -> Observation:
    return Observation(status=CheckStatus(status), **fields)


class UntoldError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("match", "status"),
    [
        (Own(seen("matched")), "matched"),
        (Own(seen("mismatched")), "mismatched"),
        (Own(seen("unavailable")), "unavailable"),
        (Own(seen("errored")), "errored"),
        (Own(seen("measured", measurement=0.5), measures=True), "measured"),
        (Own(seen("unavailable"), measures=True), "unavailable"),
        (Own(seen("measured", measurement=0.5)), "errored"),
        (Own(seen("matched"), measures=True), "errored"),
        (Own(seen("matched", measurement=0.5)), "errored"),
        (Own(seen("measured"), measures=True), "errored"),
        (Own(seen("measured", measurement=1.01), measures=True), "errored"),
        (Own(seen("measured", measurement=-0.01), measures=True), "errored"),
        (Own(seen("measured", measurement=float("nan")), measures=True), "errored"),
        (Own(result=True), "errored"),
        (Own(None), "errored"),
        (Own(0.5, measures=True), "errored"),
        (Own(ValueError("no")), "errored"),
        (Own(AssertionError()), "errored"),
        (Own(RecursionError("deep")), "errored"),
        (Own(UntoldError()), "errored"),
    ],
)
def test_only_what_a_match_may_return_counts(match: Own, status: str) -> None:
    assert observe(match, "x").status == status


@pytest.mark.parametrize("stop", [BodyStop(), KeyboardInterrupt(), SystemExit()])
def test_control_flow_passes_through(stop: BaseException) -> None:
    with pytest.raises(type(stop)):
        observe(Own(stop), "x")


def test_an_exception_is_named_and_bounded() -> None:
    assert observe(Own(ValueError("no")), "x").message == "own raised ValueError: no"
    assert observe(Own(UntoldError()), "x").message == "own raised UntoldError: (its text cannot be shown)"
    assert len(observe(Own(ValueError("x" * 100_000)), "x").message) < 600


def test_a_long_message_is_cut_and_can_be_written() -> None:
    message = observe(Own(seen("mismatched", message="\ud800" * 5000)), "x").message
    assert len(message) == 1024
    message.encode()
