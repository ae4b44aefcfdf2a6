"""What did models answer to the questions of an eval? Tallies, first answers and wins, in a few lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reeval.report.screen.failures import Page
from reeval.report.screen.ink import Ink
from reeval.report.screen.numbers import plural
from reeval.report.screen.table import table
from reeval.report.text import one_line
from reeval.schema.record import EvalRecord
from reeval.schema.recorded.answers import AnswerRecord, PairRecord, QuestionRecord, Vote

__all__ = [
    "SHOWN_ANSWERS",
    "answer_texts",
    "answers_to",
    "attempt_answer_lines",
    "facts_of",
    "question_lines",
    "sides_of",
]

SHOWN_ANSWERS = 3
"""Answers in words that a block shows; the rest is counted."""
_ANSWER_LINES = 12
_TIE = "tie"
_CELL = re.compile(r"[\[#]")
"""Ends the cell in an attempt's id: ``terse/plain/fake[case]#1``."""


def question_lines(
    record: EvalRecord, *, ink: Ink, cells: int | None, indent: str = "  ", every: bool = False
) -> list[str]:
    """Return the lines of an eval's questions, at most ``cells`` wide, texts of authors and models escaped."""
    lines: list[str] = []
    for question in record.questions:
        deeper = indent + "  "
        room = None if cells is None else cells - len(deeper)
        head = one_line(f"question  {question.text}", None if cells is None else cells - len(indent))
        lines.append(indent + head.replace("question", ink("dim", "question"), 1))
        lines += [deeper + one_line(fact, room) for fact in facts_of(question)]
        if question.across:
            lines += _side_rows(question, deeper, cells)
        elif question.choices is None:
            lines += _answer_rows(answers_to(record, question.number), deeper, cells, every=every)
    return lines


def facts_of(question: QuestionRecord) -> Iterator[str]:
    """Yield what a question's answers add up to, beside its sides and its answers in words."""
    if question.choices and question.asked:
        yield " · ".join(f"{choice} {count}" for choice, count in question.tally.items())
    if question.across and not question.pairs:
        yield "no pair: a pair needs two attempts that passed"
    elif not question.asked:
        yield "not asked of any attempt"
    if question.splits:
        yield f"split {question.splits} of {plural(question.pairs, 'pair')}: there the order decided"
    if question.errors:
        yield f"{plural(question.errors, 'error')}: no answer"


def sides_of(question: QuestionRecord) -> list[tuple[str, str]]:
    """Return each side of a pairwise question and what it won, factor by factor."""
    several = len(question.sides) > 1
    return [
        (f"{factor} {side.value}" if several else side.value, f"won {side.won} of {side.of}")
        for factor, sides in question.sides.items()
        for side in sides
    ]


def answers_to(record: EvalRecord, number: int) -> list[AnswerRecord]:
    """Return the answers about single attempts, without errors, cell by cell as the table above them."""
    cells = {cell.key: place for place, cell in enumerate(record.cells)}
    found = [
        answer
        for entry in record.attempts
        for answer in entry.answers
        if answer.question == number and answer.error is None
    ]
    return sorted(found, key=lambda answer: cells.get(_CELL.split(answer.attempt, maxsplit=1)[0], len(cells)))


def attempt_answer_lines(planned: EvalRecord, attempt: str, page: Page) -> list[str]:
    """Return what was answered about one attempt: to each question, and in the pairs it was in."""
    answers = [answer for entry in planned.attempts if entry.attempt == attempt for answer in entry.answers]
    pairs = [pair for pair in planned.answers if attempt in {pair.left, pair.right}]
    everything: list[AnswerRecord | PairRecord] = [*answers, *pairs]
    lines: list[str] = []
    for one in everything:
        lines += page.lines(f"{one.question}  {one.text}", 4, 2)
        if isinstance(one, AnswerRecord):
            lines += page.lines(_said(one), _ANSWER_LINES, 4)
        else:
            lines += page.lines(f"against {one.right if one.left == attempt else one.left}", 1, 4)
            lines += [line for vote in one.votes for line in page.lines(_voted(one, vote), _ANSWER_LINES, 6)]
        if one.input is not None:
            lines += page.lines(f"sent and answered: {one.input.file}", 2, 4, style="dim")
    return lines


def answer_texts(record: AnswerRecord | PairRecord) -> list[str]:
    """Return a line for each answer or vote, not escaped."""
    if isinstance(record, AnswerRecord):
        return [f"question {record.question} @ {record.attempt}: {_said(record)}"]
    between = f"question {record.question} between {record.left} and {record.right}"
    return [f"{between}: {_voted(record, vote)}" for vote in record.votes]


def _said(answer: AnswerRecord) -> str:
    if answer.error is not None:
        return f"not answered: {answer.error}"
    if answer.choice is None:
        return answer.answer or ""
    return answer.choice + (f" ({answer.reason})" if answer.reason else "")


def _voted(pair: PairRecord, vote: Vote) -> str:
    if vote.error is not None:
        return f"not answered: {vote.error}"
    won = {"left": pair.left_value, "right": pair.right_value}.get(vote.winner or "", _TIE)
    return won + (f" ({vote.reason})" if vote.reason else "")


def _side_rows(question: QuestionRecord, indent: str, cells: int | None) -> list[str]:
    rows = [[one_line(side), won] for side, won in sides_of(question)]
    return _rows(rows, indent, cells)


def _answer_rows(answers: Sequence[AnswerRecord], indent: str, cells: int | None, *, every: bool) -> list[str]:
    shown = len(answers) if every else SHOWN_ANSWERS
    # Bounded before it is laid out: on a pipe a row has no width that would cut it.
    rows = [[one_line(it.attempt), one_line(it.answer or "", 400)] for it in answers[:shown]]
    more = len(answers) - shown
    return _rows(rows, indent, cells) + ([f"{indent}{more:,} more: reeval query attempt_answers"] if more > 0 else [])


def _rows(rows: Sequence[Sequence[str]], indent: str, cells: int | None) -> list[str]:
    if not rows:
        return []
    first, *rest = rows
    return table(first, rest, keep=2, cells=cells, indent=indent)
