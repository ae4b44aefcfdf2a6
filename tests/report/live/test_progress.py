"""The live block as text."""

from __future__ import annotations

import pytest

from reeval.report.live.progress import Progress, progress_lines
from reeval.report.screen.ink import PLAIN
from reeval.report.text import width
from reeval.schema.plan import PlannedAttempt, PlannedQuestion, planned_attempts
from reeval.schema.record import Outcome, SpenderUsage
from reeval.schema.recorded.answers import AnswerRecord
from reeval.usage import Usage
from tests.report.records import HOSTILE, attempt, plan, planned, planned_attempt


def spent(cost: float | None) -> list[SpenderUsage]:
    return [SpenderUsage(spender="agent", usage=Usage(cost=cost))]


def some() -> Progress:
    progress = Progress(total=40, began=100.0)
    for number in range(1, 16):
        progress.start(planned_attempt(number=number), 100.0 + number)
    for number, outcome in enumerate([Outcome.PASS] * 8 + [Outcome.FAIL, Outcome.ERROR], 1):
        progress.finish(planned_attempt(number=number), attempt(outcome, usage=spent(0.01)))
    return progress


def test_the_block_says_what_is_done_what_runs_and_how_long_it_takes() -> None:
    assert progress_lines(some(), 120.0, ink=PLAIN, cells=100, rows=4) == [
        "10 of 40 done · 5 running · 8 pass · 1 fail · 1 error · 20.0 s · about 1 min 0 s left · $0.10",
        "  terse/-/fake#11  greets by name  9.0 s",
        "  terse/-/fake#12  greets by name  8.0 s",
        "  terse/-/fake#13  greets by name  7.0 s",
        "  … 2 more running",
    ]


def test_attempts_that_only_wait_for_their_judges_say_so() -> None:
    progress = some()
    progress.judge(planned_attempt(number=11))
    progress.judge(planned_attempt(number=13))
    first, *rows = progress_lines(progress, 120.0, ink=PLAIN, cells=120, rows=3)
    assert first.startswith("10 of 40 done · 3 running · 2 judging · 8 pass")
    assert rows == [
        "  terse/-/fake#11  greets by name  judging  9.0 s",
        "  terse/-/fake#12  greets by name  8.0 s",
        "  … 3 more running",
    ]
    progress.finish(planned_attempt(number=11), attempt())
    progress.finish(planned_attempt(number=13), attempt())
    assert "judging" not in "".join(progress_lines(progress, 120.0, ink=PLAIN, cells=100, rows=9))


def test_all_that_run_are_listed_when_there_is_room() -> None:
    assert len(progress_lines(some(), 120.0, ink=PLAIN, cells=100, rows=5)) == 6
    assert len(progress_lines(some(), 120.0, ink=PLAIN, cells=100, rows=0)) == 2


@pytest.mark.parametrize("cells", [20, 40, 80])
def test_the_block_fits(cells: int) -> None:
    progress = some()
    progress.start(planned_attempt(HOSTILE), 0.0)
    progress.judge(planned_attempt(HOSTILE))
    for line in progress_lines(progress, 120.0, ink=PLAIN, cells=cells, rows=9):
        assert width(line) <= cells
        assert line.isprintable()


def test_an_estimate_needs_a_while_and_something_done() -> None:
    progress = some()
    assert progress.left(101.0) is None
    assert progress.left(120.0) == pytest.approx(60.0)
    assert Progress(total=4, began=0.0).left(100.0) is None


def test_what_need_not_run_is_no_longer_ahead() -> None:
    progress = some()
    progress.leave_out(25)
    assert progress_lines(progress, 120.0, ink=PLAIN, cells=100, rows=0)[0].startswith("10 of 15 done · 5 running")
    assert progress.left(120.0) == pytest.approx(10.0)


def test_an_unknown_cost_makes_the_sum_a_lower_bound() -> None:
    progress = some()
    progress.finish(planned_attempt(number=11), attempt(usage=spent(None)))
    assert progress.facts(120.0)[-1] == ("over $0.10", None)


@pytest.mark.parametrize(
    ("budget", "costs", "said"),
    [
        (5.0, [0.3, 0.12], "$0.42 of $5.00"),
        (5.0, [], "$0.00 of $5.00"),
        (5.0, [0.3, None], "over $0.30 of $5.00"),
        (None, [0.3, 0.12], "$0.42"),
    ],
)
def test_the_cost_so_far_stands_beside_its_budget(budget: float | None, costs: list[float | None], said: str) -> None:
    progress = Progress(total=40, began=100.0, budget=budget)
    for number, cost in enumerate(costs, 1):
        progress.finish(planned_attempt(number=number), attempt(usage=spent(cost)))
    assert progress.facts(120.0)[-1] == (said, None)


def test_a_spent_budget_leaves_no_time_to_estimate() -> None:
    progress = some()
    progress.budget = 0.11
    assert progress.left(120.0) == pytest.approx(60.0)
    progress.budget = 0.1
    assert progress.left(120.0) is None


def test_a_cost_that_nobody_knows_is_not_shown() -> None:
    progress = Progress(total=2, began=0.0)
    progress.finish(planned_attempt(), attempt(usage=spent(None)))
    assert progress.facts(1.0) == [("1 of 2 done", None), ("1 pass", "pass"), ("1.0 s", None)]


def asked_about(*across: tuple[str, ...]) -> list[PlannedAttempt]:
    questions = tuple(PlannedQuestion(text="Why?", across=one, model="fake", state={}, count=2) for one in across)
    return list(planned_attempts(plan(planned(runs=2, questions=questions))))


def asking(progress: Progress) -> list[str]:
    return [text for text, _ in progress.facts(101.0) if text.startswith("asking")]


def test_the_block_says_how_many_questions_are_open() -> None:
    first, second = asked_about(())
    progress = Progress(total=2, began=100.0)
    for one in (first, second):
        progress.start(one, 100.0)
    progress.finish(first, attempt())
    assert asking(progress) == ["asking 1 question"]
    progress.finish(second, attempt())
    assert asking(progress) == ["asking 2 questions"]
    answer = AnswerRecord(eval=first.eval.id, attempt=first.id, question=1, text="Why?", model="fake")
    progress.answer(answer, 0)
    assert asking(progress) == ["asking 1 question"]
    progress.answer(answer, 0)
    assert asking(progress) == []


def test_nothing_is_asked_about_an_attempt_that_broke() -> None:
    progress = Progress(total=1, began=100.0)
    progress.finish(asked_about(())[0], attempt(Outcome.ERROR))
    assert asking(progress) == []


def test_pairs_are_said_to_be_asked_about_before_their_number_is_known() -> None:
    progress = Progress(total=2, began=100.0)
    for one in asked_about(("harness",)):
        assert asking(progress) == []
        progress.finish(one, attempt())
    assert asking(progress) == ["asking questions"]
