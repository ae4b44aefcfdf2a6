"""What does a scripted model answer? Fixed data, a list of answers in turn, or what a function of the project says."""

from __future__ import annotations

import inspect
import math
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio

from reeval.backends import Model, ModelKind, ModelReply, ModelRequest
from reeval.errors import InfrastructureError, Phase
from reeval.models.answers import valid_answer
from reeval.models.failures import TryError
from reeval.models.functions import call_in_daemon, load_function
from reeval.models.options import typed_options
from reeval.schema.plan import PlannedModel
from reeval.secrets import Masker
from reeval.usage import ClaimedUsage, Pricing, Usage

__all__ = ["KIND", "FakeModelOptions"]

Answer = dict[str, Any] | float | str
"""Data as it is; a number: the score; a text: the choice or winner when it is one that is offered, else the words."""


@dataclass(frozen=True, kw_only=True)
class FakeModelOptions:
    """The options of a ``[provider.NAME]`` table with ``kind = "fake"``."""

    score: float = 1.0
    """The score that it gives."""
    choice: str | None = None
    """The choice or winner that it picks, where that is offered; else the first that is."""
    reply: str = "No reason: this model is scripted."
    """Its words: an answer, a reason."""
    script: tuple[Answer, ...] = ()
    """Answers in the order in which questions come; the last one repeats."""
    function: str | None = None
    """``package.module:name`` or ``path/to/file.py:name`` below the project's root. It is called with the
    ``ModelRequest`` and returns an answer as in ``script``; a plain function is called in a thread, one call at a
    time, an ``async`` one for all questions at once."""
    delay: float = 0.0
    """Seconds before each answer."""
    fail_with: str | None = None
    """Every question ends with this error, as broken machinery."""
    usage: ClaimedUsage | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if not 0 <= self.delay < math.inf:
            raise ValueError(f"a delay of 0 or more seconds, not {self.delay!r}")
        if self.function is not None and self.script:
            raise ValueError("a script or a function, not both")
        if self.function is not None and not all(self.function.rpartition(":")[::2]):
            raise ValueError(f"a function such as 'judges.py:answer', not {self.function!r}")


class _Fake:
    """One scripted model of a run."""

    def __init__(self, name: str, options: FakeModelOptions, function: Callable[..., Any] | None) -> None:
        self._name = name
        self._options = options
        self._function = function
        self._asked = 0
        self._one_at_a_time = anyio.CapacityLimiter(1)
        self._usage = Usage(**asdict(options.usage)) if options.usage else Usage()

    async def answer(self, request: ModelRequest) -> ModelReply:
        """Answer as the options say; an answer of another shape than was asked for is an error."""
        if self._options.delay:
            await anyio.sleep(self._options.delay)
        if self._options.fail_with is not None:
            raise InfrastructureError(Phase.MODEL, f"model {self._name!r}: {self._options.fail_with}")
        answer = await self._called(request) if self._function else self._next()
        data = _data(answer, request.schema, self._options)
        try:
            data = valid_answer(data, request.schema, self._usage, Masker())
        except TryError as failure:  # no second try: it would take the script's next answer
            raise InfrastructureError(Phase.MODEL, f"model {self._name!r} {failure.reason}") from None
        return ModelReply(data=data, usage=self._usage, model=self._name)

    def _next(self) -> Answer | None:
        script = self._options.script
        self._asked += 1
        return script[min(self._asked, len(script)) - 1] if script else None

    async def _called(self, request: ModelRequest) -> Any:
        assert self._function is not None
        try:
            if inspect.iscoroutinefunction(self._function):
                return await self._function(request)
            async with self._one_at_a_time:
                return await call_in_daemon(self._function, request)
        except Exception as error:  # noqa: BLE001 - a function of the project may raise anything
            raise InfrastructureError(
                Phase.MODEL,
                f"model {self._name!r}: its function {self._options.function} raised {type(error).__name__}: {error}; "
                "correct the function",
                detail="".join(traceback.format_exception(error)),
            ) from None


def _data(answer: Any, schema: Mapping[str, Any], options: FakeModelOptions) -> Any:
    """Return the data of one answer: as given, else made from its one value and the options to fit the schema."""
    if isinstance(answer, Mapping):
        return dict(answer)
    if not (answer is None or isinstance(answer, str | int | float)):
        return answer
    properties = schema.get("properties", {})
    words = options.reply
    if isinstance(answer, str) and not any("enum" in part for part in properties.values()):
        words = answer
    return {name: _part(part, answer, words, options) for name, part in properties.items()}


def _part(schema: Mapping[str, Any], answer: str | float | None, words: str, options: FakeModelOptions) -> object:
    if choices := schema.get("enum"):
        if isinstance(answer, str):
            return answer  # also one that is not offered: that is for the schema to refuse
        return options.choice if options.choice in choices else choices[0]
    if schema.get("type") in {"number", "integer"}:
        return options.score if answer is None or isinstance(answer, str) else answer
    return {"boolean": False, "array": [], "object": {}, "null": None}.get(str(schema.get("type")), words)


@asynccontextmanager
async def _open(planned: PlannedModel, _environ: Mapping[str, str], root: Path) -> AsyncIterator[Model]:
    options = typed_options(planned.options, FakeModelOptions, f"[provider.{planned.provider}]")
    function = load_function(options.function, root) if options.function else None
    yield _Fake(planned.name, options, function)


def _pricing(planned: PlannedModel) -> Pricing:
    usage = typed_options(planned.options, FakeModelOptions, f"[provider.{planned.provider}]").usage
    return Pricing(given=usage is not None and usage.cost is not None)


KIND = ModelKind(name="fake", options=FakeModelOptions, open=_open, max_concurrent=None, pricing=_pricing)
