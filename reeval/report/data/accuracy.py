"""How well did an agent answer? ``NN% (passed/total)`` of each cell with its gate, and why a question did not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from reeval.report.screen.numbers import accuracy, number
from reeval.report.text import one_line
from reeval.schema.plan import NO_ENVIRONMENT
from reeval.schema.record import AccuracyRecord, AttemptEntry, Outcome

__all__ = ["accuracy_texts", "cell_name", "first_wrong", "gate_text", "short_accuracy", "tags_text"]

_SHOWN_CELLS = 3
_TAG = 60


def accuracy_texts(records: Sequence[AccuracyRecord]) -> list[str]:
    """Return a text for each cell, the percentage last where there is one cell and nothing else to say."""
    return [_text(one, records) for one in records]


def short_accuracy(records: Sequence[AccuracyRecord]) -> str:
    """Return all cells in one short text; empty: there are no data questions."""
    if len(records) == 1:
        return accuracy(records[0].passed, records[0].total)
    shown = [f"{cell_name(one, records)} {accuracy(one.passed, one.total)}" for one in records[:_SHOWN_CELLS]]
    more = len(records) - _SHOWN_CELLS
    return ", ".join([*shown, *([f"+{more}"] if more > 0 else [])])


def cell_name(one: AccuracyRecord, among: Sequence[AccuracyRecord]) -> str:
    """Return what tells a cell from the others: its agent, its environment, else its whole key."""
    names = [(it.harness, "" if it.environment == NO_ENVIRONMENT else it.environment, it.sandbox) for it in among]
    mine = names[among.index(one)]
    varied = [mine[at] for at in range(3) if len({name[at] for name in names}) > 1]
    return one_line("/".join(filter(None, varied)) or one.key, _TAG)


def gate_text(one: AccuracyRecord) -> str:
    """Say what the gate over all questions says; empty where it only reports."""
    gate = one.gate
    if gate.rule == "none":
        return ""
    verb = {True: "holds", False: "does not hold", None: "undecided"}[gate.holds]
    return f"{'all' if gate.minimum is None else f'≥ {number(gate.minimum)}'} {verb}"


def _text(one: AccuracyRecord, among: Sequence[AccuracyRecord]) -> str:
    said = [accuracy(one.passed, one.total)]
    if one.mean is not None:
        said.append(f"mean over runs {100 * one.mean:.0f}%")
    if one.gate.holds is not True and (gate := gate_text(one)):
        said.append(f"gate {gate}")
    name = f"{cell_name(one, among)}  " if len(among) > 1 else ""
    return name + " · ".join(said)


# --- one question ---------------------------------------------------------------------------------------


def tags_text(entries: Iterable[AttemptEntry]) -> str:
    """Return why attempts at a question did not pass: ``Row count mismatch``, ``Value mismatch × 2``."""
    counts = Counter(_tags(entries))
    return ", ".join(tag if amount == 1 else f"{tag} × {amount}" for tag, amount in counts.items())


def first_wrong(entries: Iterable[AttemptEntry]) -> AttemptEntry | None:
    """Return the first attempt whose answer was wrong: what broke one is told among the errors of the run."""
    return next((entry for entry in entries if entry.analysis and entry.outcome is not Outcome.ERROR), None)


def _tags(entries: Iterable[AttemptEntry]) -> Iterator[str]:
    for entry in entries:
        if entry.outcome is not Outcome.PASS:
            yield one_line(entry.reason or entry.outcome.value, _TAG)
