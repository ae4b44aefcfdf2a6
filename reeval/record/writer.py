"""How do results get onto the disk, so that a finished attempt survives whatever comes next?

Each line is appended by one ``write`` before the attempt is reported; a thread syncs at least every second.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

from reeval.errors import RecordError
from reeval.record.format import parts
from reeval.record.format.journal import Span, encode_line, whole_size
from reeval.record.format.masking import rewrite_line, without_surrogates
from reeval.schema.plan import PlannedAttempt, PlannedEval
from reeval.schema.record import AttemptRecord, FileRef, JournalLine, RunEnd, RunStart, Superseded
from reeval.schema.recorded.answers import AnswerRecord, PairRecord
from reeval.secrets import Masker

if TYPE_CHECKING:
    from reeval.record.store import RunDirectory

__all__ = ["RunWriter", "writing"]

_sync_data = getattr(os, "fdatasync", os.fsync)
_SYNC_EVERY = 0.8
"""Seconds."""
_LOCK_PATIENCE = 1.0
"""Seconds: a reader that asks whether the run is alive holds the lock for a moment."""
_NEXT_STEP = {
    errno.ENOSPC: "free some space, then {}",
    errno.EDQUOT: "free some of your quota, then {}",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f), then {}",
    errno.EROFS: "records need a place that can be written; run in a copy of the project",
    errno.EACCES: "records need a place that you may write; mend its permissions",
    errno.EPERM: "records need a place that you may write; mend its permissions",
}


@contextmanager
def writing(path: Path, then: str = "resume the run") -> Iterator[None]:
    """Turn an ``OSError`` of the block into a ``RecordError`` that names ``path`` and the next step, ``then``."""
    try:
        yield
    except OSError as error:
        step = _NEXT_STEP.get(error.errno or 0, "mend that, then {}").format(then)
        reason = error.strerror or str(error)
        raise RecordError(f"{path}: cannot be written: {reason.lower()}; {step}") from error


class RunWriter:
    """The journal of one run, open for appending and locked; made by ``RunStore.create`` or ``RunStore.resume``.

    Every text it writes is masked. Every method raises ``RecordError`` when the disk refuses; then nothing is
    half-written, and what was written before still counts.
    """

    def __init__(self, run: RunDirectory, masker: Masker, slugs: dict[str, str] | None = None) -> None:
        self.directory = run.path
        self.path = run.journal
        self._run = run
        self._masker = masker
        self._slugs = slugs or {}
        self._asked: frozenset[str] = frozenset()
        """Evals with questions: where their attempts stand is remembered, since they are read back."""
        self._spans: dict[tuple[str, str], Span] = {}
        self._guard = Lock()
        self._unsynced: deque[Path] = deque()
        self._dirty = False
        self._sync_error: OSError | None = None
        with writing(self.path):
            self._fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._lock()
            with writing(self.path):
                self._size = whole_size(self.path)
                os.ftruncate(self._fd, self._size)
        except BaseException:
            os.close(self._fd)
            raise
        self._stop = Event()
        self._syncer = Thread(target=self._keep_synced, name="reeval-sync", daemon=True)
        self._syncer.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self, start: RunStart) -> None:
        """Write the head of the journal; on a resume with a changed plan, the plan that counts from here on."""
        if self._masker:
            start = rewrite_line(start, self._masker.text)
        evals = start.plan.get("evals", ())
        self._slugs = {one["id"]: one["slug"] for one in evals if "slug" in one}
        self._asked = frozenset(one["id"] for one in evals if one.get("questions"))
        self._append(start)
        self._sync()

    def attempt(self, record: AttemptRecord) -> AttemptRecord:
        """Append a finished attempt, big parts as files; return it as it stands in the journal."""
        if self._masker:
            record = rewrite_line(record, self._masker.text)
        try:
            line = encode_line(record)
        except (ValueError, TypeError, RecursionError):
            record = rewrite_line(record, without_surrogates)
            line = encode_line(record)
        if len(line) <= parts.PART_LIMIT:
            span = self._write(line)
        else:
            record, span = self._attempt_with_parts(record)
        if record.eval in self._asked:
            self._spans[record.eval, record.attempt] = span
        return record

    def artifact(self, attempt: PlannedAttempt, name: str, data: bytes) -> FileRef:
        """Keep one file of an attempt; ``name`` becomes safe, and the data ends at ``FILE_LIMIT`` bytes."""
        data, cut = parts.cut_bytes(self._masker.data(data))
        folder = parts.attempt_folder(attempt.eval.slug, attempt)
        return self._store(f"{folder}/artifacts/{parts.safe_name(self._masker.text(name))}", data, cut)

    def document(self, of: PlannedAttempt | PlannedEval, path: str, data: bytes) -> FileRef:
        """Keep what a model was sent and answered; ``path`` is one of ours: ``questions/1.json``."""
        data, cut = parts.cut_bytes(self._masker.data(data))
        if isinstance(of, PlannedAttempt):
            folder = parts.attempt_folder(of.eval.slug, of)
        else:
            folder = parts.folder(*of.slug.split("/"))
        return self._store(f"{folder}/{path}", data, cut)

    def answer(self, record: AnswerRecord | PairRecord) -> None:
        """Append what a model answered to a question."""
        self._append(rewrite_line(record, self._masker.text) if self._masker else record)

    def recall(self, attempt: PlannedAttempt) -> AttemptRecord:
        """Return a finished attempt of an eval with questions, every part read back; any thread may call it."""
        return self._run.whole(self._run.attempt_at(*self._span(attempt)))

    def part(self, ref: FileRef) -> bytes:
        """Return the content of a file of this run."""
        return self._run.part(ref)

    def supersede(self, eval_id: str, reason: str) -> None:
        """Say that earlier attempts of this eval no longer count."""
        self._append(rewrite_line(Superseded(eval=eval_id, reason=reason), self._masker.text))

    def end(self, end: RunEnd) -> None:
        """Say that the run stopped, and put everything on the disk."""
        self._append(rewrite_line(end, self._masker.text))
        self._sync()

    def close(self) -> None:
        """Sync what is left and give up the lock; a run that never began leaves no trace. Twice does nothing."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._syncer.join()
        try:
            self._sync()
        finally:
            if self._size == 0:
                with suppress(OSError):
                    self.path.unlink()
                    self.directory.rmdir()
            os.close(self._fd)

    def _span(self, attempt: PlannedAttempt) -> Span:
        key = (attempt.eval.id, attempt.id)
        if key not in self._spans:  # it finished before this run was resumed
            index = self._run.index()
            before = {(id, one): span for id, attempts in index.attempts.items() for one, span in attempts.items()}
            self._spans = before | self._spans
        if key not in self._spans:
            raise RecordError(f"{self.directory.name}: {attempt.key} has no record; resume the run to run it")
        return self._spans[key]

    def _attempt_with_parts(self, record: AttemptRecord) -> tuple[AttemptRecord, Span]:
        folder = parts.attempt_folder(self._slugs.get(record.eval) or parts.safe_name(record.eval), record)
        stored: list[Path] = []

        def keep(name: str, data: bytes, cut: bool) -> FileRef:
            ref = self._store(f"{folder}/{name}", data, cut)
            stored.append(self.directory / ref.file)
            return ref

        try:
            record = parts.with_parts_as_files(record, keep)
            span = self._append(record)
        except BaseException:
            for path in stored:
                path.unlink(missing_ok=True)
            raise
        return record, span

    def _store(self, file: str, data: bytes, cut: bool) -> FileRef:
        with writing(self.directory / file):
            (self.directory / file).parent.mkdir(parents=True, exist_ok=True)
            path, fd = _create(self.directory, file)
        try:
            with writing(path), os.fdopen(fd, "wb", buffering=0) as out:
                view = memoryview(data)
                while view:
                    view = view[out.write(view) :]
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._unsynced.append(path)
        name = path.relative_to(self.directory).as_posix()
        return FileRef(file=name, bytes=len(data), sha256=sha256(data).hexdigest(), truncated=cut)

    def _append(self, line: JournalLine) -> Span:
        try:
            data = encode_line(line)
        except (ValueError, TypeError, RecursionError):
            data = encode_line(rewrite_line(line, without_surrogates))
        return self._write(data)

    def _write(self, line: bytes) -> Span:
        data = line + b"\n"
        with self._guard:
            if self._sync_error is not None:
                with writing(self.path):
                    raise self._sync_error
            try:
                rest = data
                while rest := rest[os.write(self._fd, rest) :]:
                    pass  # a short write: the next one goes on, or says why it cannot
            except OSError:
                with writing(self.path):
                    with suppress(OSError):  # readers pass over a torn line, and the first error is the one to tell
                        os.ftruncate(self._fd, self._size)
                    raise
            span = Span(self._size, len(line))
            self._size += len(data)
            self._dirty = True
        return span

    def _lock(self) -> None:
        deadline = time.monotonic() + _LOCK_PATIENCE
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise RecordError(
                        f"{self.directory.name}: another process is writing this run; wait for its end, or stop it"
                    ) from None
                time.sleep(0.02)
            except OSError:
                return  # a file system without locks

    def _keep_synced(self) -> None:
        while not self._stop.wait(_SYNC_EVERY):
            if self._dirty:
                try:
                    self._flush()
                except OSError as error:
                    self._sync_error = error
                    return

    def _sync(self) -> None:
        with writing(self.path):
            self._flush()

    def _flush(self) -> None:
        # Cleared first: a line that comes in between is flushed again, never forgotten.
        self._dirty = False
        while self._unsynced:
            path = self._unsynced.popleft()
            with suppress(FileNotFoundError):
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(fd)
                finally:
                    os.close(fd)
        _sync_data(self._fd)


def _create(directory: Path, file: str) -> tuple[Path, int]:
    """Open a new file, numbered when there is one of that name: an earlier try of the attempt, kept on a resume."""
    for number in count(1):
        path = directory / parts.numbered(file, number)
        with suppress(FileExistsError):
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    raise AssertionError(file)
