"""A disk that is full, and records that cannot be written: a clear error, and nothing half-written.

Bubblewrap makes such disks without being root: it is what the project needs for its own sandboxes anyway.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.faults.shell import PASSING, Done, Shell, needs

pytestmark = pytest.mark.skipif(needs("bwrap") is not None, reason=str(needs("bwrap")))

TALKS = """
from reeval import equals, evaluate

@evaluate("talks", runs=50)
async def talks(c):
    print("word " * 4000)
    c.check(1, equals(1))
"""
BIND = ("bwrap", "--dev-bind", "/", "/")


def read_only(*paths: Path) -> tuple[str, ...]:
    """Return the beginning of a command for which these paths are read-only, also when root runs it."""
    return (*BIND, *(word for path in paths for word in ("--ro-bind", str(path), str(path))), "--")


def on_a_small_disk(shell: Shell, size: int, place: Path, *commands: str) -> list[Done]:
    """Run commands one after the other with ``place`` on a disk of ``size`` bytes, and copy it to ``left``."""
    place.mkdir(parents=True, exist_ok=True)
    steps = [
        f"{{ {command}; }} >{shell.directory}/out.{n} 2>{shell.directory}/err.{n}; echo $? >{shell.directory}/code.{n}"
        for n, command in enumerate(commands)
    ]
    reeval = f'reeval() {{ {shlex.quote(sys.executable)} -m reeval "$@"; }}'
    script = "\n".join(
        [reeval, *steps, f"cp -r {shlex.quote(str(place))} {shlex.quote(str(shell.directory / 'left'))}"]
    )
    made = shell.run_program(*BIND, "--size", str(size), "--tmpfs", str(place), "--", "sh", "-c", script)
    assert made.exit_code == 0, made.stderr
    return [
        Done(
            int((shell.directory / f"code.{n}").read_text()),
            (shell.directory / f"out.{n}").read_text(),
            (shell.directory / f"err.{n}").read_text(),
        )
        for n in range(len(commands))
    ]


# --- read-only ----------------------------------------------------------------------------------------


def test_a_project_that_cannot_be_written_is_a_clear_error(shell: Shell) -> None:
    shell.set_up(passes=PASSING)
    done = shell.run("run", prefix=read_only(shell.root))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {shell.root}/.reeval")
    assert "read-only file system" in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert shell.nothing_written()


def test_records_that_cannot_be_written_can_be_read(shell: Shell) -> None:
    shell.set_up(passes=PASSING)
    shell.run("run")
    (shell.root / ".reeval" / "history.duckdb").unlink()
    before = sorted((shell.root / ".reeval").rglob("*"))
    prefix = read_only(shell.root)
    assert shell.run("show", prefix=prefix).exit_code == 0
    assert shell.run("runs", prefix=prefix).exit_code == 0
    asked = shell.run("query", "SELECT outcome FROM attempts", "--format", "csv", prefix=prefix)
    assert (asked.exit_code, asked.stdout.split()) == (0, ["outcome", "pass"])
    assert "this answer comes from memory" in asked.stderr
    for arguments in (["run"], ["run", "--resume"]):
        done = shell.run(*arguments, prefix=prefix)
        assert (done.exit_code, done.stdout) == (2, ""), done
        assert "read-only file system" in done.stderr.lower()
    assert sorted((shell.root / ".reeval").rglob("*")) == before


def test_a_dry_run_and_a_check_need_nothing_to_write_to(shell: Shell) -> None:
    shell.set_up(passes=PASSING)
    for arguments in (["run", "--dry-run"], ["check"]):
        assert shell.run(*arguments, prefix=read_only(shell.root)).exit_code == 0


# --- full ---------------------------------------------------------------------------------------------


def test_a_disk_that_is_full_from_the_start_leaves_nothing(shell: Shell) -> None:
    shell.set_up(passes=PASSING)
    fill = f"dd if=/dev/zero of={shell.root}/.reeval/full bs=4096"
    done, *_ = on_a_small_disk(shell, 65536, shell.root / ".reeval", f"{fill}; reeval run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no space left on device" in done.stderr.lower()
    assert "Traceback" not in done.stderr
    left = shell.directory / "left"
    assert [path.name for path in left.rglob("*") if path.is_file()] == ["full"]


def test_a_disk_that_fills_up_keeps_what_was_reported_and_goes_on_elsewhere(shell: Shell) -> None:
    shell.set_up(talks=TALKS)
    done, shown, asked = on_a_small_disk(
        shell, 400_000, shell.root / ".reeval", "reeval run -n 4", "reeval show", "reeval query 'SELECT 1 FROM runs'"
    )
    assert done.exit_code == 3, done
    assert "no space left on device" in (done.stdout + done.stderr).lower()
    assert "Traceback" not in done.stdout + done.stderr
    assert (shown.exit_code, asked.exit_code) == (0, 0), (shown, asked)
    left = shell.directory / "left"
    (run,) = (left / "runs").iterdir()
    lines = [json.loads(line) for line in (run / "events.ndjson").read_bytes().splitlines()]
    attempts = [line for line in lines if line["type"] == "attempt"]
    reported = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(reported) <= len(attempts) < 50
    for attempt in attempts:
        log = attempt["log"]
        assert (run / log["file"]).stat().st_size == log["bytes"]
    files = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    assert files - {"events.ndjson", "record.json", "summary.md"} == {one["log"]["file"] for one in attempts}

    (shell.root / ".reeval").rmdir()
    left.rename(shell.root / ".reeval")
    again = shell.run("run", "--resume")
    assert again.exit_code == 0, again
    assert f"{len(attempts)} of 50 attempts are kept" in again.stdout
    assert shell.totals() == {"planned": 50, "passed": 50}


def test_a_history_that_does_not_fit_on_the_disk_loses_nothing(shell: Shell) -> None:
    shell.set_up(passes=PASSING)
    done, asked = on_a_small_disk(
        shell, 65536, shell.root / ".reeval", "reeval run", "reeval query 'SELECT outcome FROM attempts' -f csv"
    )
    assert done.exit_code == 0, done
    assert "the history was not brought up to date" in done.stderr
    assert "Traceback" not in done.stderr
    assert (asked.exit_code, asked.stdout.split()) == (0, ["outcome", "pass"]), asked


def test_a_sandbox_on_a_full_disk_is_the_machinerys_error(shell: Shell) -> None:
    body = """
from reeval import command_succeeded, equals, evaluate

@evaluate("writes")
async def writes(c):
    await c.write_file("big", b"x" * 1_000_000)

@evaluate("runs a command that writes")
async def runs(c):
    got = await c.exec("head -c 1000000 /dev/zero > big")
    c.check(got, command_succeeded())
"""
    shell.set_up(writes=body)
    done, *_ = on_a_small_disk(shell, 65536, shell.temporary, "reeval run")
    assert done.exit_code == 1, done
    written, ran = shell.attempt("writes"), shell.attempt("runs a command that writes")
    assert (written["outcome"], written["failure"]["phase"]) == ("error", "sandbox")
    assert "no space left" in written["failure"]["reason"].lower()
    assert ran["outcome"] == "fail"
    assert list((shell.directory / "left").iterdir()) == []
