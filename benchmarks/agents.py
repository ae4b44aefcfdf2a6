"""What does reeval add to a real agent, and how fast are its events read?

    python benchmarks/agents.py          all
    python benchmarks/agents.py codex    the events of one agent, or of several

Two figures: a turn of the installed Codex in the local sandbox against a scripted model, through its harness and as the
bare command in the same sandbox, in turns; and 200 MB of events of each agent that prints them, from its recorded
stream, read in a process of its own. Nothing here fails a build: figures depend on the machine.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import anyio

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from reeval.harnesses.agents.agent import Call, Ending  # noqa: E402
from reeval.harnesses.agents.answer import AgentAnswer  # noqa: E402
from reeval.harnesses.agents.named import agent_named  # noqa: E402
from reeval.harnesses.agents.options import AgentOptions  # noqa: E402
from reeval.harnesses.agents.programs.install import place_of  # noqa: E402
from reeval.harnesses.codex import AGENT  # noqa: E402
from tests.harnesses.real.kit import SUBJECTS, Conversation, conversation, installed  # noqa: E402
from tests.harnesses.streams.record import PLACE, WORKSPACE  # noqa: E402
from tests.servers.agents import AgentServer  # noqa: E402

ROUNDS = 20
MEGABYTES = 200
CHUNK = 64 * 1024
OUTPUT = 2000
"""Characters that a command prints in a stream like that of real work; as recorded it prints a word."""
PROMPT = "DO say Done."


async def turns(server: AgentServer) -> tuple[list[float], list[float]]:
    """Return the seconds of turns through the harness and of the bare command, in turns."""
    through, bare = [], []
    base_url = server.url("ok.bench")
    async with conversation(SUBJECTS["codex"], Conversation(base_url=base_url)) as talk:
        options = AgentOptions(install=True, base_url=f"{base_url}/v1", retries=1)
        program = str(place_of(AGENT.package, AGENT.package.version) / "bin/codex")
        call = Call(
            prompt=PROMPT,
            session=None,
            key="none",
            model=SUBJECTS["codex"].model,
            effort="high",
            options=options,
            home="/home/agent",
            workspace=WORKSPACE,
        )
        # Both go on with a conversation of their own, so that both grow alike.
        for _ in range(ROUNDS + 1):
            invocation = AGENT.invoke(call)
            began = time.perf_counter()
            done = await talk.sandbox.exec(
                [program, *invocation.args], env={"OPENAI_API_KEY": "none", **invocation.env}, stdin=invocation.stdin
            )
            bare.append(time.perf_counter() - began)
            call = replace(call, session=json.loads(done.stdout.splitlines()[0])["thread_id"])
            began = time.perf_counter()
            turn = await talk.session.send(PROMPT)
            through.append(time.perf_counter() - began)
            assert turn.message == "Done."
    return through[1:], bare[1:]


def stream(kind: str, output: int) -> Iterator[bytes]:
    """Yield chunks of a recorded turn again and again, without the event that ends it, then that."""
    said = (PLACE / kind / "ok-1.jsonl").read_bytes()
    lines = said.replace(b"oops", b"oops " + b"x" * output).splitlines(keepends=True)
    body, last = b"".join(lines[1:-1]), lines[-1]
    block = lines[0] + body * (1 + (4 << 20) // len(body))
    left = MEGABYTES << 20
    while left > 0:
        for start in range(0, len(block), CHUNK):
            yield block[start : start + CHUNK]
        left -= len(block)
    yield last


def parse(kind: str, output: int) -> None:
    """Read the stream and print MB/s and what it added to the peak of memory, in MB."""
    agent = agent_named(kind)
    translator = agent.translator(WORKSPACE, ("demo",))
    translator.begin()
    answer = AgentAnswer(agent.name, translator, agent.unreported, first=True)
    chunks = stream(kind, output)
    first = next(chunks)  # the generator holds its 4 MB from now on
    before, size, lines, spent = peak(anew=True), 0, 0, 0.0
    for chunk in chain([first], chunks):
        size += len(chunk)
        lines += chunk.count(b"\n")
        began = time.process_time()
        answer.feed(chunk)
        spent += time.process_time() - began
    assert answer.end(Ending(exit_code=0, stderr="")) is None
    grown = peak() - before
    print(f"{size // lines} bytes each | {size / (1 << 20) / spent:.0f} MB/s, +{grown:.0f} MB")


def peak(*, anew: bool = False) -> float:
    """Return the most memory that this process had in MB, since the last time that it was taken ``anew``."""
    # Not ``ru_maxrss``, which begins at what the parent had.
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found) / 1024


async def measure_turns() -> None:
    if installed("codex") is None:
        with AgentServer() as server:
            through, bare = await turns(server)
        added = statistics.median(through) - statistics.median(bare)
        print(
            f"| a turn of codex | {statistics.median(through):.3f} s, bare {statistics.median(bare):.3f} s: "
            f"{added * 1000:+.0f} ms | +100 ms |"
        )


def measure_reading(kinds: list[str]) -> None:
    for kind in kinds:
        if not (PLACE / kind / "ok-1.jsonl").read_bytes().startswith(b"{"):
            print(f"| events of {kind} | none are printed: they stand in a file of bounded size | |")
            continue
        for output in (0, OUTPUT):
            argv = [sys.executable, __file__, kind, str(output)]
            done = subprocess.run(argv, capture_output=True, text=True, check=True)
            print(f"| {MEGABYTES} MB of events of {kind}, {done.stdout.strip()} | 50 MB/s, bounded |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [kind, output] if output.isdecimal():
            parse(kind, int(output))
        case []:
            anyio.run(measure_turns)
            measure_reading(sorted(place.parent.name for place in PLACE.glob("*/ok-1.jsonl")))
        case kinds:
            measure_reading(kinds)
