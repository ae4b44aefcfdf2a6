"""Which parts of the reference follow from the code? ``python docs/generate.py`` writes them.

A page holds each of them between ``<!-- generated: NAME -->`` and ``<!-- end -->``; the rest is written by hand.
"""  # noqa: INP001 - a script beside the pages that it writes

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec
import typer.main

from reeval.cli.app import app
from reeval.record.format.json_schema import schema_text
from reeval.record.tables import TABLES, VIEWS, Column, Table, View
from reeval.schema import record, transcript
from reeval.usage import Usage

__all__ = ["PARTS", "SCHEMA", "leaves", "main", "pages", "rendered", "structs_of", "words_of"]

DOCS = Path(__file__).parent
SCHEMA = DOCS / "reference" / "record.schema.json"
_REGION = re.compile(r"(?P<head><!-- generated: (?P<name>[\w-]+) -->\n).*?(?P<foot><!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that have generated parts."""
    return [page for page in sorted(DOCS.rglob("*.md")) if _REGION.search(page.read_text(encoding="utf-8"))]


def rendered(text: str) -> str:
    """Return a page with its generated parts as they should be; ``KeyError`` names a part that is not known."""
    return _REGION.sub(lambda found: f"{found['head']}\n{PARTS[found['name']]()}\n{found['foot']}", text)


def main() -> None:
    """Write every generated part and the JSON Schema of records."""
    for page in pages():
        page.write_text(rendered(page.read_text(encoding="utf-8")), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")


# --- the command line ---------------------------------------------------------------------------------


def _commands() -> str:
    root: Any = typer.main.get_command(app)
    lines = _command("reeval", root)
    for name, command in leaves(root):
        lines += ["", *_command(f"reeval {name}", command)]
    return "\n".join([*lines, ""])


def leaves(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, with the words that call it: ``judge check``."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {word}", leaf) for word, leaf in leaves(command))
        else:
            yield name, command


def _command(name: str, command: Any) -> list[str]:
    taken = [_metavar(one) for one in command.params if one.param_type_name == "argument"]
    usage = " ".join([name, "[OPTIONS]", *(taken if name != "reeval" else ["COMMAND …"])])
    rows = [_parameter(one) for one in command.params]
    table = ["", "| | Meaning |", "|---|---|", *rows] if rows else []
    return [f"## `{name}`", "", "```text", usage, "```", "", *_paragraphs(command.help), *table]


def _paragraphs(text: str) -> Iterator[str]:
    r"""Turn a help text into Markdown: its examples, which stand after ``\b``, into a console block."""
    blocks = [block.removeprefix("\b\n") for block in text.split("\n\n")]
    for number, block in enumerate(blocks):
        if number:
            yield ""
        if not block.startswith("reeval"):
            yield _prose(block)
            continue
        examples = [re.split(r" {2,}", line, maxsplit=1) for line in block.splitlines()]
        size = max(len(example[0]) for example in examples)
        yield "```console"
        for command, *comment in examples:
            yield f"$ {command.ljust(size)}  # {comment[0]}" if comment else f"$ {command}"
        yield "```"


def _prose(text: str) -> str:
    return " ".join(text.split())


def _metavar(parameter: Any) -> str:
    """Return how a parameter's value is called, without what Typer adds around an optional one."""
    shown: str = parameter.metavar or ""
    return shown if shown or parameter.param_type_name == "argument" else _choices(parameter)


def _choices(parameter: Any) -> str:
    names, _ = parameter.get_help_record(_context())
    found = re.search(r"<([^<>]+)>$", names)
    return found[1] if found and "|" in found[1] else ""


def _context() -> Any:
    return typer.Context(typer.main.get_command(app))


def _parameter(parameter: Any) -> str:
    metavar = _metavar(parameter)
    if parameter.param_type_name == "argument":
        names = f"`{metavar}`"
    else:
        opts = sorted(parameter.opts, key=len)
        names = ", ".join(f"`{name}`" for name in opts) + (f" `{metavar}`" if metavar else "")
    meaning = [parameter.help]
    if getattr(parameter, "min", None) is not None:
        meaning.append(f"At least {parameter.min}.")
    if parameter.default not in (None, False, "", ()) and not parameter.required:
        meaning.append(f"Default: `{parameter.default}`.")
    return _row(names, " ".join(meaning))


# --- tables -------------------------------------------------------------------------------------------


def _tables() -> str:
    lines: list[str] = []
    everything: list[Table | View] = [*TABLES, *VIEWS]
    for one in everything:
        lines += ["", *_table(one)]
    return "\n".join([*lines[1:], ""])


def _table(one: Table | View) -> list[str]:
    key = f" Key: {', '.join(f'`{name}`' for name in one.key)}." if isinstance(one, Table) else " A view."
    rows = [_row(f"`{column.name}`", f"`{column.type}`", column.meaning) for column in one.columns]
    return [f"## `{one.name}`", "", f"{one.meaning}{key}", "", "| Column | Type | Meaning |", "|---|---|---|", *rows]


# --- the record ---------------------------------------------------------------------------------------

_ROOTS: Mapping[str, tuple[type, ...]] = {
    "turn-fields": (transcript.Turn,),
    "record-fields": (record.RunRecord,),
    "journal-fields": get_args(record.JournalLine),
}
"""Part → the types whose fields, and the fields of what they hold, it lists; each type stands in one part."""
_SAME_COLUMNS: Mapping[type, str] = {
    record.RunRecord: "runs",
    record.RunStart: "runs",
    record.Totals: "runs",
    record.EvalRecord: "evals",
    record.CellRecord: "cells",
    record.AccuracyRecord: "cells",
    record.GateResult: "cells",
    record.AttemptEntry: "attempts",
    record.AttemptRecord: "attempts",
    record.CheckRecord: "checks",
    record.ObservationRecord: "observations",
    record.SpenderUsage: "usage",
    Usage: "usage",
}
"""Where a field without words of its own has the meaning of the column that is made from it."""
_PLAIN: Mapping[str, str] = {
    "attempt": "The attempt's id in the eval",
    "error": "Why there is none",
    "eval": "The eval's id",
    "model": "`provider/model` that was asked",
    "reason": "In its words",
    "served": "What the provider says served it",
    "text": "The question",
    "usage": "What it used",
    "AnswerRecord.choice": "One of the choices",
    "CommandResult.stderr": "Standard error",
    "CommandResult.stdout": "Standard output",
    "PairRecord.right": "Attempt id",
    "PairRecord.right_value": "The right side's",
    "PairRecord.votes": "Both orders",
    "QuestionRecord.across": "What differs in a pair; empty: it is asked of each attempt",
    "QuestionRecord.asked": "How often it was asked",
    "QuestionRecord.choices": "The answers there are; `null`: any words",
    "QuestionRecord.errors": "How often there was no answer",
    "QuestionRecord.number": "Among the eval's questions, from 1",
    "QuestionRecord.pairs": "Pairs that were asked about",
    "SideTally.won": "Votes it won",
    "AttemptEntry.answers": "To the questions about it",
    "EvalRecord.questions": "What was asked, and what the answers add up to",
    "ArtifactRef.name": "Its name",
    "ArtifactRef.ref": "Where it is",
    "AttemptFailure.reason": "In one line",
    "AttemptRecord.artifacts": "What `c.attach` kept",
    "AttemptRecord.case": "Key of the case; null: the eval has none",
    "AttemptRecord.checks": "In source order",
    "AttemptRecord.diagnostics": "What `c.diagnostic` was given, and notes of reeval's own",
    "AttemptRecord.failure": "Why it is an error, or why it failed without a check",
    "AttemptRecord.observations": "What `c.observe` was given",
    "AttemptRecord.skip_reason": "What `c.skip` was given",
    "AttemptRecord.task": "Digest of what it was asked and how it was graded",
    "AttemptRecord.subject": "Digest of what ran it. Equal task and subject make attempts comparable",
    "AttemptRecord.turns": "In order",
    "AttemptRecord.usage": "One for each spender",
    "CellRecord.gate": "What the gate says",
    "AccuracyRecord.key": "`terse/plain/fake`",
    "CellRecord.key": "`terse/plain/fake`",
    "Changes.files": "Sorted by path",
    "Changes.truncated": "The patch or the list was cut",
    "CheckRecord.message": "Expected and got, or the reason. Bounded",
    "EvalRecord.attempts": "In the order of cells, cases and runs",
    "EvalRecord.cases": "Keys of its cases",
    "EvalRecord.cells": "What its attempts add up to",
    "EvalRecord.id": "What one can paste after `reeval run`",
    "EvalRecord.notes": "What the dry run said beside it",
    "EvalRecord.slug": "Its directory below `attempts`",
    "FileChange.status": "What happened to it",
    "FileEdit.kind": "What it did",
    "FileEdit.path": "As the agent says it",
    "RefusedRecord.count": "How often",
    "RefusedRecord.first": "When it was first asked for, in milliseconds since 1970, UTC",
    "RefusedRecord.host": "As it was asked for; `*` stands for more than can be listed",
    "RefusedRecord.port": "The port",
    "RefusedRecord.why": "Why it was refused",
    "FileRef.bytes": "Its size",
    "FileRef.file": "Its path from the run's directory",
    "FileRef.sha256": "Of its content; a file that no longer fits is refused",
    "FileRef.truncated": "It was cut at 64 MiB",
    "GateResult.rule": "`all`, `pass_rate`, `mean_score`, `accuracy`, `majority` or `none`",
    "Notice.kind": "Which of them",
    "Notice.message": "In its words",
    "Reasoning.text": "In its words",
    "RunEnd.ended_at": "Milliseconds since 1970, UTC",
    "RunEnd.budget": "What it spent of `--budget`; None: there was none",
    "RunEnd.notes": "Why it stopped early",
    "RunEnd.state": "How it ended",
    "RunRecord.created_at": "Milliseconds since 1970, UTC",
    "RunRecord.ended_at": "The same; null: it still runs, or was killed",
    "RunRecord.evals": "In the order of the plan",
    "RunRecord.budget": "What it spent of `--budget`; None: there was none, or it was killed",
    "RunRecord.notes": "Why it stopped early, and what was left out",
    "RunRecord.run_id": "Name of its directory",
    "RunRecord.schema_version": "Of the format; a bigger one is not read",
    "RunRecord.state": "Where it is",
    "RunRecord.totals": "Its attempts, counted",
    "RunStart.pid": "Process that wrote it",
    "RunStart.run_id": "Name of its directory",
    "RunStart.schema_version": "Of the format",
    "Superseded.reason": "What changed",
    "Text.text": "In its words",
    "ToolCall.exit_code": "Of a command",
    "ToolCall.output": "What it answered, bounded",
    "Turn.changes": "What the agent changed in this turn",
    "Turn.events": "What it said and did, in order",
    "Turn.prompt": "What was sent",
    "Turn.session": "The agent's own word for the conversation",
    "Turn.usage": "What it used; null: not reported",
    "WebFetch.ok": "Whether it was answered; null: not reported",
    "WebFetch.url": "Its address",
    "WebSearch.ok": "Whether it was answered; null: not reported",
    "WebSearch.query": "What was searched for",
    "Channel.COST": "What a turn cost",
    "Channel.EDITS": "Files it edited",
    "Channel.FETCHES": "Pages it fetched",
    "Channel.MCP": "Calls of MCP servers",
    "Channel.MODEL": "The model that served",
    "Channel.SEARCHES": "Web searches",
    "Channel.SHELL": "Commands it ran",
    "Channel.SKILLS": "Skills it used",
    "Channel.TOOLS": "Calls of any tool",
    "Channel.USAGE": "Tokens of a turn",
    "CheckStatus.MATCHED": "The match holds",
    "CheckStatus.MISMATCHED": "It does not",
    "Outcome.ERROR": "The machinery, the body or a check that matters broke: it says nothing about the agent",
    "Outcome.FAIL": "A check that decides does not hold, or the agent's turn ran into the timeout",
    "Outcome.PASS": "At least one check decided, and all that did hold",
    "Outcome.REVIEW": "Nothing decided: there is no check, or every one is optional or a measurement without a gate",
    "Outcome.SCORED": "A scored eval came to its end; its `verdict` stands beside the score",
    "Outcome.SKIPPED": "`c.skip` ended it, and nothing worse had happened",
    "Phase.BODY": "The body raised, forgot to await a call, left a task running, or ran out of time in its own code",
    "Phase.CHECK": "A check that matters could not be evaluated, or the time ran out in a call of the body",
    "Phase.HARNESS": "The agent's session did not start, or its program broke",
    "Phase.JUDGE": "A judge could not measure",
    "Phase.MODEL": "The agent could not reach its model",
    "Phase.RECORD": "The record could not be written",
    "Phase.SANDBOX": "The sandbox did not start, or broke",
    "Phase.SETUP": "A setup step failed, a secret is missing, or a file of the environment cannot be read",
    "RunState.COMPLETED": "Every attempt that was to run has ended",
    "RunState.INTERRUPTED": "Ctrl-C, SIGTERM, or killed",
    "RunState.RUNNING": "A process is writing it",
    "ScoreState.COMPLETE": "Everything that scores was evaluated",
    "ScoreState.UNAVAILABLE": "Nothing was earned before it broke",
}
"""Meanings for readers of JSON, who do not see the code around a name: of a field of one type, of every field of that
name which has no other, and of words."""


def structs_of(part: str) -> list[Any]:
    """Return the types of the record that a part lists."""
    listed: list[type] = []
    for name, roots in _ROOTS.items():
        found = [cls for cls in _inside(roots) if cls not in listed and not issubclass(cls, Enum)]
        if name == part:
            return found
        listed += found
    raise KeyError(part)


def words_of() -> list[type[Enum]]:
    """Return the closed sets of words that a record may hold."""
    return [cls for cls in _inside([root for roots in _ROOTS.values() for root in roots]) if issubclass(cls, Enum)]


def _inside(roots: Iterable[type]) -> list[type]:
    """Return every struct and enum that is part of the roots, as they are met."""
    found: dict[type, None] = {}

    def visit(kind: msgspec.inspect.Type) -> None:
        if isinstance(kind, msgspec.inspect.EnumType):
            found.setdefault(kind.cls)
        elif isinstance(kind, msgspec.inspect.StructType) and kind.cls not in found:
            found[kind.cls] = None
            for field in kind.fields:
                visit(field.type)
        for part in _parts(kind):
            visit(part)

    for root in roots:
        visit(msgspec.inspect.type_info(root))
    return list(found)


def _parts(kind: msgspec.inspect.Type) -> tuple[msgspec.inspect.Type, ...]:
    """Return what a union or a collection is made of."""
    if isinstance(kind, msgspec.inspect.UnionType):
        return kind.types
    if isinstance(kind, msgspec.inspect.TupleType):
        return kind.item_types
    if isinstance(kind, msgspec.inspect.DictType):
        return (kind.value_type,)
    return (kind.item_type,) if isinstance(kind, msgspec.inspect.CollectionType) else ()


def _fields(part: str) -> str:
    lines: list[str] = []
    for cls in structs_of(part):
        lines += ["", f"### `{cls.__name__}`", "", _prose((cls.__doc__ or "").replace("``", "`")), ""]
        lines += ["| Field | Type | Default | Meaning |", "|---|---|---|---|"]
        if tag := cls.__struct_config__.tag:
            lines.append(_row("`type`", "`str`", "", f"`{tag}`"))
        lines += _field_rows(cls)
    return "\n".join([*lines[1:], ""])


def _field_rows(cls: type) -> Iterator[str]:
    annotations, meanings = _annotated(cls)
    columns = {column.name: column.meaning for column in _columns(_SAME_COLUMNS.get(cls, ""))}
    for field in msgspec.structs.fields(cls):
        key = f"{cls.__name__}.{field.name}"
        meaning = _PLAIN.get(key) or meanings.get(field.name) or columns.get(field.name) or _PLAIN.get(field.name, "")
        yield _row(f"`{field.encode_name}`", f"`{annotations[field.name]}`", _default(field), _markdown(meaning))


def _default(field: Any) -> str:
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory
    if value is msgspec.NODEFAULT:
        return ""
    if isinstance(value, msgspec.Struct):
        return "empty"
    return f"`{msgspec.json.encode(value() if callable(value) else value).decode()}`"


def _columns(table: str) -> tuple[Column, ...]:
    return next((one.columns for one in TABLES if one.name == table), ())


def _words() -> str:
    lines: list[str] = []
    for cls in words_of():
        _, meanings = _annotated(cls)
        lines += ["", f"### `{cls.__name__}`", "", _prose((cls.__doc__ or "").replace("``", "`")), ""]
        lines += ["| Word | Meaning |", "|---|---|"]
        for one in cls:
            meaning = _PLAIN.get(f"{cls.__name__}.{one.name}") or meanings.get(one.name, "")
            lines.append(_row(f"`{one.value}`", _markdown(meaning)))
    return "\n".join([*lines[1:], ""])


def _annotated(cls: type) -> tuple[dict[str, str], dict[str, str]]:
    """Return the annotation of each field as it is written, and the words below it."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    annotations, meanings, name = {}, {}, ""
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            annotations[name] = ast.unparse(node.annotation)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif name and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            meanings[name] = _prose(str(node.value.value))
        else:
            name = ""
    return annotations, meanings


def _markdown(text: str) -> str:
    """Return words of the code for a reader of JSON: one kind of quotes, ``null``, no period in a cell."""
    return re.sub(r"\b(?:None|NULL|null)\b", "`null`", text.replace("``", "`")).removesuffix(".")


def _row(*cells: str) -> str:
    return " ".join(["|", " | ".join(cell.replace("|", "\\|") for cell in cells), "|"])


PARTS: Mapping[str, Callable[[], str]] = {
    "commands": _commands,
    "tables": _tables,
    "words": _words,
    **{part: partial(_fields, part) for part in _ROOTS},
}
"""Name → what makes it."""


if __name__ == "__main__":
    main()
