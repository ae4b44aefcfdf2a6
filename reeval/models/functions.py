"""Which function of the project does ``package.module:name`` or ``path/to/file.py:name`` mean?"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from reeval.errors import InfrastructureError, Phase

__all__ = ["load_function"]


def load_function(written: str, root: Path) -> Callable[..., Any]:
    """Import the function; raise ``InfrastructureError`` (phase ``model``) when there is none.

    A module is looked for from the project's root, too.
    """
    place, _, name = written.rpartition(":")
    try:
        module = _file(root / place) if place.endswith(".py") else _module(place, root)
    except Exception as error:  # noqa: BLE001 - a file of the project may raise anything
        detail = "".join(traceback.format_exception(error))
        raise _problem(written, f"importing it raised {type(error).__name__}: {error}", detail) from None
    function = getattr(module, name, None)
    if not callable(function):
        raise _problem(written, f"there is no function {name!r} in it")
    return function  # type: ignore[no-any-return]  # a callable of whatever shape


def _file(path: Path) -> ModuleType:
    """Run a file as a module of its own, which nothing else imports by its name."""
    spec = importlib.util.spec_from_file_location(f"reeval_model_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def _module(name: str, root: Path) -> ModuleType:
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return importlib.import_module(name)


def _problem(written: str, problem: str, detail: str = "") -> InfrastructureError:
    return InfrastructureError(
        Phase.MODEL, f"the scripted model's function {written!r}: {problem}; correct it", detail=detail
    )
