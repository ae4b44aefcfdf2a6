"""``reeval show --plot``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from reeval.record.compile import load_record
from reeval.record.store import RunDirectory
from reeval.schema.recorded.lifts import LiftRecord
from tests.cli.projects import planned, project, recorded, reeval


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project(tmp_path))
    return tmp_path


def with_lifts(run: RunDirectory, amount: int = 1) -> RunDirectory:
    """Give the record of a run lifts, as one that compared has them."""
    lift = LiftRecord(
        variant="with-house-greeting", control="plain", harness="scribe", lift=1.0, low=0.31, high=1.0, said="helped"
    )
    record = load_record(run)
    evals = [msgspec.structs.replace(one, lifts=[lift] * amount) for one in record.evals]
    data = msgspec.json.encode(msgspec.structs.replace(record, evals=evals))
    (run.path / "record.json").write_bytes(data)
    return run


AXIS = "│      ├─────────────▲"
DRAWN = (
    "Lift over plain\n"
    "pass rate of the variant minus the control's, with its 95 % interval\n"
    "\n"
    f"{'':45}  −1       −0.5        0        +0.5       +1\n"
    f"with-house-greeting · greets by name · scribe  {'':21}{AXIS}  +1.00 [0.31, 1.00] ▲ helped\n"
)


def test_the_lifts_of_a_run_are_drawn(root: Path) -> None:
    run = with_lifts(recorded(root))
    assert reeval("show", "--plot").stdout.splitlines()[0] == "Lift over plain"
    done = reeval("show", run.id, "--plot")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == DRAWN


COMPARED = """
from reeval import Attempt, compare, environment, evaluate

plain = environment("plain", files={"a.txt": "a"})
other = environment("other", files={"a.txt": "b"})

@evaluate("greets")
@compare(baseline=plain, variants=[other])
async def greets(c: Attempt) -> None:
    await c.send("Greet.")
    assert await c.read_text("a.txt") == "b"
"""


def test_a_run_that_compares_is_drawn_in_the_summary_and_in_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(tmp_path, greet=COMPARED))
    assert reeval("run").exit_code == 0
    (run,) = (tmp_path / ".reeval" / "runs").iterdir()
    said = "other, greets · scripted: +1.00 [0.31, 1.00], helped"
    assert said in (run / "lifts.svg").read_text(encoding="utf-8")
    assert "![lifts with their 95 % intervals: 1 helped](lifts.svg)" in (run / "summary.md").read_text(encoding="utf-8")
    assert reeval("show", "--plot").stdout.endswith("  +1.00 [0.31, 1.00] ▲ helped\n")


def test_full_draws_all_of_many(root: Path) -> None:
    with_lifts(recorded(root), 50)
    assert reeval("show", "--plot").stdout.splitlines()[-1] == "… 10 more lifts"
    full = reeval("show", "--plot", "--full").stdout
    assert full.count("▲ helped") == 50
    assert "more" not in full


def test_a_run_without_lifts_says_how_to_get_one(root: Path) -> None:
    run = recorded(root)
    done = reeval("show", "--plot")
    assert done.exit_code == 0
    assert done.stdout == (
        f"run {run.id} has no lifts: none of its evals compares anything\n"
        "to get one, write @compare(variants=[…]) above an eval and run it, with 4 runs a side or more\n"
        f"or hold the whole run against an earlier one: reeval show {run.id} --vs RUN\n"
    )


def test_lifts_between_two_runs_are_drawn(root: Path) -> None:
    earlier, later = recorded(root, planned(runs=4)), recorded(root, planned(runs=4))
    done = reeval("show", later.id, "--vs", earlier.id, "--plot")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"Lift over run {earlier.id}"
    assert lines[1].startswith("pass rate of the later run minus the earlier one's")
    assert lines[4].startswith("terse/-/fake · greets by name  ")
    assert lines[4].endswith("○ can't tell yet")


def test_runs_with_nothing_in_common_are_not_drawn(root: Path) -> None:
    earlier, later = recorded(root, planned("adds")), recorded(root, planned("greets"))
    done = reeval("show", later.id, "--vs", earlier.id, "--plot")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")


def test_an_attempt_is_not_drawn(root: Path) -> None:
    recorded(root)
    done = reeval("show", "greets by name@#1", "--plot")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "error: --plot draws whole runs, and 'greets by name@#1' is no run; `reeval runs` lists them\n"
    )


def test_a_stream_that_has_no_unicode_gets_ascii(root: Path) -> None:
    with_lifts(recorded(root))
    command = [sys.executable, "-m", "reeval", "show", "--plot"]
    done = subprocess.run(
        command, capture_output=True, env={"PYTHONIOENCODING": "ascii", "PATH": ""}, cwd=root, check=True
    )
    assert b"|      [-------------^  +1.00 [0.31, 1.00] ^ helped" in done.stdout
    assert done.stdout.isascii()
    assert b"\\" not in done.stdout
