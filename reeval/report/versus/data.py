"""What does a program read of two compared runs? Plain JSON data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from reeval.grade.compared.lifts import Lift
from reeval.grade.versus.results import ComparedCell, Versus

__all__ = ["versus_data"]


def versus_data(found: Versus) -> dict[str, Any]:
    """Return the runs' ids, every lift with its measures, and what differs or is not compared."""
    return {
        "vs": found.earlier.run_id,
        "run": found.later.run_id,
        "differences": list(found.differences),
        "cells": [_cell(cell) for one in found.evals for cell in one.cells],
        "pooled": [{"cell": it.cell, "evals": it.lift.evals, **_lift(it.lift)} for it in found.pooled],
        "not_compared": [asdict(it) for it in found.apart],
        "worse": [what for what, _ in found.worse()],
    }


def _cell(cell: ComparedCell) -> dict[str, Any]:
    return {
        "eval": cell.place.eval,
        "cell": cell.place.cell,
        **_lift(cell.lift),
        "vs": _side(cell.earlier.attempts.side.mean, cell.lift.decided[0], cell.earlier.attempts.errors),
        "run": _side(cell.later.attempts.side.mean, cell.lift.decided[1], cell.later.attempts.errors),
        "measures": {name: asdict(it) for name, it in cell.measures.items()},
    }


def _side(mean: float | None, decided: int, errors: int) -> dict[str, Any]:
    return {"mean": mean, "decided": decided, "errors": errors}


def _lift(lift: Lift) -> dict[str, Any]:
    low, high = lift.interval or (None, None)
    return {
        "lift": lift.lift,
        "low": low,
        "high": high,
        "p": lift.p,
        "said": lift.said.value,
        "doubt": lift.doubt and lift.doubt.value,
    }
