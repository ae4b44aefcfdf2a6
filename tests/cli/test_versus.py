"""``--vs``: two recorded runs, compared by the commands themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.faults.shell import Shell

EVALS = """
from reeval import Attempt, evaluate, includes

@evaluate("greets by name", runs=4)
async def greets(c: Attempt) -> None:
    turn = await c.send("Greet.")
    c.check(turn.message, includes("Ada"))

@evaluate("says goodbye", runs=4)
async def goodbye(c: Attempt) -> None:
    turn = await c.send("Go.")
    c.check(turn.message, includes("Bye"))
"""
SCORED = """
from reeval import ScoredAttempt, evaluate

@evaluate("earns", scored=True)
async def earns(c: ScoredAttempt) -> None:
    c.score(1)
"""
GOOD, BAD = "Hello Ada. Bye.", "Hello. Bye."
WORSE = "evals/greet.eval.py::greets by name@terse/-/fake"


def config(reply: str) -> str:
    return f'[harness.terse]\nkind = "fake"\nscript = [[{{ reply = "{reply}" }}]]\n'


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A project with one run, in which everything passed."""
    made = Shell(tmp_path).set_up(config(GOOD), greet=EVALS)
    assert made.run("run").exit_code == 0
    return made


@pytest.fixture
def worse(shell: Shell) -> Shell:
    """The project after its agent got worse, with a run of it."""
    shell.write("reeval.config.toml", config(BAD))
    assert shell.run("run").exit_code == 1
    return shell


def versus(text: str) -> list[str]:
    """Return the lines of the comparison."""
    lines = text.splitlines()
    return lines[next(at for at, line in enumerate(lines) if line.startswith("vs   ")) :]


# --- show ---------------------------------------------------------------------------------------------


def test_the_last_run_is_compared_with_the_one_before(worse: Shell) -> None:
    done = worse.run("show", "--vs", "last")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [line for line in done.stdout.splitlines() if "duration" not in line]
    old, new = (run.name for run in worse.runs)
    stamps = [line.split(" · ")[2] for line in lines[:2]]
    assert "\n".join(lines) == (
        f"""\
vs   {old} · completed · {stamps[0]}
run  {new} · completed · {stamps[1]}

what differs
  · harness terse: option script [[{{"reply": "{GOOD}"}}]] → [[{{"reply": "{BAD}"}}]]

greets by name
              pass    lift
  terse  vs   4 of 4  ·
         run  0 of 4  −1.00 [−1.00, −0.31] made it worse
  terse: includes 'Ada' holds 4 of 4 → 0 of 4

says goodbye
              pass    lift
  terse  vs   4 of 4  ·
         run  4 of 4  +0.00 [−0.49, 0.49] can't tell yet

all evals
         evals  lift
  terse  2      −0.50 [−0.74, −0.08] made it worse

2 cells · 1 made it worse · 1 can't tell yet
  · 1 can't be told yet: the difference may be chance"""
    )


def test_the_direction_follows_the_runs_that_are_named(worse: Shell) -> None:
    old, new = (run.name for run in worse.runs)
    assert "−1.00 [−1.00, −0.31] made it worse" in worse.run("show", new, "--vs", old).stdout
    assert "+1.00 [0.31, 1.00] helped" in worse.run("show", old, "--vs", new).stdout
    assert "helped" in worse.run("show", "--run", old, "--vs", new).stdout


def test_a_record_from_elsewhere_is_named_by_its_directory(worse: Shell) -> None:
    artifact = worse.directory / "artifact"
    shutil.copytree(worse.runs[0], artifact)
    shutil.rmtree(worse.runs[0])
    done = worse.run("show", "--vs", str(artifact))
    assert (done.exit_code, done.stderr) == (0, "")
    assert "made it worse" in done.stdout
    (artifact / "record.json").unlink()
    assert worse.run("show", "--vs", str(artifact)).stdout == done.stdout


def test_an_eval_whose_task_changed_is_listed_apart(worse: Shell) -> None:
    worse.write("evals/greet.eval.py", EVALS.replace('includes("Ada")', 'includes("Hello")'))
    assert worse.run("run").exit_code == 0
    done = worse.run("show", "--vs", "last")
    assert "  · evals/greet.eval.py::greets by name: its task changed" in done.stdout.splitlines()
    assert "greets by name\n    " not in done.stdout


def test_the_first_run_has_none_before_it(shell: Shell) -> None:
    done = shell.run("show", "--vs", "last")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"there is no run before {shell.last.name}" in done.stderr


def refused(shell: Shell, *arguments: str) -> str:
    done = shell.run(*arguments)
    assert (done.exit_code, done.stdout) == (2, ""), done.stdout
    assert "Traceback" not in done.stderr
    return done.stderr


def test_what_cannot_be_compared_is_refused_with_what_to_do(worse: Shell) -> None:
    new = worse.last.name
    assert "cannot be compared with itself" in refused(worse, "show", new, "--vs", new)
    assert "there is no run 'nope'; the newest: " in refused(worse, "show", "--vs", "nope")
    assert "evals: no record of a run, since it has no events.ndjson" in refused(worse, "show", "--vs", "evals")
    assert "'greets@#1' is no run" in refused(worse, "show", "greets@#1", "--vs", "last")
    assert "there is no run ''" in refused(worse, "show", "--vs", "")


def test_a_run_without_a_common_eval_says_what_there_is(worse: Shell) -> None:
    (worse.root / "evals/greet.eval.py").rename(worse.root / "evals/other.eval.py")
    worse.run("run")
    said = refused(worse, "show", "--vs", "last")
    assert "have no eval in common" in said
    assert "evals/other.eval.py::greets by name" in said
    assert "evals/greet.eval.py::greets by name" in said


def test_a_run_that_has_nothing_in_common_with_the_last_is_told_of_one_that_has(shell: Shell) -> None:
    first = shell.last.name
    greet, other = shell.root / "evals/greet.eval.py", shell.root / "evals/other.eval.py"
    greet.rename(other)
    said = refused(shell, "run", "--vs", "last")
    assert said.rstrip().endswith("; `reeval runs` lists what else there is")
    shell.run("run")
    other.rename(greet)
    said = refused(shell, "run", "--vs", "last")
    assert "have no eval in common" in said
    assert said.rstrip().endswith(f"; run {first} can be compared with it: --vs {first}")
    assert shell.run("run", "--vs", first).exit_code == 0


def test_passes_and_scores_are_not_compared(shell: Shell) -> None:
    shell.write("evals/earn.eval.py", SCORED)
    assert shell.run("run", "--kind", "scored").exit_code == 0
    assert "passes and scores cannot be compared" in refused(shell, "show", "--vs", "last")


def test_a_record_of_an_older_version_is_refused(worse: Shell) -> None:
    journal = worse.runs[0] / "events.ndjson"
    journal.write_text(journal.read_text().replace('"schema_version":1', '"schema_version":0', 1))
    said = refused(worse, "show", "--vs", "last")
    assert f"run {worse.runs[0].name} was recorded with schema version 0" in said
    assert "record it again" in said


def test_a_journal_that_is_no_journal_is_refused(worse: Shell) -> None:
    (worse.runs[0] / "events.ndjson").write_text("nonsense\n")
    assert "does not begin with the run's head" in refused(worse, "show", "--vs", "last")


# --- run ----------------------------------------------------------------------------------------------


def test_a_run_that_got_worse_fails_and_says_where(shell: Shell) -> None:
    shell.write("evals/greet.eval.py", EVALS.replace("runs=4", 'runs=4, gate="none"'))
    assert shell.run("run").exit_code == 0
    shell.write("reeval.config.toml", config(BAD))
    done = shell.run("run", "--vs", "last", "--fail-on", "worse")
    assert (done.exit_code, done.stderr) == (1, "")
    assert shell.record()["exit_code"] == 0
    lines = versus(done.stdout)
    before, now = (run.name for run in shell.runs[1:])
    assert lines[0].startswith(f"vs   {before} · ")
    assert lines[1].startswith(f"run  {now} · ")
    assert lines[-3:] == [
        f"worse than run {before}, so exit 1 (--fail-on worse)",
        f"  · {WORSE}  −1.00 [−1.00, −0.31] made it worse",
        "  · all evals@terse/-/fake  −0.50 [−0.74, −0.08] made it worse",
    ]
    assert shell.run("run", "--vs", before).exit_code == 0


def test_a_run_that_got_no_worse_keeps_its_exit_code(shell: Shell) -> None:
    done = shell.run("run", "--vs", "last", "--fail-on", "worse")
    assert done.exit_code == 0
    assert "2 cells · 2 can't tell yet" in done.stdout
    assert "worse" not in "".join(versus(done.stdout))


def test_events_end_with_the_comparison(shell: Shell) -> None:
    shell.write("reeval.config.toml", config(BAD))
    done = shell.run("run", "--vs", "last", "--fail-on", "worse", "--json")
    assert done.exit_code == 1
    *_, finished, compared = done.events
    assert (finished["event"], compared["event"]) == ("run_finished", "compared")
    assert (compared["vs"], compared["run"]) == tuple(run.name for run in shell.runs)
    assert compared["worse"] == [WORSE, "all evals@terse/-/fake"]


REFUSED: dict[str, tuple[list[str], str]] = {
    "a run that is not there": (["--vs", "20200101"], "there is no run '20200101'"),
    "nothing to compare with": (["--fail-on", "worse"], "add --vs last"),
    "another word": (["--vs", "last", "--fail-on", "better"], "'worse'"),
    "a run that ends at what fails": (["--vs", "last", "--fail-on", "worse", "-x"], "--fail-fast"),
    "a directory without a record": (["--vs", "evals"], "no events.ndjson"),
    "a dry run": (["--vs", "20200101", "--dry-run"], "there is no run '20200101'"),
    "another harness": (["--vs", "last", "--harness", "other"], "have no cell in common"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.values(), ids=REFUSED)
def test_a_bad_comparison_is_refused_before_anything_starts(shell: Shell, arguments: list[str], said: str) -> None:
    shell.write("reeval.config.toml", config(GOOD) + '[harness.other]\nkind = "fake"\n')
    assert said in refused(shell, "run", *arguments)
    assert len(shell.runs) == 1


def test_a_run_needs_another_one_to_be_compared_with(tmp_path: Path) -> None:
    shell = Shell(tmp_path).set_up(config(GOOD), greet=EVALS)
    assert "`reeval run` makes one" in refused(shell, "run", "--vs", "last")


def test_a_run_is_compared_with_what_was_read_before_it_began(shell: Shell) -> None:
    shell.write("reeval.config.toml", config(GOOD) + "[history]\nkeep = 1\n")
    done = shell.run("run", "--vs", "last")
    assert done.exit_code == 0
    assert len(shell.runs) == 1
    assert "4 of 4  +0.00" in done.stdout


def test_a_resumed_run_is_compared_with_the_one_before_it(worse: Shell) -> None:
    done = worse.run("run", "--resume", worse.last.name, "--vs", "last", "--fail-on", "worse")
    assert done.exit_code == 1
    assert versus(done.stdout)[0].startswith(f"vs   {worse.runs[0].name} · ")
    assert "cannot be compared with itself" in refused(worse, "run", "--resume", "last", "--vs", worse.last.name)


def test_the_last_run_of_a_dry_run_is_looked_for_and_nothing_more(shell: Shell) -> None:
    done = shell.run("run", "--vs", "last", "--fail-on", "worse", "--dry-run", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["kind"] == "pass-fail"
