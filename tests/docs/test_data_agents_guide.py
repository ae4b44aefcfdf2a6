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


MODEL = """
def answer(request):
    assert "How many orders?" in request.prompt
    assert "CREATE TABLE orders (\\n  id BIGINT\\n);" in request.prompt
    return {"message": "I counted them.", "sql": "SELECT count(*) FROM orders"}
"""


def test_a_model_alone_is_told_the_tables(tmp_path: Path) -> None:
    bare = next(text for text in CONFIGS if "bare" in text).replace("anthropic/claude-sonnet-4-5", "fake")
    provider = '[provider.fake]\nfunction = "models.py:answer"\n'
    root = project(tmp_path, bare + DATA + provider, {**FILES, "models.py": MODEL})
    assert accuracy(root).split() == ["accuracy", "100%", "(1/1)"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ('model = "openai/gpt-x"', "harness 'bare': its model: model 'openai/gpt-x' needs a key: set the variable"),
        ('model = "opnai/gpt-x"', "reeval.config.toml:1: the model 'opnai/gpt-x': there is no provider 'opnai'"),
        ("", "reeval.config.toml:1: the harness 'bare' needs a model, such as model = 'anthropic/…' in its table"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_before_the_run(
    model: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = reeval(project(tmp_path, f'[harness.bare]\nkind = "model"\n{model}\n{DATA}', FILES), "run")
    assert done.returncode == 2
    assert said in done.stderr


def _wait_for(port: int) -> None:
    end = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
