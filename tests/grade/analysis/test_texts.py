"""Every word of an attempt can be quoted."""

from __future__ import annotations

from reeval.errors import Phase
from reeval.grade.analysis.texts import attempt_texts
from reeval.schema.record import AttemptFailure, FileRef, ObservationRecord, Outcome
from reeval.schema.recorded.answers import AnswerRecord, JudgmentRecord, JudgmentVote, PairRecord, Vote
from reeval.schema.transcript import (
    Changes,
    CommandResult,
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
from tests.report.records import attempt, check

EVENTS = (
    Text(text="a text"),
    Reasoning(text="a thought"),
    ToolCall(name="shell", input={"command": "ls -l"}, output="an output"),
    ToolCall(name="odd", input=["é", float("inf")]),
    ToolCall(name="raw", input="raw input"),
    FileEdit(path="edited.py"),
    WebSearch(query="a query"),
    WebFetch(url="http://localhost/page"),
    Notice(kind="error", message="a notice"),
)
CHANGES = Changes(files=(FileChange(path="new.py", status="added"),), patch="+a line")
TURN = Turn(prompt="a prompt", message="a message", error="an error", events=EVENTS, changes=CHANGES)


def test_every_part_of_an_attempt_is_there() -> None:
    record = attempt(
        Outcome.ERROR,
        failure=AttemptFailure(reason="a reason", phase=Phase.SETUP, detail="a detail"),
        skip_reason="a skip",
        turns=[TURN],
        checks=[check("a label", message="got this")],
        commands=[CommandResult(command="make", exit_code=2, stdout="made", stderr="not made")],
        observations=[ObservationRecord(name="size", value={"kB": 3})],
        diagnostics=["a diagnostic"],
        judgments=[
            JudgmentRecord(label="j", question="?", reason="a verdict", votes=[JudgmentVote(score=1, reason="v")])
        ],
        log="a log",
        diff="a diff",
    )
    answer = AnswerRecord(eval="e", attempt="a", question=1, text="?", model="m", choice="yes", reason="because")
    votes = [Vote(shown_first="left", reason="a vote")]
    pair = PairRecord(
        eval="e", question=2, text="?", model="m", factor="harness", left="a", right="b", left_value="x",
        right_value="y", votes=votes,
    )  # fmt: skip
    found = set(attempt_texts(record, [answer, pair]))
    wanted = (
        "a text;a thought;an output;ls -l;raw input;modify edited.py;a query;http://localhost/page;a notice;a prompt;"
        "a message;an error;+a line;added new.py;a reason;a detail;a skip;a label;got this;$ make exit code 2;made;"
        'not made;size: {"kB":3};a diagnostic;a verdict;v;a log;a diff;because;yes;a vote;["é",Infinity];'
        '{"command":"ls -l"}'
    )
    assert set(wanted.split(";")) <= found


def test_a_part_that_could_not_be_read_back_has_no_words() -> None:
    gone = FileRef(file="x", bytes=1, sha256="")
    record = attempt(turns=gone, checks=gone, diff=gone, log=gone, commands=gone, judgments=gone)
    assert [text for text in attempt_texts(record) if text] == []
