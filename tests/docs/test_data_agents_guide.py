"""The agents of the guide on data agents answer."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks_of
from tests.docs.test_examples import project, reeval

GUIDE = [*blocks_of(DOCS / "guide/data-agents.md")]
(SERVER, PROGRAM) = (block.text for block in GUIDE if block.language == "python")
CONFIGS = [block.text for block in GUIDE if block.language == "toml"]
QUESTION = "eval_questions:\n  - {name: orders, question: How many orders?, sql: SELECT 3}\n"
FILES = {"agents/eval_questions.yml": QUESTION, "data/orders.csv": "id\n1\n2\n3\n"}
DATA = '[data]\ndatabase = "duckdb:data"\n'
COMMAND = f'[harness.program]\nkind = "command"\ncommand = "{sys.executable} ~/agent.py"\noutput = "events"\n'


def accuracy(root: Path) -> str:
    done = reeval(root, "run")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def test_the_server_of_the_guide_answers_questions(tmp_path: Path) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    root = project(tmp_path, CONFIGS[0].replace("8000", str(port)), FILES)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER.replace("8000", str(port))], stderr=subprocess.DEVNULL
    ) as server:
        try:
            _wait_for(port)
            assert accuracy(root).split() == ["accuracy", "100%", "(1/1)"]
        finally:
            server.kill()


@pytest.mark.parametrize(
    "config",
    [
        COMMAND + 'files = { "~/agent.py" = "agent.py" }\n' + DATA,
        next(text for text in CONFIGS if "scripted" in text) + DATA,
    ],
    ids=["program", "script"],
)
def test_the_program_and_the_script_of_the_guide_answer_questions(config: str, tmp_path: Path) -> None:
    local = '[sandbox.local]\nisolation = "none"\n'
    root = project(tmp_path, config + local, {**FILES, "agent.py": PROGRAM})
    assert accuracy(root).split() == ["accuracy", "100%", "(1/1)"]


def _wait_for(port: int) -> None:
    end = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
