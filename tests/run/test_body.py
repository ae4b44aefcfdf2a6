from __future__ import annotations

import pytest

from reeval.errors import Phase
from reeval.schema.observation import CheckStatus
from reeval.schema.record import AttemptRecord, Outcome, RunState, ScoreState
from tests.run.kit import Stage


def reason(record: AttemptRecord) -> str:
    assert record.failure is not None
    return record.failure.reason


def test_a_body_whose_checks_hold_passes(stage: Stage) -> None:
    record = stage.record("""
@evaluate("answers")
async def answers(c):
    turn = await c.send("Do it.")
    c.check(turn.message, includes("Done"))
    assert turn.message == "Done."
""")
    assert record.outcome == Outcome.PASS
    assert [(check.label, check.line) for check in record.checks] == [
        ("includes 'Done'", 6),
        ('turn.message == "Done."', 7),
    ]
    assert record.turns[0].prompt == "Do it."
    assert record.start_duration is None
    assert stage.sandbox.opened == 0


def test_a_check_that_does_not_hold_fails_and_the_rest_still_registers(stage: Stage) -> None:
    record = stage.record("""
@evaluate("counts")
async def counts(c):
    c.check(1, equals(2))
    c.check(2, equals(2))
""")
    assert record.outcome == Outcome.FAIL
    assert [check.status for check in record.checks] == [CheckStatus.MISMATCHED, CheckStatus.MATCHED]


def test_what_a_call_leads_to_is_asked_for_after_await(stage: Stage) -> None:
    record = stage.record("""
@evaluate("forgets")
async def forgets(c):
    turn = c.send("Do it.")
    c.check(turn.message, includes("Done"))
""")
    assert record.outcome == Outcome.ERROR
    assert (
        reason(record)
        == "AttributeError: c.send on line 5 has no 'message' before it is awaited; write `await c.send(…)`"
    )


def test_a_call_is_what_asyncio_takes_for_a_coroutine(stage: Stage) -> None:
    record = stage.record("""
import asyncio
import inspect
@evaluate("together")
async def together(c):
    call = c.send("Do it.")
    assert inspect.isawaitable(call)
    assert not hasattr(call, "cr_frame")
    turn, done = await asyncio.gather(asyncio.create_task(call), c.exec("true"))
    assert turn.message == "Done."
""")
    assert record.outcome == Outcome.PASS


@pytest.mark.parametrize(
    ("decorator", "body", "said"),
    [
        ('@evaluate("points")', "async def points(c):\n    c.check(1, equals(1)).score(2)", "scored=True"),
        ('@evaluate("points")', "def points(c):\n    c.check(1, equals(1)).score(2)", "scored=True"),
        (
            '@evaluate("points", scored=True)',
            "async def points(c):\n    c.check(1, equals(1)).optional()",
            "drop .optional()",
        ),
        (
            '@evaluate("points", scored=True)',
            "def points(c):\n    c.check(1, equals(1)).optional()",
            "drop .optional()",
        ),
    ],
)
def test_a_handle_says_which_eval_has_what_it_is_asked_for(stage: Stage, decorator: str, body: str, said: str) -> None:
    record = stage.record(f"{decorator}\n{body}\n")
    assert record.outcome == Outcome.ERROR
    assert said in reason(record)


def test_a_failed_assert_is_a_failed_check_from_a_helper_too(stage: Stage) -> None:
    (stage.root / "evals").mkdir()
    (stage.root / "evals" / "helper.py").write_text("def positive(number):\n    assert number > 0, 'not positive'\n")
    record = stage.record("""
from .helper import positive
@evaluate("checks")
async def checks(c):
    positive(-1)
""")
    assert record.outcome == Outcome.FAIL
    assert record.failure is None
    assert [(check.label, check.match, check.line) for check in record.checks] == [("number > 0", "assert", 6)]


def test_asserts_in_an_exception_group_are_all_checks(stage: Stage) -> None:
    record = stage.record("""
import anyio
@evaluate("in tasks")
async def in_tasks(c):
    async def fails(number):
        assert number == 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fails, 1)
        tasks.start_soon(fails, 2)
""")
    assert record.outcome == Outcome.FAIL
    assert len(record.checks) == 2


def test_an_eval_without_checks_ends_in_review(stage: Stage) -> None:
    assert (
        stage.record("""
@evaluate("looks")
async def looks(c):
    await c.send("Do it.")
""").outcome
        == Outcome.REVIEW
    )


def test_a_body_that_raises_is_an_error_with_the_projects_frames(stage: Stage) -> None:
    record = stage.record("""
def deep():
    return {}["missing"]
@evaluate("raises")
async def raises(c):
    deep()
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.BODY
    assert record.failure.reason == "KeyError: 'missing'"
    assert 'return {}["missing"]' in record.failure.detail
    assert "invoke.py" not in record.failure.detail


@pytest.mark.parametrize("kind", ["SystemExit(3)", "KeyboardInterrupt()", "GeneratorExit()"])
def test_what_would_end_the_process_ends_only_its_body(stage: Stage, kind: str) -> None:
    stage.runs = 2
    outcome = stage.run(f"""
@evaluate("leaves")
async def leaves(c):
    raise {kind}
""")
    assert outcome.state == RunState.COMPLETED
    assert [record.outcome for record in stage.recorder.records] == [Outcome.ERROR] * 2


@pytest.mark.parametrize("kind", ["SystemExit(3)", "KeyboardInterrupt()"])
def test_what_would_end_the_process_is_contained_in_a_task_of_a_body(stage: Stage, kind: str) -> None:
    record = stage.record(f"""
import anyio
@evaluate("leaves")
async def leaves(c):
    async def part():
        raise {kind}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(part)
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert kind[:-3] in record.failure.detail


def test_an_error_whose_text_raises_is_still_an_error(stage: Stage) -> None:
    record = stage.record("""
class Odd(Exception):
    def __str__(self):
        raise ValueError
@evaluate("odd")
async def odd(c):
    raise Odd
""")
    assert record.outcome == Outcome.ERROR
    assert reason(record).startswith("Odd")


def test_or_stop_ends_the_body_in_a_task_group(stage: Stage) -> None:
    record = stage.record("""
import anyio
@evaluate("stops")
async def stops(c):
    async def part():
        await c.check(1, equals(2)).or_stop()
        c.check("never", equals("reached"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(part)
        tasks.start_soon(anyio.sleep, 10)
    c.check("never", equals("reached"))
""")
    assert record.outcome == Outcome.FAIL
    assert [check.stopped for check in record.checks] == [True]
    assert record.duration < 5


def test_or_stop_that_holds_lets_the_body_go_on(stage: Stage) -> None:
    record = stage.record("""
@evaluate("goes on")
async def goes_on(c):
    await c.check(1, equals(1)).or_stop()
    c.check(2, equals(2))
""")
    assert record.outcome == Outcome.PASS
    assert len(record.checks) == 2


def test_a_body_that_swallows_the_stop_registers_nothing_more(stage: Stage) -> None:
    record = stage.record("""
@evaluate("swallows")
async def swallows(c):
    try:
        await c.check(1, equals(2)).or_stop()
    except BaseException:
        pass
    try:
        c.check(1, equals(1))
    except Exception:
        pass
""")
    assert record.outcome == Outcome.FAIL
    assert len(record.checks) == 1


def test_registering_after_a_swallowed_stop_is_an_error(stage: Stage) -> None:
    record = stage.record("""
@evaluate("swallows")
async def swallows(c):
    try:
        await c.check(1, equals(2)).or_stop()
    except BaseException:
        pass
    c.check(1, equals(1))
""")
    assert record.outcome == Outcome.ERROR
    assert "after the body was stopped" in reason(record)


def test_a_skip_holds_unless_something_worse_happened(stage: Stage) -> None:
    stage.write("""
@evaluate("skips")
async def skips(c):
    c.check(1, equals(1))
    c.skip("no licence")
@evaluate("fails first")
async def fails_first(c):
    c.check(1, equals(2))
    c.skip("no licence")
@evaluate("swallows")
async def swallows(c):
    try:
        c.skip("first reason")
    except BaseException:
        pass
""")
    stage.run((stage.root / "evals/it.eval.py").read_text())
    first, second, third = stage.recorder.records
    assert (first.outcome, first.skip_reason) == (Outcome.SKIPPED, "no licence")
    assert second.outcome == Outcome.FAIL
    assert (third.outcome, third.skip_reason) == (Outcome.SKIPPED, "first reason")


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("c.send('Do it.')", "c.send on line 5 was never awaited"),
        ("c.exec('true')", "c.exec on line 5 was never awaited"),
        ("c.check(1, equals(1)).or_stop()", "c.check(…).or_stop on line 5 was never awaited"),
        ("c.serve('true')", "c.serve on line 5 was never entered"),
    ],
)
def test_a_call_that_is_never_awaited_is_named(stage: Stage, line: str, call: str) -> None:
    record = stage.record(f"""
@evaluate("forgets")
async def forgets(c):
    {line}
    c.check(1, equals(1))
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.BODY
    assert call in record.failure.reason


def test_a_call_that_is_checked_before_it_is_awaited_is_named(stage: Stage) -> None:
    record = stage.record("""
@evaluate("forgets")
async def forgets(c):
    c.check(c.read_text("a.txt"), includes("a"))
""")
    assert record.outcome == Outcome.ERROR
    assert "not awaited" in reason(record)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("c.exec('sleep 30')", "a task of its own was in c.exec on line 6"),
        ("wait_for_ever()", "a task of its own was running: wait_for_ever"),
    ],
)
def test_a_task_left_running_is_named_and_ended(stage: Stage, what: str, said: str) -> None:
    record = stage.record(f"""
import asyncio
@evaluate("leaves a task")
async def leaves(c):
    task = asyncio.create_task({what})
    await asyncio.sleep(0.05)
    c.check(1, equals(1))
async def wait_for_ever():
    await asyncio.sleep(1000)
""")
    assert record.outcome == Outcome.ERROR
    assert said in reason(record)


def test_a_task_that_never_began_is_named_without_a_warning(stage: Stage) -> None:
    record = stage.record("""
import asyncio
@evaluate("leaves a task")
async def leaves(c):
    task = asyncio.create_task(asyncio.sleep(10))
    c.check(1, equals(1))
""")
    assert record.outcome == Outcome.ERROR
    assert "was running: sleep" in reason(record)


def test_tasks_that_end_before_the_body_are_fine(stage: Stage) -> None:
    record = stage.record("""
import asyncio
@evaluate("awaits its tasks")
async def awaits(c):
    first, second = await asyncio.gather(c.exec("echo a"), asyncio.create_task(c.exec("echo b")))
    c.check(first.stdout + second.stdout, equals("a\\nb\\n"))
""")
    assert record.outcome == Outcome.PASS
    assert stage.sandbox.opened == 1


@pytest.mark.parametrize("word", ["if c.check(1, equals(1)): pass", "assert c.check(1, equals(1))"])
def test_a_check_has_no_truth_value(stage: Stage, word: str) -> None:
    record = stage.record(f"""
@evaluate("asks a check")
async def asks(c):
    {word}
""")
    assert record.outcome == Outcome.ERROR
    assert "no truth value" in reason(record)


def test_a_match_that_raises_makes_the_attempt_an_error(stage: Stage) -> None:
    record = stage.record("""
@evaluate("raises in a match")
async def raises(c):
    c.check(1, satisfies("odd", lambda value: value.missing))
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.CHECK


@pytest.mark.parametrize("handle", ["score(float('nan'))", "gate(2)", "gate().gate()", "label('')"])
def test_a_misused_handle_is_an_error_of_the_body(stage: Stage, handle: str) -> None:
    record = stage.record(f"""
@evaluate("misuses", scored=True)
async def misuses(c):
    c.check(1, equals(1)).{handle}
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.BODY


def test_a_scored_eval_adds_up_its_points(stage: Stage) -> None:
    record = stage.record("""
@evaluate("scores", scored=True)
async def scores(c):
    c.check(1, equals(1)).score(2)
    c.check(1, equals(3)).score(5)
    c.score(0.5).label("style")
""")
    assert (record.outcome, record.score, record.score_state) == (Outcome.SCORED, 2.5, ScoreState.COMPLETE)


def test_a_judge_without_a_model_is_unavailable(stage: Stage) -> None:
    record = stage.record("""
kind = judge("kind", "Is it kind?")
@evaluate("is kind")
async def is_kind(c):
    c.check(1, equals(1))
    c.judge(kind)
    c.judge("Is it short?").gate()
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.JUDGE
    assert "no judge model: set judge.model" in record.failure.reason


def test_five_thousand_checks_are_fine(stage: Stage) -> None:
    record = stage.record("""
@evaluate("checks much")
async def checks(c):
    for number in range(5000):
        c.check(number, at_least(0))
""")
    assert record.outcome == Outcome.PASS
    assert len(record.checks) == 5000
    assert record.checks[-1].label == "at_least 0 #5000"


def test_what_a_body_records_never_decides(stage: Stage) -> None:
    record = stage.record("""
@evaluate("observes")
async def observes(c):
    sizes = {"a": 1}
    c.observe("sizes", sizes)
    sizes["a"] = 2
    c.diagnostic("saw", {"b": [1]})
    c.attach("shots/one.png", b"\\x89PNG")
""")
    assert record.outcome == Outcome.REVIEW
    assert [(one.name, one.value) for one in record.observations] == [("sizes", {"a": 1})]
    assert record.diagnostics == ['saw {"b":[1]}']
    assert record.artifacts[0].name == "shots/one.png"
    assert stage.recorder.artifacts == {"shots/one.png": b"\x89PNG"}


@pytest.mark.parametrize(
    "line",
    [
        "c.observe('x', object())",
        "c.observe('', 1)",
        "c.observe('x', 'y' * 100_000)",
        "c.attach('../x', b'')",
        "c.attach('/x', b'')",
        "c.attach('a//b', b'')",
        "c.attach('x', 3)",
        "c.attach('x', b''); c.attach('x', b'')",
        "c.diagnostic(3)",
        "c.skip('')",
        "c.judge('')",
        "await c.send('  ')",
        "await c.exec('')",
        "await c.exec([])",
        "await c.exec(['a', 3])",
        "await c.exec('a\\0b')",
        "await c.exec('true', retries=-1)",
        "await c.exec('true', retries=1, interval=float('nan'))",
        "await c.write_file('x', 3)",
        "c.changed_paths('a.txt')",
        "c.file_changed('a.txt', status='gone')",
    ],
)
def test_a_call_that_makes_no_sense_is_refused(stage: Stage, line: str) -> None:
    record = stage.record(f"""
@evaluate("misuses")
async def misuses(c):
    {line}
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.BODY
    assert record.failure.reason.startswith(("c.", "evals/it.eval.py", "changed_paths", "file_changed"))


def test_a_case_reaches_its_body(stage: Stage) -> None:
    stage.run("""
@evaluate.each([{"word": "ab c", "size": 4}, {"word": "xy", "size": 2}], "measures {word}")
async def sizes(c, case):
    c.check(len(case["word"]), equals(case["size"]))
    c.check(c.case, equals(case))
    c.check(c.run, equals(1))
    c.check(c.cell.harness, equals("terse"))
""")
    assert [record.outcome for record in stage.recorder.records] == [Outcome.PASS] * 2
