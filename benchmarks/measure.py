"""How long does a whole process take, and how much memory? Wall clock, CPU and peak RSS of real processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["REEVAL", "Measured", "first_line", "interleaved", "measure"]

REEVAL = [sys.executable, "-m", "reeval"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One process from start to exit."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds, user and system, children included."""
    rss: float
    """Peak resident set in MB."""
    code: int


def measure(argv: list[str], cwd: Path, *, expect: int = 0) -> Measured:
    """Run a command with its output to a file and return what it cost; stop on an unexpected exit code."""
    with (cwd / ".bench-output").open("w+b") as output:
        started = time.perf_counter()
        process = subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != expect:
            output.seek(0)
            sys.exit(f"{' '.join(argv)} exited with {process.returncode}:\n{output.read().decode()[-2000:]}")
    return Measured(wall=wall, cpu=usage.ru_utime + usage.ru_stime, rss=usage.ru_maxrss / 1024, code=expect)


def interleaved(commands: dict[str, list[str]], cwd: Path, *, rounds: int) -> dict[str, float]:
    """Return the median wall time of each command, taken in turns so that drift hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for name, argv in commands.items():
            times[name].append(measure(argv, cwd).wall)
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def first_line(argv: list[str], cwd: Path) -> float:
    """Return the seconds until the first byte on standard output."""
    started = time.perf_counter()
    with subprocess.Popen(
        argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        seconds = time.perf_counter() - started
        process.stdout.read()
    return seconds
