"""The processes of queries, from outside."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
import anyio
from tests.databases.opened import asked, opened

async def main():
    async with opened(sys.argv[1]) as database:
        await asked(database, "SELECT 1")
        print("working", flush=True)
        await asked(database, "SELECT count(*) FROM range(100000000) a, range(100000000) b")

anyio.run(main)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_a_killed_run_leaves_no_query_behind(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    command = [sys.executable, "-c", SCRIPT, f"duckdb:{tmp_path / 'a.duckdb'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "working\n"
        children = _children(run.pid)
        assert children
        time.sleep(0.5)
        run.kill()
    _wait_until_gone(children)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgres"])
def test_planning_a_database_loads_no_engine(tmp_path: Path, engine: str) -> None:
    (tmp_path / "a.db").touch()
    url = {"postgres": "postgres://h/d"}.get(engine, f"{engine}:a.db")
    code = (
        f"import sys; from pathlib import Path; from reeval.databases.urls import plan_database\n"
        f"plan_database({url!r}, Path({str(tmp_path)!r}), {{}})\n"
        "print(*sorted({'duckdb', 'sqlite3', 'psycopg', 'pyarrow', 'anyio'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "\n"


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _wait_until_gone(pids: list[int]) -> None:
    end = time.monotonic() + 20
    while any(_lives(pid) for pid in pids):
        assert time.monotonic() < end, f"{pids} still run"
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
