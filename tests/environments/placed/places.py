"""A place to put environments in: a local sandbox of either sort, or a container."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from reeval.environments.prepare import prepare
from reeval.protocols import Sandbox, SandboxRequest
from reeval.run.room.variables import plain_values
from reeval.sandboxes.docker.kind import DockerSandboxKind
from reeval.sandboxes.local.kind import LocalSandboxKind
from reeval.sandboxes.steps import run_step
from reeval.schema.environment import Environment, Layout, cached_steps
from reeval.shelf import CACHE
from tests.sandboxes.docker.site import DockerSite
from tests.sandboxes.site import Site

__all__ = ["Place"]


@dataclass
class Place:
    """Opens sandboxes with an environment in them, as an attempt does."""

    name: str
    site: Site | DockerSite

    def request(self, environment: Environment, layout: Layout | None = None) -> SandboxRequest:
        root = self.site.root
        return self.site.request(
            tree=prepare(environment, layout or Layout(), root, root / CACHE),
            egress=environment.egress,
            cached=cached_steps(environment.setup),
            cached_env=plain_values(environment.env),
        )

    @asynccontextmanager
    async def opened(self, environment: Environment, layout: Layout | None = None) -> AsyncIterator[Sandbox]:
        request = self.request(environment, layout)
        held = await self.site.kind.prepare(request)
        async with self.site.kind.open(request) as sandbox:
            for step in environment.setup[len(request.cached) :]:
                await run_step(sandbox, step, plain_values(environment.env))
            yield sandbox
        del held

    @contextmanager
    def started_again(self) -> Iterator[None]:
        """Be as a process that has just begun, within the block."""
        kind = self.site.kind
        if isinstance(self.site, Site):
            self.site.kind = LocalSandboxKind()
            yield
        else:
            self.site.kind = DockerSandboxKind()
            try:
                yield
            finally:
                self.site.kind.close()
        self.site.kind = kind

    async def said(self, environment: Environment, command: str) -> str:
        """What a command prints in a sandbox of its own."""
        async with self.opened(environment) as sandbox:
            result = await sandbox.exec(command)
            assert result.ok, result
            return result.stdout
