"""How fast are questions to a model over HTTP? Against a server on loopback that takes 50 ms for each answer.

    python benchmarks/models.py

Prints what was measured beside what is aimed for. Nothing here fails a build: figures depend on the machine.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from reeval.models.kinds import KINDS
from reeval.models.pool import ModelPool
from reeval.protocols import ModelRequest
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


@contextmanager
def serving() -> Iterator[str]:
    """Yield the URL of a server in a process of its own."""
    with subprocess.Popen([*SERVER, str(DELAY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


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


def main() -> None:
    """Measure, after one round that loads the libraries."""
    ideal = DELAY * QUESTIONS / AT_ONCE
    print("| Work | Measured | Aim |\n|---|---|---|")
    with serving() as url:
        first = anyio.run(ask_all, url, "openai-chat")
        seconds = statistics.median(anyio.run(ask_all, url, "openai-chat") for _ in range(ROUNDS))
    work = f"{QUESTIONS} questions of {DELAY * 1000:.0f} ms, {AT_ONCE} at once"
    print(f"| {work} | {seconds:.2f} s, {seconds / ideal:.2f} × ideal | {1.3 * ideal:.2f} s |")
    print(f"| the same, the first time in a process | {first:.2f} s | |")


if __name__ == "__main__":
    main()
