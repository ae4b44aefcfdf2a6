"""How does an attempt run on this machine without a container? Isolated by bubblewrap, or in a plain directory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.protocols import HarnessKind, Sandbox, SandboxRequest
from reeval.sandboxes.local.options import LocalOptions, WantedIsolation, parse_options
from reeval.sandboxes.options import own_options
from reeval.schema.environment import Egress
from reeval.schema.plan import PlannedSandbox

if TYPE_CHECKING:
    from reeval.sandboxes.local.setups import KeptSetup

__all__ = ["KIND", "LocalSandboxKind"]

PLAIN_ID = "fake"


class LocalSandboxKind:
    """Implements ``protocols.SandboxKind``."""

    name = "local"

    def plan(self, id: str, options: Mapping[str, Any], harness: HarnessKind, root: Path) -> PlannedSandbox:  # noqa: ARG002 - implements the seam
        """Resolve a ``[sandbox.NAME]`` table for a harness; raise ``PlanError`` when this machine cannot."""
        parsed = parse_options(options, f"[sandbox.{id}]")
        for path in parsed.read_only:
            if not Path(path).exists():
                raise PlanError(f"[sandbox.{id}]: read_only: there is no {path!r} on this machine; correct the path")
        isolated = self._isolated(id, parsed.isolation or ("none" if harness.in_process else "require"))
        return PlannedSandbox(
            id=PLAIN_ID if id == self.name and not isolated else id,
            kind=self.name,
            isolated=isolated,
            max_concurrent=parsed.max_concurrent,
            start_timeout=parsed.start_timeout,
            options=own_options(options),
        )

    def refuse(self, sandbox: PlannedSandbox, egress: Egress | None) -> str | None:
        """Say why this sandbox cannot hold a policy; None when it can."""
        if egress is None or egress.mode == "allow-all":
            return None
        if egress.mode == "allow":
            return 'a local sandbox cannot allow single hosts; use egress = "deny-all" or "allow-all"'
        if not sandbox.isolated:
            return 'egress = "deny-all" needs an isolated sandbox; set isolation = "require" for it'
        return None

    def describe(self, sandbox: PlannedSandbox) -> str:
        """Say in a few words what it is, for the run's header."""
        if sandbox.isolated:
            return f"{sandbox.id} (bubblewrap)"
        plain = "plain directory" if sandbox.id == PLAIN_ID else f"{sandbox.id}: plain directory"
        if sandbox.options.get("isolation") != "prefer":
            return plain
        from reeval.sandboxes.local.bubblewrap import problem

        return f"{plain} ({problem() or 'bubblewrap works by now'})"

    async def prepare(self, request: SandboxRequest) -> object:
        """Run cached setup steps, unless what they leave is kept already, and return what holds it."""
        return await _kept(request)

    @asynccontextmanager
    async def open(self, request: SandboxRequest) -> AsyncIterator[Sandbox]:
        """Start a sandbox; everything in it ends with the block, however that is left."""
        from reeval.sandboxes.local.opening import opened

        if reason := self.refuse(request.sandbox, request.egress):
            raise InfrastructureError(Phase.SANDBOX, reason)
        kept = await _kept(request)
        placed = replace(request, tree=kept.tree) if kept else request
        async with opened(placed, _options(request)) as sandbox:
            yield sandbox

    async def finish(self, root: Path, room: int) -> None:
        """End what attempts shared: nothing runs beside them, and what is kept lies in the project's cache."""

    async def sweep(self, root: Path) -> list[str]:
        """Remove what killed runs of this project left, never a live run's; return what was removed."""
        from anyio import to_thread

        from reeval.sandboxes import directories

        return await to_thread.run_sync(directories.sweep, root)

    def _isolated(self, id: str, wanted: WantedIsolation) -> bool:
        if wanted == "none":
            return False
        from reeval.sandboxes.local.bubblewrap import problem

        reason = problem()
        if reason is not None and wanted == "require":
            raise PlanError(
                f'[sandbox.{id}]: isolation = "require", but {reason}; '
                'isolation = "prefer" falls back to a plain directory, where the agent can reach all of this machine'
            )
        return reason is None


async def _kept(request: SandboxRequest) -> KeptSetup | None:
    if not request.cached:
        return None
    from reeval.sandboxes.local.setups import kept_setup

    return await kept_setup(request, _options(request))


def _options(request: SandboxRequest) -> LocalOptions:
    return parse_options(request.sandbox.options, f"[sandbox.{request.sandbox.id}]")


KIND = LocalSandboxKind()
