"""Whole runs of compares: what helps, what cannot be told, and what goes wrong on one side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reeval.record.compile import load_record
from reeval.record.store import RunStore
from reeval.schema.record import EvalRecord
from tests.faults.shell import Shell

CONFIG = """
max_concurrent = 1
[sandbox.local]
isolation = "none"
[harness.reader]
kind = "command"
command = "cat answer.txt"
[profile.control.limit]
compare = false
"""
EVALS = """
from reeval import *

no = environment("no", files={{"answer.txt": "no"}})
yes = environment("yes", files={{"answer.txt": "yes"}})
more = environment("more", files={{"answer.txt": "yes!"}})
broken = environment("broken", setup=["exit 7"])
again = environment("again", files={{"answer.txt": "no"}})

@{evaluate}"reads{key}", {options})
@compare({compare})
async def reads(c{parameter}):
    turn = await c.send("Read it.")
    {body}
    c.check(turn.message, includes("yes"))
"""
HELPS = "baseline=no, variants=[yes]"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def text_of(compare: str, *, options: str = "", body: str = "", cases: int = 0) -> str:
    return EVALS.format(
        evaluate=f"evaluate.each({[{'n': number} for number in range(cases)]}, " if cases else "evaluate(",
        key=" {n}" if cases else "",
        compare=compare,
        options=options,
        body=body,
        parameter=", case" if cases else "",
    )


def set_up(shell: Shell, compare: str, **more: Any) -> Shell:
    return shell.set_up(CONFIG, reads=text_of(compare, **more))


def recorded(shell: Shell) -> EvalRecord:
    store = RunStore(shell.root)
    (one,) = load_record(store.find("last")).evals
    return one


def test_a_variant_that_truly_helps_is_said_to_help(shell: Shell) -> None:
    done = set_up(shell, HELPS).run("run")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "\n  no   0 of 4  ·\n  yes  4 of 4  +1.00 [0.31, 1.00] helped\n" in done.stdout
    assert "lifts.svg" in (shell.root / ".reeval/runs" / recorded_id(shell) / "summary.md").read_text()


def recorded_id(shell: Shell) -> str:
    return RunStore(shell.root).find("last").id


def test_the_sides_take_turns(shell: Shell) -> None:
    set_up(shell, HELPS, options="runs=3").run("run")
    journal = RunStore(shell.root).find("last")
    started = sorted((one.started_at, one.environment) for one in journal.attempts())
    assert [environment for _, environment in started] == ["no", "yes"] * 3


def test_a_lift_below_min_lift_fails_the_run(shell: Shell) -> None:
    done = set_up(
        shell, "baseline=yes, variants=[environment('more', files={'answer.txt': 'yes!'})], min_lift=0.5"
    ).run("run")
    assert done.exit_code == 1
    assert "the lift is below min_lift 0.5" in done.stdout
    assert done.stdout.count("fail reads") == 1


@pytest.mark.parametrize(
    ("compare", "code", "said"),
    [
        ("baseline=no, variants=[broken]", 3, "– can't tell yet"),
        ("baseline=broken, variants=[yes]", 0, "– can't tell yet"),
        ("baseline=broken, variants=[yes], min_lift=0.1", 3, "could still change whether min_lift 0.1 holds"),
        ("baseline=no, variants=[again], gate='none'", 0, "both sides ran the very same: nothing was varied"),
        ("baseline=no, variants=[yes], gate='all'", 1, "helped"),
    ],
)
def test_what_happens_to_one_side_is_told(shell: Shell, compare: str, code: int, said: str) -> None:
    done = set_up(shell, compare).run("run")
    assert done.exit_code == code, done.stdout
    assert said in done.stdout


def test_an_error_of_the_body_is_never_called_help(shell: Shell) -> None:
    body = "assert c is not None\n    if c.run == 1: raise KeyError('mine')"
    done = set_up(shell, HELPS, options="runs=6", body=body).run("run")
    assert done.exit_code == 3, done.stdout
    assert "helped" not in done.stdout
    assert "errors of the eval's own code may hide what the agent did" in done.stdout


def test_one_case_tells_nothing(shell: Shell) -> None:
    done = set_up(shell, HELPS, options="runs=8", cases=1).run("run")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "can't tell yet: fewer than 6 cases have results on both sides" in done.stdout


def test_six_cases_do(shell: Shell) -> None:
    done = set_up(shell, HELPS, options="runs=1", cases=6).run("run")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "helped" in done.stdout


def test_a_profile_that_turns_compares_off_runs_the_control_alone(shell: Shell) -> None:
    done = set_up(shell, "baseline=yes, variants=[no]").run("run", "--profile", "control")
    assert done.exit_code == 0, done.stdout
    found = recorded(shell)
    assert [cell.environment for cell in found.cells] == ["yes"]
    assert (found.lifts, found.runs) == ([], 1)


@pytest.mark.parametrize(
    ("compare", "message"),
    [
        ("baseline=no, variants=[yes, no]", "compare has the environment 'no' on two sides; name each side once"),
        (
            "baseline=no, variants=[environment('no', files={'answer.txt': 'yes'})]",
            "compare has the environment 'no' on two sides; name each side once",
        ),
        ("baseline=no, variants=[yes], min_lift=1.5", "compare has min_lift=1.5; it takes a number from -1 to 1"),
        ("baseline=no, variants=[]", "compare has variants=[]; give a list of at least one environment"),
    ],
)
def test_a_compare_that_makes_no_sense_runs_nothing(shell: Shell, compare: str, message: str) -> None:
    done = set_up(shell, compare).run("run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (shell.root / ".reeval/runs").exists()


def test_one_name_with_different_contents_over_two_evals_runs_nothing(shell: Shell) -> None:
    other = text_of(HELPS).replace('"answer.txt": "yes"', '"a": "yes"')
    set_up(shell, HELPS).write("evals/other.eval.py", other)
    done = shell.run("run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "two environments with different contents are called 'yes'; rename one of them" in done.stderr


def test_evals_that_compare_the_same_are_told_together(shell: Shell) -> None:
    set_up(shell, HELPS).write("evals/other.eval.py", text_of(HELPS))
    done = shell.run("run")
    assert done.exit_code == 0
    assert "over several evals\n\n  yes over no, 2 evals  +1.00 [" in done.stdout
    (pooled,) = load_record(RunStore(shell.root).find("last")).lifts
    assert (pooled.evals, pooled.said) == (2, "helped")


def test_the_dry_run_takes_the_controls_last_rate(shell: Shell) -> None:
    set_up(shell, HELPS)
    assert "no lift with 80 % power, at a control's rate of 0.5 (a guess)" in flat(shell.run("run", "--dry-run"))
    shell.run("run")
    assert "a lift from +0.95 on with 80 % power, at the control's last rate of 0.00" in flat(
        shell.run("run", "--dry-run")
    )


def flat(done: Any) -> str:
    return " ".join(done.stdout.split())


def test_lifts_are_asked_with_sql(shell: Shell) -> None:
    set_up(shell, HELPS).run("run")
    done = shell.run("query", "SELECT variant, lift, said FROM lifts", "--format", "csv")
    assert done.stdout.split() == ["variant,lift,said", "yes,1.0,helped"]
