"""What differs between two runs, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reeval.grade.versus.matching import match
from reeval.grade.versus.subjects import differences
from reeval.schema.environment import Egress, Environment, HostFile, McpServer, Secret, SetupStep, Skill, Workspace
from reeval.schema.plan import Plan, PlannedHarness, PlannedSandbox
from tests.grade.versus.samples import EARLIER, FILE, LATER, attempts, plan, planned, run

EVAL = planned("greets", "terse/plain/fake")
PLAIN = Environment(name="plain")
TERSE = PlannedHarness(id="terse", kind="fake")
FAKE = PlannedSandbox(id="fake", kind="local", isolated=False)


def said(earlier: Plan, later: Plan, subjects: tuple[str, str] = ("s1", "s2"), **more: Any) -> list[str]:
    sides = [
        run(id, made, attempts(made.evals[0], {made.evals[0].cells[0].key: "p"}, subject=subject), **extra)
        for id, made, subject, extra in zip((EARLIER, LATER), (earlier, later), subjects, ({}, more), strict=True)
    ]
    return differences(sides[0], sides[1], match(("a", earlier), ("b", later)).evals)


def changed_environment(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    plans = [plan(EVAL, environments=[Environment(name="plain", **parts)]) for parts in (old, new)]
    return said(plans[0], plans[1])


def skill(content: str) -> Skill:
    return Skill(kind="inline", name="greeting", content=content)


ENVIRONMENTS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a skill is edited": ({"skills": (skill("a"),)}, {"skills": (skill("b"),)}, ["skill greeting changed"]),
    "a skill is new": ({}, {"skills": (skill("a"),)}, ["skill greeting is new"]),
    "a skill is gone": ({"skills": (skill("a"),)}, {}, ["skill greeting is gone"]),
    "a file is edited": ({"files": {"a.txt": "1"}}, {"files": {"a.txt": "2"}}, ["file a.txt 1 → 2"]),
    "a long file is edited": ({"files": {"a": "x" * 99}}, {"files": {"a": "y"}}, ["file a changed"]),
    "rules": ({"rules": HostFile(path="A.md")}, {"rules": HostFile(path="B.md")}, ["rules changed"]),
    "a workspace": ({}, {"workspace": Workspace(path="app")}, ["workspace changed"]),
    "setup": ({"setup": (SetupStep(run="make"),)}, {}, ['setup ["make"] → []']),
    "a timeout is no difference": (
        {"setup": (SetupStep(run="make"),)},
        {"setup": (SetupStep(run="make", timeout=1),)},
        ["declared alike"],
    ),
    "a server": ({}, {"mcp": {"db": McpServer(kind="stdio")}}, ["MCP server db is new"]),
    "a variable, never its value": (
        {"env": {"KEY": "hunter2", "A": "1"}},
        {"env": {"KEY": "hunter3", "B": Secret(name="B")}},
        ["variable KEY changed", "variable A is gone", "variable B is new"],
    ),
    "egress": ({}, {"egress": Egress(mode="deny-all")}, ["egress changed"]),
}


@pytest.mark.parametrize(("old", "new", "wanted"), ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_an_environment_says_which_part_changed(old: dict[str, Any], new: dict[str, Any], wanted: list[str]) -> None:
    found = changed_environment(old, new)
    assert len(found) == len(wanted)
    assert all(text in line for text, line in zip(wanted, found, strict=True)), found
    assert "hunter" not in str(found)


def test_a_harness_says_its_model_and_options() -> None:
    new = replace(TERSE, model="m2", effort="high", options={"a": 1, "long": "y" * 50}, max_concurrent=3)
    old = replace(TERSE, model="m1", options={"a": 2, "long": "x" * 50, "c": None})
    assert said(plan(EVAL, harnesses={"terse": old}), plan(EVAL, harnesses={"terse": new})) == [
        "harness terse: model m1 → m2",
        "harness terse: effort none → high",
        "harness terse: option a 2 → 1",
        "harness terse: option long changed",
        "harness terse: option c is gone",
    ]


def test_variables_of_a_harness_are_named_without_their_values() -> None:
    old, new = (replace(TERSE, options={"env": {"KEY": key}}) for key in ("hunter2", "hunter3"))
    found = said(plan(EVAL, harnesses={"terse": old}), plan(EVAL, harnesses={"terse": new}))
    assert found == ["harness terse: variable KEY changed"]
    found = said(plan(EVAL), plan(EVAL, harnesses={"terse": new}))
    assert found == ["harness terse: variable KEY is new"]


def test_a_sandbox_and_what_is_around() -> None:
    new = plan(EVAL, sandboxes={"fake": replace(FAKE, isolated=True, options={"isolation": "require"})})
    assert said(plan(EVAL), new, reeval_version="0.2.0", host="mill", python_version="3.12.1") == [
        "sandbox fake: isolated false → true",
        "sandbox fake: option isolation is new",
        "reeval 0.1.0 → 0.2.0",
        "Python 3.11.7 → 3.12.1",
        "host box → mill",
    ]


def test_an_evals_own_variables_count() -> None:
    assert said(plan(EVAL), plan(replace(EVAL, env={"MODE": "x"}))) == [f"{FILE}::greets: variable MODE is new"]


def test_a_model_that_a_provider_changed_is_seen_by_what_served() -> None:
    made = plan(planned())
    sides = [run(id, made, attempts(made.evals[0], "pp", model=m)) for id, m in ((EARLIER, "m-1"), (LATER, "m-2"))]
    assert differences(sides[0], sides[1], match(("a", made), ("b", made)).evals) == [
        "harness terse: model that served m-1 → m-2"
    ]


def test_contents_that_no_plan_tells_are_seen_by_the_digest() -> None:
    made = plan(EVAL, environments=[PLAIN])
    assert said(made, made) == [
        "environment plain with harness terse: declared alike, but the files of one of them changed"
    ]
    bare = plan(planned())
    assert said(bare, bare) == ["harness terse: the files that it is made of changed"]


@pytest.mark.parametrize("subjects", [("s1", "s1"), ("", "s2"), ("s1", "")])
def test_equal_and_unknown_digests_say_nothing(subjects: tuple[str, str]) -> None:
    made = plan(EVAL, environments=[PLAIN])
    assert said(made, made, subjects) == []
