"""``check --gold``: which ground truths are suspicious?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reeval.protocols import Catalog
    from reeval.run.data.database import RunDatabase
    from reeval.schema.plan import Plan, PlannedEval

__all__ = ["Suspicion", "suspicions"]


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """What is suspicious about the ground truth of one question."""

    id: str
    file: str
    line: int
    warnings: tuple[str, ...]


def suspicions(plan: Plan, catalog: Catalog) -> list[Suspicion]:
    """Audit the ground truth of every data question of the plan; return those with a warning, in the plan's order."""
    import anyio

    return anyio.run(_audited, plan, catalog)


async def _audited(plan: Plan, catalog: Catalog) -> list[Suspicion]:
    import anyio

    from reeval.run.data.database import AT_ONCE, RunDatabase

    asked = [planned for planned in plan.evals if planned.data]
    found: dict[str, tuple[str, ...]] = {}
    left = iter(asked)

    async def one_by_one() -> None:
        for planned in left:
            found[planned.id] = await _audit(planned, database, plan)

    async with RunDatabase(plan, catalog, os.environ) as database, anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(one_by_one)
    return [
        Suspicion(id=planned.id, file=planned.file, line=planned.line, warnings=warnings)
        for planned in asked
        if (warnings := found[planned.id])
    ]


async def _audit(planned: PlannedEval, database: RunDatabase, plan: Plan) -> tuple[str, ...]:
    from reeval.backends import QueryError
    from reeval.run.data.audit import audit

    if planned.data is None or planned.data.sql is None or plan.database is None:
        return ()
    try:
        async with database.snapshot() as snapshot:
            return await audit(planned.data.sql, snapshot, dialect=plan.database.kind)
    except QueryError as error:
        return (f"The database cannot be read: {error}",)
