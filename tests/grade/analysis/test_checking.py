"""What holds of a claim, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.grade.analysis.checking import MOST_CLAIMS, Known, Why, check_claims
from reeval.grade.analysis.claims import Cited, Claim, ClaimKind, Number, Quote, RunName, claims_schema, parse_claims
from reeval.grade.analysis.figures import Figures

EVAL, OTHER = "evals/greet.eval.py::greets by name", "evals/greet.eval.py::shouts"
FIRST = Cited(eval=EVAL, attempt="terse/-/fake[case 7]#1")
SECOND = Cited(eval=EVAL, attempt="terse/-/fake[case 7]#2")
BEFORE = Cited(run=RunName.VS, eval=EVAL, attempt="terse/-/fake#1")
TEXTS = {
    FIRST: ["sh: python3:\n  command not found, exit code 127", "I could not run it."],
    SECOND: ["It works."],
    BEFORE: ["It worked."],
}
QUOTE = Quote(of=FIRST, text="python3: command not found, exit code 127")


def figures() -> Figures:
    known = Figures()
    known.add("attempts that failed", 9, "count", run="this", of=("terse/-/fake",), eval=EVAL)  # n1
    known.add("pass rate", 0.1, "share", run="this", of=("terse/-/fake",), eval=EVAL)  # n2
    known.add("pass rate", 0.4, "share", run="vs", of=("terse/-/fake",), eval=EVAL)  # n3
    known.add("difference of pass rates", -0.3, "share", run="both", of=("terse/-/fake",), eval=EVAL)  # n4
    known.add("attempts that failed", 12, "count", run="vs")  # n5
    known.add("pass rate", 0.4, "share", run="vs", eval=OTHER)  # n6
    return known


def known(comparable: frozenset[str] | None = None, every: frozenset[str] = frozenset({EVAL, OTHER})) -> Known:
    attempts = {RunName.THIS: frozenset({(EVAL, FIRST.attempt), (EVAL, SECOND.attempt)})}
    if comparable is not None:
        attempts[RunName.VS] = frozenset({(EVAL, BEFORE.attempt)})
    return Known(
        figures=figures().known, attempts=attempts, texts=TEXTS.__getitem__, comparable=comparable, every=every
    )


def claim(text: str = "It fails.", kind: ClaimKind = ClaimKind.PATTERN, **more: Any) -> Claim:
    more.setdefault("records", (FIRST,))
    if not more.keys() & {"numbers", "quotes"}:
        more["quotes"] = (QUOTE,)
    return Claim(text=text, kind=kind, **more)


def why(one: Claim, known: Known) -> Why | None:
    kept, dropped = check_claims([one], known)
    assert len(kept) + len(dropped) == 1
    return dropped[0].why if dropped else None


NINE = (Number(figure="n1", value=9),)
RATES = (Number(figure="n2", value=0.1), Number(figure="n4", value=-0.3))


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (claim(), None),
        (claim(numbers=NINE), None),
        (claim("It fails in 9 attempts.", numbers=NINE), None),
        (claim("It fails in nine of the attempts.", numbers=NINE), None),
        (claim("It exits with 127."), None),
        (claim("It says “command not found”."), None),
        (claim("terse/-/fake[case 7]#1 of `greets by name` fails, and so does case 7."), None),
        (claim("These 2 attempts fail.", records=(FIRST, SECOND)), None),
        (claim(numbers=(Number(figure="n2", value=0.1),), text="Only 10 % pass."), None),
        # nothing to check
        (claim(records=()), Why.NOTHING),
        (claim(numbers=(), quotes=()), Why.NOTHING),
        (claim(""), Why.NOTHING),
        (claim("far too " * 400), Why.LONG),
        # attempts
        (claim(records=(Cited(eval=EVAL, attempt="terse/-/fake#9"),)), Why.ATTEMPT),
        (claim(records=(Cited(eval=OTHER, attempt=FIRST.attempt),)), Why.ATTEMPT),
        (claim(records=(FIRST, BEFORE)), Why.ATTEMPT),
        (claim(quotes=(Quote(of=Cited(eval=EVAL, attempt="#9"), text="It works."),)), Why.ATTEMPT),
        # numbers
        (claim(numbers=(Number(figure="n1", value=8),)), Why.NUMBER),
        (claim(numbers=(Number(figure="n99", value=9),)), Why.NUMBER),
        (claim("It fails in 8 attempts.", numbers=NINE), Why.NUMBER),
        (claim("It fails in 9 of 10 attempts.", numbers=NINE), Why.NUMBER),
        (claim("It fails in eight of the attempts.", numbers=NINE), Why.NUMBER),
        (claim("It fails 90 % of the time.", numbers=NINE), Why.NUMBER),
        (claim("It exits with 126."), Why.NUMBER),
        (claim("127 attempts exit with 127."), Why.NUMBER),
        # quotes
        (claim(quotes=(Quote(of=FIRST, text="python3: no such command"),)), Why.QUOTE),
        (claim(quotes=(Quote(of=SECOND, text="python3: command not found"),)), Why.QUOTE),
        (claim(quotes=(Quote(of=FIRST, text="exit code 127 I could not run it."),)), Why.QUOTE),
        (claim(quotes=(Quote(of=FIRST, text="run"),)), Why.QUOTE),
        (claim("It says “I gave up”."), Why.QUOTE),
        # one run
        (claim(kind=ClaimKind.REGRESSION), Why.COMPARED),
    ],
)
def test_a_claim_of_which_one_thing_does_not_hold_is_dropped(one: Claim, reason: Why | None) -> None:
    assert why(one, known()) is reason


@pytest.mark.parametrize(
    ("one", "same", "changed"),
    [
        (claim("It fell by 30 points.", ClaimKind.REGRESSION, numbers=RATES), None, Why.COMPARED),
        (claim("It fell to 10 %.", numbers=RATES), None, Why.COMPARED),
        (claim("It worked before.", records=(FIRST, BEFORE)), None, Why.COMPARED),
        (claim("Rates: 10 % and 40 %.", numbers=(RATES[0], Number(figure="n3", value=0.4))), None, Why.COMPARED),
        (claim(numbers=NINE), None, None),
        (claim(kind=ClaimKind.REGRESSION, numbers=NINE), Why.COMPARED, Why.COMPARED),
        # a number over all evals, and one of an eval that is not in both
        (claim("12 failed before.", numbers=(Number(figure="n5", value=12),)), Why.COMPARED, Why.COMPARED),
        (claim("40 % passed before.", numbers=(Number(figure="n6", value=0.4),)), Why.COMPARED, Why.COMPARED),
    ],
)
def test_two_runs_are_compared_only_where_the_eval_is_the_same(
    one: Claim, same: Why | None, changed: Why | None
) -> None:
    assert why(one, known(comparable=frozenset({EVAL}))) is same
    assert why(one, known(comparable=frozenset())) is changed


def test_a_number_over_all_evals_can_be_compared_where_every_eval_can() -> None:
    one = claim("12 failed before.", numbers=(Number(figure="n5", value=12),))
    assert why(one, known(comparable=frozenset({EVAL}), every=frozenset({EVAL}))) is None


def test_what_comes_after_twenty_that_hold_is_dropped_and_one_that_does_not_takes_no_place() -> None:
    kept, dropped = check_claims([claim(records=()), *[claim()] * (MOST_CLAIMS + 2)], known())
    assert len(kept) == MOST_CLAIMS
    assert [one.why for one in dropped] == [Why.NOTHING, Why.MANY, Why.MANY]


def test_a_dropped_claim_says_what_does_not_hold() -> None:
    _, dropped = check_claims([claim(numbers=(Number(figure="n1", value=8),))], known())
    assert dropped[0].detail == f"attempts that failed · terse/-/fake · {EVAL} is 9, not 8"


def test_an_answer_by_the_schema_becomes_claims() -> None:
    data = {
        "claims": [
            {
                "text": " It\n fails. ",
                "kind": "eval problem",
                "records": [{"eval": EVAL, "attempt": FIRST.attempt}] * 2,
                "numbers": [{"figure": " n1", "value": 9}],
                "quotes": [{"eval": EVAL, "attempt": FIRST.attempt, "text": QUOTE.text}],
            }
        ]
    }
    assert parse_claims(data) == [claim(kind=ClaimKind.EVAL_PROBLEM, numbers=NINE, quotes=(QUOTE,))]
    one, two = (claims_schema(two_runs=many)["properties"]["claims"]["items"] for many in (False, True))
    assert one["properties"]["records"]["items"]["required"] == ["eval", "attempt"]
    assert two["properties"]["records"]["items"]["required"] == ["run", "eval", "attempt"]
