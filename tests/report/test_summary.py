"""``summary.md``: compared as a whole, and safe whatever a record holds."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from reeval.errors import RecordError
from reeval.report.summary import cell as table_cell
from reeval.report.summary import code, fence, summary_text, write_summary
from reeval.schema.record import Outcome, RunState
from tests.report.pictures.samples import lift
from tests.report.records import (
    HOSTILE,
    cell,
    check,
    entry,
    errored_attempt,
    evaluated,
    failed_attempt,
    gate,
    run,
)


def test_a_summary() -> None:
    good = evaluated("adds", cell(passed=2, duration=0.3, tokens=3100.0, cost=0.12))
    bad = evaluated(
        "greets by name",
        cell(failed=1, error=1, gate=gate(holds=False)),
        attempts=[entry(outcome=Outcome.FAIL), entry("terse/-/fake#2", Outcome.ERROR)],
    )
    record = run(
        good,
        bad,
        evaluated("later", mode="todo"),
        exit_code=1,
        selection="evals --tag smoke",
        created_by="ada",
        git_commit="0123456789abcdef",
        git_branch="main",
        git_dirty=True,
        remarks=["adds: a measurement nobody uses"],
    )
    assert summary_text(record, [failed_attempt(log=""), errored_attempt()]) == (
        """\
# reeval: a gate does not hold

Run `20261130-142501-x7f3` of `demo`, selection `evals --tag smoke`, 2026-11-30 14:25 UTC, 3.2 s, by `ada`.

Commit `0123456789ab` on `main`, with changes that are not committed.

| attempts | passed | failed | errors |
| ---: | ---: | ---: | ---: |
| 4 | 2 | 1 | 1 |

## Evals

| | eval | cell | pass | time | tokens | cost |
| --- | --- | --- | --- | ---: | ---: | ---: |
| fail | `evals/greet.eval.py › greets by name` | `terse/-/fake` | 0 of 1, 1 in error |  |  |  |
| pass | `evals/greet.eval.py › adds` | `terse/-/fake` | 2 of 2 | 0.30 s | 3.1k | $0.12 |
| todo | `evals/greet.eval.py › later` | `todo` |  |  |  |  |

## Failures

### `evals/greet.eval.py::greets by name@terse/-/fake#1`

```text
terse/-/fake#1  fail
  ✗ mentions Ada  line 12
      expected text that includes 'greet.js'
      got 'Done.'
```

## Errors

### `evals/greet.eval.py::greets by name@terse/-/fake#2`

```text
terse/-/fake#2  error
  setup: npm ci exited with 1
    npm ERR! missing: left-pad
```

## Remarks

```text
adds: a measurement nobody uses
```

## Again

```sh
reeval show 'evals/greet.eval.py::greets by name@terse/-/fake#1'
reeval run --last-failed
reeval run --retry-errors 20261130-142501-x7f3
reeval run evals --tag smoke
```

reeval `0.1.0`, Python `3.11.7`, `Linux-6.1-x86_64`
"""
    )


@pytest.mark.parametrize(
    ("state", "exit_code", "title"),
    [
        (RunState.COMPLETED, 0, "every gate holds"),
        (RunState.COMPLETED, 3, "undecided"),
        (RunState.INTERRUPTED, 130, "interrupted"),
        (RunState.FAILED, 3, "the run failed"),
        (RunState.RUNNING, 0, "running"),
    ],
)
def test_the_title_says_how_the_run_ended(state: RunState, exit_code: int, title: str) -> None:
    assert summary_text(run(state=state, exit_code=exit_code), []).splitlines()[0] == f"# reeval: {title}"


def test_failures_of_an_eval_that_read_alike_are_one() -> None:
    names = [f"terse/-/fake#{number}" for number in (1, 2, 3)]
    entries = [entry(name, Outcome.FAIL) for name in names]
    record = run(evaluated("x", cell(failed=3, gate=gate(holds=False)), attempts=entries), exit_code=1)
    other = failed_attempt(attempt=names[2], log="other")
    text = summary_text(record, [*(failed_attempt(attempt=name) for name in names[:2]), other])
    assert text.count("\n### ") == 2
    assert "\n1 more of this eval failed in the same way: `terse/-/fake#2`\n" in text


def test_a_scored_run_shows_scores() -> None:
    one = evaluated("installs", cell(scored=2, complete=2, mean_score=6.5, verdict_failed=1), kind="scored")
    text = summary_text(run(one, kind="scored"), [])
    assert "| | eval | cell | score | time |" in text
    assert "| mean 6.5, 2 of 2 complete, 1 with a failed verdict |" in text


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("plain", "`plain`"),
        ("a`b", "``a`b``"),
        ("`a`", "`` `a` ``"),
        ("```", "```` ``` ````"),
        ("", "`–`"),
        ("a\n# b", "`a\\n# b`"),
        ("<b>@x</b>", "`<b>@x</b>`"),
    ],
)
def test_a_code_span_holds_any_text(text: str, span: str) -> None:
    assert code(text) == span


@pytest.mark.parametrize("slashes", range(5))
def test_a_pipe_in_a_cell_is_always_an_escaped_one(slashes: int) -> None:
    shown = table_cell("a" + "\\" * slashes + "|b")
    assert (len(re.search(r"(\\+)\|", shown)[1]) % 2) == 1  # type: ignore[index]


def test_a_fence_is_longer_than_any_run_of_backticks_in_it() -> None:
    assert fence("a\n`````\nb") == "``````text\na\n`````\nb\n``````"


def outside_code(markdown: str) -> str:
    """Leave out fences and code spans, the way a reader of Markdown does: the longest rule first."""
    markdown = re.sub(r"^(`{3,})[a-z]*\n.*?\n\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", markdown)


def test_hostile_text_is_nowhere_but_in_code() -> None:
    bad = evaluated(
        HOSTILE, cell(failed=1, gate=gate(holds=False)), attempts=[entry(outcome=Outcome.FAIL)], file=HOSTILE
    )
    record = run(
        bad,
        evaluated("later", mode="skip", skip_reason=HOSTILE),
        remarks=[HOSTILE],
        selection=HOSTILE,
        created_by=HOSTILE,
        git_commit=HOSTILE,
        git_branch=HOSTILE,
        run_id=HOSTILE,
    )
    failure = failed_attempt(eval=HOSTILE, attempt=HOSTILE, checks=[check(HOSTILE, holds=False, message=HOSTILE)])
    text = summary_text(record, [failure])
    rest = outside_code(text)
    for piece in ("img", "evil", "@team", "owned", "head", "onerror"):
        assert piece in text
        assert piece not in rest
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_every_row_of_the_table_has_its_columns() -> None:
    bad = evaluated("a|b\\|c `|` d", cell(failed=1, gate=gate(holds=False)))
    rows = [line for line in summary_text(run(bad), []).splitlines() if line.startswith("| fail")]
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows] == [8]


def test_long_runs_are_bounded_and_the_rest_is_counted() -> None:
    evals = [
        evaluated(f"eval {index}", cell(failed=1, gate=gate(holds=False)), attempts=[entry(outcome=Outcome.FAIL)])
        for index in range(1000)
    ]
    failures = [failed_attempt(eval=one.id) for one in evals]
    text = summary_text(run(*evals), failures)
    assert len(text) < 100_000
    assert "800 more rows are in `record.json`." in text
    assert (
        "950 more: `reeval query \"SELECT eval, attempt_id FROM attempts WHERE outcome = 'fail'\""
        " --run 20261130-142501-x7f3`" in text
    )


def test_lifts_are_shown_as_a_picture_that_says_in_words_what_it_shows(tmp_path: Path) -> None:
    one = lift(HOSTILE, said="made it worse")
    record = run(evaluated("adds", lifts=[one, lift(said="can't tell yet")], file=HOSTILE), lifts=[lift(evals=2)])
    path = tmp_path / "summary.md"
    write_summary(path, record, [])
    shown = "## Lifts\n\n![lifts with their 95 % intervals: 1 helped, 1 made it worse, 1 can't tell yet](lifts.svg)\n\n"
    assert shown in path.read_text(encoding="utf-8")
    assert len(ET.parse(tmp_path / "lifts.svg").getroot().findall("{*}g")) == 3
    assert sorted(one.name for one in tmp_path.iterdir()) == ["lifts.svg", "summary.md"]


def test_a_picture_that_is_no_longer_of_this_run_goes(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    write_summary(path, run(evaluated(lifts=[lift()])), [])
    write_summary(path, run(evaluated()), [])
    assert [one.name for one in tmp_path.iterdir()] == ["summary.md"]
    assert "Lifts" not in path.read_text(encoding="utf-8")


def test_a_picture_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "lifts.svg").mkdir()
    with pytest.raises(RecordError, match=r"lifts\.svg: the summary cannot be written: "):
        write_summary(tmp_path / "summary.md", run(evaluated(lifts=[lift()])), [])
    assert [one.name for one in tmp_path.iterdir()] == ["lifts.svg"]


def test_it_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    write_summary(path, run(evaluated()), [])
    assert path.read_text(encoding="utf-8").startswith("# reeval: ")
    assert [one.name for one in tmp_path.iterdir()] == ["summary.md"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "summary.md"
    with pytest.raises(RecordError, match=r"summary\.md: the summary cannot be written: No such file"):
        write_summary(path, run(), [])
