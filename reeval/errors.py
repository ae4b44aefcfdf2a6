"""What can go wrong, in three families, and the exit codes they lead to.

1. ``UserError``: the user can fix it; exit 2, before anything starts. Only ``BegunError`` comes later, with exit 3.
2. ``InfrastructureError``: the machinery failed; the attempt ends as ``error`` with a phase.
3. ``ControlFlow``: ends a body on purpose; a ``BaseException``, so ``except Exception`` cannot swallow it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum

__all__ = [
    "BegunError",
    "BodySkip",
    "BodyStop",
    "ConfigError",
    "ControlFlow",
    "DeclarationError",
    "ExitCode",
    "InfrastructureError",
    "Phase",
    "PlanError",
    "RecordError",
    "ReevalError",
    "SelectionError",
    "UsageError",
    "UserError",
    "did_you_mean",
]


class ExitCode(IntEnum):
    """What ``reeval`` tells the shell."""

    OK = 0
    """Every gate holds."""
    GATE = 1
    """A gate does not hold."""
    USAGE = 2
    """Usage, config or plan error: nothing started."""
    UNDECIDED = 3
    """No gate failed, but infrastructure errors or a budget left something undecided; or the run itself failed."""
    INTERRUPTED = 130
    """Interrupted; what finished is recorded and the run can be resumed."""


class Phase(StrEnum):
    """Where in an attempt the machinery failed (where it originated, not where it surfaced)."""

    SANDBOX = "sandbox"
    SETUP = "setup"
    HARNESS = "harness"
    MODEL = "model"
    BODY = "body"
    CHECK = "check"
    JUDGE = "judge"
    RECORD = "record"
    AGENT = "agent"
    """A data question's agent: its turn failed, or ran into the attempt's timeout."""
    TRUTH = "truth"
    """A data question's ground truth: it was not found, or did not run."""


class ReevalError(Exception):
    """Base of every error that reeval raises on purpose."""


class UserError(ReevalError):
    """Something the user can fix. The text names the thing, the problem and the next step."""

    exit_code = ExitCode.USAGE


class UsageError(UserError):
    """A command line or a call that does not make sense."""


class ConfigError(UserError):
    """``reeval.config.toml`` holds something that cannot be used."""


class DeclarationError(UserError):
    """An eval file declares something that cannot be used, or does not import."""


class SelectionError(UserError):
    """The selection is empty, or mixes kinds."""


class PlanError(UserError):
    """What is declared and configured does not add up to a plan."""


class RecordError(UserError):
    """A record cannot be read, found or written (disk full, read-only, held by another process)."""


class BegunError(UserError):
    """A run that had begun could not be recorded to its end. Exit 2 would say that nothing started."""

    exit_code = ExitCode.UNDECIDED


class InfrastructureError(ReevalError):
    """The machinery failed: never the agent's failure.

    ``retryable`` is True for a sandbox or a session that did not start, and for a model that was not to be had in the
    first turn and may be soon: the attempt is tried once more.
    ``detail`` is output or a traceback to show below the reason.
    """

    def __init__(self, phase: Phase, reason: str, *, retryable: bool = False, detail: str = "") -> None:
        super().__init__(reason)
        self.phase = phase
        self.reason = reason
        self.retryable = retryable
        self.detail = detail


class ControlFlow(BaseException):
    """Ends a body on purpose."""


class BodyStop(ControlFlow):
    """``or_stop`` did not hold, or a file that the body reads is not there: the body ends here, cleanly."""


class BodySkip(ControlFlow):
    """``c.skip``: the attempt ends as skipped, unless something worse already happened."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'runs'?`` for a misspelt word, else what there is."""
    from difflib import get_close_matches

    names = sorted(set(known))
    near = get_close_matches(word, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}"
