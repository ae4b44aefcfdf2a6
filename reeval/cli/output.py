"""How does a command print: its width and colors, its errors, and the exit code they lead to?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TextIO

import typer

from reeval.errors import ExitCode, UserError

if TYPE_CHECKING:
    from reeval.report.live.events import JsonReporter
    from reeval.report.live.plain import PlainReporter, Verbosity
    from reeval.report.live.terminal import LiveReporter
    from reeval.report.screen.evidence import RunReader
    from reeval.report.screen.failures import Page
    from reeval.secrets import Masker

__all__ = [
    "guarded",
    "is_live",
    "make_page",
    "make_reporter",
    "print_error",
    "print_lines",
    "print_note",
    "terminal_width",
    "wants_color",
    "writes_unicode",
]

P = ParamSpec("P")
_NARROWEST = 20


def wants_color(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether to color: ``NO_COLOR`` and ``FORCE_COLOR`` decide when they are set, else a capable terminal."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return stream.isatty() and _moves(environ)


def is_live(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether the stream is a terminal that can move its cursor and draw the marks of a live block."""
    return writes_unicode(stream) and stream.isatty() and _moves(environ)


def writes_unicode(stream: TextIO) -> bool:
    """Say whether the stream can write every character."""
    return (stream.encoding or "").lower().startswith("utf")


def _moves(environ: Mapping[str, str]) -> bool:
    return environ.get("TERM", "") not in {"", "dumb"}


def terminal_width(stream: TextIO, environ: Mapping[str, str] = os.environ) -> int | None:
    """Return the cells of a line; None when it is no terminal, where nothing is cut."""
    if not stream.isatty():
        return None
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(_NARROWEST, int(columns))
    try:
        return max(_NARROWEST, os.get_terminal_size(stream.fileno()).columns or 80)
    except (OSError, ValueError):
        return 80


def make_page(stream: TextIO, reader: RunReader | None = None, *, full: bool = False, passing: bool = False) -> Page:
    """Return how reports write to this stream."""
    from reeval.report.screen.failures import Page
    from reeval.report.screen.ink import Ink

    ink = Ink(color=wants_color(stream))
    return Page(ink=ink, cells=terminal_width(stream), reader=reader, full=full, passing=passing)


def make_reporter(
    *,
    masker: Masker,
    reader: RunReader,
    verbosity: Verbosity = "normal",
    as_json: bool = False,
    live: bool = True,
    done: int = 0,
    runs: str = ".reeval/runs",
    budget: float | None = None,
) -> JsonReporter | LiveReporter | PlainReporter:
    """Return who tells the run on stdout: events, a live block, or plain lines where no block can be. Close it.

    ``done`` attempts of the plan have a record already (resume), and will not be told. ``runs``: where records are.
    ``budget``: dollars that may be spent.
    """
    out = sys.stdout
    if as_json:
        from reeval.report.live.events import JsonReporter

        return JsonReporter(out, masker=masker)
    page = make_page(out, reader, passing=verbosity == "verbose")
    if live and verbosity != "quiet" and is_live(out):
        from reeval.report.live.terminal import LiveReporter

        live_block = LiveReporter(out, masker=masker, page=page, verbosity=verbosity, done=done)
        live_block.runs, live_block.budget = runs, budget
        return live_block
    from reeval.report.live.plain import PlainReporter

    plain = PlainReporter(out, masker=masker, page=page, verbosity=verbosity, done=done)
    plain.runs, plain.budget = runs, budget
    return plain


def print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Write lines that are already escaped; what the stream's encoding lacks becomes an escape."""
    stream = stream or sys.stdout
    text = "".join(f"{line}\n" for line in lines)
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def print_error(text: str) -> None:
    """Write ``error: …`` on stderr, escaped, each line of the text on its own."""
    from reeval.report.screen.ink import Ink
    from reeval.report.text import printable

    first, *rest = printable(text)
    ink = Ink(color=wants_color(sys.stderr))
    print_lines([f"{ink('red', 'error:')} {first}", *rest], sys.stderr)


def print_note(text: str) -> None:
    """Write what is no result on stderr, escaped."""
    from reeval.report.text import printable

    print_lines(printable(text), sys.stderr)


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command end with its code and text on an error that the user can fix, with 130 on Ctrl-C.

    A reader that went away (``| head``) ends it in silence: that is the reader's right.
    """

    @wraps(command)
    def outer(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except UserError as error:
            print_error(str(error))
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(ExitCode.OK) from None

    return outer
