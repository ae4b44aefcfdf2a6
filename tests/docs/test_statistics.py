"""The figures of the statistics page that can be counted are what the code counts."""

from __future__ import annotations

import re

import pytest

from benchmarks.simulate import RATES, RUNS, counted, interval_only, region
from reeval.grade.compared.power import detectable
from tests.docs.pages import rows

PAGE = "guide/statistics.md"


def cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.split("|")]


@pytest.mark.parametrize("runs", RUNS)
def test_the_counted_claims_are_current(runs: int) -> None:
    shown = rows(PAGE, "How often it is wrong")
    for name, claims in (("", region(runs)), (", interval alone", interval_only(runs))):
        expected = [f"{100 * counted(claims, rate):.1f}" for rate in RATES]
        assert cells(shown[f"{runs} runs a side{name}"]) == ["counted", *expected]


def test_no_simulated_claim_of_what_reeval_does_is_above_5_percent_and_its_error() -> None:
    shown = rows(PAGE, "How often it is wrong")
    found = {
        name: [float(cell) for cell in cells(rest)[1:]]
        for name, rest in shown.items()
        if "interval alone" not in name and "fed by completion" not in name
    }
    assert len(found) > 20
    assert {name: claims for name, claims in found.items() if max(claims) > 6.4} == {}


def test_the_detectable_lifts_are_current() -> None:
    shown = rows(PAGE, "What so many runs can show")
    assert len(shown) > 8
    for name, rest in shown.items():
        found = re.fullmatch(r"(?:(?P<cases>\d+) cases × )?(?P<runs>\d+)", name)
        assert found, name
        cases = int(found["cases"]) if found["cases"] else None
        lifts = [detectable(int(found["runs"]), rate=rate, cases=cases).up for rate in (0.0, 0.2, 0.5)]
        assert cells(rest) == ["–" if lift is None else f"{lift:.2f}" for lift in lifts], name
