"""Claims, as a person reads them."""

from __future__ import annotations

import json
from typing import Any

from reeval.grade.analysis.checking import Dropped, Why
from reeval.grade.analysis.claims import Cited, Claim, ClaimKind, Number, Quote, RunName
from reeval.grade.analysis.figures import Figures
from reeval.report.analysis import Analysis, analysis_data, analysis_lines
from reeval.report.screen.failures import Page
from reeval.report.text import width
from reeval.usage import Usage
from tests.report.records import HOSTILE

EVAL = "evals/greet.eval.py::greets by name"
FIRST = Cited(eval=EVAL, attempt="terse/-/fake#1")
BEFORE = Cited(run=RunName.VS, eval=EVAL, attempt="terse/-/fake#3")


def figures() -> Figures:
    known = Figures()
    known.add("attempts that failed", 9, "count", run="this", of=("terse/-/fake",), eval=EVAL)
    known.add("difference of pass rates", -0.3, "share", run="both", of=("terse/-/fake",), eval=EVAL)
    known.add("pass rate", 0.4, "share", run="vs", of=("terse/-/fake",), eval=EVAL)
    return known


def claim(text: str = "It writes greet.js.", **more: Any) -> Claim:
    more.setdefault("records", (FIRST,))
    return Claim(text=text, kind=more.pop("kind", ClaimKind.PATTERN), **more)


def found(*kept: Claim, dropped: tuple[Dropped, ...] = (), **more: Any) -> Analysis:
    more.setdefault("places", {RunName.THIS: None, RunName.VS: "20261129-x"})
    more.setdefault("usage", Usage(input=12_000, output=300, cost=0.04))
    return Analysis(
        run="20261130-x", vs=more.pop("vs", None), model="openai/gpt-5.5", kept=kept, dropped=dropped,
        figures=figures().known, served=more.pop("served", None), **more,
    )  # fmt: skip


def dropped(why: Why, detail: str = "what exactly") -> Dropped:
    return Dropped(claim=claim("It is wrong."), why=why, detail=detail)


def test_a_claim_stands_with_what_it_rests_on_and_the_commands_that_show_it() -> None:
    one = claim(numbers=(Number(figure="n1", value=9),), quotes=(Quote(of=FIRST, text="I wrote\n greet.js"),))
    assert analysis_lines(found(one), Page(cells=80)) == [
        "analysis of run 20261130-x",
        "openai/gpt-5.5 · 12k tokens · $0.04 · 1 claim",
        "",
        "1  pattern",
        "   It writes greet.js.",
        "     9  attempts that failed · terse/-/fake · evals/greet.eval.py::greets by",
        "     name",
        "     “I wrote greet.js”",
        "       evals/greet.eval.py::greets by name@terse/-/fake#1",
        "     reeval show 'evals/greet.eval.py::greets by name@terse/-/fake#1'",
    ]


def test_with_two_runs_numbers_and_attempts_say_which_they_are_of() -> None:
    numbers = (Number(figure="n2", value=-0.3), Number(figure="n3", value=0.4))
    one = claim(kind=ClaimKind.REGRESSION, records=(FIRST, BEFORE), numbers=numbers)
    lines = analysis_lines(found(one, vs="20261129-x", served="gpt-5.5-mini"), Page())
    assert lines[0] == "analysis of run 20261130-x against 20261129-x"
    assert "served by gpt-5.5-mini" in lines[1]
    assert f"     -0.3  difference of pass rates · terse/-/fake · {EVAL} (this run against the other)" in lines
    assert f"     0.4  pass rate · terse/-/fake · {EVAL} (of the other run)" in lines
    assert f"     reeval show '{EVAL}@terse/-/fake#3' --run 20261129-x" in lines


def test_a_number_is_shown_as_the_record_has_it_and_not_as_the_claim_does() -> None:
    one = claim(numbers=(Number(figure="n3", value=0.4),))
    assert analysis_data(found(one))["claims"][0]["numbers"] == [
        {"what": f"pass rate · terse/-/fake · {EVAL}", "value": 0.4, "run": "vs"}
    ]


def test_what_was_dropped_is_counted_by_reason_and_told_in_full_with_full() -> None:
    gone = (dropped(Why.NUMBER), dropped(Why.QUOTE), dropped(Why.NUMBER))
    lines = analysis_lines(found(claim(), dropped=gone), Page())
    assert lines[-1] == "3 claims were dropped: a number does not hold (2×), a quote is not in the record"
    assert "It is wrong." not in "\n".join(lines)
    full = analysis_lines(found(claim(), dropped=gone), Page(full=True))
    assert full[-6:] == [
        "   It is wrong.", "     a number does not hold: what exactly",
        "   It is wrong.", "     a quote is not in the record: what exactly",
        "   It is wrong.", "     a number does not hold: what exactly",
    ]  # fmt: skip
    assert analysis_lines(found(dropped=gone[:1]), Page())[-1] == "1 claim was dropped: a number does not hold"


def test_no_claim_is_an_answer_too_and_differs_from_none_that_holds() -> None:
    assert analysis_lines(found(), Page())[-1] == "nothing stands out, says the model"
    assert "nothing that holds was claimed" in analysis_lines(found(dropped=(dropped(Why.NUMBER),)), Page())


def test_many_attempts_of_a_claim_are_counted_until_full_shows_them() -> None:
    many = claim(records=tuple(Cited(eval=EVAL, attempt=f"terse/-/fake#{n}") for n in range(9)))
    lines = analysis_lines(found(many), Page())
    assert (lines[-1], sum("reeval show" in line for line in lines)) == ("     … 4 more attempts: --full", 5)
    assert sum("reeval show" in line for line in analysis_lines(found(many), Page(full=True))) == 9


def test_hostile_words_are_escaped_bounded_and_quoted_for_the_shell() -> None:
    odd = Cited(eval=f"evals/x.eval.py::$(rm -rf ~) {HOSTILE}", attempt="a#1")
    one = claim(f"{HOSTILE} " * 300, records=(odd,), quotes=(Quote(of=odd, text=HOSTILE * 50),))
    for cells in (40, 80):
        lines = analysis_lines(found(one), Page(cells=cells))
        assert all(line.isprintable() for line in lines)
        assert all(width(line) <= cells for line in lines if "reeval show" not in line)
        assert len(lines) < 40
    assert any("reeval show 'evals/x.eval.py::$(rm -rf ~)" in line for line in lines)
    assert "\x1b" not in json.dumps(analysis_data(found(one)))


def test_nothing_known_of_tokens_and_cost_is_not_shown() -> None:
    assert analysis_lines(found(claim(), usage=Usage()), Page())[1] == "openai/gpt-5.5 · 1 claim"
