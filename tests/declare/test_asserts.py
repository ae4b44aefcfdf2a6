"""Plain asserts of eval files: recorded when they hold, explained when they fail, and otherwise as Python has them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from reeval.declare.asserts import AssertFailure, failed_asserts, recording

FILE = "evals/x.eval.py"


class Sink:
    def __init__(self) -> None:
        self.held: list[tuple[str, int]] = []

    def passed(self, label: str, line: int) -> None:
        self.held.append((label, line))


def outcome(project: Any, body: str, before: str = "") -> tuple[list[tuple[str, int]], list[AssertFailure] | None]:
    """Run a body: what held, and what failed (an empty list: nothing was raised)."""
    text = f"from reeval import evaluate\n{textwrap.dedent(before)}\n@evaluate('a')\nasync def body(c):\n"
    spec = project.one(text + textwrap.indent(textwrap.dedent(body), "    "))
    sink = Sink()
    with recording(sink):
        try:
            asyncio.run(spec.body(None))
        except BaseException as error:  # noqa: BLE001 - whatever leaves the body is asked
            return sink.held, failed_asserts(error, FILE)
    return sink.held, []


def test_an_assert_that_holds_is_recorded_by_its_source_and_line(project: Any) -> None:
    held, failed = outcome(project, "x = 1\nassert x == 1\nassert x, 'there'\nassert (x\n        in [1,\n   2])\n")
    assert held == [("x == 1", 6), ("x", 7), ("x in [1, 2]", 8)]
    assert failed == []


@pytest.mark.parametrize(
    ("statement", "label", "message"),
    [
        ("assert 1 + 1 == 3", "1 + 1 == 3", "2 == 3"),
        ("assert 1 == 2, 'why'", "1 == 2", "why: 1 == 2"),
        ("assert 'x' in 'abc'", "'x' in 'abc'", "'x' in 'abc'"),
        ("assert 'a' not in 'abc'", "'a' not in 'abc'", "'a' not in 'abc'"),
        ("assert None is not None", "None is not None", "None is not None"),
        ("assert 3 < 2", "3 < 2", "3 < 2"),
        ("assert 1 < 2 < 2", "1 < 2 < 2", ""),
        ("assert not True", "not True", ""),
        ("assert []", "[]", "got []"),
        ("assert None, f'{1 + 1} things'", "None", "2 things: got None"),
        ("assert 1 == 2 and 3 == 3", "1 == 2 and 3 == 3", ""),
    ],
)
def test_an_assert_that_fails_shows_both_sides(project: Any, statement: str, label: str, message: str) -> None:
    held, failed = outcome(project, statement)
    assert held == []
    assert failed == [AssertFailure(label=label, message=message, line=5)]


RESULT = "from reeval.schema.transcript import CommandResult, Turn\n"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("assert CommandResult(command='make', exit_code=2, stderr='no rule\\n').ok", "'make' exited with 2: no rule"),
        (
            "assert CommandResult(command='make', exit_code=2, stdout='said').ok, 'why'",
            "why: 'make' exited with 2: said",
        ),
        ("assert CommandResult(command='make', exit_code=-9).ok", "'make' exited with -9"),
        ("assert CommandResult(command='make', exit_code=2).exit_code == 0", "2 == 0; 'make' exited with 2"),
        ("assert CommandResult(command='make', exit_code=0).stdout", "got ''"),
        ("assert Turn(prompt='x', status='failed', error='crashed').message", "got ''; the turn failed: crashed"),
        ("assert Turn(prompt='x').message", "got ''"),
    ],
)
def test_an_attribute_of_a_command_or_turn_that_failed_says_why(project: Any, statement: str, message: str) -> None:
    _, failed = outcome(project, statement, before=RESULT)
    assert failed is not None
    assert [failure.message for failure in failed] == [message]


def test_the_end_of_a_long_error_is_shown(project: Any) -> None:
    statement = "assert CommandResult(command='make', exit_code=1, stderr='x' * 10_000 + 'the reason').ok"
    _, failed = outcome(project, statement, before=RESULT)
    assert failed is not None
    assert failed[0].message.endswith("xthe reason")
    assert len(failed[0].message) < 450


def test_what_an_attribute_is_of_is_evaluated_once(project: Any) -> None:
    _, failed = outcome(
        project,
        """\
        seen = []
        class Box:
            @property
            def full(self):
                seen.append("full")
                return True
        def box():
            seen.append("box")
            return Box()
        assert box().full
        assert box().full is True
        if seen != ["box", "full"] * 2:
            raise ValueError(seen)
        """,
    )
    assert failed == []


def test_sides_are_evaluated_once_and_in_order(project: Any) -> None:
    _, failed = outcome(
        project,
        """\
        seen = []
        def note(value):
            seen.append(value)
            return value
        try:
            assert note(1) == note(2), note("message")
        except AssertionError as error:
            assert error.args == ("message",)
        assert note(3) == note(3), note("never")
        assert note(4) or note(5)
        assert (n := note(6)) == note(6)
        if seen != [1, 2, "message", 3, 3, 4, 6, 6] or n != 6:
            raise ValueError(seen)
        """,
    )
    assert failed == []


def test_await_stands_on_either_side_and_in_the_message(project: Any) -> None:
    held, failed = outcome(
        project,
        """\
        assert await value(1) == await value(1), await value("never")
        assert await value(1) == await value(2), await value("late")
        """,
        before="async def value(x):\n    return x\n",
    )
    assert [label for label, _ in held] == ["await value(1) == await value(1)"]
    assert failed is not None
    assert [failure.message for failure in failed] == ["late: 1 == 2"]


def test_a_retry_loop_may_assert_until_it_holds(project: Any) -> None:
    held, failed = outcome(
        project,
        """\
        for n in range(3):
            try:
                assert n == 2
                break
            except AssertionError:
                pass
        """,
    )
    assert held == [("n == 2", 7)]
    assert failed == []


def test_asserts_stand_wherever_a_statement_may(project: Any) -> None:
    held, failed = outcome(
        project,
        """\
        import contextlib
        with contextlib.nullcontext():
            assert "with"
        try:
            assert "try"
        except* ValueError:
            pass
        else:
            assert "else"
        finally:
            assert "finally"
        match 1:
            case 1:
                assert "match"
        while True:
            assert "while"
            break
        def inner():
            assert "function"
        inner()
        class Inner:
            assert "class"
        if [name for name in vars(Inner) if "reeval" in name]:
            raise ValueError(vars(Inner))
        """,
    )
    assert [label.strip('"') for label, _ in held] == [
        *("with", "try", "else", "finally", "match", "while", "function", "class"),
    ]
    assert failed == []


def test_nothing_of_a_held_assert_stays_alive(project: Any) -> None:
    _, failed = outcome(
        project,
        """\
        import weakref
        class Big: ...
        big = Big()
        gone = weakref.ref(big)
        assert big is not None
        del big
        if gone() is not None:
            raise ValueError("kept")
        """,
    )
    assert failed == []


def test_long_sides_and_labels_are_cut(project: Any) -> None:
    _, failed = outcome(project, f"assert 'a' * 100_000_000 == {'x' * 300!r}")
    assert failed is not None
    (failure,) = failed
    assert len(failure.label) == 200
    assert failure.label.endswith("…")
    left, right = failure.message.split(" == ")
    assert len(left) <= 200
    assert len(right) <= 200


def test_a_side_that_cannot_be_shown_does_not_hide_the_failure(project: Any) -> None:
    before = "class Odd:\n    def __repr__(self):\n        raise ValueError\n"
    _, failed = outcome(project, "assert Odd() == 1", before)
    assert failed is not None
    assert failed[0].message.endswith("== 1")
    assert failed[0].message.startswith("<Odd instance at")


def test_every_failed_assert_of_a_group_counts(project: Any) -> None:
    _, failed = outcome(
        project,
        """\
        def fail(n):
            try:
                assert n == 0
            except AssertionError as error:
                return error
        raise ExceptionGroup("several", [fail(1), ExceptionGroup("more", [fail(2)])])
        """,
    )
    assert failed is not None
    assert [failure.message for failure in failed] == ["1 == 0", "2 == 0"]


def test_what_an_assert_failed_during_counts_too_and_comes_first(project: Any) -> None:
    _, failed = outcome(
        project,
        """\
        try:
            assert 1 == 2
        finally:
            assert 3 == 4
        """,
    )
    assert failed is not None
    assert [failure.message for failure in failed] == ["1 == 2", "3 == 4"]


@pytest.mark.parametrize(
    ("body", "messages"),
    [
        ("try:\n    assert 1 == 2\nexcept AssertionError:\n    raise AssertionError('new') from None", ["new"]),
        ("try:\n    int('x')\nexcept ValueError:\n    assert 1 == 2", ["1 == 2"]),
    ],
    ids=["from None", "during another error"],
)
def test_only_assertion_errors_of_the_chain_count(project: Any, body: str, messages: list[str]) -> None:
    _, failed = outcome(project, body)
    assert failed is not None
    assert [failure.message for failure in failed] == messages


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError('other')",
        "try:\n    assert 1 == 2\nexcept AssertionError as error:\n    raise ValueError('other') from error",
        "raise ExceptionGroup('both', [AssertionError('a'), ValueError('b')])",
        "raise BaseExceptionGroup('both', [AssertionError('a'), KeyboardInterrupt()])",
    ],
)
def test_anything_else_that_leaves_the_body_is_no_failed_assert(project: Any, body: str) -> None:
    assert outcome(project, body)[1] is None


def test_a_helper_s_assert_is_named_by_its_source_and_placed_in_the_eval_file(project: Any) -> None:
    project.write("evals/helping.py", "def check(value):\n    assert value == 3, (\n        'not three'\n    )\n")
    _, failed = outcome(project, "check(4)", before="from .helping import check")
    assert failed == [AssertFailure(label="value == 3", message="not three", line=5)]


def test_an_assertion_error_without_an_assert_is_named_by_the_statement_that_led_to_it(project: Any) -> None:
    project.write("evals/unit.py", "def fail(text):\n    raise AssertionError(text)\n")
    _, failed = outcome(project, "if True:\n    fail(\n        'no')", before="from .unit import fail")
    assert failed == [AssertFailure(label="fail( 'no')", message="no", line=6)]


def test_a_failed_assert_says_its_sides_in_a_traceback_as_well(project: Any) -> None:
    spec = project.one("from reeval import evaluate\n@evaluate('a')\ndef body(c):\n    assert c == 2\n")
    with pytest.raises(AssertionError) as caught:
        spec.body(1)
    assert caught.value.args == ("1 == 2",)
    assert caught.traceback[-1].lineno == 3  # counted from 0


def test_without_a_sink_asserts_are_plain_asserts(project: Any) -> None:
    spec = project.one("from reeval import evaluate\n@evaluate('a')\ndef body(c):\n    assert c\n    return 'end'\n")
    assert spec.body(1) == "end"


def test_a_tuple_is_always_true_and_warns(project: Any) -> None:
    with pytest.warns(SyntaxWarning, match="assertion is always true") as caught:
        project.one("from reeval import evaluate\n@evaluate('a')\nasync def body(c):\n    assert (c, 'x')\n")
    assert caught[0].lineno == 4


def test_asserts_work_when_python_is_optimized(project: Any) -> None:
    project.write("evals/x.eval.py", "from reeval import evaluate\n@evaluate('a')\ndef body(c):\n    assert c == 2\n")
    script = (
        "import sys\nfrom pathlib import Path\nfrom reeval.declare.loader import load_file\n"
        "body = load_file(Path(sys.argv[1]), 'evals/x.eval.py').children[0].body\n"
        "try:\n    body(1)\nexcept AssertionError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", script, project.root], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("1 == 2\n", "")


def test_the_eval_file_may_be_named_by_its_whole_path(project: Any) -> None:
    spec = project.one("from reeval import evaluate\n@evaluate('a')\ndef body(c):\n    raise AssertionError\n")
    try:
        spec.body(1)
    except AssertionError as error:
        named = [failed_asserts(error, file) for file in (FILE, project.root / FILE, Path("evals/other.eval.py"))]
    assert [failed and failed[0].line for failed in named] == [4, 4, None]
