"""``reeval doctor``: what works on this machine and in this project, and how is the rest mended?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from reeval.cli.output import guarded, make_page, print_lines
from reeval.errors import ExitCode

if TYPE_CHECKING:
    from reeval.cli.project import Project
    from reeval.plan.config import Config
    from reeval.report.screen.failures import Page
    from reeval.schema.plan import Plan

__all__ = ["Finding", "doctor", "findings"]

_LITTLE_DISK = 1_000_000_000
_NO_DISK = 50_000_000
_GIT_SECONDS = 10.0
_HISTORY_MAGIC = b"DUCK"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "broken"]
    """``broken``: runs do not work without it. ``warn``: something is missing that not everyone needs."""
    text: str
    mend: str = ""


@guarded
def doctor() -> None:
    """Look at this machine and this project, from the sandboxes to the keys, and say how to mend what is wrong.

    \b
    reeval doctor

    Exit code 1 says that something is broken which every run needs; warnings do not change it.
    """
    import sys

    found = list(findings(Path.cwd()))
    page = make_page(sys.stdout)
    print_lines([line for finding in found for line in _lines(finding, page)])
    if any(finding.state == "broken" for finding in found):
        raise typer.Exit(ExitCode.GATE)


def findings(start: Path) -> Iterator[Finding]:
    """Look at everything, one thing at a time; nothing is changed."""
    from reeval.cli.project import open_project
    from reeval.errors import ConfigError
    from reeval.plan.config import CONFIG_NAME, find_root

    yield _python()
    yield _git()
    yield _isolation()
    try:
        root = find_root(start)
    except ConfigError:
        yield _disk(start)
        yield Finding("config", "warn", f"no {CONFIG_NAME} here or above", "start a project: reeval init")
        return
    yield _disk(root)
    try:
        project = open_project(root)
    except ConfigError as error:
        yield Finding("config", "broken", str(error), f"mend {CONFIG_NAME}; reeval check says when it is right")
    else:
        yield from _engine(project.config, root)
        yield Finding("config", "ok", str(root / CONFIG_NAME))
        yield from _evals(project)
        yield from _agents(project)
    yield _records(root)
    yield _history(root)


def _python() -> Finding:
    import platform
    import sys

    from reeval.version import __version__

    return Finding("python", "ok", f"{platform.python_version()} at {sys.executable}, reeval {__version__}")


def _git() -> Finding:
    import subprocess

    mend = "install git: apt install git, dnf install git, or xcode-select --install"
    try:
        done = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=_GIT_SECONDS, check=True)
    except FileNotFoundError:
        return Finding("git", "broken", "not found; it tells what an agent changed", mend)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("git", "broken", f"does not run: {error}", mend)
    return Finding("git", "ok", done.stdout.strip().removeprefix("git version "))


def _isolation() -> Finding:
    from reeval.sandboxes.local.bubblewrap import problem

    if (why := problem()) is None:
        return Finding("sandbox", "ok", "bubblewrap isolates attempts")
    mend = 'real agents need it; isolation = "prefer" in [sandbox.local] runs them in a plain directory instead'
    return Finding("sandbox", "warn", why, mend)


def _engine(config: Config, root: Path) -> Iterator[Finding]:
    from reeval.cli.engines import engine_state, image_problem, leftovers
    from reeval.report.screen.numbers import plural

    tables = {name: table for name, table in config.sandboxes.items() if table.get("kind", name) == "docker"}
    if not tables:
        return
    answers, text = engine_state()
    left = leftovers(root) if answers else []
    if left:
        yield Finding("engine", "warn", f"{text}; killed runs left {plural(len(left), 'thing')}", "reeval clean")
    else:
        yield Finding("engine", "ok" if answers else "warn", text)
    for name, table in tables.items() if answers else ():
        image = table.get("image") or table.get("dockerfile")
        problem = image_problem(name, table, root)
        yield Finding("image", "warn" if problem else "ok", problem or f"{image} for [sandbox.{name}]")


def _disk(place: Path) -> Finding:
    import shutil
    import tempfile

    from reeval.report.screen.numbers import count

    free = {where: shutil.disk_usage(where).free for where in {place, Path(tempfile.gettempdir())}}
    where, least = min(free.items(), key=lambda pair: pair[1])
    text = f"{count(least)}B free at {where}"
    if least < _NO_DISK:
        return Finding("disk", "broken", text, "free some space; reeval clean removes what old runs left")
    if least < _LITTLE_DISK:
        return Finding("disk", "warn", text, "reeval clean removes what old runs left")
    return Finding("disk", "ok", text)


def _evals(project: Project) -> Iterator[Finding]:
    """Plan everything, and look for the keys and secrets that it needs."""
    import os

    from reeval.cli.access import access_problems
    from reeval.cli.check import plans_of
    from reeval.errors import SelectionError, UserError
    from reeval.report.screen.numbers import plural

    try:
        plans = plans_of(project)
    except SelectionError as error:
        yield Finding("evals", "warn", str(error))
        return
    except UserError as error:
        first = str(error).splitlines()[0]
        yield Finding("evals", "warn", first, "reeval check says all that is wrong")
        return
    evals = [planned for plan in plans for planned in plan.evals]
    files = {planned.file for planned in evals}
    yield Finding("evals", "ok", f"{plural(len(evals), 'eval')} in {plural(len(files), 'file')}")
    for line in dict.fromkeys(line for plan in plans for line in access_problems(plan, project.catalog, os.environ)):
        yield Finding("key", "warn", line)
    for line in sorted({line for plan in plans for line in _keys(plan)}):
        yield Finding("key", "ok", line)


def _keys(plan: Plan) -> Iterator[str]:
    import os

    from reeval.models.checks import key_variable

    for model in plan.models.values():
        if variable := key_variable(model, os.environ):
            yield f"{variable} is set, for {model.name}"


def _agents(project: Project) -> Iterator[Finding]:
    from reeval.errors import UserError
    from reeval.plan.parts.harnesses import COMMON
    from reeval.schema.plan import PlannedHarness

    for name, table in project.config.harnesses.items():
        kind = project.catalog.harnesses.get(table.get("kind", name))
        if kind is None:
            continue
        options = {key: value for key, value in table.items() if key not in COMMON}
        try:
            found = kind.readiness(PlannedHarness(id=name, kind=kind.name, options=options))
        except UserError as error:
            yield Finding("agent", "warn", str(error), "reeval check says when the table is right")
            continue
        if found is not None:
            yield Finding("agent", "ok" if found.ready else "warn", f"{name}: {found.text}", found.mend)


def _records(root: Path) -> Finding:
    import os

    from reeval.record.store import RunStore
    from reeval.report.screen.numbers import plural

    store = RunStore(root)
    place = store.directory if store.directory.exists() else root
    if not os.access(place, os.W_OK | os.X_OK):
        return Finding("records", "broken", f"{place} cannot be written", "give yourself the right to write there")
    return Finding("records", "ok", f"{plural(len(store.list()), 'run')} in {store.runs}")


def _history(root: Path) -> Finding:
    history = root / ".reeval" / "history.duckdb"
    try:
        with history.open("rb") as file:
            head = file.read(12)
    except FileNotFoundError:
        return Finding("history", "ok", "none yet; the first run or query makes it")
    except OSError as error:
        return Finding("history", "warn", f"{history} cannot be read: {error.strerror}", "mend its permissions")
    if head[8:] != _HISTORY_MAGIC:
        return Finding("history", "warn", f"{history} is damaged", "the next query builds it again from the records")
    return Finding("history", "ok", str(history))


def _lines(finding: Finding, page: Page) -> list[str]:
    style = {"ok": "green", "warn": "yellow", "broken": "red"}[finding.state]
    first, *rest = page.lines(finding.text, 20, 18)
    lines = [f"{page.ink(style, finding.state.ljust(6))}  {finding.name.ljust(8)}  {first.lstrip()}", *rest]
    return lines + (page.lines(finding.mend, 10, 18, style="bold") if finding.mend else [])
