"""What does a run say of the budget that it was given?"""

from __future__ import annotations

from reeval.report.screen.numbers import dollars, plural
from reeval.schema.record import RunRecord
from reeval.schema.recorded.budget import BudgetRecord

__all__ = ["budget_lines", "go_on", "is_stopped"]


def is_stopped(record: RunRecord) -> bool:
    """Say whether its budget is why the run did not get to its end."""
    return record.budget is not None and record.budget.stopped


def go_on(record: RunRecord) -> str:
    """Return the command that runs the rest, with as much again to spend where there was a budget."""
    command, budget = f"reeval run --resume {record.run_id}", record.budget
    if budget is None or not budget.stopped:
        return command
    return f"{command} --budget {budget.limit:g}{' --allow-unknown-cost' if budget.blind else ''}"


def budget_lines(record: RunRecord) -> list[str]:
    """Return why it stopped, what did not run, and what is not known of its cost."""
    budget = record.budget
    if budget is None:
        return []
    lines = [f"{_why(budget)}: {_left(budget)}"] if budget.stopped else []
    if budget.unpriced:
        known = f"{dollars(budget.spent)} of {dollars(budget.limit)} is known to be spent"
        lines.append(f"the cost of {plural(budget.unpriced, 'attempt')} is not known in full: {known}")
    return lines


def _why(budget: BudgetRecord) -> str:
    if budget.blind is not None:
        return (
            f"the budget of {dollars(budget.limit)} could not be kept, since {budget.blind} does not say what it cost"
        )
    return f"the budget of {dollars(budget.limit)} is spent ({dollars(budget.spent)})"


def _left(budget: BudgetRecord) -> str:
    attempts, questions = budget.unstarted, budget.unasked
    said = [
        f"{plural(attempts, 'attempt')} {'was' if attempts == 1 else 'were'} not started" if attempts else "",
        f"{plural(questions, 'question')} {'was' if questions == 1 else 'were'} not asked" if questions else "",
    ]
    return " and ".join(filter(None, said))
