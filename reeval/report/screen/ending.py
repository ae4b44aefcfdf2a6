"""How does a run end on a screen: blocks, failures, errors, remarks, totals, and what to do next?"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Sequence

from reeval.errors import ExitCode
from reeval.report.data.accuracy import accuracy_texts
from reeval.report.screen.blocks import Status, block, status
from reeval.report.screen.evidence import attempt_key, silent_of
from reeval.report.screen.failures import Page, failure_sections
from reeval.report.screen.ink import Ink
from reeval.report.screen.numbers import dollars, plural, seconds
from reeval.report.screen.points import points_section
from reeval.report.screen.table import flow
from reeval.report.text import escape, width, wrap
from reeval.schema.plan import Plan
from reeval.schema.record import AttemptRecord, EvalRecord, Outcome, RunRecord, RunStart, RunState

__all__ = [
    "SHOWN_BLOCKS",
    "blocks",
    "budget_lines",
    "ending",
    "header",
    "next_commands",
    "screen",
    "silent_text",
    "stopped_by_budget",
    "totals",
]

SHOWN_BLOCKS = 60
"""Blocks of evals that went well, when there are many; what went wrong is always shown."""
_MISSING = "attempts that did not run"
_GOOD: frozenset[Status] = frozenset({"pass", "scored", "skipped", "todo"})


def header(plan: Plan, start: RunStart, facts: Sequence[str], ink: Ink, cells: int | None) -> list[str]:
    """Return the first lines of a run: its id, how much it is, and the facts it was given."""
    running = sum(planned.mode == "run" for planned in plan.evals)
    size = f"{plural(running, 'eval')}, {plural(plan.attempts, 'attempt')}, {plan.max_concurrent} at a time"
    first = f"run {start.run_id}"
    lines = wrap(f"{first}  {size}", cells)
    lines[0] = lines[0].replace(first, ink("bold", first), 1)
    return lines + [ink("dim", part) for fact in facts for part in wrap(escape(fact), cells)]


def blocks(evals: Sequence[EvalRecord], page: Page, seen: Collection[str] = frozenset()) -> list[str]:
    """Return the result blocks but those of ids in ``seen``; of many evals that went well only the first."""
    lines: list[str] = []
    good = 0
    names = Counter(planned.path for planned in evals)
    for planned in evals:
        if planned.id in seen:
            continue
        if status(planned) in _GOOD:
            good += 1
            if good > SHOWN_BLOCKS and not page.full:
                continue
        twice = names[planned.path] > 1
        shown = block(planned, ink=page.ink, cells=page.cells, all_cases=page.full, with_file=twice)
        lines += _spaced(shown, lines)
    more = good - SHOWN_BLOCKS
    if more > 0 and not page.full:
        lines.append(page.ink("dim", f"… {more:,} more evals that went well"))
    return lines


def _spaced(lines: list[str], before: list[str]) -> list[str]:
    """Set a block of several lines apart from the one before; blocks of one line stand as a list."""
    apart = before and (len(lines) > 1 or before[-1].startswith(" "))
    return ["", *lines] if apart else lines


def totals(record: RunRecord, elapsed: float | None, page: Page) -> list[str]:
    """``12 passed, 1 failed, 1 error in 3.2 s · $0.12``."""
    counts = record.totals
    failed = ("failed", "failed") if record.exit_code else ("did not pass", None)
    said: list[tuple[str, str | None]] = [
        (f"{amount:,} {noun}", word)
        for amount, noun, word in (
            (counts.passed, "passed", "passed"),
            (counts.scored, "scored", "scored"),
            (counts.failed, *failed),
            (counts.review, "to review", "review"),
            (counts.error, "error" if counts.error == 1 else "errors", "error"),
            (counts.skipped, "skipped", "skipped"),
            (max(0, counts.planned - counts.finished), "not run", "undecided"),
        )
        if amount
    ]
    lines = flow(said or [("nothing ran", None)], ", ", page.ink, page.cells)
    lines[-1] += "" if elapsed is None else f" in {seconds(elapsed)}"
    lines[-1] += f" · {dollars(counts.cost)}" if counts.cost else ""
    return lines


def _verdict(record: RunRecord) -> str | None:
    """Say what the exit code means where the totals alone do not."""
    if record.state is RunState.INTERRUPTED and not stopped_by_budget(record):
        return "interrupted: what finished is recorded"
    if record.state is RunState.RUNNING:
        return "running"
    if record.state is RunState.FAILED:
        return "the run itself failed"
    if record.exit_code == ExitCode.UNDECIDED:
        missing = record.totals.planned > record.totals.finished
        causes = [*(["errors"] if record.totals.error or not missing else []), *([_MISSING] if missing else [])]
        return f"undecided: {' and '.join(causes)} could still change a gate"
    return None


def silent_text(record: RunRecord) -> str:
    """Say how many attempts did not pass and decide nothing; empty when none did."""
    amount = sum(1 for planned in record.evals for _ in silent_of(planned))
    if not amount:
        return ""
    return f"{plural(amount, 'attempt')} that {'decides' if amount == 1 else 'decide'} nothing did not pass"


def next_commands(
    record: RunRecord, failures: Sequence[AttemptRecord], ref: str | None = None
) -> list[tuple[str, str]]:
    """Return what one may want to run next, and what for; ``ref`` names a run that is not the last."""
    commands: list[tuple[str, str]] = []
    if (key := _worth_a_look(record, failures)) is not None:
        where = f" --run {shlex.quote(ref)}" if ref else ""
        commands.append(("look closer", f"reeval show {shlex.quote(key)}{where}"))
    missing = record.totals.planned > record.totals.finished and record.state is RunState.COMPLETED
    if missing or record.state in {RunState.INTERRUPTED, RunState.FAILED}:
        commands.append(("go on", _go_on(record)))
    if ref is None and any(failure.outcome is not Outcome.ERROR for failure in failures):
        commands.append(("again, what failed", "reeval run --last-failed"))
    if record.totals.error and record.state is RunState.COMPLETED:
        commands.append(("again, errors", f"reeval run --retry-errors {record.run_id}"))
    return commands


def stopped_by_budget(record: RunRecord) -> bool:
    """Say whether its budget is why a run did not get to its end."""
    return record.budget is not None and record.budget.stopped


def budget_lines(record: RunRecord) -> list[str]:
    """Return what a run says of its budget; nothing where it had none."""
    if record.budget is None:
        return []
    from reeval.report.screen.budget import told

    return told(record.budget)


def _go_on(record: RunRecord) -> str:
    """Return the command that runs the rest, with as much again to spend where a budget ended the run."""
    command, budget = f"reeval run --resume {record.run_id}", record.budget
    if budget is None or not budget.stopped:
        return command
    return f"{command} --budget {budget.limit:g}{' --allow-unknown-cost' if budget.blind else ''}"


def _worth_a_look(record: RunRecord, failures: Sequence[AttemptRecord]) -> str | None:
    if failures:
        return attempt_key(failures[0].eval, failures[0].attempt)
    silent = (attempt_key(planned.id, entry.attempt) for planned in record.evals for entry in silent_of(planned))
    return next(silent, None)


def ending(
    record: RunRecord,
    failures: Sequence[AttemptRecord],
    page: Page,
    *,
    elapsed: float | None,
    place: str | None,
    ref: str | None = None,
) -> list[str]:
    """Return what follows the blocks: lifts and lost points, failures, errors, remarks, totals, what to do next."""
    lines: list[str] = []
    pooled: list[str] = []
    if record.lifts:
        from reeval.report.screen.compares import pooled_lines

        pooled = pooled_lines(record.lifts, page.ink, page.cells)
    points = points_section(record, page)
    for section in (pooled, points, *failure_sections(record.evals, failures, page), _remarks(record, page)):
        if section:
            lines += [*section, ""]
    lines += totals(record, elapsed, page)
    lines += [page.ink("dim", line) for line in wrap(silent_text(record), page.cells) if line]
    lines += [page.ink("yellow", part) for line in budget_lines(record) for part in wrap(escape(line), page.cells)]
    if (verdict := _verdict(record)) is not None:
        lines.append(page.ink("yellow", verdict))
    rows = [("record", place)] if place else []
    rows += next_commands(record, failures, ref)
    rows += [("accuracy", text) for text in accuracy_texts(record.accuracy)]
    return lines + _rows(rows, page)


def _rows(rows: Sequence[tuple[str, str]], page: Page) -> list[str]:
    """Write names and commands; a command is never cut, since one pastes it."""
    size = max((len(name) for name, _ in rows), default=0)
    texts = [escape(text) for _, text in rows]
    if page.cells is not None and any(size + 2 + width(text) > page.cells for text in texts):
        pairs = zip(rows, texts, strict=True)
        return [line for (name, _), text in pairs for line in (page.ink("dim", name), f"  {text}")]
    return [f"{page.ink('dim', name.ljust(size))}  {text}" for (name, _), text in zip(rows, texts, strict=True)]


def _remarks(record: RunRecord, page: Page) -> list[str]:
    remarks = [*record.remarks, *record.notes, *record.dropped]
    if not remarks:
        return []
    lines = [page.ink("bold", "remarks"), ""]
    for remark in remarks:
        first, *rest = page.lines(remark, 4, 4)
        lines += ["  · " + first.strip(), *rest]
    return lines


def screen(
    record: RunRecord,
    failures: Sequence[AttemptRecord],
    page: Page,
    *,
    elapsed: float | None,
    place: str | None,
    ref: str | None = None,
) -> list[str]:
    """Return a run's last screen: what ``reeval run`` ends with and ``reeval show`` repeats.

    ``ref`` names a run that is not the last, in the commands to go on with.
    """
    first = blocks(record.evals, page)
    return [*first, *([""] if first else []), *ending(record, failures, page, elapsed=elapsed, place=place, ref=ref)]
