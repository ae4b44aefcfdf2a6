"""What ran an eval's cell? One digest over everything but the task, so that edited subjects are told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from reeval.schema.environment import Egress, Environment, PreparedTree, Secret
from reeval.schema.plan import PlannedHarness, PlannedSandbox

__all__ = ["Subject", "subject_digest"]

_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What runs the attempts of one cell."""

    harness: PlannedHarness
    sandbox: PlannedSandbox
    tree: PreparedTree | None = None
    environment: Environment | None = None
    env: Mapping[str, str | Secret] = field(default_factory=dict)
    """The eval's variables, beside those of the environment."""
    egress: Egress | None = None
    """The policy that holds."""
    fingerprint: str = ""
    """``HarnessKind.fingerprint`` of the harness."""


def subject_digest(subject: Subject) -> str:
    """Return 16 hex digits. Names, limits and timeouts are left out: they do not change what an agent can do.

    Of a secret only its name counts: its value must leave no trace, and changes without a change of meaning.
    """
    text = json.dumps(_parts(subject), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _parts(subject: Subject) -> dict[str, Any]:
    environment = subject.environment or Environment(name="")
    harness, sandbox = subject.harness, subject.sandbox
    return {
        "tree": subject.tree.digest if subject.tree and (subject.tree.workspace or subject.tree.home) else None,
        "setup": [step.run for step in environment.setup],
        "mcp": {name: _plain(asdict(server)) for name, server in environment.mcp.items()},
        "env": {name: _variable(value) for name, value in {**environment.env, **subject.env}.items()},
        "egress": asdict(subject.egress) if subject.egress else None,
        "harness": [harness.kind, harness.model, harness.effort, _plain(harness.options), subject.fingerprint],
        "sandbox": [sandbox.kind, sandbox.isolated, _plain(sandbox.options)],
    }


def _variable(value: str | Secret) -> Any:
    return {"from": value.name, "to": value.to} if isinstance(value, Secret) else value


def _plain(value: Any) -> Any:
    """Drop what is None: an option left at its default must not tell two subjects apart."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
