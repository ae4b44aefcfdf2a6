"""Files of labelled examples: what a line may say, and what is said of a line that cannot be used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reeval.errors import UsageError
from reeval.grade.calibration.examples import Example, parse_examples


def parse(*lines: Any) -> list[Example]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return parse_examples(text.encode(), "labelled.jsonl")


def problem(*lines: Any) -> str:
    with pytest.raises(UsageError) as caught:
        parse(*lines)
    return str(caught.value)


@pytest.mark.parametrize(
    ("found", "score", "label"),
    [
        ({"score": 0.25}, 0.25, None),
        ({"score": 1}, 1.0, None),
        ({"score": 0}, 0.0, None),
        ({"label": "pass"}, None, True),
        ({"label": "fail"}, None, False),
        ({"label": True}, None, True),
        ({"choice": "fail"}, None, False),
        ({"choice": False}, None, False),
    ],
)
def test_a_person_gives_a_score_or_a_label(found: dict[str, Any], score: float | None, label: bool | None) -> None:
    (one,) = parse({"material": {"answer": "yes"}, **found, "note": "too short"})
    assert one == Example(line=1, material={"answer": "yes"}, score=score, label=label, note="too short")


def test_lines_keep_their_number_and_empty_ones_count_for_nothing() -> None:
    every = parse('\ufeff{"material": "a", "score": 1}', "", "  \r", {"material": "b", "label": False}, "")
    assert [(one.line, one.material) for one in every] == [(1, "a"), (4, "b")]


def test_a_line_break_of_unicode_inside_a_text_ends_no_line() -> None:
    assert len(parse('{"material": "a\u2028b\u0085c", "score": 1}')) == 1


@pytest.mark.parametrize(
    ("person", "threshold", "expected"),
    [
        ({"score": 0.5}, 0.5, True),
        ({"score": 0.49}, 0.5, False),
        ({"label": True}, 0.9, True),
        ({"label": False}, 0.0, False),
    ],
)
def test_a_person_passes_by_the_label_or_at_the_threshold(
    person: dict[str, Any], threshold: float, expected: bool
) -> None:
    (one,) = parse({"material": "a", **person})
    assert one.passes(threshold) is expected


GOOD = {"material": "a", "score": 1}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", "this is not JSON: Expecting property name"),
        ("[1]", "a line is an object with material and score or label, not [1]"),
        ('{"material": "a", "score": NaN}', "NaN is no number in JSON"),
        ('{"material": "a", "score": 1, "score": 0}', "the key 'score' stands twice"),
        ({"material": "a", "scroe": 1}, "there is no key 'scroe'; did you mean 'score'?"),
        ({"score": 1}, "there is no material; give what the judge is shown, an object or a text"),
        ({"material": "", "score": 1}, "material is ''; give an object with values by name, or a text"),
        ({"material": [1], "score": 1}, "material is [1]; give an object"),
        ({"material": "a"}, "it says nothing of what a person found; give either score (0 to 1) or label"),
        ({"material": "a", "score": 1, "label": "pass"}, "it has score and label; give either"),
        ({"material": "a", "score": 1.2}, "score is 1.2; give a number from 0 to 1"),
        ({"material": "a", "score": "0.8"}, "score is '0.8'; give a number"),
        ({"material": "a", "score": True}, "score is True; give a number"),
        ('{"material": "a", "score": 1e999}', "score is inf; give a number"),
        ({"material": "a", "score": None}, "score is None; give a number"),
        ({"material": "a", "label": "Pass"}, 'label is \'Pass\'; write "pass" or "fail", true or false'),
        ({"material": "a", "choice": 1}, "choice is 1; write"),
        ({"material": "a", "score": 1, "note": 3}, "note is 3; give a text"),
        ('{"material": "a", "score": ' + "[" * 100_000, "its values are nested too deeply"),
    ],
)
def test_a_bad_line_is_named_with_what_to_write(line: Any, text: str) -> None:
    said = problem(GOOD, line)
    assert said.startswith(f"labelled.jsonl:2: {text}")
    assert len(said) < 250


def test_bytes_that_are_no_text_are_named() -> None:
    with pytest.raises(UsageError, match=r"^x\.jsonl:2: byte 14 is not UTF-8; save the file as UTF-8$"):
        parse_examples(b'{"material": "a", "score": 1}\n{"material": "\xff", "score": 1}', "x.jsonl")


def test_every_bad_line_is_told_until_there_are_very_many() -> None:
    assert [line.partition(" ")[0] for line in problem("{", GOOD, "[]").splitlines()] == [
        "labelled.jsonl:1:",
        "labelled.jsonl:3:",
    ]
    many = problem(*["[]"] * 33).splitlines()
    assert len(many) == 21
    assert many[-1] == "and 13 more lines like these"


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_examples_is_refused(text: str) -> None:
    assert problem(text).startswith('labelled.jsonl holds no example; write lines such as {"material":')
