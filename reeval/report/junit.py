"""How does a CI system read a run? ``--junit FILE``: a suite for each eval file, a test case for each attempt.

An attempt that did not pass but decides nothing is a skipped case with the reason: as a failure it would turn a run red
that exits with 0, and as a pass it would lie. What did not run when the run ended is one skipped case of its eval.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from reeval.errors import RecordError
from reeval.report.screen.evidence import RunReader, checks_of, is_failing, silent_of
from reeval.report.screen.failures import Page, failure_lines, headline
from reeval.report.screen.numbers import plural
from reeval.schema.record import AttemptEntry, EvalRecord, Outcome, RunRecord

__all__ = ["DETAILED", "junit_lines", "write_junit"]

DETAILED = 1_000
"""Failing attempts whose checks and logs are in the file; later ones have only their reason."""
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even as a reference."""


def write_junit(path: Path, record: RunRecord, reader: RunReader) -> None:
    """Write the file whole or not at all; raise ``RecordError`` when it cannot be written."""
    path = path.absolute()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="\n") as out:
            _put(out, junit_lines(record, reader))
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise RecordError(f"{path}: the JUnit file cannot be written: {error.strerror or error}") from error


def _put(out: TextIO, lines: Iterator[str]) -> None:
    out.writelines(line + "\n" for line in lines)


def junit_lines(record: RunRecord, reader: RunReader) -> Iterator[str]:
    """Yield the document line by line."""
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield f"<testsuites name={_attribute(f'reeval {record.run_id}')} {_counts(record.evals)}>"
    detailed = 0
    by_file = sorted(record.evals, key=lambda planned: planned.file)
    for file, group in groupby(by_file, key=lambda planned: planned.file):
        evals = list(group)
        yield f"<testsuite name={_attribute(file)} {_counts(evals)}>"
        for planned in evals:
            if planned.mode != "run":
                yield from _skipped(planned, planned.name, planned.skip_reason or planned.mode)
            kinds = _kinds(planned)
            for entry in planned.attempts:
                kind = kinds.get(entry.attempt)
                detailed += kind in {"failure", "error"}
                yield from _case(planned, entry, kind, reader if detailed <= DETAILED else None)
            if count := _not_run(planned):
                name = f"{planned.name}: {plural(count, 'attempt')} not run"
                yield from _skipped(planned, name, "the run ended before")
        yield "</testsuite>"
    yield "</testsuites>"


def _counts(evals: Sequence[EvalRecord]) -> str:
    entries = [entry for planned in evals for entry in planned.attempts]
    listed = sum(planned.mode != "run" or _not_run(planned) > 0 for planned in evals)
    kinds = [kind for planned in evals for kind in _kinds(planned).values()]
    numbers = {
        "tests": len(entries) + listed,
        "failures": kinds.count("failure"),
        "errors": kinds.count("error"),
        "skipped": kinds.count("skipped") + listed,
        "time": f"{sum(entry.duration for entry in entries):.3f}",
    }
    return " ".join(f'{name}="{value}"' for name, value in numbers.items())


def _kinds(planned: EvalRecord) -> dict[str, str]:
    """Return what each attempt that is no plain pass is to JUnit."""
    silent = {entry.attempt for entry in silent_of(planned)}
    kinds = {}
    for entry in planned.attempts:
        if entry.outcome is Outcome.ERROR:
            kinds[entry.attempt] = "error"
        elif entry.outcome is Outcome.SKIPPED or entry.attempt in silent:
            kinds[entry.attempt] = "skipped"
        elif is_failing(entry):
            kinds[entry.attempt] = "failure"
    return kinds


def _not_run(planned: EvalRecord) -> int:
    ran = sum(cell.decided + cell.scored + cell.error + cell.skipped for cell in planned.cells)
    return max(0, sum(cell.planned for cell in planned.cells) - ran)


def _skipped(planned: EvalRecord, name: str, why: str) -> Iterator[str]:
    yield _opening(planned, name, 0.0, closed=False)
    yield f"<skipped message={_attribute(why)}/>"
    yield "</testcase>"


def _case(planned: EvalRecord, entry: AttemptEntry, kind: str | None, reader: RunReader | None) -> Iterator[str]:
    name = f"{planned.name} @ {entry.attempt}"
    yield _opening(planned, name, entry.duration, closed=kind is None)
    if kind is None:
        return
    if kind == "skipped":
        said = f" ({entry.said})" if entry.said else ""
        reason = f"it did not pass{said}, which decides nothing here" if is_failing(entry) else entry.reason or ""
        yield f"<skipped message={_attribute(reason)}/>"
    else:
        yield from _details(kind, entry, reader)
    yield "</testcase>"


def _opening(planned: EvalRecord, name: str, duration: float, *, closed: bool) -> str:
    group = " › ".join((planned.file, *planned.path[:-1]))
    end = "/>" if closed else ">"
    return f'<testcase classname={_attribute(group)} name={_attribute(name)} time="{duration:.3f}"{end}'


def _details(kind: str, entry: AttemptEntry, reader: RunReader | None) -> Iterator[str]:
    if reader is None:
        yield f"<{kind} message={_attribute(entry.said or entry.outcome.value)}/>"
        return
    record = reader.attempt_at(*entry.line)
    why = entry.said if entry.analysis else headline(record, checks_of(record, reader)) or entry.outcome.value
    text = "\n".join(failure_lines(record, Page(reader=reader), 0))
    yield f"<{kind} message={_attribute(why)}>{_legal(escape(text))}</{kind}>"


def _attribute(text: str) -> str:
    return _legal(quoteattr(text[:500]))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
