"""The live block on a real terminal: a pseudo-terminal with a program that draws on it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys, time
from tests.report.records import *
from reeval.cli.output import make_reporter
from reeval.schema.data.questions import DataQuestion
from reeval.schema.plan import planned_attempts
from reeval.secrets import Masker
reporter = make_reporter(masker=Masker(["hunter22"]), reader=Reader(), verbosity=sys.argv[1])
two = plan(planned("greets by name", runs=2), planned("adds 名前"))
reporter.run_started(two, start(), ["sandbox hunter22"])
attempts = list(planned_attempts(two))
for one in attempts:
    reporter.attempt_started(one)
time.sleep(0.4)
for one in attempts:
    failing = one.eval.name.startswith("adds")
    record = failed_attempt if failing else attempt
    reporter.attempt_finished(one, record(eval=one.eval.id, attempt=one.id))
reporter.warning(HOSTILE)
done = [evaluated("greets by name", cell(passed=2)), evaluated("adds 名前", cell(failed=1, gate=gate(holds=False)))]
reporter.run_finished(run(*done, evaluated("later", mode="todo")), [failed_attempt(eval=done[1].id)])
reporter.close()
"""


def drawn(verbosity: str = "normal", columns: int = 80, script: str = SCRIPT, **env: str) -> str:
    """Return everything that the program wrote to its terminal."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    child = subprocess.Popen(
        [sys.executable, "-c", script, verbosity],
        stdin=side, stdout=side, stderr=side, cwd=ROOT, env={**kept, "TERM": "xterm-256color", **env},
    )  # fmt: skip
    os.close(side)
    text, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([main], [], [], 0.5)[0]:
            continue
        try:
            data = os.read(main, 65_536)
        except OSError:  # Linux: the other side is closed
            break
        if not data:
            break
        text += data
    os.close(main)
    assert child.wait(timeout=10) == 0, text.decode()
    return text.decode()


def words(text: str) -> str:
    """Leave out colors and cursor movements; going back to the start of a line begins a new one."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r\n", "\n").replace("\r", "\n")


def test_results_scroll_above_a_block_that_is_gone_at_the_end() -> None:
    text = words(drawn())
    assert "0 of 3 done · 3 running" in text
    assert "[3/3] fail  " not in text.partition("0 of 3 done")[0]
    assert re.search(r"^pass greets by name  2 of 2 · 0.34 s$", text, re.MULTILINE)
    assert text.index("pass greets by name") < text.index("failures")
    assert text.rstrip().endswith("reeval run --last-failed")
    ending = text[text.index("failures") :]
    assert "running" not in ending


def test_a_result_that_scrolled_by_is_not_repeated_and_the_rest_is() -> None:
    text = words(drawn())
    assert len(re.findall(r"^fail adds 名前", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^todo later", text, re.MULTILINE)) == 1


def test_the_only_answer_to_a_data_question_is_told_by_its_result_alone() -> None:
    asks = 'planned("adds 名前", data=DataQuestion(name="adds", question="How many?"))'
    text = words(drawn(script=SCRIPT.replace('planned("adds 名前")', asks)))
    assert "[2/3] fail" in words(drawn())
    assert "[2/3] fail" not in text
    assert len(re.findall(r"^fail adds 名前", text, re.MULTILINE)) == 1


def test_hostile_text_and_secrets_do_not_reach_the_terminal() -> None:
    text = drawn()
    assert "warning: \\x1b[2J\\x1b]0;owned\\x07" in words(text).replace("\n", "")
    assert "\x1b]0" not in text
    assert "\x1b[2J" not in text
    assert "hunter22" not in text


def test_the_cursor_is_visible_while_it_draws() -> None:
    text = drawn()
    assert text.rindex("\x1b[?25h", 0, text.index("2 of 2")) > text.index("\x1b[?25l")


def test_a_narrow_terminal_gets_narrow_lines() -> None:
    lines = words(drawn(columns=40)).partition("remarks")[0].split("\n")
    assert max(len(line) for line in lines if "reeval show" not in line and "reeval/runs" not in line) <= 41


def test_no_color_is_honored() -> None:
    assert re.search(r"\x1b\[3[0-9]m", drawn())
    assert not re.search(r"\x1b\[[0-9;]*m", drawn(NO_COLOR="1"))


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(term: str) -> None:
    text = drawn(TERM=term)
    assert "\x1b" not in text
    assert "[1/3] pass  evals/greet.eval.py › greets by name @ terse/-/fake#1" in text


def test_quiet_draws_nothing() -> None:
    text = drawn("quiet")
    assert "running" not in text
    assert "\x1b[?25l" not in text


def test_verbose_shows_every_attempt() -> None:
    assert "✓ names the file" in words(drawn("verbose"))
