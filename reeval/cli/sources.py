"""What do the git sources of a plan stand for in the run that begins? They are fetched, and the plan says it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reeval.cli.output import print_note

if TYPE_CHECKING:
    from reeval.cli.project import Project
    from reeval.schema.plan import Plan

__all__ = ["pinned"]


def pinned(plan: Plan, project: Project, before: Plan | None = None) -> Plan:
    """Return the plan with the commit of each git source; a run that goes on keeps those that it began with.

    Raises ``PlanError`` for a source that cannot be used.
    """
    from reeval.schema.environment import git_sources

    if not any(git_sources(environment) for environment in plan.environments.values()):
        return plan
    from reeval.environments.sources.pinned import pin_sources
    from reeval.shelf import CACHE

    found = pin_sources(
        plan.environments.values(),
        project.root,
        project.root / CACHE,
        known=before.commits if before else {},
        fetching=lambda what: print_note(f"fetching {what}"),
    )
    return replace(plan, commits=dict(found.commits), notes=(*plan.notes, *found.facts))
