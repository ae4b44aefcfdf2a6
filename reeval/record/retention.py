"""What of old runs goes, by the ``[history]`` settings?

``artifacts`` says whose artifacts, logs and what judges and questions were sent stay: every attempt's, those of
attempts that did not pass, or nobody's. ``keep`` says which runs stay: the newest so many, those of some time, or as
many as fit into some space. What a result rests on (journal, record, summary, turns, diffs, checks) stays as long as
its run; a run that is alive always stays.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from reeval.errors import ConfigError
from reeval.record.compile import write_record
from reeval.record.format.parts import attempt_folder, safe_name
from reeval.record.store import RunDirectory, RunStore
from reeval.record.writer import writing
from reeval.schema.record import AttemptRecord, FileRef, Outcome

if TYPE_CHECKING:
    from reeval.plan.config import History

__all__ = ["Drop", "Keep", "apply_retention", "clean_history", "parse_keep", "to_drop"]

_KEEP = re.compile(r"(\d+) ?(d|kB|KB|MB|GB|TB)")
_DAY = 86400
_BYTES = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_FOLDERS = frozenset({"artifacts", "judges", "logs"})
"""Of an attempt."""
_QUESTIONS = "questions"
"""Of an attempt or an eval; no eval's and no attempt's own folder has this name."""
_MODELS = ("judges", _QUESTIONS)
"""What models were sent about an attempt."""
_DID_NOT_PASS = frozenset({Outcome.FAIL, Outcome.ERROR, Outcome.REVIEW})


class Keep(msgspec.Struct, frozen=True, kw_only=True):
    """How much stays: ``amount`` of runs, seconds or bytes."""

    unit: Literal["runs", "seconds", "bytes"]
    amount: float


class Drop(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the settings no longer keep: a whole run, or files of one."""

    run: RunDirectory
    files: tuple[Path, ...] = ()
    """Empty: the whole run."""
    bytes: int
    text: str
    """What a person reads, and what the record says."""


def parse_keep(value: int | str) -> Keep:
    """Read ``history.keep``: a number of runs, an age (``30d``) or a size (``500MB``, ``2GB``)."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return Keep(unit="runs", amount=value)
    found = _KEEP.fullmatch(value) if isinstance(value, str) else None
    if found and found[2] == "d":
        return Keep(unit="seconds", amount=int(found[1]) * _DAY)
    if found:
        return Keep(unit="bytes", amount=int(found[1]) * _BYTES[found[2].lower()])
    raise ConfigError(f"history.keep is {value!r}; write a number of runs (20), an age (30d) or a size (500MB, 2GB)")


def apply_retention(store: RunStore, history: History, run: RunDirectory | None = None) -> list[str]:
    """Drop what the settings no longer keep after ``run`` ended (the newest one by default), and return what went.

    Looks at the artifacts of that run only: those of earlier runs had their turn. Its record says everything.
    """
    runs = store.list()
    latest = run or (runs[0] if runs else None)
    if latest is None:
        return []
    drops = [*_artifacts([latest], history), *_runs(runs, history, kept=latest)]
    texts = [drop.text for drop in drops]
    if drops:
        write_record(latest, texts)  # said first: a crash in between says too much, never too little
    for drop in drops:
        _remove(drop)
    return texts


def to_drop(store: RunStore, history: History) -> list[Drop]:
    """Return everything that the settings no longer keep, of all runs."""
    runs = store.list()
    whole = list(_runs(runs, history, kept=None))
    gone = {drop.run.id for drop in whole}
    return [*whole, *_artifacts([run for run in runs if run.id not in gone], history)]


def clean_history(store: RunStore, history: History) -> list[Drop]:
    """Drop everything that the settings no longer keep, of all runs, and return what went."""
    drops = to_drop(store, history)
    for drop in drops:
        if drop.files:
            write_record(drop.run, [drop.text])
        _remove(drop)
    return drops


# --- artifacts and logs -------------------------------------------------------------------------------


def _artifacts(runs: Iterable[RunDirectory], history: History) -> Iterator[Drop]:
    if history.artifacts == "all":
        return
    for run in runs:
        files = [] if run.is_alive() else list(_droppable(run))
        if not files:
            continue
        keep = _referenced(run) if history.artifacts == "failed" else frozenset()
        gone = tuple(sorted(path for path in files if path.relative_to(run.path).as_posix() not in keep))
        if gone:
            size = sum(path.lstat().st_size for path in gone)
            count = f"{len(gone)} artifact or log file{'' if len(gone) == 1 else 's'}"
            text = f"{run.id}: {count}, {_megabytes(size)} (history.artifacts = {history.artifacts!r})"
            yield Drop(run=run, files=gone, bytes=size, text=text)


def _droppable(run: RunDirectory) -> Iterator[Path]:
    """Yield the files of attempts and questions that no result rests on."""
    for folder, _, names in os.walk(run.path):
        parts = Path(folder).relative_to(run.path).parts
        place = Path(folder)
        if _FOLDERS & set(parts[3:]) or _QUESTIONS in parts:
            yield from (place / name for name in names)


def _referenced(run: RunDirectory) -> frozenset[str]:
    """Return the files of attempts that did not pass."""
    index = run.index()
    slugs = {planned.id: planned.slug for planned in run.plan(index).evals}
    return frozenset(
        file
        for record in run.attempts(index)
        if record.outcome in _DID_NOT_PASS or record.verdict == "fail"
        for file in _files(run, record, attempt_folder(slugs.get(record.eval) or safe_name(record.eval), record))
    )


def _files(run: RunDirectory, record: AttemptRecord, folder: str) -> Iterator[str]:
    yield from (artifact.ref.file for artifact in record.artifacts)
    if isinstance(record.log, FileRef):
        yield record.log.file
    for name in _MODELS:
        yield from (f"{folder}/{name}/{path.name}" for path in (run.path / folder / name).glob("*"))


# --- whole runs ---------------------------------------------------------------------------------------


def _runs(runs: Iterable[RunDirectory], history: History, *, kept: RunDirectory | None) -> Iterator[Drop]:
    """Yield the runs that are too many; ``runs`` come newest first, and ``kept`` stays whatever it is."""
    if history.keep is None:
        return
    keep = parse_keep(history.keep)
    used, now = 0.0, time.time()
    for number, run in enumerate(runs, 1):
        size = _size(run) if keep.unit == "bytes" else 0
        used += size
        measure = {"runs": number, "seconds": now - _made(run), "bytes": used}[keep.unit]
        if measure > keep.amount and run != kept and not run.is_alive():
            used -= size
            size = size or _size(run)
            text = f"run {run.id}, {_megabytes(size)} (history.keep = {history.keep!r})"
            yield Drop(run=run, bytes=size, text=text)


def _made(run: RunDirectory) -> float:
    """Return when a run began, in seconds since 1970: its id says it, else its journal's file."""
    try:
        return datetime.strptime(run.id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return run.journal.stat().st_mtime


def _size(run: RunDirectory) -> int:
    return sum((Path(folder) / name).lstat().st_size for folder, _, names in os.walk(run.path) for name in names)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


# --- removing -----------------------------------------------------------------------------------------


def _remove(drop: Drop) -> None:
    if not drop.files:
        _remove_run(drop.run)
        return
    for path in drop.files:
        with writing(path):
            path.unlink(missing_ok=True)
    for folder in {path.parent for path in drop.files}:
        if not any(folder.iterdir()):
            folder.rmdir()


def _remove_run(run: RunDirectory) -> None:
    """Take a run out of sight in one step, then remove it; a run that came alive since stays."""
    with writing(run.path):
        fd = os.open(run.journal, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            hidden = run.path.with_name(f".dropped-{run.id}")
            run.path.rename(hidden)
        except BlockingIOError:
            return
        finally:
            os.close(fd)
        shutil.rmtree(hidden)
