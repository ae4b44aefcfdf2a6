"""Which work is measured? Small projects, each with one kind of eval, made in a temporary directory."""

from __future__ import annotations

from pathlib import Path

__all__ = ["BIG_CONFIG", "CONFIG", "NOOP", "SHELL", "SLEEP", "SLEEP_SECONDS", "make_project"]

SLEEP_SECONDS = 0.1

CONFIG = """\
max_concurrent = 10

[harness.fake]
script = [[{ reply = "Done." }]]
"""

NOOP = """\
from reeval import Attempt, evaluate, includes


@evaluate("noop", runs=1)
async def noop(c: Attempt) -> None:
    turn = await c.send("Say done, please.")
    c.check(turn.message, includes("Done"))
"""

SLEEP = f"""\
import anyio

from reeval import Attempt, evaluate, includes


@evaluate("sleep", runs=1)
async def sleep(c: Attempt) -> None:
    await anyio.sleep({SLEEP_SECONDS})
    turn = await c.send("Say done, please.")
    c.check(turn.message, includes("Done"))
"""

SHELL = """\
from reeval import Attempt, command_succeeded, evaluate


@evaluate("shell", runs=1)
async def shell(c: Attempt) -> None:
    c.check(await c.exec(COMMAND), command_succeeded())
"""

BIG_CONFIG = CONFIG.replace("Done.", "Done. " + "0123456789abcdef" * 65536)
"""The agent answers with one megabyte."""


def make_project(directory: Path, eval_file: str, *, config: str = CONFIG) -> Path:
    """Write a project with one eval file and return its root."""
    (directory / "evals").mkdir(parents=True)
    (directory / "reeval.config.toml").write_text(config)
    (directory / "evals" / "bench.eval.py").write_text(eval_file)
    return directory
