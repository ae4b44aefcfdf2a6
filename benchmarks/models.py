"""How fast are questions to a model over HTTP? Against a server on loopback that takes 50 ms for each answer.

    python benchmarks/models.py

Once straight to the pool, once as a whole ``reeval run --resume`` that asks about recorded attempts and keeps what was
sent: from the first question that the server gets to the last answer that is told. Prints what was measured beside what
is aimed for. Nothing here fails a build: figures depend on the machine.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
from measure import REEVAL

from reeval.backends import ModelRequest
from reeval.models.kinds import KINDS
from reeval.models.pool import ModelPool
from reeval.schema.plan import PlannedModel

ROOT = Path(__file__).parent.parent
SERVER = [sys.executable, str(ROOT / "tests" / "servers" / "models.py")]
DELAY = 0.05
QUESTIONS = 400
AT_ONCE = 40
ROUNDS = 5
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}, "reason": {"type": "string"}},
    "required": ["score", "reason"],
}


class Server:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._said = process.stdin, process.stdout
        self.url = self._said.readline().strip()

    def first_asked(self) -> float:
        """Return when the first request came since this was asked before, by ``time.perf_counter``."""
        self._orders.write("\n")
        self._orders.flush()
        return float(self._said.readline())

    def end(self) -> None:
        """Let it go."""
        self._orders.close()


@contextmanager
def serving(*answer: str) -> Iterator[Server]:
    """Yield a server that gives this answer, as JSON, or one of its own."""
    command = [*SERVER, str(DELAY), *answer]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        server = Server(process)
        yield server
        server.end()


async def ask_all(url: str, kind: str) -> float:
    """Return the seconds from the first question of a new pool to the last answer."""
    planned = PlannedModel(
        name="it", provider="it", kind=kind, model="m", base_url=url, max_concurrent=AT_ONCE, options={}
    )
    request = ModelRequest(system="Does it greet?", prompt="+Hello\n" * 500, schema=SCHEMA)
    began = time.perf_counter()
    async with ModelPool({"it": planned}, KINDS, {}, ROOT) as pool, anyio.create_task_group() as tasks:
        for _ in range(QUESTIONS):
            tasks.start_soon(pool.answer, "it", request)
    return time.perf_counter() - began


CONFIG = """
[defaults]
question = {{ model = "it/m", max_concurrent = {at_once} }}

[sandbox.local]
isolation = "none"

[harness.scripted]
kind = "fake"

[provider.it]
kind = "openai-chat"
base_url = "{url}"
max_concurrent = {at_once}
"""
EVAL = """
from reeval import Question, equals, evaluate, questions

@evaluate("asked", runs={runs})
@questions(Question("Does it greet?", choices=["yes", "no"]))
async def asked(c):
    c.check(1, equals(1))
"""


def asked_in_a_run(server: Server) -> list[float]:
    """Return the seconds from the first question to the last answer about attempts that are on disk, a few times."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "recorded"
        (root / "evals").mkdir(parents=True)
        (root / "evals" / "asked.eval.py").write_text(EVAL.format(runs=QUESTIONS))
        (root / "reeval.config.toml").write_text(CONFIG.format(url=server.url, at_once=AT_ONCE))
        told(root)
        forget_answers(root)
        server.first_asked()
        seconds = []
        for number in range(ROUNDS):
            last = told(shutil.copytree(root, Path(place) / str(number)), "--resume")
            seconds.append(last - server.first_asked())
        return seconds


def forget_answers(root: Path) -> None:
    """Take the answers out of the run's journal, and the files of what was sent, as if nothing had been asked."""
    for files in root.glob(".reeval/runs/*/asked*"):
        shutil.rmtree(files)
    (journal,) = root.glob(".reeval/runs/*/events.ndjson")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if not line.startswith('{"type":"answer"')))


def told(root: Path, *options: str) -> float:
    """Run, and return when the last answer was told."""
    command = [*REEVAL, "run", "--json", *options]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        assert run.stdout is not None
        times = [time.perf_counter() for line in run.stdout if line.startswith('{"event":"question_answered"')]
    if len(times) != QUESTIONS:
        sys.exit(f"{' '.join(command)} told {len(times)} answers, not {QUESTIONS}")
    return times[-1]


def main() -> None:
    """Measure, after one round that loads the libraries."""
    ideal = DELAY * QUESTIONS / AT_ONCE
    print("| Work | Measured | Aim |\n|---|---|---|")
    with serving() as server:
        first = anyio.run(ask_all, server.url, "openai-chat")
        seconds = statistics.median(anyio.run(ask_all, server.url, "openai-chat") for _ in range(ROUNDS))
    with serving('{"choice": "yes", "reason": "It greets."}') as server:
        in_a_run = statistics.median(asked_in_a_run(server))
    work = f"{QUESTIONS} questions of {DELAY * 1000:.0f} ms, {AT_ONCE} at once"
    print(f"| {work} | {seconds:.2f} s, {seconds / ideal:.2f} × ideal | {1.3 * ideal:.2f} s |")
    print(
        f"| the same as questions of a run | {in_a_run:.2f} s, {in_a_run / ideal:.2f} × ideal | {1.3 * ideal:.2f} s |"
    )
    print(f"| the same, the first time in a process | {first:.2f} s | |")


if __name__ == "__main__":
    main()
