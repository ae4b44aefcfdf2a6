"""What does a run say of the budget that it was given?"""

from __future__ import annotations

from reeval.report.screen.numbers import dollars, plural
from reeval.schema.recorded.budget import BudgetRecord

__all__ = ["told"]


def told(budget: BudgetRecord) -> list[str]:
    """Return why it stopped the run, what did not run, and what is not known of the cost."""
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
