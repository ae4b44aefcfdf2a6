"""An agent that would not be let in by its models is told before anything starts."""

from __future__ import annotations

from dataclasses import replace

from reeval.cli.logins import login_problems
from reeval.harnesses.kinds import KINDS
from reeval.protocols import Catalog
from reeval.schema.environment import Environment, Secret
from reeval.schema.plan import Plan, PlannedCell, PlannedEval, PlannedHarness

CATALOG = Catalog(harnesses=KINDS, sandboxes={})
KEY = Secret(name="MY_KEY", to="agent", optional=True)


def planned(harness: PlannedHarness) -> Plan:
    cells = tuple(
        PlannedCell(key=f"{harness.id}/{name}/local", harness=harness.id, environment=name, sandbox="local")
        for name in ("-", "house")
    )
    one = PlannedEval(
        id="e", file="evals/a.eval.py", path=("a",), slug="a", line=3, kind="pass-fail", mode="run", cells=cells
    )
    return Plan(
        kind="pass-fail",
        evals=(one,),
        harnesses={harness.id: harness},
        environments={"house": Environment(name="house")},
        sandboxes={},
        max_concurrent=1,
    )


CODEX = PlannedHarness(id="codex", kind="codex")


def test_an_agent_without_a_key_is_told_once_with_its_first_eval() -> None:
    (line,) = login_problems(planned(CODEX), CATALOG, {"OPENAI_API_KEY": "not passed on"})
    assert line.startswith("evals/a.eval.py:3: harness 'codex': codex is not logged in: the agent has no variable")


def test_a_key_counts_where_it_reaches_the_agent() -> None:
    def problems(secret: Secret, environ: dict[str, str]) -> list[str]:
        plan = planned(CODEX)
        one = replace(plan.evals[0], env={"OPENAI_API_KEY": secret})
        return login_problems(replace(plan, evals=(one,)), CATALOG, environ)

    assert problems(KEY, {"MY_KEY": "sk"}) == []
    assert len(problems(KEY, {})) == 1
    assert len(problems(replace(KEY, to="checks"), {"MY_KEY": "sk"})) == 1
    assert problems(replace(KEY, optional=False), {}) == []  # the secret itself is told


def test_a_model_of_ones_own_and_a_scripted_agent_need_none() -> None:
    assert login_problems(planned(replace(CODEX, options={"base_url": "http://localhost:1/v1"})), CATALOG, {}) == []
    assert login_problems(planned(PlannedHarness(id="fake", kind="fake")), CATALOG, {}) == []


def test_an_eval_that_does_not_run_needs_none() -> None:
    plan = planned(CODEX)
    assert login_problems(replace(plan, evals=(replace(plan.evals[0], mode="skip"),)), CATALOG, {}) == []
