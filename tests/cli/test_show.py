"""``reeval show``."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from reeval.record.store import RunStore
from reeval.schema.record import AttemptRecord, Outcome
from reeval.secrets import Masker
from tests.cli.projects import plan_of, planned, project, recorded, reeval, start_of


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project(tmp_path))
    return tmp_path


def test_the_last_screen_of_the_last_run(root: Path) -> None:
    run = recorded(root)
    done = reeval("show")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"run {run.id} · completed · ")
    assert lines[0].endswith(" UTC · --tag smoke")
    assert lines[2] == "fail greets by name  1 of 2 · 0.10 s"
    assert "      ✗ greets Ada" in lines
    assert "          got ''" in lines
    assert f"record              {run.path}/" in lines


@pytest.mark.parametrize("ref", ["last", "{id}", "{short}", "{path}"])
def test_a_run_is_found_by_name_id_beginning_and_directory(root: Path, ref: str) -> None:
    run = recorded(root)
    text = ref.format(id=run.id, short=run.id[:-2], path=run.path)
    assert f"run {run.id} · completed" in reeval("show", text).stdout


def test_a_run_that_was_killed_reads_as_interrupted(root: Path) -> None:
    run = recorded(root, ended=False)
    text = reeval("show").stdout
    assert f"run {run.id} · interrupted" in text
    assert "1 passed, 1 not run" in text
    assert f"reeval run --resume {run.id}" in text


def test_a_run_that_goes_on_says_so(root: Path) -> None:
    plan = plan_of(planned())
    with RunStore(root).create(Masker()) as writer:
        writer.start(start_of(writer.directory.name, plan))
        text = reeval("show").stdout
    assert " · running · " in text
    assert "--resume" not in text


@pytest.mark.parametrize(
    "text",
    [
        "evals/greet.eval.py::greets by name@terse/-/fake#2",
        "greets by name@#2",
        "evals/greet.eval.py › greets by name@terse/-/fake#2",
        "evals/greet.eval.py › greets by name @ terse/-/fake#2",
        "greets by name @ terse/-/fake#2",
        "greet@#2",
        "@terse/-/fake#2",
        "terse/-/fake#2",
        "fake#2",
    ],
)
def test_an_attempt_is_found_by_any_part_that_names_only_one(root: Path, text: str) -> None:
    recorded(root)
    done = reeval("show", text)
    assert done.stdout.splitlines()[0] == "evals/greet.eval.py › greets by name @ terse/-/fake#2"
    assert "  ✗ greets Ada" in done.stdout.splitlines()


def test_an_attempt_of_an_earlier_run(root: Path) -> None:
    earlier = recorded(root)
    time.sleep(1.1)  # ids sort by seconds
    recorded(root, planned("another"))
    assert reeval("show", "greets by name@#1").exit_code == 2
    assert f"run {earlier.id}" in reeval("show", "greets by name@#1", "--run", earlier.id).stdout


def test_what_to_do_next_with_an_earlier_run_names_that_run(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    earlier = recorded(root)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "kept run"
    shutil.copytree(earlier.path, elsewhere)
    look = "look closer  reeval show 'evals/greet.eval.py::greets by name@terse/-/fake#2'"
    assert look.replace("closer", "closer       ") in reeval("show").stdout
    recorded(root)
    for ref, name in ((earlier.id, earlier.id), (str(elsewhere), f"'{elsewhere}'")):
        text = reeval("show", ref).stdout
        assert f"{look} --run {name}\n" in text
        assert "--last-failed" not in text


def test_an_ambiguous_text_lists_the_candidates(root: Path) -> None:
    run = recorded(root, planned("greets by name", 12))
    done = reeval("show", "greets")
    assert (done.exit_code, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0] == f"error: 'greets' names 12 attempts of run {run.id}; write one of them:"
    assert lines[1] == "  evals/greet.eval.py::greets by name@terse/-/fake#1"
    assert lines[-1] == "  … 2 more"


def test_an_exact_name_wins_over_names_that_hold_it(root: Path) -> None:
    recorded(root, planned("greets"), planned("greets loudly"))
    assert reeval("show", "greets@#1").stdout.splitlines()[0] == "evals/greet.eval.py › greets @ terse/-/fake#1"


def test_a_text_that_names_nothing_says_what_there_is(root: Path) -> None:
    run = recorded(root)
    done = reeval("show", "greats by name@#1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: 'greats by name@#1' is no attempt of run {run.id}; its evals: evals/greet.eval.py::greets by name; "
        "--run RUN looks in another run (`reeval runs`)\n"
    )


def test_a_run_that_is_not_there_names_the_nearest(root: Path) -> None:
    run = recorded(root)
    done = reeval("show", run.id[:8] + "-000000-zzzz")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: there is no run '{run.id[:8]}-000000-zzzz'")


def test_without_a_run_or_a_project_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "reeval init" in reeval("show").stderr
    project(tmp_path)
    done = reeval("show")
    assert done.exit_code == 2
    assert "`reeval run` makes one" in done.stderr


def test_it_works_with_a_config_that_does_not(root: Path) -> None:
    recorded(root)
    (root / "reeval.config.toml").write_text("not toml")
    assert reeval("show").exit_code == 0


def test_a_big_run_is_read_without_its_passing_lines(root: Path) -> None:
    plan = plan_of(planned(runs=10_000))
    with RunStore(root).create(Masker()) as writer:
        writer.start(start_of(writer.directory.name, plan))
        for number in range(1, 10_001):
            writer.attempt(
                AttemptRecord(
                    eval=plan.evals[0].id, attempt=f"terse/-/fake#{number}",
                    outcome=Outcome.FAIL if number % 100 == 0 else Outcome.PASS,
                    started_at=0, duration=0.1, harness="terse", sandbox="fake", run=number,
                )
            )  # fmt: skip
    assert reeval("show").exit_code == 0
    text = reeval("show").stdout
    assert "9,900 passed, 100 failed" in text
    assert "  … 50 more failures" in text


def test_a_record_of_a_part_that_was_removed_is_still_shown(root: Path) -> None:
    plan = plan_of(planned(runs=1))
    with RunStore(root).create(Masker()) as writer:
        writer.start(start_of(writer.directory.name, plan))
        writer.attempt(
            AttemptRecord(
                eval=plan.evals[0].id, attempt="terse/-/fake#1", outcome=Outcome.FAIL, started_at=0, duration=0.1,
                harness="terse", sandbox="fake", run=1, log="x" * 9000,
            )
        )  # fmt: skip
    for log in writer.directory.rglob("*.log"):
        log.unlink()
    done = reeval("show", "fake#1")
    assert done.exit_code == 0
    assert "is not there any more" in done.stdout


def test_the_journal_is_what_counts(root: Path) -> None:
    run = recorded(root)
    (run.path / "record.json").write_text(json.dumps({"run_id": "nonsense"}))
    assert "1 passed, 1 failed" in reeval("show").stdout


def test_an_attempt_becomes_a_timeline(root: Path) -> None:
    recorded(root)
    file = root / "trace.json"
    done = reeval("show", "greets@#1", "--trace", str(file))
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"{file}: open it at https://ui.perfetto.dev or chrome://tracing\n"
    names = [event["name"] for event in json.loads(file.read_text())["traceEvents"]]
    assert "process_name" in names


@pytest.mark.parametrize("ref", [(), ("last",)])
def test_a_timeline_is_of_one_attempt(root: Path, ref: tuple[str, ...]) -> None:
    recorded(root)
    done = reeval("show", *ref, "--trace", "trace.json")
    assert done.exit_code == 2
    assert "--trace draws one attempt; name it" in done.stderr


def test_a_timeline_that_cannot_be_written_says_so(root: Path) -> None:
    recorded(root)
    done = reeval("show", "greets@#1", "--trace", str(root))
    assert done.exit_code == 2
    assert f"--trace: {root} cannot be written: Is a directory; name another file" in done.stderr.replace("\n", " ")
