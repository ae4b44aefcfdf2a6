from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reeval.environments.subject import Subject, subject_digest
from reeval.schema.environment import Egress, Environment, McpServer, PreparedTree, Secret, SetupStep
from reeval.schema.plan import PlannedHarness, PlannedSandbox

HARNESS = PlannedHarness(id="terse", kind="fake", model="m-1", options={"script": [[{"reply": "x"}]]})
SANDBOX = PlannedSandbox(id="fake", kind="local", isolated=False)
PLAIN = Environment(name="plain", setup=(SetupStep(run="git init"),), env={"A": "1", "T": Secret(name="TOKEN")})
SUBJECT = Subject(
    harness=HARNESS,
    sandbox=SANDBOX,
    environment=PLAIN,
    tree=PreparedTree(digest="abc", workspace="/x"),
    env={"B": "2"},
    egress=Egress(mode="allow-all"),
)


def test_a_digest_is_the_same_in_every_process() -> None:
    assert subject_digest(SUBJECT) == subject_digest(replace(SUBJECT)) == "7d991590f288bcde"


OTHER: list[dict[str, Any]] = [
    {"harness": replace(HARNESS, kind="command")},
    {"harness": replace(HARNESS, model="m-2")},
    {"harness": replace(HARNESS, effort="high")},
    {"harness": replace(HARNESS, options={"script": [[{"reply": "y"}]]})},
    {"sandbox": replace(SANDBOX, kind="docker")},
    {"sandbox": replace(SANDBOX, isolated=True)},
    {"sandbox": replace(SANDBOX, options={"read_only": ["/opt"]})},
    {"tree": PreparedTree(digest="abd", workspace="/x")},
    {"tree": None},
    {"environment": replace(PLAIN, setup=())},
    {"environment": replace(PLAIN, setup=(SetupStep(run="git init -q"),))},
    {"environment": replace(PLAIN, env={"A": "2", "T": Secret(name="TOKEN")})},
    {"environment": replace(PLAIN, env={"A": "1", "T": Secret(name="OTHER")})},
    {"environment": replace(PLAIN, env={"A": "1", "T": Secret(name="TOKEN", to="agent")})},
    {"environment": replace(PLAIN, env={"A": "1", "T": "TOKEN"})},
    {"environment": replace(PLAIN, mcp={"db": McpServer(kind="stdio", command=("db",))})},
    {"env": {"B": "3"}},
    {"env": {"B": "2", "A": "1", "C": ""}},
    {"egress": Egress(mode="deny-all")},
    {"egress": None},
    {"fingerprint": "f"},
]


def test_everything_that_runs_the_cell_counts() -> None:
    digests = [subject_digest(SUBJECT), *(subject_digest(replace(SUBJECT, **fields)) for fields in OTHER)]
    assert len(set(digests)) == len(digests)


SAME: list[dict[str, Any]] = [
    {"harness": replace(HARNESS, id="other", max_concurrent=1, start_timeout=1.0)},
    {"harness": replace(HARNESS, options={"script": [[{"reply": "x", "exec": None}]], "layout": None})},
    {"sandbox": replace(SANDBOX, id="other", max_concurrent=1, start_timeout=1.0)},
    {"environment": replace(PLAIN, name="other")},
    {"environment": replace(PLAIN, setup=(SetupStep(run="git init", timeout=1.0),))},
    {"environment": replace(PLAIN, env={"T": Secret(name="TOKEN"), "A": "1"})},
    {"tree": PreparedTree(digest="abc", workspace="/elsewhere", skills=("x",))},
    {"env": {"B": "2", "A": "1"}},
]


@pytest.mark.parametrize("fields", SAME)
def test_names_limits_and_order_do_not_count(fields: dict[str, Any]) -> None:
    assert subject_digest(replace(SUBJECT, **fields)) == subject_digest(SUBJECT)


def test_no_environment_and_one_without_anything_are_the_same() -> None:
    bare = Subject(harness=HARNESS, sandbox=SANDBOX)
    empty = replace(bare, environment=Environment(name="empty"), tree=PreparedTree(digest="of nothing"))
    assert subject_digest(bare) == subject_digest(empty)
