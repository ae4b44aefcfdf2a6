"""Which points a scored run did not earn."""

from __future__ import annotations

from reeval.report.screen.ending import screen
from reeval.report.screen.failures import Page
from reeval.report.screen.points import READ_ATTEMPTS, lost_points
from reeval.report.summary import summary_text
from reeval.schema.record import AttemptRecord, CheckRecord, Outcome, RunRecord
from tests.report.records import HOSTILE, Reader, attempt, cell, check, entry, evaluated, run


def scored(label: str, earned: float, points: float = 2.0) -> CheckRecord:
    return check(label, holds=None, gate=False, earned=earned, points=points)


def made(*checks: CheckRecord) -> AttemptRecord:
    return attempt(Outcome.SCORED, checks=list(checks))


def run_of(amount: int) -> RunRecord:
    entries = [entry(f"terse/-/fake#{at + 1}", Outcome.SCORED, line=(at, 1)) for at in range(amount)]
    return run(evaluated("serves", cell(scored=amount), attempts=entries, kind="scored"), kind="scored")


def test_a_person_sees_which_points_were_lost() -> None:
    reader = Reader(made(scored("runs", 2), scored("is tested", 0, 6)))
    lines = screen(run_of(1), [], Page(reader=reader), elapsed=1.0, place=None)
    at = lines.index("points lost")
    assert lines[at : at + 5] == [
        "points lost",
        "",
        "  evals/greet.eval.py › serves",
        "    is tested  0 of 6 points",
        "",
    ]


def test_points_of_several_attempts_are_added_up_and_the_largest_loss_comes_first() -> None:
    reader = Reader(made(scored("a", 1), scored("b", 0)), made(scored("a", 2), scored("b", 0.5)))
    [(_, lines)] = lost_points(run_of(2), reader)
    assert lines == ["b  0.5 of 4 points, lost in 2 of 2 attempts", "a  3 of 4 points, lost in 1 of 2 attempts"]


def test_nothing_is_said_where_no_points_were_lost() -> None:
    reader = Reader(made(scored("runs", 2)))
    assert "points lost" not in screen(run_of(1), [], Page(reader=reader), elapsed=1.0, place=None)


def test_what_is_read_and_shown_is_bounded() -> None:
    reader = Reader(*(made(*(scored(f"check {at}", 0) for at in range(30))) for _ in range(READ_ATTEMPTS + 5)))
    [(_, lines)] = lost_points(run_of(READ_ATTEMPTS + 5), reader)
    assert len(reader.read) == READ_ATTEMPTS
    assert len(lines) == 11
    assert lines[-1] == "… 20 more checks"


def test_the_summary_names_them_and_hostile_labels_stay_text() -> None:
    reader = Reader(made(scored(HOSTILE, 0)))
    text = summary_text(run_of(1), [], reader)
    assert "## Points lost\n\n`evals/greet.eval.py › serves`\n\n````text\n" in text
    assert all(line.isprintable() for line in screen(run_of(1), [], Page(reader=reader), elapsed=1.0, place=None))
