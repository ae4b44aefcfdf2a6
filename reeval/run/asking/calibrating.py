"""How is a judge asked about many labelled examples? Each is one judgment, as in a run, without an attempt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import anyio

from reeval.grade.calibration.examples import Example
from reeval.run.asking.material import Section, explicit
from reeval.run.judging.measure import Ask, Measurement, judge_request, measure
from reeval.schema.spec import Judge
from reeval.secrets import Masker

__all__ = ["Heartbeat", "judge_examples"]

AT_ONCE = 40
"""Examples on their way at a time, so that memory stays bounded; the model's own limit decides how fast it goes."""


@dataclass(frozen=True, kw_only=True)
class Heartbeat:
    """Who is told how far the asking is."""

    tell: Callable[[int], None]
    """Takes how many examples are answered."""
    every: float = 60.0
    """Seconds."""


async def judge_examples(
    ask: Ask,
    judge: Judge | str,
    examples: Sequence[Example],
    masker: Masker,
    heartbeat: Heartbeat,
    *,
    votes: int = 1,
) -> list[Measurement]:
    """Return a measurement for each example, in their order.

    ``judge`` as a text is a bare question. Nothing but cancellation is raised.
    """
    found: dict[int, Measurement] = {}
    waiting = iter(enumerate(examples))

    async def work() -> None:
        for place, example in waiting:
            request = await anyio.to_thread.run_sync(partial(judge_request, judge, _sections(example), masker))
            found[place] = await measure(ask, request, votes)

    async def tell() -> None:
        while True:
            await anyio.sleep(heartbeat.every)
            heartbeat.tell(len(found))

    async with anyio.create_task_group() as around:
        around.start_soon(tell)
        async with anyio.create_task_group() as workers:
            for _ in range(min(AT_ONCE, len(examples))):
                workers.start_soon(work)
        around.cancel_scope.cancel()
    return [found[place] for place in range(len(examples))]


def _sections(example: Example) -> list[Section]:
    """Return the material: a text alone is what the agent put out."""
    if isinstance(example.material, str):
        return [Section("Output", example.material)]
    return explicit(example.material)
