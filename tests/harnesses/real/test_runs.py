"""Whole runs with a real agent: what is recorded, what is masked, and that no agent outlasts its attempt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.harnesses.real.kit import SUBJECTS, Subject, need
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
"""
HANGING = """\
[harness.{kind}]
model = "{model}"
install = true
base_url = "{url}"
retries = 0
env = {{ MARK = "{mark}" }}

[defaults]
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


@pytest.fixture
def codex() -> Subject:
    need("codex")
    return SUBJECTS["codex"]


def started(root: Path, config: str) -> subprocess.Popen[str]:
    """Start a run of the eval."""
    (root / "evals").mkdir()
    (root / "evals/greet.eval.py").write_text(EVAL)
    (root / "reeval.config.toml").write_text(config)
    env = {**os.environ, "MY_MODEL_KEY": KEY}
    command = [sys.executable, "-m", "reeval", "run"]
    return subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(root: Path, run: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    """Wait for a run, and return the attempt's record and every text there is of the run."""
    said, _ = run.communicate(timeout=180)
    (journal,) = root.glob(".reeval/runs/*/events.ndjson")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    (attempt,) = [line for line in lines if line["type"] == "attempt"]
    for part, value in attempt.items():
        if isinstance(value, dict) and "file" in value:
            attempt[part] = json.loads((journal.parent / value["file"]).read_text())
    texts = [path.read_bytes().decode("utf-8", "replace") for path in root.glob(".reeval/**/*") if path.is_file()]
    return attempt, "\n".join([said, *texts])


def marked(mark: str) -> list[str]:
    """Return the programs that run with a variable of this value."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may end meanwhile
            if f"MARK={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append((place / "cmdline").read_bytes().decode("utf-8", "replace"))
    return found


def test_a_run_records_the_turns_and_no_key(codex: Subject, tmp_path: Path, server: AgentServer) -> None:
    config = CONFIG.format(model=codex.model, url=server.url("ok.run"))
    with started(tmp_path, config) as run:
        attempt, texts = ended(tmp_path, run)
    assert (run.returncode, attempt["outcome"]) == (0, "pass"), texts
    first, second = attempt["turns"]
    assert first["agent"] == f"codex {codex.version}"
    assert [event["name"] for event in first["events"] if event["type"] == "tool"] == ["edit", "shell"]
    assert [file["path"] for file in first["changes"]["files"]] == ["greet.py"]
    assert first["session"] == second["session"]
    assert server.requests("ok.run")[0].headers["authorization"] == f"Bearer {KEY}"
    assert "***" in texts
    assert KEY not in texts


def test_a_key_in_the_text_of_an_error_is_masked(codex: Subject, tmp_path: Path, server: AgentServer) -> None:
    config = CONFIG.format(model=codex.model, url=server.url("tells-key.run"))
    with started(tmp_path, config) as run:
        attempt, texts = ended(tmp_path, run)
    assert run.returncode == 3
    assert (attempt["outcome"], attempt["failure"]["phase"]) == ("error", "model")
    assert "Incorrect API key provided: ***" in attempt["failure"]["reason"]
    assert KEY not in texts


def test_a_hang_ends_with_the_attempts_timeout(subject: Subject, tmp_path: Path, server: AgentServer) -> None:
    name, timeout = f"hang.run.{subject.kind}", subject.asks_within
    url = f"{server.url(name)}{subject.path}"
    config = HANGING.format(kind=subject.kind, model=subject.model, url=url, mark=tmp_path, timeout=timeout)
    with started(tmp_path, config) as run:
        while run.poll() is None and not server.requests(name):
            time.sleep(0.05)
        hanging = marked(str(tmp_path))
        attempt, texts = ended(tmp_path, run)
    assert hanging, texts
    assert (run.returncode, attempt["outcome"]) == (1, "fail"), texts
    assert attempt["failure"]["reason"] == "timeout"
    assert attempt["duration"] < timeout + 10
    assert marked(str(tmp_path)) == []
