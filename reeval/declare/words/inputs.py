"""``load_text`` and ``load_json``: which files of the project does an eval know and the agent never sees?"""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path
from typing import Any

from reeval.declare.drafts import collector
from reeval.declare.source.modules import MODULE_PREFIX
from reeval.errors import DeclarationError, UsageError

__all__ = ["load_json", "load_text"]


def load_text(path: str | Path) -> str:
    """Return a UTF-8 file of the project, by its path from the root: a hidden test, a reference solution.

    It is read while the eval file is, becomes part of the eval's identity, and is never shown to the agent.
    Raises ``DeclarationError``; ``UsageError`` inside a body.
    """
    return _read(path, "load_text")


def load_json(path: str | Path) -> Any:
    """Return the JSON data of a file of the project, read as ``load_text`` reads it."""
    text = _read(path, "load_json")
    try:
        return json.loads(text)
    except ValueError as error:
        raise DeclarationError(f"load_json({str(path)!r}): it is not JSON: {error}") from None


def _read(path: str | Path, call: str) -> str:
    into = collector()
    if into is None and _in_a_body():
        raise UsageError(
            f"{call}({str(path)!r}) stands in a body; move it out, so that the eval's identity knows the file"
        )
    root = Path.cwd() if into is None else into.root
    what = f"{call}({str(path)!r})"
    file = (root / path).resolve()
    if not file.is_relative_to(root.resolve()):
        raise DeclarationError(f"{what}: {file} is outside the project {root}; paths start at the project's root")
    try:
        data = file.read_bytes()
        text = data.decode()
    except FileNotFoundError:
        raise DeclarationError(f"{what}: there is no file {file}; paths start at the project's root") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{what}: {error}") from None
    if into is not None:
        into.remember(file.relative_to(root.resolve()).as_posix(), hashlib.sha256(data).hexdigest())
    return text


def _in_a_body() -> bool:
    """Say whether an eval file called this after it was read."""
    frame = inspect.currentframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(MODULE_PREFIX):
            return True
        frame = frame.f_back
    return False
