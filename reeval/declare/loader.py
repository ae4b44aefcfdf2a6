"""Which eval files are there, and what does each declare?"""

from __future__ import annotations

import ast
import glob
import importlib
import os
import traceback
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from reeval.declare.drafts import Collector, collecting
from reeval.declare.freeze import freeze
from reeval.declare.source.digest import TaskDigests
from reeval.declare.source.modules import import_eval, put_root_on_path
from reeval.errors import DeclarationError
from reeval.schema.spec import FileSpec

__all__ = ["find_eval_files", "load_file", "load_files"]

_PACKAGE = str(Path(__file__).parents[1])
_FRAMES = 12
"""Frames of a traceback that are shown."""

_loaded: dict[tuple[Path, str], tuple[tuple[int, int], FileSpec]] = {}
"""What was loaded in this process, by root and path, with the file's time and size."""


def find_eval_files(root: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the files under ``root`` that match a glob (``**``: any folders), sorted, with ``/``.

    Hidden folders are left out unless the pattern names them.
    """
    found: set[str] = set()
    for pattern in patterns:
        if PurePosixPath(pattern).is_absolute() or ".." in PurePosixPath(pattern).parts:
            raise DeclarationError(f"the pattern {pattern!r} leaves the project; write it from the project's root")
        paths = glob.glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207 - Path.glob goes into hidden folders
        found |= {path for path in paths if (root / path).is_file()}
    return tuple(sorted(path.replace(os.sep, "/") for path in found))


def load_files(root: Path, paths: Sequence[str]) -> tuple[FileSpec, ...]:
    """Return what the files declare, in order; raise one ``DeclarationError`` that reports every bad file."""
    specs: list[FileSpec] = []
    problems: list[str] = []
    for path in paths:
        try:
            specs.append(load_file(root, path))
        except DeclarationError as error:
            problems.append(str(error))
    if problems:
        raise DeclarationError("\n\n".join(problems))
    return tuple(specs)


def load_file(root: Path, path: str) -> FileSpec:
    """Return what one file declares: its ``path`` from ``root``, with ``/``.

    An unchanged file is loaded once in a process. Raises ``DeclarationError``, which names the file, the line and,
    where the file raised, the traceback.
    """
    root = root.resolve()
    try:
        status = (root / path).stat()
    except OSError as error:
        raise DeclarationError(f"{path}: {error.strerror or error}") from None
    stamp = status.st_mtime_ns, status.st_size
    known = _loaded.get((root, path))
    if known is None or known[0] != stamp:
        known = stamp, _load(root, path)
        _loaded[root, path] = known
    return known[1]


def _load(root: Path, path: str) -> FileSpec:
    into = Collector(root, path)
    put_root_on_path(root)
    importlib.invalidate_caches()
    try:
        with collecting(into):
            module = import_eval(root, path)
        return freeze(into, TaskDigests(into, module).task)
    except (Exception, SystemExit) as error:
        raise DeclarationError(_report(error, root, path)) from error


def _report(error: BaseException, root: Path, path: str) -> str:
    """Say where and why a file could not be loaded."""
    if not isinstance(error, DeclarationError):
        return f"{path}: the file does not import\n{_trimmed(error, root)}"
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_project(frame.filename, root)]
    if str(error).startswith(f"{path}:") or not ours:
        return str(error)
    return f"{_relative(ours[-1].filename, root)}:{ours[-1].lineno}: {error}"


def _trimmed(error: BaseException, root: Path) -> str:
    """Return the traceback without the frames of reeval and of the import system."""
    told = traceback.TracebackException.from_exception(error, compact=True)
    if isinstance(error, SyntaxError):
        told.filename = _relative(error.filename or "", root)
    each: traceback.TracebackException | None = told
    while each is not None:
        kept = [frame for frame in each.stack if not _is_machinery(frame.filename)][-_FRAMES:]
        each.stack = traceback.StackSummary.from_list(
            [(_relative(frame.filename, root), frame.lineno or 0, frame.name, frame.line) for frame in kept]
        )
        each = each.__cause__ or each.__context__
    return "".join(told.format()).rstrip()


def _is_machinery(filename: str) -> bool:
    # What reeval parses a file with is named in a syntax error, as if it were the file's own doing.
    return filename == ast.__file__ or filename.startswith((f"{_PACKAGE}{os.sep}", "<frozen importlib"))


def _is_project(filename: str, root: Path) -> bool:
    return filename.startswith(f"{root}{os.sep}") and not _is_machinery(filename)


def _relative(filename: str, root: Path) -> str:
    return filename.removeprefix(f"{root}{os.sep}").replace(os.sep, "/")
