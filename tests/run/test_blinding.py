"""Nothing that a model is shown of a pair names a side."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.run.questions.blinding import HIDDEN, SideText, blinded, names_of
from reeval.schema.environment import Environment, McpServer, Skill, Workspace
from reeval.schema.plan import Plan, PlannedAttempt, PlannedCell, PlannedEval, PlannedHarness
from reeval.schema.record import AttemptRecord, Outcome
from reeval.schema.transcript import Turn

NAMES = {"terse", "chatty", "with-house-greeting", "plain"}
HIDING = [
    ("terse wrote it", f"{HIDDEN} wrote it"),
    ("TERSE wrote it", f"{HIDDEN} wrote it"),
    ("terseness counts", "terseness counts"),
    ("terse_mode", "terse_mode"),
    ("(terse)", f"({HIDDEN})"),
    ("with_house_greeting and with house greeting", f"{HIDDEN} and {HIDDEN}"),
    ("skills/with-house-greeting/SKILL.md", f"skills/{HIDDEN}/SKILL.md"),
    ("/tmp/reeval-x1y2/7/workspace/greet.py", f"{HIDDEN}/greet.py"),
    ("/var/tmp/reeval-x1y2/7/home/.config", f"{HIDDEN}/.config"),
    ("/srv/reeval-docs/workspace", "/srv/reeval-docs/workspace"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "shown"), HIDING)
def test_names_are_hidden_as_whole_words(text: str, shown: str) -> None:
    hide = blinded(NAMES, SideText("Greet.", text), SideText("Greet.", "nothing"))
    assert hide(text) == shown


def test_every_side_gets_the_same_placeholder() -> None:
    left, right = SideText("Greet.", "terse was here"), SideText("Greet.", "chatty was here")
    hide = blinded(NAMES, left, right)
    assert hide(left.shown) == hide(right.shown) == f"{HIDDEN} was here"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (SideText("Be terse.", "x"), SideText("Be terse.", "terse it is")),
        (SideText("Greet.", "a terse one"), SideText("Greet.", "Terse, too")),
    ],
)
def test_a_word_of_the_task_or_of_both_sides_is_left(left: SideText, right: SideText) -> None:
    hide = blinded(NAMES, left, right)
    assert [hide(side.shown) for side in (left, right)] == [left.shown, right.shown]


def test_a_word_of_one_sides_own_task_is_hidden() -> None:
    left, right = SideText("You are terse.", "terse"), SideText("You are chatty.", "chatty")
    hide = blinded(NAMES, left, right)
    assert hide(left.task).replace("You are ", "") == f"{HIDDEN}."


def test_a_longer_name_is_hidden_before_a_part_of_it() -> None:
    hide = blinded({"gpt-5", "gpt-5-codex"}, SideText("", "gpt-5-codex"), SideText("", ""))
    assert hide("gpt-5-codex") == HIDDEN


def plan(**environment: Any) -> Plan:
    return Plan(
        kind="pass-fail",
        evals=(),
        harnesses={"terse": PlannedHarness(id="terse", kind="codex", model="gpt-5")},
        sandboxes={},
        environments={"house": Environment(name="house", **environment)},
        max_concurrent=1,
    )


def attempt(environment: str = "house") -> PlannedAttempt:
    cell = PlannedCell(key=f"terse/{environment}/box", harness="terse", environment=environment, sandbox="box")
    one = PlannedEval(id="e", file="e", path=("e",), slug="e", line=1, kind="pass-fail", mode="run", cells=(cell,))
    return PlannedAttempt(eval=one, cell=cell, case=None, run=2)


def record(**more: Any) -> AttemptRecord:
    fields: dict[str, Any] = {"eval": "e", "attempt": "a", "harness": "terse", "sandbox": "box", "run": 2}
    return AttemptRecord(outcome=Outcome.PASS, started_at=0, duration=0, **fields, **more)


def test_names_are_those_of_the_attempt_its_agent_its_model_and_its_environment() -> None:
    skills = (Skill(kind="local", path="skills/greeting/"), Skill(kind="inline", name="manners"))
    found = names_of(
        attempt(),
        record(model="gpt-5-mini", turns=[Turn(prompt="Greet.", model="gpt-5-turbo")]),
        plan(skills=skills, mcp={"files": McpServer(kind="stdio")}, workspace=Workspace(path="start/here")),
    )
    assert found == {
        "e@terse/house/box#2", "terse/house/box#2", "terse/house/box", "terse", "codex", "gpt-5", "gpt-5-mini",
        "gpt-5-turbo", "house", "skills/greeting", "greeting", "manners", "files", "start/here",
    }  # fmt: skip


def test_no_environment_has_no_name() -> None:
    assert "-" not in names_of(attempt("-"), record(), plan())
