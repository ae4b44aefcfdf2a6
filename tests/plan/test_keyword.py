"""The words of ``-k EXPR``."""

import pytest

from reeval.errors import UsageError
from reeval.plan.keyword import compile_keyword

TEXT = "evals/greet.eval.py::greetings::greets by name\nsmoke"

MATCHES = [
    ("greet", True),
    ("GREET", True),
    ("smoke", True),
    ("slow", False),
    ("not slow", True),
    ("not not slow", False),
    ("greet and smoke", True),
    ("greet and slow", False),
    ("slow or smoke", True),
    ("slow and slow or smoke", True),
    ("smoke or slow and slow", True),
    ("(smoke or slow) and slow", False),
    ("not (slow or smoke)", False),
    ("not slow and not (fast)", True),
    ('"greets by"', True),
    ("'by name' and not 'or'", True),
    ("'and'", False),
    ("::greetings::", True),
    ("android", False),
    ("notsmoke", False),
    ("(((smoke)))", True),
    ('"(smoke"', False),
]


@pytest.mark.parametrize(("expression", "matched"), MATCHES)
def test_an_expression_reads_as_in_english(expression, matched):
    assert compile_keyword(expression)(TEXT.casefold()) is matched


def test_a_word_matches_whatever_its_letter_case():
    assert compile_keyword("STRASSE")("straße".casefold())


WRONG = [
    ("", 1, "expected a word"),
    ("   ", 4, "expected a word"),
    ("a and", 6, "expected a word"),
    ("and a", 1, "expected a word"),
    ("a b", 3, "expected 'and' or 'or' before 'b'"),
    ("a not b", 3, "expected 'and' or 'or' before 'not'"),
    ("(a", 3, "expected ')'"),
    ("a)", 2, "expected 'and' or 'or' before ')'"),
    ("()", 2, "expected a word"),
    ("not", 4, "expected a word"),
    ("a or or b", 6, "expected a word"),
    ("a and 'b", 7, "a quote that is not closed"),
    ("(" * 60 + "a" + ")" * 60, 52, "more than 50 parentheses inside one another"),
]


@pytest.mark.parametrize(("expression", "column", "reason"), WRONG)
def test_a_wrong_expression_is_refused_with_its_place(expression, column, reason):
    with pytest.raises(UsageError) as caught:
        compile_keyword(expression)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"-k {expression!r}: column {column}: {reason}"
    assert lines[-1] == "    " + " " * (column - 1) + "^"


def test_a_long_row_of_nots_is_no_deep_recursion():
    assert compile_keyword("not " * 10_000 + "smoke")(TEXT) is True
    assert compile_keyword(" or ".join(["slow"] * 10_000 + ["smoke"]))(TEXT) is True


def test_control_characters_do_not_reach_the_terminal():
    with pytest.raises(UsageError) as caught:
        compile_keyword("a\x1b[31m b")
    assert "\x1b" not in str(caught.value)
