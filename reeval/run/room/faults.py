"""What does an exception say that an adapter let through? That the machinery failed, and in which phase."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from reeval.errors import InfrastructureError, Phase, UserError

__all__ = ["adapted", "infrastructure_error"]


@contextmanager
def adapted(phase: Phase, what: str) -> Iterator[None]:
    """Turn what an adapter should have translated itself into an ``InfrastructureError``."""
    try:
        yield
    except (InfrastructureError, UserError):
        raise
    except Exception as error:
        raise infrastructure_error(error, phase, what) from error


def infrastructure_error(error: BaseException, phase: Phase, what: str) -> InfrastructureError:
    """Return the infrastructure error in ``error``, also in the group that a task group made of it; else a new one."""
    meant: BaseException | None = error
    if isinstance(error, BaseExceptionGroup):
        meant = error.subgroup(InfrastructureError)
        while isinstance(meant, BaseExceptionGroup):
            meant = meant.exceptions[0]
    if isinstance(meant, InfrastructureError):
        return meant
    detail = "".join(traceback.format_exception(error))
    return InfrastructureError(phase, f"{what}: {type(error).__name__}: {error}", detail=detail)
