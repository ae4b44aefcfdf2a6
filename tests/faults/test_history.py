"""The history is only an index: whatever happens to its file, answers stay right, and a rebuild is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.faults.shell import PASSING, Shell


def gone(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def holed(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:16_384] + bytes(len(data) - 16_384))


def older(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("UPDATE about.version SET definition = 'an older one'")


def foreign(path: Path) -> None:
    path.unlink()
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE attempts (a INTEGER)")


DAMAGES: list[tuple[Callable[[Path], None], str]] = [
    (gone, "is not there"),
    (empty, "damaged"),
    (garbage, "damaged"),
    (cut, "damaged"),
    (holed, "damaged"),
    (older, "is of another version"),
    (foreign, "damaged"),
]


@pytest.fixture(scope="module")
def recorded(shared: Shell) -> Shell:
    shared.set_up(passes=PASSING)
    for _ in range(2):
        assert shared.run("run").exit_code == 0
    return shared


@pytest.mark.parametrize(("damage", "said"), DAMAGES, ids=lambda it: getattr(it, "__name__", ""))
def test_a_query_rebuilds_what_it_cannot_use_and_says_so(
    recorded: Shell, damage: Callable[[Path], None], said: str
) -> None:
    path = recorded.root / ".reeval" / "history.duckdb"
    damage(path)
    done = recorded.run("query", "SELECT count(*) AS n FROM attempts", "--format", "csv")
    assert (done.exit_code, done.stdout.split()) == (0, ["n", "2"]), done
    assert said in done.stderr
    assert "built again from 2 runs" in done.stderr
    again = recorded.run("query", "SELECT count(*) AS n FROM attempts", "--format", "csv")
    assert (again.exit_code, again.stdout.split(), again.stderr) == (0, ["n", "2"], "")


@pytest.mark.parametrize("damage", [gone, garbage, older], ids=lambda it: it.__name__)
def test_a_run_ends_well_whatever_the_history_is(shell: Shell, damage: Callable[[Path], None]) -> None:
    shell.set_up(passes=PASSING)
    shell.run("run")
    damage(shell.root / ".reeval" / "history.duckdb")
    assert shell.run("run").exit_code == 0
    assert shell.rows("SELECT count(*) AS n FROM runs") == [{"n": 2}]


def test_a_history_in_a_directory_of_odd_characters_works(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "a 'quoted' [b] *?.;é").set_up(passes=PASSING)
    assert shell.run("run").exit_code == 0
    assert shell.rows("SELECT outcome FROM attempts") == [{"outcome": "pass"}]
    assert shell.run("show").exit_code == 0
