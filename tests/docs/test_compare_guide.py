"""The guide of compares shows what comes."""

from __future__ import annotations

from math import comb

import pytest

from reeval.grade.compared.power import detectable
from reeval.report.screen.blocks import block
from reeval.report.screen.compares import DOUBTS
from reeval.report.screen.detectable import detectable_lines
from tests.docs.pages import DOCS
from tests.record.compares import compared_plan
from tests.report.compares import evaluated

GUIDE = (DOCS / "guide" / "compare.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("sides", [{"plain": "pfff", "with-house-greeting": "pppf"}])
def test_the_open_result_is_what_comes(sides: dict[str, str]) -> None:
    lines = block(evaluated(sides), cells=80)[1:]
    assert "\n".join(lines) in GUIDE


def test_the_told_result_is_what_comes() -> None:
    sides = {"plain": "ffff", "with-house-greeting": "pppp"}
    lines = block(evaluated(sides, tokens={"plain": 29, "with-house-greeting": 60}), cells=80)[1:]
    assert "\n".join(lines) in GUIDE


def test_the_dry_run_is_what_comes() -> None:
    plan = compared_plan()
    (line,) = detectable_lines(plan, {plan.evals[0].id: 0.0})
    assert line.rpartition(": ")[0] in GUIDE


@pytest.mark.parametrize("doubt", ["few attempts", "nothing decided", "few cases", "body errors"])
def test_every_reason_is_explained(doubt: str) -> None:
    assert f"| `{DOUBTS[doubt]}` |" in GUIDE


def test_its_numbers_are_right() -> None:
    heads = [comb(4, count) / 16 for count in range(5)]
    more = sum(heads[a] * heads[b] for a in range(5) for b in range(5) if b - a >= 2)
    assert round(1 / more) == 7
    assert "in one of seven tries" in GUIDE
    assert detectable(20).up == pytest.approx(0.4, abs=0.02)
    assert detectable(100).up == pytest.approx(0.2, abs=0.01)
