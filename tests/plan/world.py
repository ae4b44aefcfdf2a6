"""A small catalog and short ways to declare things, for the tests of the planner."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from reeval.backends import Model, ModelKind
from reeval.errors import PlanError
from reeval.plan.build import build_plan
from reeval.plan.config import Config, load_config
from reeval.protocols import Catalog, Harness, HarnessKind, Sandbox, SandboxRequest
from reeval.schema.environment import Egress
from reeval.schema.plan import Plan, PlannedHarness, PlannedModel, PlannedSandbox, Selection
from reeval.schema.spec import Declared, EvalSpec, FileSpec, GroupSpec

TWO_HARNESSES = '[harness.terse]\nkind = "fake"\n\n[harness.chatty]\nkind = "fake"\n'
FILE = "evals/greet.eval.py"


@dataclass(frozen=True, kw_only=True)
class Step:
    reply: str = ""
    write: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FakeOptions:
    script: tuple[tuple[Step, ...], ...] = ()
    delay: float = 0.0
    layout: str | None = None
    hang: bool | int = False

    def __post_init__(self) -> None:
        if self.delay < 0:
            raise ValueError(f"a delay of 0 or more seconds, not {self.delay!r}")


@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    command: str | tuple[str, ...]
    output: Literal["text", "events"] = "text"


def never_opened(planned: PlannedHarness, root: Path) -> Harness:
    raise AssertionError("a planner opens no harness")


@dataclass(frozen=True, kw_only=True)
class FakeModelOptions:
    score: float = 1.0


@dataclass(frozen=True, kw_only=True)
class HttpModelOptions:
    timeout: float = 120.0


def never_spoken_to(
    planned: PlannedModel, environ: Mapping[str, str], root: Path
) -> AbstractAsyncContextManager[Model]:
    raise AssertionError("a planner opens no model")


def http_model(name: str, key: str, *, keyless: bool = False) -> ModelKind:
    return ModelKind(name=name, options=HttpModelOptions, open=never_spoken_to, key=key, keyless_base_url=keyless)


class LocalKind:
    """Isolated, except for scripted agents; holds no allow list, and deny-all only when isolated."""

    name = "local"

    def plan(self, id: str, options: Mapping[str, Any], harness: HarnessKind, root: Path) -> PlannedSandbox:
        isolation = options.get("isolation", "none" if harness.in_process else "require")
        if isolation not in {"require", "none"}:
            raise PlanError(f"isolation is {isolation!r}; it should be 'require' or 'none'")
        isolated = isolation == "require"
        shown = "fake" if id == self.name and not isolated else id
        return PlannedSandbox(id=shown, kind=self.name, isolated=isolated, options=dict(options))

    def refuse(self, sandbox: PlannedSandbox, egress: Egress | None) -> str | None:
        if egress and egress.mode == "allow":
            return "local has no allow list; use deny-all or allow-all"
        return "deny-all needs isolation" if egress and egress.mode == "deny-all" and not sandbox.isolated else None

    def describe(self, sandbox: PlannedSandbox) -> str:
        return sandbox.id

    @asynccontextmanager
    async def _never(self) -> AsyncIterator[Sandbox]:
        raise AssertionError("a planner opens no sandbox")
        yield

    def open(self, request: SandboxRequest) -> AbstractAsyncContextManager[Sandbox]:
        return self._never()

    async def prepare(self, request: SandboxRequest) -> None: ...

    async def finish(self, root: Path, room: int) -> None: ...

    async def sweep(self, root: Path) -> list[str]:
        return []


CATALOG = Catalog(
    harnesses={
        "fake": HarnessKind(name="fake", options=FakeOptions, open=never_opened, in_process=True),
        "command": HarnessKind(name="command", options=CommandOptions, open=never_opened),
    },
    sandboxes={"local": LocalKind()},
    models={
        "anthropic": http_model("anthropic", "ANTHROPIC_API_KEY"),
        "fake": ModelKind(name="fake", options=FakeModelOptions, open=never_spoken_to, max_concurrent=None),
        "google": http_model("google", "GEMINI_API_KEY"),
        "openai": http_model("openai", "OPENAI_API_KEY"),
        "openai-chat": http_model("openai-chat", "OPENAI_API_KEY", keyless=True),
    },
)


def body(c: Any) -> None:
    """Never run."""


def an_eval(name: str = "greets", *, kind: Literal["pass-fail", "scored"] = "pass-fail", **fields: Any) -> EvalSpec:
    fields = {"line": 10, "options": {}, "task": "task", **fields}
    return EvalSpec(name=name, kind=kind, body=body, blocking=True, **fields)


def a_group(name: str, *children: Declared, **fields: Any) -> GroupSpec:
    return GroupSpec(name=name, children=children, **{"line": 5, "options": {}, **fields})


def a_file(*children: Declared, path: str = FILE) -> FileSpec:
    return FileSpec(path=path, children=children)


def a_config(root: Path, text: str = TWO_HARNESSES) -> Config:
    (root / "reeval.config.toml").write_text(text)
    return load_config(root)


def a_plan(root: Path, *children: Declared, config: str = TWO_HARNESSES, **selection: Any) -> Plan:
    """Plan one file of these declarations."""
    return build_plan([a_file(*children)], a_config(root, config), Selection(**selection), CATALOG)
