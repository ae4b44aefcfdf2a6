"""A plan is JSON: what was written is what is read."""

import random
import string
from typing import Any

from reeval.schema.environment import (
    Egress,
    Environment,
    HostFile,
    McpServer,
    Secret,
    SetupStep,
    Skill,
    Workspace,
)
from reeval.schema.options import ResolvedGate
from reeval.schema.plan import (
    Plan,
    PlannedCell,
    PlannedCompare,
    PlannedEval,
    PlannedHarness,
    PlannedQuestion,
    PlannedSandbox,
    Selection,
    decode_plan,
    encode_plan,
)
from reeval.schema.spec import CaseSpec, CompareSpec, Question
from tests.plan.world import TWO_HARNESSES, a_plan, an_eval


def test_what_was_written_is_what_is_read():
    for seed in range(300):
        plan = random_plan(random.Random(seed))
        assert decode_plan(encode_plan(plan)) == plan


def test_a_plan_that_was_built_survives_too(tmp_path):
    plan = a_plan(
        tmp_path,
        an_eval(
            compare=CompareSpec(variants=(Environment(name="v", env={"A": Secret(name="H")}),), min_lift=0.1),
            questions=(Question("Why?", choices=("a", "b"), state={"diff": ["*.py"]}, artifacts=["x"]),),
            cases=(CaseSpec(key="a b", value=object()),),
            options={"judge": {"model": "fake/m", "threshold": 0.5}, "gate": {"pass_rate": 1}, "egress": "allow-all"},
        ),
        config=TWO_HARNESSES + "[harness.other]\nkind = 'fake'\nscript = [[{reply = 'x'}]]\ndelay = 0.5\n",
    )
    assert decode_plan(encode_plan(plan)) == plan


class Dice:
    def __init__(self, source: random.Random) -> None:
        self.source = source

    def text(self) -> str:
        odd = "\n\"\\\0é日\u2028💥' {}"
        return "".join(self.source.choices(string.printable + odd, k=self.source.randint(0, 8)))

    def maybe(self, value: Any) -> Any:
        return value if self.source.random() < 0.5 else None

    def some(self, make, most: int = 3) -> tuple:
        return tuple(make() for _ in range(self.source.randint(0, most)))

    def table(self, make) -> dict[str, Any]:
        return {self.text(): make() for _ in range(self.source.randint(0, 3))}

    def one(self, *values: Any) -> Any:
        return self.source.choice(values)

    def flag(self) -> bool:
        return self.source.random() < 0.5

    def number(self) -> float:
        return self.one(0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, self.source.random())

    def count(self) -> int:
        return self.source.randint(1, 10**6)


def random_plan(source: random.Random) -> Plan:
    dice = Dice(source)
    return Plan(
        kind=dice.one("pass-fail", "scored"),
        evals=dice.some(lambda: random_eval(dice)),
        harnesses=dice.table(lambda: random_harness(dice)),
        sandboxes=dice.table(lambda: random_sandbox(dice)),
        environments=dice.table(lambda: random_environment(dice)),
        max_concurrent=dice.count(),
        selection=Selection(
            paths=dice.some(dice.text),
            keyword=dice.maybe(dice.text()),
            tags=dice.some(dice.text),
            kind=dice.maybe("scored"),
            harnesses=dice.some(dice.text),
            runs=dice.maybe(dice.count()),
            profile=dice.maybe(dice.text()),
            evals=dice.some(dice.text),
        ),
        left_out=dice.count(),
        notes=dice.some(dice.text),
    )


def random_eval(dice: Dice) -> PlannedEval:
    return PlannedEval(
        id=dice.text(),
        file=dice.text(),
        path=(dice.text(), *dice.some(dice.text)),
        slug=dice.text(),
        line=dice.count(),
        kind=dice.one("pass-fail", "scored"),
        mode=dice.one("run", "skip", "todo"),
        skip_reason=dice.maybe(dice.text()),
        description=dice.maybe(dice.text()),
        blocking=dice.flag(),
        cases=dice.some(dice.text),
        cells=dice.some(lambda: random_cell(dice)),
        runs=dice.count(),
        until=dice.one(None, "decided", "majority"),
        gate=ResolvedGate(rule=dice.one("all", "none", "pass_rate", "mean_score"), minimum=dice.maybe(dice.number())),
        timeout=dice.number(),
        tags=dice.some(dice.text),
        env=dice.table(lambda: random_variable(dice)),
        egress=dice.maybe(random_egress(dice)),
        judge=dice.one({}, {"model": dice.text(), "threshold": dice.number(), "state": {"contents": [dice.text()]}}),
        compare=dice.maybe(
            PlannedCompare(
                control=dice.text(),
                variants=dice.some(dice.text),
                gate=dice.one("variants", "all", "none"),
                min_lift=dice.maybe(dice.number()),
            )
        ),
        questions=dice.some(lambda: random_question(dice)),
        task=dice.text(),
        sources=dice.table(dice.text),
        notes=dice.some(dice.text),
    )


def random_cell(dice: Dice) -> PlannedCell:
    role = dice.one(None, "control", "variant")
    return PlannedCell(key=dice.text(), harness=dice.text(), environment=dice.text(), sandbox=dice.text(), role=role)


def random_question(dice: Dice) -> PlannedQuestion:
    return PlannedQuestion(
        text=dice.text(),
        across=dice.one((), ("environment",), ("harness", "environment")),
        choices=dice.maybe(("yes", dice.text())),
        model=dice.maybe(dice.text()),
        state=dice.one({}, {"task": True, "diff": [dice.text()], "transcript": "tools", "turns": "last"}),
        artifacts=dice.one(dice.flag(), (dice.text(),)),
        count=dice.count(),
    )


def random_harness(dice: Dice) -> PlannedHarness:
    return PlannedHarness(
        id=dice.text(),
        kind=dice.text(),
        model=dice.maybe(dice.text()),
        effort=dice.maybe(dice.text()),
        max_concurrent=dice.maybe(dice.count()),
        start_timeout=dice.number(),
        options={"script": [[{"reply": dice.text()}, {"write": {"a": dice.text()}}]], "n": [1, 2.5, None, True]},
    )


def random_sandbox(dice: Dice) -> PlannedSandbox:
    return PlannedSandbox(id=dice.text(), kind=dice.text(), isolated=dice.flag(), options=dice.table(dice.number))


def random_environment(dice: Dice) -> Environment:
    return Environment(
        name=dice.text(),
        workspace=dice.one(None, Workspace(path=dice.text()), Workspace(git=dice.text(), ref="r", init=True)),
        files=dice.table(lambda: dice.one(dice.text(), HostFile(path=dice.text()))),
        rules=dice.one(None, dice.text(), HostFile(path=dice.text())),
        setup=dice.some(lambda: SetupStep(run=dice.text(), timeout=dice.number(), cache=dice.flag())),
        skills=dice.some(
            lambda: Skill(
                kind=dice.one("local", "git", "inline"),
                name=dice.maybe(dice.text()),
                path=dice.maybe(dice.text()),
                files=dice.table(dice.text),
                only=dice.some(dice.text),
            )
        ),
        mcp=dice.table(lambda: McpServer(kind="stdio", command=("x",), env=dice.table(lambda: random_variable(dice)))),
        env=dice.table(lambda: random_variable(dice)),
        egress=dice.maybe(random_egress(dice)),
        sandbox=dice.maybe(dice.text()),
    )


def random_variable(dice: Dice) -> str | Secret:
    secret = Secret(name=dice.text(), to=dice.one("agent", "checks", "all"), optional=dice.flag())
    return dice.one(dice.text(), secret)


def random_egress(dice: Dice) -> Egress:
    return Egress(mode=dice.one("allow-all", "deny-all", "allow"), hosts=dice.some(dice.text))
