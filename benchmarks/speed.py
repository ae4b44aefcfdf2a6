"""How fast is reeval, and how much memory and disk does it take? Whole processes, every record on disk.

    python benchmarks/speed.py                 all rows
    python benchmarks/speed.py run-1000 query  some rows

Each row prints what was measured beside what is aimed for. Nothing here fails a build: figures depend on the machine.
"""

from __future__ import annotations

import argparse
import compileall
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import REEVAL, first_line, interleaved, measure
from projects import BIG_CONFIG, NOOP, SHELL, SLEEP, make_project

ROUNDS = 5
RUN = [*REEVAL, "run"]
Row = tuple[str, str, str]
"""What was done, what was measured, what is aimed for."""


def fresh(eval_file: str, **options: str) -> Path:
    """Return a new project in a temporary directory."""
    return make_project(Path(tempfile.mkdtemp(prefix="reeval-bench-")) / "project", eval_file, **options)


def run_again(project: Path, runs: int, rounds: int) -> list[tuple[float, float]]:
    """Run the project several times; return wall seconds and peak MB of each."""
    measured = []
    for _ in range(rounds):
        shutil.rmtree(project / ".reeval", ignore_errors=True)
        result = measure([*RUN, "--runs", str(runs)], project)
        measured.append((result.wall, result.rss))
    return measured


def medians(measured: list[tuple[float, float]]) -> tuple[float, float]:
    walls, peaks = zip(*measured, strict=True)
    return statistics.median(walls), statistics.median(peaks)


def start() -> Iterator[Row]:
    """`--help` and `--version` against importing typer alone, in turns."""
    commands = {
        "typer": [sys.executable, "-c", "import typer"],
        "--help": [*REEVAL, "--help"],
        "--version": [*REEVAL, "--version"],
    }
    times = interleaved(commands, fresh(NOOP), rounds=15)
    for name in ("--help", "--version"):
        ratio = times[name] / times["typer"]
        yield f"reeval {name}", f"{times[name]:.3f} s, {ratio:.2f} × import typer", "2.2 × import typer"


def dry_run() -> Iterator[Row]:
    """Without a history, then with one that says how long it will take."""
    project, command = fresh(NOOP), {"dry": [*RUN, "--dry-run", "--runs", "1000"]}
    times = interleaved(command, project, rounds=ROUNDS)
    yield "dry run of 1,000 attempts", f"{times['dry']:.2f} s", "0.5 s"
    measure([*RUN, "--runs", "1000"], project)
    times = interleaved(command, project, rounds=ROUNDS)
    yield "the same after a run of as many", f"{times['dry']:.2f} s", "0.5 s"


def run_1() -> Iterator[Row]:
    wall, peak = medians(run_again(fresh(NOOP), 1, ROUNDS))
    yield "1 attempt", f"{wall:.2f} s, {peak:.0f} MB", "0.45 s"


def run_1000() -> Iterator[Row]:
    project = fresh(NOOP)
    wall, peak = medians(run_again(project, 1000, ROUNDS))
    yield "1,000 attempts", f"{wall:.2f} s, {peak:.0f} MB", "1.3 s, 110 MB"
    size = sum(path.stat().st_size for path in (project / ".reeval").rglob("*") if path.is_file())
    yield "on disk for a trivial attempt, index included", f"{size / 1000:.0f} bytes", "1,000 bytes"


def run_10000() -> Iterator[Row]:
    project = fresh(NOOP)
    wall5, peak5 = medians(run_again(project, 5000, 3))
    yield "5,000 attempts", f"{wall5:.2f} s, {peak5:.0f} MB", "4.0 s, 120 MB"
    wall10, peak10 = medians(run_again(project, 10000, 3))
    slope = (peak10 - peak5) / 5
    yield "10,000 attempts", f"{wall10:.2f} s, {slope:+.1f} MB for each 1,000 more", "linear, 4 MB"
    shown = statistics.median(measure([*REEVAL, "show", "last"], project).wall for _ in range(ROUNDS))
    yield "reeval show of a run with 10,000 attempts", f"{shown:.2f} s", "1 s"


def first() -> Iterator[Row]:
    project = fresh(NOOP)
    seconds = statistics.median(first_line([*RUN, "--runs", "100"], project) for _ in range(ROUNDS))
    yield "first line on the terminal", f"{seconds:.2f} s", "0.45 s"


def sleepers() -> Iterator[Row]:
    """200 attempts that sleep 0.1 s, 10 at a time: ideally 1.9 s between the first and the last result."""
    project = fresh(SLEEP)
    middles, tails = [], []
    for _ in range(3):
        shutil.rmtree(project / ".reeval", ignore_errors=True)
        measure([*RUN, "--runs", "200"], project)
        exited = time.time()
        ends = sorted(_ends(project))
        middles.append(ends[-1] - ends[0])
        tails.append(exited - ends[-1])
    yield "200 sleepers of 0.1 s, first to last", f"{statistics.median(middles):.2f} s", "2.0 s (ideal 1.9 s)"
    yield "from the last result to the exit", f"{statistics.median(tails):.2f} s", "0.2 s"


def _ends(project: Path) -> Iterator[float]:
    """Yield when each attempt of the only run ended, in seconds since 1970."""
    (journal,) = project.glob(".reeval/runs/*/events.ndjson")
    for line in journal.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "attempt":
            yield record["started_at"] / 1000 + record["duration"]


def big_output() -> Iterator[Row]:
    wall, peak = medians(run_again(fresh(NOOP, config=BIG_CONFIG), 200, 3))
    yield "200 attempts of 1 MB of output each", f"{wall:.2f} s, {peak:.0f} MB", "4 s, 160 MB"


BARE_LOOP = """
import asyncio, sys, tempfile

ARGV = "bwrap --unshare-user --uid 1000 --gid 1000 --unshare-pid --unshare-ipc --unshare-uts --die-with-parent".split()
for name in ("usr", "bin", "lib", "lib64", "sbin"):
    ARGV += ["--ro-bind-try", "/" + name, "/" + name]
ARGV += ["--ro-bind", sys.base_prefix, sys.base_prefix, "--proc", "/proc", "--tmpfs", "/dev", "--tmpfs", "/tmp"]
for name in ("null", "zero", "random", "urandom"):
    ARGV += ["--dev-bind", "/dev/" + name, "/dev/" + name]
ARGV += ["--setenv", "PATH", sys.base_prefix + "/bin:/usr/bin:/bin"]

async def one(limit):
    async with limit:
        with tempfile.TemporaryDirectory() as work:
            process = await asyncio.create_subprocess_exec(
                *ARGV, "--bind", work, "/workspace", "--chdir", "/workspace", "/bin/sh", "-c", COMMAND,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
            await process.communicate()
            assert process.returncode == 0, process.returncode

async def main():
    limit = asyncio.Semaphore(10)
    await asyncio.gather(*(one(limit) for _ in range(200)))

asyncio.run(main())
"""
COMMAND = "python3 -c 'import json; print(json.dumps(list(range(100))))' > out.json && grep -c 99 out.json"


def sandbox() -> Iterator[Row]:
    """200 attempts with one real command each, against a bare loop that starts the same commands."""
    if shutil.which("bwrap") is None:
        yield "200 commands in the local sandbox", "bubblewrap is not installed", "1.5 × a bare loop"
        return
    config = '[defaults]\nharness = ["fake"]\n[harness.fake]\n[sandbox.local]\nisolation = "require"\n'
    project = fresh(SHELL.replace("COMMAND", repr(COMMAND)), config=config)
    bare = [sys.executable, "-c", BARE_LOOP.replace("COMMAND", repr(COMMAND))]
    times = interleaved({"reeval": [*RUN, "--runs", "200"], "bare": bare}, project, rounds=ROUNDS)
    ratio = times["reeval"] / times["bare"]
    measured = f"{times['reeval']:.2f} s, bare {times['bare']:.2f} s: {ratio:.2f} ×"
    yield "200 commands in the local sandbox", measured, "1.5 × a bare loop"


def history() -> Iterator[Row]:
    """100,000 recorded attempts in 20 runs: bring them into the index, then ask."""
    project = fresh(NOOP)
    for _ in range(20):
        measure([*RUN, "--runs", "5000"], project)
    for path in (project / ".reeval").glob("history.duckdb*"):
        path.unlink()
    sql = "SELECT eval, outcome, count(*), avg(duration) FROM attempts GROUP BY ALL"
    first_query = measure([*REEVAL, "query", sql], project)
    yield "indexing 100,000 attempts", f"{first_query.wall:.1f} s, {first_query.rss:.0f} MB", "25 s"
    again = statistics.median(measure([*REEVAL, "query", sql], project).wall for _ in range(ROUNDS))
    yield "group-by over 100,000 attempts", f"{again:.2f} s", "0.5 s"


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "start": start,
    "dry-run": dry_run,
    "run-1": run_1,
    "first-line": first,
    "run-1000": run_1000,
    "run-10000": run_10000,
    "sleepers": sleepers,
    "big-output": big_output,
    "sandbox": sandbox,
    "history": history,
}


def main() -> None:
    compileall.compile_dir(Path(__file__).parent.parent / "reeval", quiet=1)  # as an installed package is
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of: {', '.join(ROWS)}")
    wanted = parser.parse_args().rows or list(ROWS)
    unknown = [name for name in wanted if name not in ROWS]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(ROWS)}")
    print("| Work | Measured | Aim |\n|---|---|---|")
    for name in wanted:
        for row in ROWS[name]():
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
