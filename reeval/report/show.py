"""What happened in one attempt? Everything its record holds, for a person to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from reeval.report.answers import attempt_answer_lines
from reeval.report.data.attempt import data_sections
from reeval.report.screen.evidence import checks_of, data_of, diff_of, judgments_of, log_of, turns_of
from reeval.report.screen.failures import Page, checks_lines, headline, log_lines
from reeval.report.screen.numbers import count, dollars, moment, number, seconds
from reeval.report.screen.table import table
from reeval.report.text import one_line, width
from reeval.schema.plan import NO_ENVIRONMENT
from reeval.schema.record import AttemptRecord, Outcome, RunRecord, SpenderUsage
from reeval.schema.recorded.answers import JudgmentRecord
from reeval.schema.transcript import (
    Event,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)
from reeval.usage import Usage

__all__ = ["attempt_screen"]

_PROMPT_LINES = 20
_MESSAGE_LINES = 40
_OUTPUT_LINES = 8
_THOUGHT_LINES = 4
_DIFF_LINES = 120
_LOG_LINES = 40
_DETAIL_LINES = 40
_CHECKS = 100
_REASON_LINES = 8
_VALUE_CHARACTERS = 2_000


def attempt_screen(run: RunRecord, record: AttemptRecord, page: Page) -> list[str]:
    """Return the lines of one attempt: head, failure, turns, checks, diff and whatever else was recorded."""
    answered = data_of(record, page.reader)
    asks = next((planned.asks for planned in run.evals if planned.id == record.eval), None)
    sections = [
        _head(run, record, page),
        _failure(record, page) if answered is None else [],
        *([] if answered is None else data_sections(answered, asks, page)),
        *(
            _turn(position, turn, page, markdown=answered is not None)
            for position, turn in enumerate(turns_of(record, page.reader), 1)
        ),
        _checks(record, page),
        _judgments(record, page),
        _questions(run, record, page),
        _diff(record, page),
        _observations(record, page),
        _diagnostics(record, page),
        _refused(record, page),
        log_lines(log_of(record, page.reader), page, 0, limit=_LOG_LINES),
        _artifacts(record, page),
        _usage(record, page),
    ]
    lines: list[str] = []
    for section in filter(None, sections):
        lines += ["", *section] if lines else section
    return lines


# --- head -----------------------------------------------------------------------------------------------


def _head(run: RunRecord, record: AttemptRecord, page: Page) -> list[str]:
    title = next((planned.title for planned in run.evals if planned.id == record.eval), record.eval)
    word = record.outcome.value
    lines = [page.ink("bold", line) for line in page.lines(f"{title} @ {record.attempt}", 6, 0)]
    facts = page.lines(" · ".join(_facts(record)), 6, 0)
    lines += [facts[0].replace(word, page.ink.word(word), 1), *facts[1:]]
    scope = f"run {run.run_id}" + (f" · {run.selection}" if run.selection else "")
    if record.data:
        scope = " · ".join(filter(None, (f"run {run.run_id}", run.target, run.selection or "all questions")))
    return lines + page.lines(scope, 3, 0, style="dim")


def _facts(record: AttemptRecord) -> list[str]:
    started = "" if record.start_duration is None else f", ready after {seconds(record.start_duration)}"
    facts = [f"{record.outcome.value} in {seconds(record.duration)}{started}"]
    if record.score is not None:
        facts.append(f"score {number(record.score)}" + (f" ({record.score_state})" if record.score_state else ""))
    if record.partial_score is not None:
        facts.append(f"partial score {number(record.partial_score)}")
    if record.outcome is Outcome.SCORED and record.verdict:
        facts.append(f"verdict {record.verdict}")
    facts.append(f"harness {record.harness}")
    for name, value in (
        ("model", record.model),
        ("environment", None if record.environment == NO_ENVIRONMENT else record.environment),
        ("role", record.role),
        ("sandbox", record.sandbox),
        ("case", record.case),
    ):
        if value is not None:
            facts.append(f"{name} {value}")
    if record.tries > 1:
        facts.append(f"try {record.tries}")
    return [*facts, f"started {moment(record.started_at)} UTC"]


def _failure(record: AttemptRecord, page: Page) -> list[str]:
    why = headline(record)
    if not why:
        return []
    lines = page.lines(why, _DETAIL_LINES, 0, style="bold")
    detail = record.failure.detail if record.failure else ""
    return lines + (page.lines(detail, _DETAIL_LINES, 2, tail=True) if detail else [])


# --- turns ----------------------------------------------------------------------------------------------


def _turn(position: int, turn: Turn, page: Page, *, markdown: bool) -> list[str]:
    facts = [f"{turn.status} in {seconds(turn.duration)}"]
    facts += [known for known in (turn.agent, turn.model) if known]
    if turn.usage is not None:
        facts += _spent(turn.usage)
    lines = page.lines(f"turn {position}  {' · '.join(facts)}", 3, 0)
    lines[0] = lines[0].replace(f"turn {position}", page.ink("bold", f"turn {position}"), 1)
    lines += [page.line("prompt", 2), *page.lines(turn.prompt, _PROMPT_LINES, 4)]
    for event in turn.events:
        if not (isinstance(event, Text) and event.text.strip() == turn.message.strip()):
            lines += _event(event, page)
    if turn.error:
        lines += [page.line("error", 2), *page.lines(turn.error, _OUTPUT_LINES, 4, style="red")]
    lines += _message(turn, page, markdown=markdown)
    if turn.unreported:
        lines += page.lines(f"not reported by this harness: {', '.join(turn.unreported)}", 3, 2)
    return lines


def _message(turn: Turn, page: Page, *, markdown: bool) -> list[str]:
    """Return the final message; a data agent's is written for people, in Markdown."""
    if not markdown or not turn.message.strip():
        return [page.line("message", 2), *page.lines(turn.message or "(none)", _MESSAGE_LINES, 4)]
    from reeval.report.data.markdown import markdown_lines

    return [page.line("response", 2), *markdown_lines(turn.message, page, 4)]


def _event(event: Event, page: Page) -> list[str]:
    match event:
        case ToolCall():
            return _tool(event, page)
        case Text() | Reasoning() | Notice():
            return _spoken(event, page)
        case FileEdit() | WebSearch() | WebFetch():
            return [page.line(_noted(event), 2)]


def _noted(event: FileEdit | WebSearch | WebFetch) -> str:
    match event:
        case FileEdit():
            return f"edit  {event.path} ({event.kind})"
        case WebSearch():
            return f"search  {event.query}{_ended(event.ok)}"
        case WebFetch():
            return f"fetch  {event.url}{_ended(event.ok)}"


def _spoken(event: Text | Reasoning | Notice, page: Page) -> list[str]:
    match event:
        case Text():
            return [page.line("said", 2), *page.lines(event.text, _MESSAGE_LINES, 4)]
        case Reasoning():
            return [page.line("thought", 2), *page.lines(event.text, _THOUGHT_LINES, 4, style="dim")]
        case Notice():
            return [page.line(event.kind, 2), *page.lines(event.message, _OUTPUT_LINES, 4)]


def _ended(ok: bool | None) -> str:
    return {True: "", False: "  failed", None: "  outcome not reported"}[ok]


def _tool(call: ToolCall, page: Page) -> list[str]:
    native = f" ({call.native})" if call.native else ""
    how = _ended(call.ok)
    if call.exit_code is not None:
        how += f"  exit {call.exit_code}"
    if call.duration is not None:
        how += f"  {seconds(call.duration)}"
    first, *rest = page.lines(_input(call), _OUTPUT_LINES, 4) or [""]
    name = page.line(f"{call.name}{native}", 2, less=len(how))
    one_row = not rest and (page.cells is None or width(name) + width(first) + len(how) <= page.cells)
    lines = [f"{name}  {first.strip()}{how}"] if one_row else [name + how, first, *rest]
    return lines + page.lines(call.output, _OUTPUT_LINES, 6, style="dim") if call.output.strip() else lines


def _input(call: ToolCall) -> str:
    if isinstance(call.input, dict) and isinstance(command := call.input.get("command"), str):
        return command
    return "" if call.input is None else _json(call.input)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _VALUE_CHARACTERS else text[:_VALUE_CHARACTERS] + "…"


def _spent(usage: Usage) -> list[str]:
    spent = [] if usage.total is None else [f"{count(usage.total)} tokens"]
    return spent + ([] if usage.cost is None else [dollars(usage.cost)])


# --- what was checked and kept --------------------------------------------------------------------------


def _titled(title: str, lines: Sequence[str], page: Page) -> list[str]:
    return [page.ink("bold", title), *lines] if lines else []


def _checks(record: AttemptRecord, page: Page) -> list[str]:
    return _titled("checks", checks_lines(checks_of(record, page.reader), page, 2, _CHECKS), page)


def _judgments(record: AttemptRecord, page: Page) -> list[str]:
    rows = [line for judgment in judgments_of(record, page.reader) for line in _judgment(judgment, page)]
    return _titled("judgments", rows, page)


def _judgment(judgment: JudgmentRecord, page: Page) -> list[str]:
    """Return a judge's score and reasons, and the file with what it was sent."""
    score = "no score" if judgment.score is None else number(judgment.score)
    facts = [score, *([judgment.judge] if judgment.judge else []), judgment.model or "no model"]
    if judgment.served and judgment.served != judgment.model:
        facts.append(f"served by {judgment.served}")
    if judgment.spread is not None:
        facts.append(f"{len(judgment.votes)} votes, spread {number(judgment.spread)}")
    if judgment.duration is not None:
        facts.append(seconds(judgment.duration))
    facts += _spent(judgment.usage)
    lines = [*page.lines(judgment.label, 2, 2), *page.lines(" · ".join(facts), 2, 4)]
    said = [f"{number(vote.score)}  {vote.reason}" for vote in judgment.votes] or [judgment.error or judgment.reason]
    if judgment.error and judgment.votes:
        said.append(judgment.error)
    for text in said:
        lines += page.lines(text, _REASON_LINES, 4)
    if judgment.input is not None:
        lines += page.lines(f"sent and answered: {judgment.input.file}", 2, 4, style="dim")
    return lines


def _questions(run: RunRecord, record: AttemptRecord, page: Page) -> list[str]:
    planned = next((one for one in run.evals if one.id == record.eval), None)
    rows = [] if planned is None else attempt_answer_lines(planned, record.attempt, page)
    return _titled("questions", rows, page)


def _diff(record: AttemptRecord, page: Page) -> list[str]:
    turns = enumerate(turns_of(record, page.reader), 1)
    patches = [f"turn {number}\n{turn.diff.rstrip()}\n" for number, turn in turns if turn.diff]
    # The patch of one turn may undo that of another: together they are no diff.
    diff = "".join(patches) if len(patches) > 1 else diff_of(record, page.reader)
    return _titled("diff", [_diff_line(line, page) for line in page.lines(diff, _DIFF_LINES, 2)], page)


def _diff_line(line: str, page: Page) -> str:
    text = line[2:]
    if text.startswith("turn "):
        return "  " + page.ink("bold", text)
    if text.startswith(("diff ", "index ", "+++ ", "--- ", "new file", "deleted file", "… ")):
        return "  " + page.ink("dim", text)
    style = {"+": "green", "-": "red", "@": "cyan"}.get(text[:1])
    return "  " + page.ink(style, text) if style else line


def _observations(record: AttemptRecord, page: Page) -> list[str]:
    rows = [
        line
        for seen in record.observations
        for line in page.lines(f"{one_line(seen.name)}  {_json(seen.value)}", _OUTPUT_LINES, 2)
    ]
    return _titled("observations", rows, page)


def _diagnostics(record: AttemptRecord, page: Page) -> list[str]:
    rows = [line for text in record.diagnostics for line in page.lines(text, _OUTPUT_LINES, 2)]
    return _titled("diagnostics", rows, page)


def _artifacts(record: AttemptRecord, page: Page) -> list[str]:
    rows = [
        page.line(f"{kept.name}  {kept.ref.file}  {count(kept.ref.bytes)}B{' (cut)' * kept.ref.truncated}", 2)
        for kept in record.artifacts
    ]
    return _titled("artifacts", rows, page)


_TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")


def _usage(record: AttemptRecord, page: Page) -> list[str]:
    if not record.usage:
        return []
    head = ["spender", "model", *(name.replace("_", " ") for name in _TOKENS), "cost"]
    return _titled(
        "usage", table(head, [_usage_row(row) for row in record.usage], keep=4, cells=page.cells, indent="  "), page
    )


def _usage_row(row: SpenderUsage) -> list[str]:
    tokens = [getattr(row.usage, name) for name in _TOKENS]
    cost = "·" if row.usage.cost is None else dollars(row.usage.cost)
    return [row.spender, one_line(row.model or "·"), *("·" if n is None else count(n) for n in tokens), cost]


def _refused(record: AttemptRecord, page: Page) -> list[str]:
    rows = [
        line
        for one in record.refused
        for line in page.lines(
            f"{moment(one.first)}  {one.host}:{one.port}{f' × {one.count}' if one.count > 1 else ''}: {one.why}", 2, 2
        )
    ]
    return _titled("connections that were refused", rows, page)
