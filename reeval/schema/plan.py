"""What exactly will run? The plan: plain data that is written as JSON and read back by any executor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from reeval.schema.data.questions import DataQuestion, PlannedDatabase
from reeval.schema.environment import Egress, Environment, Secret
from reeval.schema.options import DEFAULT_QUESTIONS_AT_ONCE, JudgeOptions, ResolvedGate, StateOptions
from reeval.schema.spec import EvalKind

__all__ = [
    "NO_ENVIRONMENT",
    "PLAN_VERSION",
    "Plan",
    "PlannedAttempt",
    "PlannedCell",
    "PlannedCompare",
    "PlannedEval",
    "PlannedHarness",
    "PlannedModel",
    "PlannedQuestion",
    "PlannedSandbox",
    "Selection",
    "decode_plan",
    "encode_plan",
    "plan_data",
    "planned_attempts",
]

PLAN_VERSION = 1
NO_ENVIRONMENT = "-"
"""The environment's name in a cell that has none."""


@dataclass(frozen=True, kw_only=True)
class PlannedHarness:
    """A configured agent."""

    id: str
    """The cell's word for it: the config's name."""
    kind: str
    model: str | None = None
    effort: str | None = None
    max_concurrent: int | None = None
    start_timeout: float = 90.0
    """Seconds a session may take to start."""
    options: dict[str, Any] = field(default_factory=dict)
    """The options of its kind, as JSON data."""


@dataclass(frozen=True, kw_only=True)
class PlannedSandbox:
    """A configured place to run in."""

    id: str
    """The cell's word for it: the config's name, else the kind; a plain directory is ``fake``."""
    kind: str
    isolated: bool
    """False: a plain directory."""
    max_concurrent: int | None = None
    start_timeout: float = 90.0
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PlannedModel:
    """A language model that judges or answers."""

    name: str
    """``provider/model`` as it was written; ``fake`` has no model part."""
    provider: str
    """The ``[provider.NAME]`` table, or the provider of that name with its defaults."""
    kind: str
    """How it is spoken to: ``anthropic``, ``openai``, ``openai-chat``, ``google``, ``fake``."""
    model: str
    """What the provider calls it; empty for ``fake``."""
    base_url: str | None = None
    """None: the provider's own."""
    key: str | None = None
    """Name of the host variable that holds the key; None: no key is needed."""
    max_concurrent: int | None = None
    """Calls at once to this provider, over the whole run."""
    options: dict[str, Any] = field(default_factory=dict)
    """The options of its kind, as JSON data."""


@dataclass(frozen=True, kw_only=True)
class PlannedCell:
    """One harness × environment × sandbox of an eval."""

    key: str
    """``terse/plain/fake``."""
    harness: str
    environment: str
    sandbox: str
    role: Literal["control", "variant"] | None = None
    """None: no compare."""


@dataclass(frozen=True, kw_only=True)
class PlannedCompare:
    """A compare whose sides are cells."""

    control: str
    """Environment name."""
    variants: tuple[str, ...]
    gate: Literal["variants", "all", "none"]
    min_lift: float | None = None


@dataclass(frozen=True, kw_only=True)
class PlannedQuestion:
    """A question, its model and how often it will be asked."""

    text: str
    across: tuple[str, ...] = ()
    """Empty: asked of each attempt. Otherwise the factors by which attempts are paired."""
    choices: tuple[str, ...] | None = None
    model: str | None = None
    state: StateOptions = field(default_factory=StateOptions)
    artifacts: bool | tuple[str, ...] = False
    count: int = 0
    """Attempts, or pairs as if every attempt will pass."""
    max_concurrent: int = DEFAULT_QUESTIONS_AT_ONCE
    """``question.max_concurrent``: calls at once; over the whole run the largest of all questions holds."""


@dataclass(frozen=True, kw_only=True)
class PlannedEval:
    """One eval with every option resolved."""

    id: str
    """``evals/greet.eval.py::greetings::greets by name``: what one can paste after ``reeval run``."""
    file: str
    path: tuple[str, ...]
    """Names of the groups, then of the eval."""
    slug: str
    """Its directory in a run, unique in the plan."""
    line: int
    kind: EvalKind
    mode: Literal["run", "skip", "todo"]
    skip_reason: str | None = None
    description: str | None = None
    blocking: bool = False
    cases: tuple[str, ...] = ()
    """Keys as words of ids, in the order of the declared cases; empty when the eval has no cases."""
    cells: tuple[PlannedCell, ...] = ()
    runs: int = 1
    """Attempts of each cell and case; with ``until`` the most there can be."""
    until: Literal["decided", "majority"] | None = None
    """When a cell stops early: ``until_decided`` and ``best_of``."""
    gate: ResolvedGate = field(default_factory=lambda: ResolvedGate(rule="all"))
    timeout: float = 600.0
    """Seconds."""
    tags: tuple[str, ...] = ()
    env: dict[str, str | Secret] = field(default_factory=dict)
    egress: Egress | None = None
    """For environments without a policy of their own."""
    judge: JudgeOptions = field(default_factory=JudgeOptions)
    judge_models: tuple[str, ...] = ()
    """Models of the judges that its body names, beside ``judge.model``."""
    compare: PlannedCompare | None = None
    questions: tuple[PlannedQuestion, ...] = ()
    task: str = ""
    """Digest of the task (see ``EvalSpec.task``)."""
    sources: dict[str, str] = field(default_factory=dict)
    """Option → where its value came from: ``runs`` → ``group greetings``."""
    notes: tuple[str, ...] = ()
    """What the dry run says beside it: a question dropped by a profile, a pin that held."""
    data: DataQuestion | None = None
    """A data question: what is asked, and its ground truth; None: an eval with a body of its own."""

    @property
    def name(self) -> str:
        """The eval's own name."""
        return self.path[-1]

    @property
    def title(self) -> str:
        """What a person reads: ``evals/greet.eval.py › greetings › greets by name``."""
        return " › ".join((self.file, *self.path))

    @property
    def attempts(self) -> int:
        """How many attempts it plans."""
        return len(self.cells) * (len(self.cases) or 1) * self.runs if self.mode == "run" else 0


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What was asked for on the command line, kept so that a run can be resumed."""

    paths: tuple[str, ...] = ()
    """``PATH`` or ``PATH::NAME``."""
    keyword: str | None = None
    tags: tuple[str, ...] = ()
    kind: EvalKind | None = None
    harnesses: tuple[str, ...] = ()
    runs: int | None = None
    profile: str | None = None
    evals: tuple[str, ...] = ()
    """Exact eval ids (``--last-failed``); empty: all."""
    branch: str | None = None
    """The git branch whose files run; None: the checkout's."""
    vs_branch: str | None = None
    """The branch that data questions are compared with."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything an executor needs besides the project's files."""

    version: int = PLAN_VERSION
    kind: EvalKind
    evals: tuple[PlannedEval, ...]
    harnesses: dict[str, PlannedHarness]
    sandboxes: dict[str, PlannedSandbox]
    environments: dict[str, Environment]
    models: dict[str, PlannedModel] = field(default_factory=dict)
    """Every model that a judge or a question names before the run starts, by name."""
    providers: dict[str, PlannedModel] = field(default_factory=dict)
    """The configured providers, with an empty ``model``: what a model that only a body names is made of."""
    database: PlannedDatabase | None = None
    """Where the queries of data questions run; None: the plan has none."""
    commits: dict[str, str] = field(default_factory=dict)
    """The commit that each git source stands for in this run, by ``source_key``; empty: not resolved yet."""
    max_concurrent: int
    """Attempts at once in the whole run."""
    selection: Selection = Selection()
    left_out: int = 0
    """Evals of the other kind that ``kind`` left out."""
    notes: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """How many attempts it plans."""
        return sum(planned.attempts for planned in self.evals)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedAttempt:
    """One attempt: an eval, a cell of it, a case and a run number from 1."""

    eval: PlannedEval
    cell: PlannedCell
    case: str | None
    run: int

    @property
    def id(self) -> str:
        """``terse/plain/fake#1``, with a case ``terse/plain/fake[case]#1``: unique in its eval."""
        return f"{self.cell.key}#{self.run}" if self.case is None else f"{self.cell.key}[{self.case}]#{self.run}"

    @property
    def key(self) -> str:
        """``EVAL@ATTEMPT``: unique in its run."""
        return f"{self.eval.id}@{self.id}"


def planned_attempts(plan: Plan) -> Iterator[PlannedAttempt]:
    """Yield every attempt in the order they start: run by run over all cells, so that drift hits all alike."""
    running = [planned for planned in plan.evals if planned.mode == "run"]
    for run in range(1, max((planned.runs for planned in running), default=0) + 1):
        for planned in running:
            if run > planned.runs:
                continue
            for case in planned.cases or (None,):
                for cell in planned.cells:
                    yield PlannedAttempt(eval=planned, cell=cell, case=case, run=run)


def encode_plan(plan: Plan) -> bytes:
    """Return the plan as JSON."""
    return msgspec.json.encode(plan)


def decode_plan(data: bytes) -> Plan:
    """Read a plan that ``encode_plan`` wrote; raise ``msgspec.ValidationError`` when it is not one."""
    return msgspec.json.decode(data, type=Plan)


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON data, for the head of a journal."""
    data: dict[str, Any] = msgspec.to_builtins(plan)
    return data
