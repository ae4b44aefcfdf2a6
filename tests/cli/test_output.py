"""How commands print."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from reeval.cli.output import is_live, print_lines, terminal_width, wants_color
from tests.cli.projects import project, recorded

ROOT = Path(__file__).parents[2]


class Terminal(io.StringIO):
    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:
        return self._encoding

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


@pytest.mark.parametrize(
    ("environ", "terminal", "pipe"),
    [
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ({"TERM": "xterm", "FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_color_is_decided_by_variables_then_by_the_terminal(
    environ: dict[str, str], terminal: bool, pipe: bool
) -> None:
    assert wants_color(Terminal(), environ) is terminal
    assert wants_color(io.StringIO(), environ) is pipe


def test_only_a_capable_terminal_is_live() -> None:
    assert is_live(Terminal(), {"TERM": "xterm"})
    assert not is_live(Terminal(), {"TERM": "dumb"})
    assert not is_live(Terminal("ascii"), {"TERM": "xterm"})
    assert not is_live(io.StringIO(), {"TERM": "xterm"})


@pytest.mark.parametrize(
    ("environ", "cells"), [({"COLUMNS": "40"}, 40), ({"COLUMNS": "5"}, 20), ({"COLUMNS": "x"}, 80), ({}, 80)]
)
def test_the_width_of_a_terminal(environ: dict[str, str], cells: int) -> None:
    assert terminal_width(Terminal(), environ) == cells
    assert terminal_width(io.StringIO(), environ) is None


def test_what_an_encoding_lacks_becomes_an_escape() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_lines(["a › b"], stream)
    assert raw.getvalue() == b"a \\u203a b\n"


def test_an_error_is_on_stderr_escaped_and_exits_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "reeval", "show", "\x1b[31mx"]
    recorded(project(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "\x1b" not in done.stderr


def test_a_reader_that_went_away_ends_a_command_in_silence(tmp_path: Path) -> None:
    recorded(project(tmp_path))
    script = f'"{sys.executable}" -m reeval show | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n", "")
