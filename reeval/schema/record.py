"""What is kept of a run? The journal's lines and ``record.json``, versioned.

The journal (``events.ndjson``) holds a ``RunStart``, an ``AttemptRecord`` for every finished attempt (the last one of
a key counts), an ``AnswerRecord`` or ``PairRecord`` for every answered question, a ``Superseded`` where a changed eval
runs again, and a ``RunEnd`` each time the run stops.

``record.json`` is the ``RunRecord``; its attempts are entries that point at their journal line.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import msgspec

from reeval.errors import Phase
from reeval.schema.observation import CheckStatus
from reeval.schema.plan import NO_ENVIRONMENT
from reeval.schema.recorded.answers import AnswerRecord, JudgmentRecord, PairRecord, QuestionRecord
from reeval.schema.recorded.budget import BudgetRecord
from reeval.schema.recorded.data import DataRecord
from reeval.schema.recorded.files import ArtifactRef, FileRef
from reeval.schema.recorded.gates import AccuracyRecord, GateResult
from reeval.schema.recorded.lifts import LiftRecord
from reeval.schema.recorded.network import RefusedRecord
from reeval.schema.spec import EvalKind
from reeval.schema.transcript import CommandResult, Turn
from reeval.usage import Usage

__all__ = [
    "SCHEMA_VERSION",
    "AccuracyRecord",
    "ArtifactRef",
    "AttemptEntry",
    "AttemptFailure",
    "AttemptRecord",
    "CellRecord",
    "CheckRecord",
    "EvalRecord",
    "FileRef",
    "GateResult",
    "JournalLine",
    "ObservationRecord",
    "Outcome",
    "RunEnd",
    "RunRecord",
    "RunStart",
    "RunState",
    "ScoreState",
    "SpenderUsage",
    "Superseded",
    "Totals",
]

SCHEMA_VERSION = 1


class Outcome(StrEnum):
    """How an attempt ended; the first that applies, in this order."""

    ERROR = "error"
    FAIL = "fail"
    SKIPPED = "skipped"
    REVIEW = "review"
    SCORED = "scored"
    PASS = "pass"  # noqa: S105 - an outcome


class ScoreState(StrEnum):
    """Whether a score can be ranked."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """A lower bound: a scored check could not be evaluated."""
    UNAVAILABLE = "unavailable"


class RunState(StrEnum):
    """Where a run is. A run that says ``running`` and holds no lock was killed: it reads as interrupted."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """The machinery around the attempts broke (a disk that is full)."""
    INTERRUPTED = "interrupted"


class CheckRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sealed check."""

    label: str
    match: str
    """The match's name; ``assert`` for a plain assert, ``score`` for ``c.score``, ``judge`` for a judge."""
    status: CheckStatus
    key: str | None = None
    measurement: float | None = None
    gate: bool = False
    """It decides the outcome."""
    minimum: float | None = None
    """The gate's minimum, for a measurement."""
    holds: bool | None = None
    """Whether the gate holds; None: no gate, or it could not be evaluated."""
    points: float | None = None
    """What it can contribute; None: not scored."""
    earned: float | None = None
    optional: bool = False
    stopped: bool = False
    """``or_stop`` ended the body here."""
    message: str = ""
    """Expected and got, or the reason."""
    line: int | None = None
    """In the eval file, where it was registered."""
    duration: float | None = None
    """Seconds, when it took long enough to matter."""


class ObservationRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One ``c.observe``: shown, never deciding."""

    name: str
    value: Any


class SpenderUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one spender of an attempt used."""

    spender: Literal["agent", "judge", "question", "analysis"]
    usage: Usage
    model: str | None = None


class AttemptFailure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why an attempt is an ``error``, or the reason beside a ``fail`` that no check explains."""

    reason: str
    phase: Phase | None = None
    """None: not the machinery's (``timeout``)."""
    analysis: str = ""
    """Of a data question: what is wrong with the answer, in plain English and one line."""
    detail: str = ""
    """Traceback or output, bounded."""

    @property
    def said(self) -> str:
        """The reason with its analysis."""
        return ": ".join(filter(None, (self.reason, self.analysis)))


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="attempt"):
    """One finished attempt. In the journal a part over 4 kB is a ``FileRef`` in place of its data."""

    eval: str
    attempt: str
    """Its id in the eval: ``terse/plain/fake#1``."""
    outcome: Outcome
    started_at: int
    """Milliseconds since 1970, UTC."""
    duration: float
    """Seconds of the body, without setup."""
    harness: str
    sandbox: str
    run: int
    environment: str = NO_ENVIRONMENT
    case: str | None = None
    role: Literal["control", "variant"] | None = None
    verdict: Literal["pass", "fail", "error", "skipped"] | None = None
    """Scored evals: beside the score."""
    score: float | None = None
    score_state: ScoreState | None = None
    partial_score: float | None = None
    failure: AttemptFailure | None = None
    skip_reason: str | None = None
    checks: list[CheckRecord] | FileRef = []
    turns: list[Turn] | FileRef = []
    diff: str | FileRef = ""
    """What the agent changed over all turns."""
    log: str | FileRef = ""
    """What the body printed and logged."""
    commands: list[CommandResult] | FileRef = []
    """What the body ran with ``c.exec``, long outputs cut; only where a question shows ``checks``."""
    observations: list[ObservationRecord] = []
    diagnostics: list[str] = []
    refused: list[RefusedRecord] = []
    """Connections that the sandbox's policy did not allow."""
    artifacts: list[ArtifactRef] = []
    data: list[DataRecord] | FileRef = []
    """A data question's answer: one, or none where it is no data question."""
    judgments: list[JudgmentRecord] | FileRef = []
    """What judges said, in the order of their checks."""
    usage: list[SpenderUsage] = []
    model: str | None = None
    """The model that served the last turn."""
    start_duration: float | None = None
    """Seconds until the sandbox was ready, setup included; None: none was needed."""
    tries: int = 1
    """2: the first time its sandbox or session did not start, or its model was not to be had."""
    task: str = ""
    subject: str = ""
    """Digests of what it was asked and of what ran it: equal digests make attempts comparable."""


class Superseded(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="superseded"):
    """On resume: earlier attempts of this eval no longer count, since its task or subject changed."""

    eval: str
    reason: str


class RunStart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="run"):
    """The head of a journal."""

    schema_version: int
    """``SCHEMA_VERSION`` when it was written; without a default, so that it always stands in the file."""
    run_id: str
    created_at: int
    """Milliseconds since 1970, UTC."""
    created_by: str | None = None
    project: str
    """Name of the project's directory."""
    reeval_version: str
    python_version: str
    platform: str
    host: str
    pid: int
    command: list[str]
    """As typed, secrets masked."""
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None
    plan: dict[str, Any]
    """The plan as JSON data (``reeval.schema.plan.Plan``), whose selection a resume repeats."""


class RunEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="end"):
    """The run stopped: at its end, or on an interruption."""

    state: RunState
    ended_at: int
    notes: list[str] = []
    budget: BudgetRecord | None = None


JournalLine = RunStart | AttemptRecord | AnswerRecord | PairRecord | Superseded | RunEnd


class CellRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a cell's attempts add up to. Errors and skips are left out of rates and shown beside them."""

    key: str
    harness: str
    sandbox: str
    environment: str = NO_ENVIRONMENT
    role: Literal["control", "variant"] | None = None
    planned: int
    passed: int = 0
    failed: int = 0
    review: int = 0
    error: int = 0
    skipped: int = 0
    scored: int = 0
    verdict_failed: int = 0
    """Scored attempts whose verdict is ``fail``."""
    mean_score: float | None = None
    """Over complete scores."""
    complete: int = 0
    gate: GateResult
    duration: float | None = None
    """Mean seconds of an attempt."""
    tokens: float | None = None
    """Mean tokens of the agent, when every attempt reports them."""
    cost: float | None = None
    """Dollars of the agent, all attempts; None: unknown."""
    subject: str = ""

    @property
    def decided(self) -> int:
        """Attempts that count in the pass rate."""
        return self.passed + self.failed + self.review


class AttemptEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt in ``record.json``; everything else is in its journal line and files."""

    attempt: str
    outcome: Outcome
    duration: float
    line: tuple[int, int]
    """Offset and length in bytes of its line in ``events.ndjson``."""
    verdict: str | None = None
    score: float | None = None
    reason: str | None = None
    """Of an error, a failure without a check, or a skip: bounded."""
    analysis: str = ""
    """Of a data question: what is wrong with the answer, in plain English and one line."""
    answers: list[AnswerRecord] = []

    @property
    def said(self) -> str:
        """The reason with its analysis; empty when there is none."""
        return ": ".join(filter(None, (self.reason, self.analysis)))


class EvalRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One eval of a run."""

    id: str
    file: str
    path: tuple[str, ...]
    slug: str
    kind: EvalKind
    mode: Literal["run", "skip", "todo"] = "run"
    skip_reason: str | None = None
    description: str | None = None
    asks: str | None = None
    """A data question: what the agent is asked; None: an eval with a body of its own."""
    tags: tuple[str, ...] = ()
    runs: int = 1
    cases: tuple[str, ...] = ()
    task: str = ""
    cells: list[CellRecord] = []
    attempts: list[AttemptEntry] = []
    lifts: list[LiftRecord] = []
    """Of a compare: one for each variant and harness, then the stratified ones."""
    questions: list[QuestionRecord] = []
    answers: list[PairRecord] = []
    """Of the pairwise questions; those about one attempt stand beside it."""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The eval's own name."""
        return self.path[-1]

    @property
    def title(self) -> str:
        """What a person reads."""
        return " › ".join((self.file, *self.path))


class Totals(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Attempts of the whole run, counted from the rows."""

    planned: int = 0
    passed: int = 0
    failed: int = 0
    review: int = 0
    error: int = 0
    skipped: int = 0
    scored: int = 0
    cost: float | None = None

    @property
    def finished(self) -> int:
        """Attempts that have a record."""
        return self.passed + self.failed + self.review + self.error + self.skipped + self.scored


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``record.json``: one run, complete in itself together with its journal and files."""

    schema_version: int
    """``SCHEMA_VERSION`` when it was written; without a default, so that it always stands in the file."""
    run_id: str
    state: RunState
    kind: EvalKind
    exit_code: int
    created_at: int
    ended_at: int | None = None
    created_by: str | None = None
    project: str
    reeval_version: str
    python_version: str
    platform: str
    host: str
    command: list[str]
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None
    profile: str | None = None
    selection: str
    """As a person would type it; empty: everything."""
    totals: Totals
    evals: list[EvalRecord]
    lifts: list[LiftRecord] = []
    """Pooled by eval, where several evals compare the same environments."""
    accuracy: list[AccuracyRecord] = []
    """Of the data questions: one for each cell."""
    target: str | None = None
    """Where the data questions ran: ``dev``, ``staging``, ``prod``; None: there are none."""
    remarks: list[str] = []
    """What the run says about the evals themselves."""
    notes: list[str] = []
    budget: BudgetRecord | None = None
    dropped: list[str] = []
    """What the ``history`` settings removed."""
    journal_bytes: int = 0
    """Whole lines of the journal that this was made from: a longer journal makes it stale."""
