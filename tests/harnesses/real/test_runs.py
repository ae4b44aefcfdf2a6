"""Whole runs with a real agent: what is recorded, what is masked, and that no agent outlasts its attempt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.harnesses.real.kit import SUBJECTS, need
from tests.servers.agents import AgentServer

KEY = "sk-live-0123456789abcdef"
CONFIG = """\
[harness.codex]
model = "{model}"
install = true
base_url = "{url}/v1"
key = "MODEL_KEY"
retries = 0

[defaults]
env = {{ MODEL_KEY = {{ from = "MY_MODEL_KEY", to = "agent" }} }}
timeout = {timeout}
"""
EVAL = '''\
from reeval import Attempt, evaluate, ran_command


@evaluate("greets")
async def greets(c: Attempt) -> None:
    turn = await c.send("""DO write greet.py print("Hello")
DO run python3 greet.py; echo "$MODEL_KEY"
DO say It greets.""")
    c.check(turn, ran_command("python3 greet.py"))
    c.changed_paths(["greet.py"])
    again = await c.send("DO run cat greet.py\\nDO say Still.")
    assert again.message == "Still."
'''


@pytest.fixture(autouse=True)
def _codex() -> None:
    need("codex")


def run(root: Path, url: str, *, timeout: float = 120) -> tuple[int, dict[str, Any], str]:
    """Run the eval and return the exit code, the attempt's record, and every text there is of the run."""
    (root / "evals").mkdir()
    (root / "evals/greet.eval.py").write_text(EVAL)
    config = CONFIG.format(model=SUBJECTS["codex"].model, url=url, timeout=timeout)
    (root / "reeval.config.toml").write_text(config)
    done = subprocess.run(
        [sys.executable, "-m", "reeval", "run"],
        cwd=root,
        env={**os.environ, "MY_MODEL_KEY": KEY},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    (journal,) = root.glob(".reeval/runs/*/events.ndjson")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    (attempt,) = [line for line in lines if line["type"] == "attempt"]
    for part, value in attempt.items():
        if isinstance(value, dict) and "file" in value:
            attempt[part] = json.loads((journal.parent / value["file"]).read_text())
    texts = [path.read_bytes().decode("utf-8", "replace") for path in root.glob(".reeval/**/*") if path.is_file()]
    return done.returncode, attempt, "\n".join([done.stdout, done.stderr, *texts])


def test_a_run_records_the_turns_and_no_key(tmp_path: Path, server: AgentServer) -> None:
    code, attempt, texts = run(tmp_path, server.url("ok.run"))
    assert (code, attempt["outcome"]) == (0, "pass"), texts
    first, second = attempt["turns"]
    assert first["agent"] == f"codex {SUBJECTS['codex'].version}"
    assert [event["name"] for event in first["events"] if event["type"] == "tool"] == ["edit", "shell"]
    assert [file["path"] for file in first["changes"]["files"]] == ["greet.py"]
    assert first["session"] == second["session"]
    assert server.requests("ok.run")[0].headers["authorization"] == f"Bearer {KEY}"
    assert "***" in texts
    assert KEY not in texts


def test_a_key_in_the_text_of_an_error_is_masked(tmp_path: Path, server: AgentServer) -> None:
    code, attempt, texts = run(tmp_path, server.url("tells-key.run"))
    assert code == 3
    assert (attempt["outcome"], attempt["failure"]["phase"]) == ("error", "model")
    assert "Incorrect API key provided: ***" in attempt["failure"]["reason"]
    assert KEY not in texts


def test_a_hang_ends_with_the_attempts_timeout(tmp_path: Path, server: AgentServer) -> None:
    began = time.monotonic()
    code, attempt, _ = run(tmp_path, server.url("hang.run"), timeout=4)
    assert time.monotonic() - began < 60
    assert code == 1
    assert attempt["outcome"] == "fail"
    assert attempt["failure"]["reason"] == "timeout"
