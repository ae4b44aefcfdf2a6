"""``reeval run``: what its options do and which exit code it ends with, by the command itself."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.faults.shell import Shell

MIXED = """
import os
from pathlib import Path
from reeval import Attempt, equals, evaluate, group

def trace(c):
    with open(os.environ["TRACES"], "a") as out:
        out.write(f"{c.cell.harness} {c.run}\\n")

@evaluate("passes", runs=3, tags=["good"])
async def passes(c: Attempt) -> None:
    print("a word of the body")
    trace(c)
    c.check(1, equals(1)).label("is one")

@evaluate("fails", runs=3, tags=["bad"])
async def fails(c: Attempt) -> None:
    trace(c)
    c.check(1, equals(2)).label("is two")

@evaluate("breaks", runs=3, tags=["bad"])
async def breaks(c: Attempt) -> None:
    trace(c)
    if Path(os.environ["TRACES"]).with_name("mended").exists():
        c.check(1, equals(1))
        return
    raise OSError("no such luck")
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path).set_up(mixed=MIXED)


# --- exit codes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-k", "passes"], 0),
        (["-k", "fails or passes"], 1),
        (["-k", "fails or breaks"], 1),
        (["-k", "breaks or passes"], 3),
        (["-k", "nothing"], 2),
    ],
    ids=lambda it: it if isinstance(it, int) else it[-1],
)
def test_the_exit_code_says_how_it_ended(shell: Shell, arguments: list[str], code: int) -> None:
    assert shell.run("run", *arguments).exit_code == code
    if code != 2:
        assert shell.record()["exit_code"] == code


REFUSED: dict[str, tuple[list[str], str]] = {
    "an empty selection says what there is": (["-k", "nothing"], "there are 3 evals in evals/mixed.eval.py"),
    "a path that is not there": (["evals/nowhere.eval.py"], "evals/nowhere.eval.py"),
    "a name that is not there": (["evals/mixed.eval.py::pass"], "did you mean 'evals/mixed.eval.py::passes'?"),
    "a tag that is not there": (["--tag", "smoke"], "good"),
    "a harness that is not there": (["--harness", "codx"], "'codx'"),
    "a profile that is not there": (["--profile", "ci"], "ci"),
    "an expression that is none": (["-k", "a and"], "-k"),
    "an option that is not there": (["--fail-fats"], "--fail-fast"),
    "a number that is none": (["--runs", "0"], "--runs"),
    "a run to resume that is not there": (["--resume", "20200101"], "nothing is recorded"),
    "failures of a run that is not there": (["--last-failed"], "`reeval run` makes one"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.values(), ids=REFUSED)
def test_a_command_line_that_makes_no_sense_starts_nothing(shell: Shell, arguments: list[str], said: str) -> None:
    done = shell.run("run", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert shell.nothing_written()


def test_outside_of_a_project_it_says_how_to_start_one(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.root.mkdir()
    done = shell.run("run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "reeval init" in done.stderr


# --- kinds --------------------------------------------------------------------------------------------

SCORED = """
from reeval import ScoredAttempt, equals, evaluate

@evaluate("earns", scored=True)
async def earns(c: ScoredAttempt) -> None:
    c.check(1, equals(1)).score(2)
    c.check(1, equals(2)).score(3)
    c.score(0.5)
"""


def test_a_mixed_selection_is_refused_and_one_kind_of_it_runs(shell: Shell) -> None:
    shell.write("evals/scored.eval.py", SCORED)
    done = shell.run("run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--kind" in done.stderr
    assert "earns" in done.stderr
    assert "passes" in done.stderr
    assert shell.nothing_written()
    done = shell.run("run", "--kind", "scored")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "3 pass-fail evals are left out; `--kind pass-fail` selects that kind" in done.stdout
    (attempt,) = shell.attempts()
    assert (attempt["outcome"], attempt["verdict"], attempt["score"]) == ("scored", "pass", 2.5)


MAJORITY = """
from reeval import equals, evaluate
@evaluate("mostly passes", runs={"best_of": 5})
async def mostly(c):
    c.check(c.run % 2, equals(1))
"""


def test_a_cell_stops_at_its_majority_and_passes_by_it(shell: Shell) -> None:
    shell.write("evals/mostly.eval.py", MAJORITY)
    done = shell.run("run", "evals/mostly.eval.py", "-n", "1", "--kind", "pass-fail")
    assert (done.exit_code, done.stderr) == (0, "")
    assert [attempt["outcome"] for attempt in shell.attempts()] == ["pass", "fail", "pass", "fail", "pass"]
    shell.write("evals/mostly.eval.py", MAJORITY.replace("% 2", ""))
    done = shell.run("run", "evals/mostly.eval.py", "-n", "1", "--kind", "pass-fail")
    assert done.exit_code == 1
    assert [attempt["outcome"] for attempt in shell.attempts()] == ["pass", "fail", "fail", "fail"]
    assert "1 of 5 attempts was not needed for a majority" in done.stdout
    assert "1 passed, 3 failed in" in done.stdout


# --- what stops it ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "failed"), [(["--fail-fast"], 1), (["-x"], 1), (["--max-failures", "2"], 2)], ids=str
)
def test_a_run_stops_after_its_failures(shell: Shell, arguments: list[str], failed: int) -> None:
    done = shell.run("run", "-k", "fails", "-n", "1", *arguments)
    assert done.exit_code == 1
    assert len(shell.traced()) == failed
    record = shell.record()
    assert (record["state"], record["totals"]["failed"]) == ("completed", failed)
    plural = "s" if failed > 1 else ""
    assert record["notes"] == [f"stopped after {failed} attempt{plural} that did not pass"]


def test_last_failed_runs_only_what_did_not_pass(shell: Shell) -> None:
    shell.run("run")
    shell.run("run", "--last-failed")
    assert sorted({one["eval"].rpartition("::")[2] for one in shell.attempts()}) == ["breaks", "fails"]
    assert len(shell.runs) == 2
    shell.run("run", "-k", "passes")
    done = shell.run("run", "--last-failed")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "nothing failed" in done.stderr


def test_retry_errors_runs_only_what_ended_as_error_again(shell: Shell) -> None:
    assert shell.run("run", "-k", "breaks or passes").exit_code == 3
    shell.traces.unlink()
    shell.traces.with_name("mended").touch()
    done = shell.run("run", "--retry-errors")
    assert done.exit_code == 0
    assert len(shell.runs) == 1
    assert len(shell.traced()) == 3
    assert shell.totals() == {"planned": 6, "passed": 6}
    assert "3 of 6 attempts are kept" in done.stdout


# --- what it prints -----------------------------------------------------------------------------------


def test_json_is_only_json(shell: Shell) -> None:
    done = shell.run("run", "-k", "passes", "--json", "--runs", "2")
    assert (done.exit_code, done.stderr) == (0, "")
    events = done.events
    assert [event["event"] for event in events] == [
        "run_started",
        *["attempt_started"] * 2,
        *["attempt_finished"] * 2,
        "run_finished",
    ]
    assert events[-1]["record"]["totals"]["passed"] == 2
    assert events[0]["run_id"] == shell.last.name


def test_a_dry_run_is_the_plan_and_starts_nothing(shell: Shell) -> None:
    done = shell.run("run", "--dry-run", "--runs", "2")
    assert (done.exit_code, done.stderr) == (0, "")
    assert [name in done.stdout for name in ("passes", "fails", "breaks", "runs")] == [True] * 4
    plan = json.loads(shell.run("run", "--dry-run", "--runs", "2", "--json").stdout)
    assert [planned["runs"] for planned in plan["evals"]] == [2, 2, 2]
    assert shell.traced() == []
    assert shell.nothing_written()


def test_junit_is_xml_of_every_attempt(shell: Shell) -> None:
    done = shell.run("run", "--junit", "out.xml")
    assert done.exit_code == 1
    (suite,) = ET.parse(shell.root / "out.xml").getroot()
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "9", "failures": "3", "errors": "3"}
    assert len(suite.findall("testcase")) == 9


def test_a_junit_file_that_cannot_be_written_loses_no_record(shell: Shell) -> None:
    done = shell.run("run", "-k", "passes", "--junit", "reeval.config.toml/out.xml")
    assert done.exit_code == 3
    assert "reeval.config.toml/out.xml: the JUnit file cannot be written" in done.stderr
    assert shell.record()["totals"]["passed"] == 3
    assert (shell.last / "summary.md").is_file()


def test_quiet_is_only_the_results_and_verbose_has_checks_and_logs(shell: Shell) -> None:
    quiet = shell.run("run", "-k", "passes", "-q").stdout
    assert quiet.splitlines()[0].startswith("pass passes  3 of 3")
    assert "is one" not in quiet
    verbose = shell.run("run", "-k", "passes", "-v").stdout
    assert verbose.count("✓ is one") == 3
    assert "a word of the body" in verbose


def test_debug_is_one_attempt_whose_body_has_the_terminal(shell: Shell) -> None:
    body = """
import sys
from reeval import equals, evaluate
@evaluate.each(["Ada", "Bob"], "asks {}", runs=4, timeout=0.2)
async def asks(c, name):
    import time
    time.sleep(1.5)
    c.check(name, equals("Ada"))
"""
    shell.write("evals/asks.eval.py", body)
    done = shell.run("run", "--debug", "evals/asks.eval.py")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "blocks every other attempt" not in done.stdout
    assert shell.totals() == {"planned": 1, "passed": 1}


def test_a_kept_sandbox_is_said_and_stays(shell: Shell) -> None:
    body = """
from reeval import command_succeeded, evaluate
@evaluate("writes")
async def writes(c):
    c.check(await c.exec("echo kept > kept.txt"), command_succeeded())
"""
    shell.write("evals/writes.eval.py", body)
    assert shell.run("run", "-k", "writes").exit_code == 0
    assert shell.no_sandbox_left()
    done = shell.run("run", "-k", "writes", "--keep-sandbox")
    (kept,) = shell.temporary.glob("reeval-*/*/workspace/kept.txt")
    assert kept.read_text() == "kept\n"
    assert f"kept in {kept.parents[1]}" in done.stdout + done.stderr
    shell.run("run", "-k", "writes")
    assert kept.exists()


# --- where it runs from -------------------------------------------------------------------------------


def test_a_run_from_a_folder_of_the_project_is_recorded_at_its_root(shell: Shell) -> None:
    done = Shell(shell.directory)
    inside = done.run("run", "mixed.eval.py::passes", prefix=("env", "-C", str(shell.root / "evals")))
    assert inside.exit_code == 0, inside.stderr
    assert shell.record()["totals"]["passed"] == 3
    assert not (shell.root / "evals" / ".reeval").exists()
    assert f"record  ../.reeval/runs/{shell.runs[-1].name}/" in inside.stdout.splitlines()


def test_an_id_is_found_from_a_folder_of_the_project(shell: Shell) -> None:
    inside = shell.run(
        "run", "evals/mixed.eval.py::passes", "--dry-run", prefix=("env", "-C", str(shell.root / "evals"))
    )
    assert (inside.exit_code, inside.stderr) == (0, "")


def test_a_dotenv_is_read_and_never_over_what_is_set(shell: Shell) -> None:
    body = """
import os
from reeval import equals, evaluate
@evaluate("reads")
async def reads(c):
    c.check(os.environ.get("FROM_FILE"), equals("file"))
    c.check(os.environ.get("SET_ALREADY"), equals("shell"))
"""
    shell.write("evals/reads.eval.py", body)
    shell.write(".env", "FROM_FILE=file\nSET_ALREADY=file\n")
    assert shell.run("run", "-k", "reads", SET_ALREADY="shell").exit_code == 0


def test_a_slow_harness_with_limit_1_does_not_slow_a_fast_one(tmp_path: Path) -> None:
    config = """
max_concurrent = 4
[harness.slow]
kind = "fake"
delay = 0.4
max_concurrent = 1
[harness.fast]
kind = "fake"
"""
    body = """
from reeval import evaluate, includes
@evaluate("answers", runs=8)
async def answers(c):
    c.check((await c.send("Go.")).message, includes("Done"))
"""
    shell = Shell(tmp_path).set_up(config, answers=body)
    assert shell.run("run").exit_code == 0
    order = [one["harness"] for one in shell.attempts()]
    # All 8 fast ones end before the second slow one: it waits for its own kind only.
    assert order.index("slow", order.index("slow") + 1) >= 9


def test_options_that_a_resumed_run_cannot_have_are_refused(shell: Shell) -> None:
    shell.run("run", "-k", "passes")
    for arguments in (["-k", "fails"], ["--dry-run"], ["--runs", "2"]):
        done = shell.run("run", "--resume", *arguments)
        assert (done.exit_code, done.stdout) == (2, ""), arguments
        assert "a resumed" in done.stderr
    assert len(shell.runs) == 1
