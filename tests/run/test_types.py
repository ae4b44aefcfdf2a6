from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = """
from reeval.authoring import Attempt, BlockingAttempt, BlockingScoredAttempt, ScoredAttempt
from reeval.protocols import Executor, Room
from reeval.run.body.blocking import BlockingContext
from reeval.run.body.context import Context
from reeval.run.body.handles import BlockingHandle, BlockingScoredHandle, Handle, ScoredHandle
from reeval.run.executor import LocalExecutor
from reeval.run.room.room import AttemptRoom

def attempt(it: Context[Handle]) -> Attempt: return it
def scored(it: Context[ScoredHandle]) -> ScoredAttempt: return it
def blocking(it: BlockingContext[BlockingHandle]) -> BlockingAttempt: return it
def blocking_scored(it: BlockingContext[BlockingScoredHandle]) -> BlockingScoredAttempt: return it
def room(it: AttemptRoom) -> Room: return it
def executor(it: LocalExecutor) -> Executor: return it
"""


def test_what_a_body_gets_is_what_it_was_promised(tmp_path: Path) -> None:
    (tmp_path / "promised.py").write_text(SOURCE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(tmp_path / "promised.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.stdout, done.returncode) == ("", 0)
