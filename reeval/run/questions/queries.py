"""What is a model shown of an answer to a data question, beside what the agent said? The query and what it gave."""

from __future__ import annotations

import msgspec

from reeval.run.asking.material import Section
from reeval.schema.options import StateOptions
from reeval.schema.record import AttemptRecord
from reeval.schema.recorded.data import DataRecord, ResultSample

__all__ = ["query_sections"]


def query_sections(record: AttemptRecord, state: StateOptions) -> list[Section]:
    """Return the sections of an attempt whose parts are read back; with ``checks`` the ground truth as well."""
    assert isinstance(record.data, list)  # ``recall`` reads every part back
    return [section for found in record.data for section in _sections(found, truth=bool(state.get("checks")))]


def _sections(found: DataRecord, *, truth: bool) -> list[Section]:
    shown = [Section("Query", found.agent_sql or "(the agent ran no query)")]
    if found.agent is not None:
        shown.append(Section("Result of the query", _result(found.agent)))
    if truth:
        shown.append(Section("Ground truth", found.truth_sql or "(there is none)"))
        shown.append(Section("Assessment", f"{found.reason.value}: {found.analysis}" if found.reason else "pass"))
    return shown


def _result(sample: ResultSample) -> str:
    lines = [msgspec.json.encode(row).decode() for row in (sample.columns, *sample.rows)]
    return "\n".join([*lines, f"({sample.row_count:,} {'row' if sample.row_count == 1 else 'rows'} in all)"])
