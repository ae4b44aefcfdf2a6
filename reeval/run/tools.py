"""What does a run need besides its plan?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from reeval.protocols import Catalog, Executor, Recorder, Reporter
from reeval.schema.record import Outcome
from reeval.schema.recorded.answers import AskedKey
from reeval.secrets import Masker

__all__ = ["Earlier", "Tools"]


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """What a resumed run knows already, for its questions and for evals that stop early."""

    attempts: Mapping[str, tuple[Outcome, str | None]] = {}
    """Outcome and verdict of kept attempts of evals with questions, or whose runs stop early, by key."""
    answered: frozenset[AskedKey] = frozenset()
    """What need not be asked again."""


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is wired into one run."""

    catalog: Catalog
    root: Path
    """The project's root: whose files run."""
    run_id: str
    recorder: Recorder
    reporter: Reporter
    environ: Mapping[str, str]
    """The host's variables, where secrets are read from."""
    masker: Masker
    keep_sandbox: bool = False
    """Leave each sandbox behind, to look into."""
    max_failures: int | None = None
    """Stop after this many attempts that did not pass; None: never."""
    budget: float | None = None
    """Dollars after which nothing more begins; None: no limit."""
    allow_unknown_cost: bool = False
    """With a budget: go on when it is not known what an attempt cost."""
    done: frozenset[str] = frozenset()
    """Keys of attempts that already have a record (resume)."""
    earlier: Earlier = Earlier()
    """What was answered before (resume)."""
    debug: bool = False
    """One attempt at a time, without a timeout and without the watchdog, so that a breakpoint works."""
    executor: Executor | None = None
    """Runs the attempts; None: this process does."""
    home: Path | None = None
    """The checkout, which keeps the cache and the sandboxes; None: ``root``, unless a branch's files run."""

    @property
    def keeper(self) -> Path:
        """Where the cache and the sandboxes are."""
        return self.home or self.root
