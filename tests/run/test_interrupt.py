from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import json, sys
from pathlib import Path
import anyio
from reeval.run.runner import run_plan
from tests.run.kit import Stage

stage = Stage(Path(sys.argv[1]), runs=4, max_concurrent=2)
stage.reporter.warning = lambda text: print(text, flush=True)
stage.write('''
import anyio, os, subprocess, time
from pathlib import Path
@evaluate("waits")
WORD waits(c):
    if c.run == 1:
        c.check(1, equals(1))
        return
    AWAIT c.exec("true")
    Path("begun").touch()
    BODY
''')
outcome = anyio.run(run_plan, stage.plan(), stage.tools())
runs = [record.run for record in stage.recorder.records]
print(json.dumps([outcome.state, runs, stage.sandbox.opened, stage.sandbox.closed]))
"""


def started(directory: Path, body: str, word: str = "async def") -> subprocess.Popen[str]:
    """Start a run in a process of its own and wait until its bodies are at work."""
    script = SCRIPT.replace("BODY", body).replace("WORD", word)
    process = subprocess.Popen(
        [sys.executable, "-c", script.replace("AWAIT ", "await " if word == "async def" else ""), str(directory)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    deadline = time.monotonic() + 30
    while not (directory / "begun").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.1)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_the_run_in_order(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path, 'await c.exec("sleep 1000")')
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert out.splitlines() == [
        "interrupted: cleaning up and recording; press Ctrl-C again to leave at once",
        '["interrupted", [1], 2, 2]',
    ]


@pytest.mark.parametrize(
    "body", ["time.sleep(1000)", "c.exec('sleep 1000')", "with c.serve('sleep 1000'): c.exec('sleep 1000')"]
)
def test_a_plain_body_does_not_hold_up_the_end(tmp_path: Path, body: str) -> None:
    process = started(tmp_path, body, word="def")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert out.splitlines()[-1] == '["interrupted", [1], 2, 2]'
    assert process.returncode == 0


@pytest.mark.parametrize("body", ['await c.exec("exec sleep 1000")', "time.sleep(1000)"])
def test_the_second_signal_leaves_at_once_even_when_a_body_blocks(tmp_path: Path, body: str) -> None:
    cling = 'child = subprocess.Popen(["sleep", "1000"]); Path("pid").write_text(str(child.pid))'
    slow = "try:\n        BODY\n    finally:\n        time.sleep(1000)".replace("BODY", body)
    process = started(tmp_path, f"{cling}\n    {slow}")
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert not running(int((tmp_path / "pid").read_text()))


def running(pid: int) -> bool:
    """Say whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
