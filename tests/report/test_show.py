"""One attempt in full, compared as a whole."""

from __future__ import annotations

import msgspec
import pytest

from reeval.report.screen.failures import Page
from reeval.report.screen.ink import Ink
from reeval.report.show import attempt_screen
from reeval.report.text import width
from reeval.schema.record import (
    ArtifactRef,
    AttemptRecord,
    FileRef,
    ObservationRecord,
    Outcome,
    ScoreState,
    SpenderUsage,
)
from reeval.schema.recorded.answers import JudgmentRecord, JudgmentVote
from reeval.schema.transcript import (
    Changes,
    Channel,
    FileChange,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)
from reeval.usage import Usage
from tests.report.records import HOSTILE, Reader, attempt, check, evaluated, failed_attempt, run

DIFF = "diff --git a/greet.js b/greet.js\n--- /dev/null\n+++ b/greet.js\n@@ -0,0 +1 @@\n+hello\n-old"
TURN = Turn(
    prompt="Write greet.js\nthat greets.",
    message="I wrote greet.js.",
    events=(
        Reasoning(text="Let me see."),
        ToolCall(
            name="shell", native="Bash", input={"command": "ls -a"}, output="a\nb\n", ok=True, exit_code=0, duration=0.2
        ),
        ToolCall(name="mcp__db__query", input={"sql": "SELECT 1"}, ok=False),
        FileEdit(path="greet.js", kind="create"),
        WebSearch(query="how to greet", ok=True),
        WebFetch(url="http://example.com"),
        Notice(kind="retry", message="overloaded"),
        Text(text="Working on it."),
        Text(text="I wrote greet.js."),
    ),
    usage=Usage(input=3000, output=100, cost=0.01),
    model="scripted-1",
    changes=Changes(files=(FileChange(path="greet.js", status="added"),), patch=DIFF),
    duration=0.3,
    unreported=(Channel.FETCHES, Channel.COST),
)


def full_attempt() -> AttemptRecord:
    return failed_attempt(
        turns=[TURN],
        diff=DIFF,
        model="scripted-1",
        environment="plain",
        start_duration=0.05,
        tries=2,
        observations=[ObservationRecord(name="lines", value={"total": 3})],
        diagnostics=["the workspace could not be removed"],
        artifacts=[ArtifactRef(name="shot.png", ref=FileRef(file="a/shot.png", bytes=12_345, sha256="0"))],
        usage=[SpenderUsage(spender="agent", model="scripted-1", usage=Usage(input=3000, output=100, cost=0.01))],
    )


def test_an_attempt_in_full() -> None:
    lines = attempt_screen(run(evaluated()), full_attempt(), Page(passing=True))
    assert "\n".join(lines) == (
        """\
evals/greet.eval.py › greets by name @ terse/-/fake#1
fail in 0.34 s, ready after 50 ms · harness terse · model scripted-1 · environment plain · sandbox fake · try 2 · started 2026-11-30 14:25 UTC
run 20261130-142501-x7f3

turn 1  completed in 0.30 s · scripted-1 · 3.1k tokens · $0.01
  prompt
    Write greet.js
    that greets.
  thought
    Let me see.
  shell (Bash)  ls -a  exit 0  0.20 s
      a
      b
  mcp__db__query  {"sql": "SELECT 1"}  failed
  edit  greet.js (create)
  search  how to greet
  fetch  http://example.com  outcome not reported
  retry
    overloaded
  said
    Working on it.
  message
    I wrote greet.js.
  not reported by this harness: fetches, cost

checks
  ✓ names the file
  ✗ mentions Ada  line 12
      expected text that includes 'greet.js'
      got 'Done.'

diff
  diff --git a/greet.js b/greet.js
  --- /dev/null
  +++ b/greet.js
  @@ -0,0 +1 @@
  +hello
  -old

observations
  lines  {"total": 3}

diagnostics
  the workspace could not be removed

log
  starting
  asked the agent

artifacts
  shot.png  a/shot.png  12kB

usage
  spender  model       input  output  cache read  cache write  reasoning  cost
  agent    scripted-1  3.0k   100     ·           ·            ·          $0.01"""  # noqa: E501 - the whole text as it is
    )


def judgment(label: str, **more: object) -> JudgmentRecord:
    return JudgmentRecord(label=label, question=label, **more)  # type: ignore[arg-type]


def test_judgments_say_who_measured_what_and_where_it_is_kept() -> None:
    votes = [JudgmentVote(score=0.25, reason="It is rude."), JudgmentVote(score=0.5, reason="So so.\x1b[2J")]
    kept = FileRef(file="greet/terse/-/fake/1/judges/1.json", bytes=9, sha256="0")
    record = attempt(
        judgments=[
            judgment(
                "kind",
                judge="kindness",
                model="p/m",
                served="m-1",
                score=0.8,
                reason="It is kind.",
                duration=1.5,
                input=kept,
            ),
            judgment("short", model="p/m", score=0.25, spread=0.25, votes=votes, usage=Usage(input=900, output=100)),
            judgment("true", model="p/m", error="vote 2 of 3: overloaded", votes=votes[:1]),
            judgment("new", error="no judge model: set judge.model"),
        ]
    )
    lines = attempt_screen(run(evaluated()), record, Page())
    start = lines.index("judgments")
    assert lines[start : start + 16] == [
        "judgments",
        "  kind",
        "    0.8 · kindness · p/m · served by m-1 · 1.5 s",
        "    It is kind.",
        "    sent and answered: greet/terse/-/fake/1/judges/1.json",
        "  short",
        "    0.25 · p/m · 2 votes, spread 0.25 · 1.0k tokens",
        "    0.25  It is rude.",
        "    0.5  So so.\\x1b[2J",
        "  true",
        "    no score · p/m",
        "    0.25  It is rude.",
        "    vote 2 of 3: overloaded",
        "  new",
        "    no score · no model",
        "    no judge model: set judge.model",
    ]


def test_judgments_are_read_from_their_file() -> None:
    record = attempt(judgments=FileRef(file="judgments.json", bytes=9, sha256="0"))
    shown = attempt_screen(run(evaluated()), record, Page(reader=Reader(judgments=[judgment("kind", score=1.0)])))
    assert "  kind" in shown
    assert "judgments" not in attempt_screen(run(evaluated()), record, Page())


def test_a_scored_attempt_says_its_score_and_verdict() -> None:
    record = attempt(
        Outcome.SCORED,
        score=6.5,
        score_state=ScoreState.COMPLETE,
        verdict="fail",
        case="small",
        checks=[check(holds=False)],
    )
    assert attempt_screen(run(), record, Page())[1].startswith(
        "scored in 0.34 s · score 6.5 (complete) · verdict fail · harness terse · sandbox fake · case small"
    )


def test_a_skipped_attempt_says_why() -> None:
    lines = attempt_screen(run(), attempt(Outcome.SKIPPED, skip_reason="no network"), Page())
    assert lines[-1] == "no network"


def test_the_patches_of_several_turns_stand_under_their_turns() -> None:
    second = "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-turn 1\n+turn 2\n"
    turns = [TURN, Turn(prompt="And?"), msgspec.structs.replace(TURN, changes=Changes(patch=second))]
    lines = attempt_screen(run(), attempt(turns=turns, diff=DIFF + second), Page())
    assert lines[lines.index("diff") :][:15] == [
        "diff",
        "  turn 1",
        *(f"  {line}" for line in DIFF.splitlines()),
        "  turn 3",
        *(f"  {line}" for line in second.splitlines()),
    ]


def test_what_a_turn_used_stands_on_a_narrow_screen_as_well() -> None:
    turn = msgspec.structs.replace(TURN, agent="claude-code 2.1.332")
    lines = attempt_screen(run(), attempt(turns=[turn]), Page(cells=40))
    start = next(number for number, line in enumerate(lines) if line.startswith("turn 1"))
    assert lines[start : start + 2] == ["turn 1  completed in 0.30 s ·", "claude-code 2.1.332 · scripted-1 · 3.1k"]
    assert lines[start + 2] == "tokens · $0.01"
    assert max(map(width, lines)) <= 40


def test_a_diff_is_colored_on_a_terminal() -> None:
    lines = attempt_screen(run(), attempt(diff=DIFF), Page(ink=Ink(color=True)))
    assert lines[-3:] == ["  \x1b[36m@@ -0,0 +1 @@\x1b[0m", "  \x1b[32m+hello\x1b[0m", "  \x1b[31m-old\x1b[0m"]


def test_long_parts_are_bounded_unless_all_is_asked_for() -> None:
    long = "\n".join(f"line {index}" for index in range(1000))
    call = ToolCall(name="shell", input={"command": long}, output=long, ok=True)
    record = attempt(turns=[Turn(prompt=long, message=long, events=(call,))], diff=long, log=long)
    assert len(attempt_screen(run(), record, Page())) < 300
    assert len(attempt_screen(run(), record, Page(full=True))) > 6000


def test_of_thousands_of_checks_those_that_explain_the_outcome_are_shown() -> None:
    checks = [check(f"check {number}", holds=number != 4000) for number in range(5000)]
    lines = attempt_screen(run(), attempt(checks=checks), Page())
    assert lines[-1] == "  … 4,900 more checks"
    assert any("✗ check 4000" in line for line in lines)
    assert len(attempt_screen(run(), attempt(checks=checks), Page(full=True))) > 5000


def test_big_parts_are_read_from_their_files() -> None:
    big = FileRef(file="x", bytes=9, sha256="0")
    reader = Reader(turns=[TURN], diff=DIFF, log="from a file", checks=[check("in a file")])
    lines = attempt_screen(run(), attempt(turns=big, diff=big, log=big, checks=big), Page(reader=reader))
    assert {"  ✓ in a file", "  from a file", "  +hello"} <= set(lines)
    assert any(line.startswith("turn 1") for line in lines)


@pytest.mark.parametrize("cells", [40, 80])
def test_hostile_text_stays_text_and_fits(cells: int) -> None:
    turn = Turn(
        prompt=HOSTILE,
        message=HOSTILE,
        error=HOSTILE,
        status="failed",
        model=HOSTILE,
        events=(
            Text(text=HOSTILE + "."),
            Reasoning(text=HOSTILE),
            ToolCall(name=HOSTILE, native=HOSTILE, input={HOSTILE: HOSTILE}, output=HOSTILE),
            FileEdit(path=HOSTILE),
            WebSearch(query=HOSTILE),
            WebFetch(url=HOSTILE),
            Notice(kind="error", message=HOSTILE),
        ),
    )
    record = failed_attempt(
        eval=HOSTILE,
        attempt=HOSTILE,
        turns=[turn],
        diff=HOSTILE,
        model=HOSTILE,
        log=HOSTILE,
        diagnostics=[HOSTILE],
        observations=[ObservationRecord(name=HOSTILE, value=HOSTILE)],
        artifacts=[ArtifactRef(name=HOSTILE, ref=FileRef(file=HOSTILE, bytes=1, sha256="0"))],
        usage=[SpenderUsage(spender="agent", model=HOSTILE, usage=Usage())],
    )
    for line in attempt_screen(run(selection=HOSTILE), record, Page(cells=cells)):
        assert line.isprintable()
        assert width(line) <= cells
