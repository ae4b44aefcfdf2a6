"""The life of checks: registered, configured, settled, sealed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from reeval.errors import UsageError
from reeval.grade.ledger import Entry, Ledger
from reeval.grade.matches import at_least, command_succeeded, equals, includes, is_true, json_matches, satisfies
from reeval.grade.measures import measures, similarity
from reeval.schema.observation import CheckStatus, Observation
from reeval.schema.record import CheckRecord
from reeval.schema.spec import EvalKind
from reeval.schema.transcript import CommandResult

NAN = float("nan")
KINDS: tuple[EvalKind, ...] = ("pass-fail", "scored")

Make = Callable[[Ledger], Entry]


def boolean(ledger: Ledger) -> Entry:
    return ledger.check(includes("a"), "a", 3)


def failing(ledger: Ledger) -> Entry:
    return ledger.check(includes("a"), "b", 3)


def measured(ledger: Ledger) -> Entry:
    return ledger.check(measures("quality", lambda _: 0.6), "a", 3)


def unknown(ledger: Ledger) -> Entry:
    return ledger.check(at_least(1), None, 3)


def raising(ledger: Ledger) -> Entry:
    return ledger.check(satisfies("raises", lambda _: 1 / 0 > 1), 1, 3)


def judged(ledger: Ledger) -> Entry:
    return ledger.pending("judge", "Is it kind?", 3, measures=True, threshold=0.5)


def waiting(ledger: Ledger) -> Entry:
    return ledger.pending("file_changed", "'a.py'", 3)


def points(ledger: Ledger) -> Entry:
    return ledger.points(2, 3)


def sealed(ledger: Ledger) -> CheckRecord:
    (record,) = ledger.seal()
    return record


# --- what each kind of check is --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "make", "status", "gate", "holds"),
    [
        ("pass-fail", boolean, "matched", True, True),
        ("pass-fail", failing, "mismatched", True, False),
        ("pass-fail", measured, "measured", False, None),
        ("pass-fail", unknown, "unavailable", True, None),
        ("pass-fail", raising, "errored", True, None),
        ("scored", boolean, "matched", False, None),
        ("scored", failing, "mismatched", False, None),
        ("scored", measured, "measured", False, None),
        ("scored", unknown, "unavailable", False, None),
    ],
)
def test_a_boolean_match_is_a_requirement_by_itself_in_pass_fail_only(
    kind: EvalKind, make: Make, status: str, gate: bool, holds: bool | None
) -> None:
    ledger = Ledger(kind)
    make(ledger)
    record = sealed(ledger)
    assert (record.status, record.gate, record.holds) == (status, gate, holds)


@pytest.mark.parametrize(
    ("minimum", "holds"), [(0, True), (0.0, True), (0.59, True), (0.6, True), (0.600001, False), (1, False)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_gate_holds_from_its_minimum_on(kind: EvalKind, minimum: float, holds: bool) -> None:
    ledger = Ledger(kind)
    measured(ledger).gate(minimum)
    record = sealed(ledger)
    assert (record.gate, record.minimum, record.holds) == (True, minimum, holds)


@pytest.mark.parametrize(
    ("make", "earned"),
    [(boolean, 5.0), (failing, 0.0), (measured, 3.0), (unknown, None), (raising, None)],
)
def test_points_are_earned_whole_not_at_all_or_in_part(make: Make, earned: float | None) -> None:
    ledger = Ledger("scored")
    make(ledger).score(5)
    record = sealed(ledger)
    assert (record.points, record.earned, record.gate) == (5.0, earned, False)


def test_gate_and_points_on_one_judge_are_one_evaluation() -> None:
    ledger = Ledger("scored")
    entry = judged(ledger)
    entry.gate(0.8)
    entry.score(5)
    entry.settle(Observation(status=CheckStatus.MEASURED, measurement=0.6), duration=1.5)
    record = sealed(ledger)
    assert (record.holds, record.earned, record.duration, record.match) == (False, 3.0, 1.5, "judge")
    with pytest.raises(UsageError, match="settled already"):
        entry.settle(Observation(status=CheckStatus.MEASURED, measurement=0.9))


def test_a_judge_gates_at_its_threshold_unless_told_otherwise() -> None:
    ledger = Ledger("pass-fail")
    judged(ledger).gate()
    judged(ledger).gate(0.9)
    judged(ledger)
    assert [(record.gate, record.minimum) for record in ledger.seal()] == [(True, 0.5), (True, 0.9), (False, None)]


def test_a_direct_contribution_is_earned_whatever_happens() -> None:
    ledger = Ledger("scored")
    entry = ledger.points(2.5, 7)
    entry.label("concise")
    entry.key("k")
    ledger.points(0, 8)
    ledger.points(-0.0, 8)
    records = ledger.seal()
    assert [(record.match, record.points, record.earned, record.gate) for record in records] == [
        ("score", 2.5, 2.5, False),
        ("score", 0.0, 0.0, False),
        ("score", 0.0, 0.0, False),
    ]
    assert str(records[2].earned) == "0.0"
    assert (records[0].label, records[0].key, records[0].line) == ("concise", "k", 7)


@pytest.mark.parametrize("kind", KINDS)
def test_asserts_and_missing_files_are_gates_in_both_kinds(kind: EvalKind) -> None:
    ledger = Ledger(kind)
    ledger.passed_assert("x == 1", 4)
    ledger.failed_assert("x == 2", "1 == 2", 5)
    ledger.failed("out.json exists", "read_text", "there is no file out.json", 6)
    assert [(r.match, r.label, r.gate, r.holds, r.stopped, r.message) for r in ledger.seal()] == [
        ("assert", "x == 1", True, True, False, ""),
        ("assert", "x == 2", True, False, False, "1 == 2"),
        ("read_text", "out.json exists", True, False, True, "there is no file out.json"),
    ]


def test_an_optional_check_is_shown_and_decides_nothing() -> None:
    ledger = Ledger("pass-fail")
    failing(ledger).optional()
    record = sealed(ledger)
    assert (record.status, record.gate, record.holds, record.optional) == ("mismatched", False, None, True)


# --- configuring -----------------------------------------------------------------------------------------

CONFIGURE: dict[str, Callable[[Entry], None]] = {
    "label": lambda entry: entry.label("runs"),
    "key": lambda entry: entry.key("k"),
    "gate": lambda entry: entry.gate(),
    "gate(0.5)": lambda entry: entry.gate(0.5),
    "score": lambda entry: entry.score(2),
    "optional": lambda entry: entry.optional(),
}

ALLOWED: list[tuple[EvalKind, Make, set[str]]] = [
    ("pass-fail", boolean, {"label", "key", "gate", "optional"}),
    ("pass-fail", measured, {"label", "key", "gate(0.5)", "optional"}),
    ("pass-fail", judged, {"label", "key", "gate", "gate(0.5)", "optional"}),
    ("pass-fail", waiting, {"label", "key", "gate", "optional"}),
    ("scored", boolean, {"label", "key", "gate", "score"}),
    ("scored", measured, {"label", "key", "gate(0.5)", "score"}),
    ("scored", judged, {"label", "key", "gate", "gate(0.5)", "score"}),
    ("scored", waiting, {"label", "key", "gate", "score"}),
    ("scored", points, {"label", "key"}),
]


@pytest.mark.parametrize(("kind", "make", "allowed"), ALLOWED)
@pytest.mark.parametrize("method", CONFIGURE)
def test_what_each_handle_takes(kind: EvalKind, make: Make, allowed: set[str], method: str) -> None:
    ledger = Ledger(kind)
    entry = make(ledger)
    if method in allowed:
        CONFIGURE[method](entry)
        assert sealed(ledger)
        return
    with pytest.raises(UsageError, match=r"line 3: \.\w+ of the check"):
        CONFIGURE[method](entry)


@pytest.mark.parametrize(("kind", "make", "allowed"), ALLOWED)
def test_each_setting_is_taken_at_most_once(kind: EvalKind, make: Make, allowed: set[str]) -> None:
    for method in allowed:
        entry = make(Ledger(kind))
        CONFIGURE[method](entry)
        with pytest.raises(UsageError, match="it is set already; say it once"):
            CONFIGURE[method](entry)


def test_a_gate_and_optional_exclude_each_other() -> None:
    for first, second in (("gate", "optional"), ("optional", "gate")):
        entry = boolean(Ledger("pass-fail"))
        CONFIGURE[first](entry)
        with pytest.raises(UsageError, match="drop one of the two"):
            CONFIGURE[second](entry)


@pytest.mark.parametrize("order", list(itertools.permutations(["label", "key", "gate(0.5)", "score"])))
def test_the_order_of_settings_never_matters(order: tuple[str, ...]) -> None:
    ledger = Ledger("scored")
    entry = measured(ledger)
    for method in order:
        CONFIGURE[method](entry)
    assert sealed(ledger) == CheckRecord(
        label="runs",
        match="measures",
        status=CheckStatus.MEASURED,
        key="k",
        measurement=0.6,
        gate=True,
        minimum=0.5,
        holds=True,
        points=2.0,
        earned=1.2,
        line=3,
    )


@pytest.mark.parametrize("minimum", [NAN, float("inf"), -0.1, 1.1, 2, True, "0.5", 10**400])
def test_a_minimum_is_a_finite_number_from_0_to_1(minimum: Any) -> None:
    ledger = Ledger("pass-fail")
    entry = measured(ledger)
    with pytest.raises(UsageError, match=r"line 3: \.gate of the check 'measures quality'"):
        entry.gate(minimum)
    entry.gate(0.5)
    assert sealed(ledger).minimum == 0.5


@pytest.mark.parametrize("number", [NAN, float("inf"), -1, -0.001, True, "1", None, 10**400])
def test_points_are_finite_and_not_negative(number: Any) -> None:
    ledger = Ledger("scored")
    entry = boolean(ledger)
    with pytest.raises(UsageError, match="takes a finite number from 0"):
        entry.score(number)
    with pytest.raises(UsageError, match="takes a finite number from 0"):
        ledger.points(number, 3)
    assert sealed(ledger).points is None


def test_points_that_overflow_together_are_refused() -> None:
    ledger = Ledger("scored")
    ledger.points(1.7e308, 3)
    with pytest.raises(UsageError, match="too large for a number"):
        ledger.points(1.7e308, 4)


def test_points_in_a_pass_fail_eval_are_refused() -> None:
    with pytest.raises(UsageError, match=r"line 3: c\.score: only a scored eval has points"):
        Ledger("pass-fail").points(1, 3)


@pytest.mark.parametrize(
    ("method", "text"),
    [
        *(("key", text) for text in ("", "  ", "a\nb", "a\x1b[31m", "a\x00", "a\x7f", "x" * 257, 3, None)),
        *(("label", text) for text in ("", "  ", 3, None)),
    ],
)
def test_a_label_is_not_blank_and_a_key_is_a_short_plain_word(method: str, text: Any) -> None:
    with pytest.raises(UsageError, match=rf"\.{method} of the check \"includes 'a'\": takes"):
        getattr(boolean(Ledger("pass-fail")), method)(text)


def test_a_label_may_have_256_characters_of_any_script() -> None:
    ledger = Ledger("pass-fail")
    boolean(ledger).label("é😀" * 128)
    assert sealed(ledger).label == "é😀" * 128


def test_a_key_belongs_to_one_check() -> None:
    ledger = Ledger("pass-fail")
    boolean(ledger).key("k")
    with pytest.raises(UsageError, match=r"\.key\('k'\): the check \"includes 'a'\" has this key"):
        boolean(ledger).key("k")


def test_nothing_is_configured_or_registered_after_the_seal() -> None:
    ledger = Ledger("pass-fail")
    entry, late = boolean(ledger), waiting(ledger)
    assert ledger.seal() is ledger.seal()
    with pytest.raises(UsageError, match="it is sealed already"):
        entry.label("late")
    with pytest.raises(UsageError, match="settled already"):
        late.settle(Observation(status=CheckStatus.MATCHED))
    with pytest.raises(UsageError, match="after the attempt is over"):
        boolean(ledger)


# --- stopping --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "holds"), [(boolean, True), (failing, False), (unknown, False), (raising, False)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_holds_only_on_a_match(kind: EvalKind, make: Make, holds: bool) -> None:
    ledger = Ledger(kind)
    entry = make(ledger)
    assert entry.stop_holds() is holds
    assert entry.stop_holds() is holds
    assert ledger.closed is not holds
    assert sealed(ledger).stopped is not holds


@pytest.mark.parametrize(("minimum", "holds"), [(0.6, True), (0.7, False)])
def test_a_stop_on_a_measurement_needs_a_minimum(minimum: float, holds: bool) -> None:
    with pytest.raises(UsageError, match="needs a minimum to stop on"):
        measured(Ledger("pass-fail")).stop_holds()
    entry = measured(Ledger("pass-fail"))
    entry.gate(minimum)
    assert entry.stop_holds() is holds


@pytest.mark.parametrize(("make", "why"), [(points, "stop on a check"), (waiting, "settles when the body ends")])
def test_what_cannot_be_waited_for_has_no_stop(make: Make, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        make(Ledger("scored")).stop_holds()


def test_a_check_is_not_configured_after_its_stop() -> None:
    entry = boolean(Ledger("pass-fail"))
    entry.stop_holds()
    with pytest.raises(UsageError, match="it is stopped on already; configure a check before that"):
        entry.label("late")


@pytest.mark.parametrize(
    "register",
    [
        boolean,
        points,
        waiting,
        lambda ledger: ledger.passed_assert("x", 9),
        lambda ledger: ledger.failed_assert("x", "", 9),
        lambda ledger: ledger.failed("x", "read_text", "", 9),
    ],
)
def test_a_stop_that_a_body_swallows_stays_one(register: Callable[[Ledger], object]) -> None:
    ledger = Ledger("scored", "evals/a.eval.py")
    pending = waiting(ledger)
    assert not failing(ledger).stop_holds()
    with pytest.raises(UsageError, match=r"evals/a\.eval\.py:\d: .* is registered after the body was stopped"):
        register(ledger)
    pending.settle(Observation(status=CheckStatus.MATCHED))
    assert [record.status for record in ledger.seal()] == ["matched", "mismatched"]


def test_a_stop_keeps_what_was_earned_and_registers_nothing_of_what_was_not_reached() -> None:
    ledger = Ledger("scored")
    boolean(ledger).score(2)
    entry = failing(ledger)
    entry.score(3)
    assert not entry.stop_holds()
    assert [(record.points, record.earned) for record in ledger.seal()] == [(2.0, 2.0), (3.0, 0.0)]


def test_a_check_that_was_never_settled_is_unavailable() -> None:
    ledger = Ledger("pass-fail")
    waiting(ledger)
    record = sealed(ledger)
    assert (record.status, record.holds) == ("unavailable", None)
    assert record.message == "the attempt ended before it was evaluated"


# --- evaluating ------------------------------------------------------------------------------------------


def test_a_check_is_evaluated_once_and_at_the_call() -> None:
    seen: list[list[int]] = []
    value = [1]
    ledger = Ledger("pass-fail")
    entry = ledger.check(satisfies("one item", lambda items: not seen.append(list(items))), value, 1)
    ledger.check(equals([1]), value, 2)
    value.append(2)
    entry.stop_holds()
    assert [record.holds for record in ledger.seal()] == [True, True]
    assert seen == [[1]]


def test_a_mismatch_does_not_keep_others_from_registering() -> None:
    ledger = Ledger("pass-fail")
    failing(ledger)
    boolean(ledger)
    failing(ledger)
    assert [record.holds for record in ledger.seal()] == [False, True, False]


async def later() -> str:
    return "late"


class Handle:
    """Stands for the handle of a check."""

    def or_stop(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "match", "problem"),
    [
        ("x", "x", r"its second argument is 'x'; use a match such as equals"),
        ("x", None, r"its second argument is None"),
        ("x", includes, r"its second argument is <function includes>; call it: includes\(…\)"),
        ("x", str, r"its second argument is <class 'str'>; call it: str\(…\)"),
        (Handle(), is_true(), "its value is a check"),
    ],
)
def test_a_check_of_something_else_says_what_to_write(value: object, match: Any, problem: str) -> None:
    ledger = Ledger("pass-fail")
    with pytest.raises(UsageError, match=r"line 9: c\.check: " + problem):
        ledger.check(match, value, 9)
    assert ledger.seal() == []


def test_a_value_that_was_not_awaited_is_refused() -> None:
    with pytest.raises(UsageError, match="its value was not awaited"):
        Ledger("pass-fail").check(is_true(), later(), 9)


# --- labels ----------------------------------------------------------------------------------------------


def labels(*register: Callable[[Ledger], object]) -> list[str]:
    ledger = Ledger("pass-fail")
    for one in register:
        one(ledger)
    return [record.label for record in ledger.seal()]


def named(text: str) -> Callable[[Ledger], object]:
    return lambda ledger: boolean(ledger).label(text)


@pytest.mark.parametrize(
    ("register", "label"),
    [
        (boolean, "includes 'a'"),
        (lambda ledger: ledger.check(is_true(), value=True, line=1), "is_true"),
        (lambda ledger: ledger.check(includes("x" * 100), "", 1), "includes '" + "x" * 49 + "…"),
        (lambda ledger: ledger.check(similarity("a\nb"), "", 1), r"similarity 'a\nb'"),
        (
            lambda ledger: ledger.check(command_succeeded(), CommandResult(command="npm test", exit_code=0), 1),
            "npm test",
        ),
        (
            lambda ledger: ledger.check(command_succeeded(), CommandResult(command="cd a\nls \x1b[0m", exit_code=0), 1),
            "cd a ls ?[0m",
        ),
        (
            lambda ledger: ledger.check(command_succeeded(), CommandResult(command="\udcff", exit_code=0), 1),
            "?",
        ),
        (lambda ledger: ledger.check(command_succeeded(), "x", 1), "command_succeeded"),
        (lambda ledger: ledger.check(satisfies("is kind", bool), 1, 1), "satisfies is kind"),
        (
            lambda ledger: ledger.check(json_matches({"a": lambda _: True}), {}, 1),
            "json_matches {'a': <function <lambda>.<locals>.<lambda>>}",
        ),
        (judged, "Is it kind?"),
        (waiting, "file_changed 'a.py'"),
        (lambda ledger: ledger.passed_assert("y" * 200, 1), "y" * 200),
        (lambda ledger: ledger.passed_assert("y" * 300, 1), "y" * 255 + "…"),
    ],
)
def test_default_labels(register: Callable[[Ledger], object], label: str) -> None:
    assert labels(register) == [label]


def test_repeats_are_numbered_in_source_order() -> None:
    assert labels(boolean, named("runs"), boolean, named("runs"), boolean) == [
        "includes 'a'",
        "runs",
        "includes 'a' #2",
        "runs #2",
        "includes 'a' #3",
    ]


def test_a_numbered_repeat_never_takes_a_label_that_is_there() -> None:
    assert labels(named("x"), named("x"), named("x #2"), named("x"), named("x #2")) == [
        "x",
        "x #3",
        "x #2",
        "x #4",
        "x #2 #2",
    ]


def test_errors_name_the_file_and_the_line() -> None:
    ledger = Ledger("pass-fail", "evals/greet.eval.py")
    with pytest.raises(UsageError) as raised:
        measured(ledger).gate(1.5)
    assert str(raised.value) == (
        "evals/greet.eval.py:3: .gate of the check 'measures quality': a minimum is from 0 to 1, got 1.5"
    )


def test_5000_checks_are_nothing_special() -> None:
    ledger = Ledger("scored")
    big = "x" * 10_000_000
    start = time.monotonic()
    for number in range(5000):
        entry = ledger.check(includes("y"), big if number % 1000 == 0 else "a y", number)
        entry.label("the same label")
        entry.score(1)
    records = ledger.seal()
    assert time.monotonic() - start < 20
    assert len({record.label for record in records}) == 5000
    assert sum(record.earned or 0 for record in records) == 4995


def test_a_label_with_what_an_agent_said_is_made_to_fit() -> None:
    ledger = Ledger("pass-fail")
    entry = ledger.check(includes("a"), "a", 1)
    entry.label("says \x1b[31mred\nand " + "much " * 100)
    (check,) = ledger.seal()
    assert check.label.startswith("says ?[31mred and much")
    assert len(check.label) == 256
