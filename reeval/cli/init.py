"""``reeval init``: start a project, and overwrite nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reeval.cli.output import guarded, print_lines

__all__ = ["init"]

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="Where; it is made when it is not there.")]


@guarded
def init(directory: Directory = Path()) -> None:
    """Start a project: a config, one environment, one eval that runs offline. Nothing is overwritten.

    \b
    reeval init
    reeval init my-evals
    """
    from reeval.cli.starter import FILES
    from reeval.errors import UsageError

    try:
        lines = [_place(directory / path, path, text) for path, text in FILES.items()]
        lines.append(_ignore(directory / ".gitignore"))
    except OSError as error:
        raise UsageError(f"{error.filename or directory}: cannot be written: {error.strerror}") from error
    print_lines([*lines, "", "next", *_next(directory)])


def _place(target: Path, name: str, text: str) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with target.open("x", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except FileExistsError:
        return f"left alone  {name}: it is there already"
    return f"made        {name}"


def _ignore(target: Path) -> str:
    """Add a line to ``.gitignore`` unless records are ignored already."""
    from reeval.cli.starter import IGNORED

    before = target.read_text(encoding="utf-8", errors="surrogateescape") if target.is_file() else ""
    forms = {IGNORED, IGNORED.rstrip("/"), f"/{IGNORED}", f"/{IGNORED.rstrip('/')}"}
    if forms & {line.strip() for line in before.splitlines()}:
        return f"left alone  .gitignore: it has {IGNORED} already"
    gap = "" if not before or before.endswith("\n") else "\n"
    with target.open("a", encoding="utf-8", newline="\n") as out:
        out.write(f"{gap}{IGNORED}\n")
    return f"added       .gitignore: {IGNORED}"


def _next(directory: Path) -> list[str]:
    import shlex

    steps = ["reeval run --dry-run", "reeval run", "reeval show"]
    if directory.resolve() != Path.cwd().resolve():
        steps.insert(0, f"cd {shlex.quote(str(directory))}")
    return [f"  {step}" for step in steps]
