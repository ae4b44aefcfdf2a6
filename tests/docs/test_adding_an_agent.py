"""The script of the page on adding an agent makes an agent of a program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reeval.harnesses.program.answers import EventAnswer
from reeval.schema.transcript import Text, ToolCall
from tests.docs.pages import DOCS, blocks_of

(SCRIPT,) = [block.text for block in blocks_of(DOCS / "guide/adding-an-agent.md") if block.language == "python"]
PROGRAM = """#!/bin/sh
echo '{"kind": "command", "text": "false", "code": 1}'
echo "{\\"kind\\": \\"answer\\", \\"text\\": \\"you said $2\\"}"
echo "a reason" >&2
exit $3
"""


def answered(tmp_path: Path, *, exit_code: int) -> EventAnswer:
    program = tmp_path / "my-agent"
    program.write_text(PROGRAM.replace("$3", str(exit_code)))
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=b"hello",
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        check=True,
    )
    answer = EventAnswer()
    answer.feed(done.stdout)
    return answer


def test_it_reports_what_the_program_did(tmp_path: Path) -> None:
    answer = answered(tmp_path, exit_code=0)
    assert answer.error(0, "") is None
    assert answer.turn("hello", "s", None).events == (
        ToolCall(name="shell", input={"command": "false"}, ok=False, exit_code=1),
        Text(text="you said hello"),
    )


def test_it_reports_that_the_program_failed(tmp_path: Path) -> None:
    assert answered(tmp_path, exit_code=3).error(0, "") == "a reason\n"
