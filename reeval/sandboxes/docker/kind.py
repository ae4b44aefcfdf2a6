"""How does an attempt run in a container? Planned, prepared once, started many times, swept."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from reeval.errors import InfrastructureError, PlanError
from reeval.protocols import HarnessKind, Sandbox, SandboxRequest
from reeval.sandboxes.docker.options import DockerOptions, parse_options
from reeval.sandboxes.options import own_options
from reeval.schema.environment import Egress
from reeval.schema.plan import PlannedSandbox

if TYPE_CHECKING:
    from reeval.sandboxes.docker.egress.links import Links
    from reeval.sandboxes.docker.engine.client import Engine
    from reeval.sandboxes.docker.images.prepared import PreparedImage

__all__ = ["KIND", "DockerSandboxKind"]


class DockerSandboxKind:
    """Implements ``protocols.SandboxKind``."""

    name = "docker"

    def __init__(self) -> None:
        self._lock = Lock()
        self._engine: Engine | None = None
        self._images: dict[Hashable, PreparedImage] = {}
        self._links: Links | None = None

    def plan(self, id: str, options: Mapping[str, Any], harness: HarnessKind, root: Path) -> PlannedSandbox:  # noqa: ARG002 - implements the seam
        """Resolve a ``[sandbox.NAME]`` table; raise ``PlanError`` when no engine answers or the image is missing."""
        if "pinned" in options:
            raise PlanError(f"[sandbox.{id}]: pinned is written by the plan; drop it")
        parsed = parse_options(options, f"[sandbox.{id}]")
        return PlannedSandbox(
            id=id,
            kind=self.name,
            isolated=True,
            max_concurrent=parsed.max_concurrent,
            start_timeout=parsed.start_timeout,
            options=own_options(options) | self._pin(id, parsed, root),
        )

    def refuse(self, sandbox: PlannedSandbox, egress: Egress | None) -> str | None:  # noqa: ARG002 - implements the seam
        """Say why this sandbox cannot hold a policy: it holds every one."""
        return None

    def describe(self, sandbox: PlannedSandbox) -> str:
        """Say in a few words what it is, for the run's header."""
        options = sandbox.options
        of = options.get("image") or options.get("dockerfile")
        return f"{sandbox.id} (docker, {of})"

    async def prepare(self, request: SandboxRequest) -> PreparedImage:
        """Make the image of all attempts with such a request, unless it is there."""
        from reeval.sandboxes.docker.images.prepared import prepare_image
        from reeval.sandboxes.docker.opening import opened_bare

        engine, options = await self._connected(), _options(request)
        links = self._open_links(engine)
        # No agent is in it, so no model is reached.
        alone = replace(request, keep=False, hosts=())
        image = await prepare_image(engine, request, options, lambda of: opened_bare(engine, alone, options, of, links))
        self._images[_key(request)] = image
        return image

    @asynccontextmanager
    async def open(self, request: SandboxRequest) -> AsyncIterator[Sandbox]:
        """Start a container; everything in it ends with the block, however that is left."""
        from reeval.sandboxes.docker.engine.containers import ImageGoneError
        from reeval.sandboxes.docker.opening import opened

        async def opening() -> Sandbox:
            image = self._images.get(_key(request)) or await self.prepare(request)
            engine = await self._connected()
            sandbox = opened(engine, request, _options(request), image, self._open_links(engine))
            return await stack.enter_async_context(sandbox)

        async with AsyncExitStack() as stack:
            try:
                sandbox = await opening()
            except ImageGoneError:
                # By hand, or by who tidies up: what was prepared can be made again at any time.
                self._images.pop(_key(request), None)
                sandbox = await opening()
            yield sandbox

    async def finish(self, root: Path, room: int) -> None:
        """End the proxies of the run, and remove images beyond ``room`` that nobody used for a day."""
        from anyio import to_thread

        from reeval.sandboxes.docker.images.unused import remove_unused

        links, self._links = self._links, None
        if links is not None:
            await links.finish()
        if self._images and self._engine is not None:
            with suppress(InfrastructureError):  # What is left is found by the next run.
                await to_thread.run_sync(lambda: remove_unused(self.engine(), root, time.time(), room=room))

    async def sweep(self, root: Path) -> list[str]:
        """Remove what killed runs of this project left, never a live run's; return what was removed."""
        from anyio import to_thread

        from reeval.sandboxes import directories
        from reeval.sandboxes.docker.engine.address import has_engine
        from reeval.sandboxes.docker.labels import remove_leftovers

        removed = await to_thread.run_sync(directories.sweep, root)
        if has_engine():
            with suppress(InfrastructureError, PlanError):  # Without an engine there is nothing left in it.
                removed += await remove_leftovers(await self._connected(), root)
        return removed

    def close(self) -> None:
        """Let go of the connections to the engine."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def engine(self) -> Engine:
        """Return the engine, connected once; raise ``PlanError`` or ``InfrastructureError``. Blocks."""
        from reeval.sandboxes.docker.engine.address import engine_address
        from reeval.sandboxes.docker.engine.client import connect

        with self._lock:
            if self._engine is None:
                self._engine = connect(engine_address())
            return self._engine

    async def _connected(self) -> Engine:
        if self._engine is not None:
            return self._engine
        from anyio import to_thread

        return await to_thread.run_sync(self.engine, abandon_on_cancel=True)

    def _open_links(self, engine: Engine) -> Links:
        from reeval.sandboxes.docker.egress.links import Links

        self._links = self._links or Links(engine)
        return self._links

    def _pin(self, id: str, options: DockerOptions, root: Path) -> dict[str, str]:
        from reeval.sandboxes.docker.images.base import pinned

        try:
            found = pinned(self.engine(), options, root)
        except (InfrastructureError, PlanError) as error:
            raise PlanError(f"[sandbox.{id}]: {error}") from error
        return {} if found is None else {"pinned": found}


def _options(request: SandboxRequest) -> DockerOptions:
    return parse_options(request.sandbox.options, f"[sandbox.{request.sandbox.id}]")


def _key(request: SandboxRequest) -> Hashable:
    """Return what attempts with one image share."""
    options = tuple(sorted((name, repr(value)) for name, value in request.sandbox.options.items()))
    environment = (request.tree, request.cached, *sorted(request.cached_env.items()))
    return (request.root, options, request.egress, request.programs, environment)


KIND = DockerSandboxKind()
