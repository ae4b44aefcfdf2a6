"""Which rows do the lifts of a run become?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from reeval.schema.record import RunRecord

__all__ = ["lift_rows"]

Row = dict[str, Any]
_SAME = (
    "variant control harness sandbox scored control_passed control_decided variant_passed variant_decided control_mean "
    "variant_mean lift low high p said doubt cases evals min_lift holds undecided alike"
)
_MEASURE = "control variant difference relative p said"


def lift_rows(run_id: str, record: RunRecord) -> Iterator[tuple[str, Row]]:
    """Yield the row of each lift, then those of its measures, each with its table; pooled lifts come last."""
    lifts = [(one.id, lift) for one in record.evals for lift in one.lifts]
    for number, (eval_id, lift) in enumerate([*lifts, *((None, lift) for lift in record.lifts)], 1):
        key = {"run_id": run_id, "n": number}
        flags = {"identical": "identical" in lift.flags, "errors_differ": "errors" in lift.flags}
        yield "lifts", {**key, "eval": eval_id, **_fields(lift, _SAME), **flags}
        for measure in lift.measures:
            yield "lift_measures", {**key, "measure": measure.name, **_fields(measure, _MEASURE)}


def _fields(struct: msgspec.Struct, names: str) -> Row:
    return {name: getattr(struct, name) for name in names.split()}
