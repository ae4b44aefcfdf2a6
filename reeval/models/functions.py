"""Which function of the project does ``package.module:name`` mean, and how is a plain one called?"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from reeval.errors import InfrastructureError, Phase

__all__ = ["call_in_daemon", "load_function"]

T = TypeVar("T")
R = TypeVar("R")


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


async def call_in_daemon(function: Callable[[T], R], argument: T) -> R:
    """Call a plain function in a daemon thread, so that one that never returns keeps no process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[R] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not done.done():  # cancelled: nobody waits any more
            set_it(value)

    def work() -> None:
        outcome: tuple[Callable[[Any], None], Any]
        try:
            outcome = done.set_result, function(argument)
        except BaseException as error:  # noqa: BLE001 - it is raised where the call is awaited
            # What would end the loop, or cannot be set, becomes an ordinary error.
            fits = isinstance(error, Exception) and not isinstance(error, StopIteration)
            outcome = done.set_exception, error if fits else RuntimeError(repr(error))
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, name="reeval model function", daemon=True).start()
    return await done
