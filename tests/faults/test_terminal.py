"""What a person sees on a terminal of 40 columns, without color, without a terminal, and with a reader that leaves."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from reeval.report.text import width
from tests.faults.shell import COMMAND, Shell
from tests.faults.test_odd_text import HOSTILE, toml

EVAL = """
import anyio
from reeval import evaluate, equals, group

@group("a group with quite a long name")
def everything():
    @evaluate("greets people by their whole names in 日本語", runs=4)
    async def greets(c):
        turn = await c.send("Go.")
        await anyio.sleep(0.3)
        print(turn.message)
        c.check(c.run, equals(1)).label("is the very first of all the runs that there are")
        c.check(turn.message, equals("fine"))

    @evaluate("breaks")
    async def breaks(c):
        raise LookupError("a reason that does not fit on a line of forty columns at all")
"""
CONFIG = f"""
[harness.a-harness-with-a-long-name]
kind = "fake"
script = [[{{ reply = {toml(HOSTILE)} }}]]
"""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOR = re.compile(r"\x1b\[[0-9;]*m")
STRANGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e]|\x1b\]")
"""What agents wrote: a run itself writes only ends of lines and sequences that begin with ESC [."""


@pytest.fixture(scope="module")
def project(shared: Shell) -> Shell:
    return shared.set_up(CONFIG, greets=EVAL)


def on_a_terminal(shell: Shell, *arguments: str, columns: int = 40, **env: str) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its exit code and all that it wrote there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=shell.root, env={**shell.env, **env}, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    data = b""
    while chunk := _read(ours):
        data += chunk
    os.close(ours)
    return process.wait(timeout=60), data.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody has the other side open
        return b""


def too_wide(text: str, columns: int) -> list[str]:
    """Return the lines that do not fit; commands to copy are never cut."""
    lines = re.split(r"[\r\n]+", CONTROL.sub("", text))
    return [line for line in lines if width(line) > columns and "reeval " not in line and ".reeval/" not in line]


def test_a_run_fits_on_a_terminal_of_40_columns(project: Shell) -> None:
    code, text = on_a_terminal(project, "run")
    assert code == 1
    assert too_wide(text, 40) == []
    assert COLOR.search(text)
    assert not STRANGE.search(text)
    assert "1 passed" not in text
    assert re.search(r"4 failed.*1 error", CONTROL.sub("", text), re.DOTALL)
    hidden, shown = text.rfind("\x1b[?25l"), text.rfind("\x1b[?25h")
    assert hidden < shown, "the cursor is left hidden"


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["show", "breaks@"],
        ["runs"],
        ["query", "SELECT eval, outcome FROM attempts"],
        ["query", "attempts"],
        ["run", "--dry-run"],
    ],
)
def test_every_answer_fits_on_a_terminal_of_40_columns(project: Shell, arguments: list[str]) -> None:
    if not project.runs:
        project.run("run")
    code, text = on_a_terminal(project, *arguments)
    assert code == 0, text
    assert too_wide(text, 40) == []
    assert not STRANGE.search(text)


def test_no_color_means_no_color(project: Shell) -> None:
    code, text = on_a_terminal(project, "run", NO_COLOR="1")
    assert code == 1
    assert not COLOR.search(text)


def test_a_terminal_that_can_do_nothing_gets_plain_lines(project: Shell) -> None:
    code, text = on_a_terminal(project, "run", TERM="dumb", columns=200)
    assert code == 1
    assert "\x1b" not in text
    assert "[5/5]" in text


def test_without_a_terminal_there_are_plain_lines(project: Shell) -> None:
    done = project.run("run")
    assert (done.exit_code, done.stderr) == (1, "")
    assert "\x1b" not in done.stdout
    assert "[5/5]" in done.stdout


def test_an_encoding_that_lacks_letters_gets_escapes(project: Shell) -> None:
    done = project.run("run", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert (done.exit_code, done.stderr) == (1, "")
    assert done.stdout.isascii()
    assert "\\u65e5\\u672c" in done.stdout


@pytest.mark.parametrize("arguments", [["run"], ["run", "-v"], ["run", "--json"]], ids=" ".join)
def test_a_reader_that_leaves_loses_no_record(project: Shell, arguments: list[str]) -> None:
    with project.start(*arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (1, b"")
    assert project.record()["state"] == "completed"
    assert project.totals() == {"planned": 5, "failed": 4, "error": 1}


@pytest.mark.parametrize("arguments", [["show", "--full"], ["query", "attempts"], ["run", "--dry-run"]])
def test_a_reader_that_leaves_is_no_error(project: Shell, arguments: list[str]) -> None:
    if not project.runs:
        project.run("run")
    reading, writing = os.pipe()
    os.close(reading)
    process = project.start(*arguments, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def test_a_stdout_that_is_closed_loses_no_record(project: Shell) -> None:
    done = project.run_program("sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "run")
    assert (done.exit_code, done.stdout) == (1, ""), done
    assert "Traceback" not in done.stderr
    assert project.totals() == {"planned": 5, "failed": 4, "error": 1}
