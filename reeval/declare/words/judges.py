"""``judge``: how is a reusable judge made?"""

from __future__ import annotations

from collections.abc import Mapping

from reeval.declare.options import is_text
from reeval.errors import DeclarationError
from reeval.schema.spec import Judge

__all__ = ["judge"]


def judge(name: str, rubric: str, *, anchors: Mapping[float, str] | None = None, model: str | None = None) -> Judge:
    """Return a judge that measures by ``rubric``, from 0 to 1.

    ``anchors``: measurement → what deserves it. ``model``: ``provider/model``; None: the option ``judge``'s.
    Raises ``DeclarationError``.
    """
    for what, text in (("name", name), ("rubric", rubric)):
        if not is_text(text):
            raise DeclarationError(f"judge({name!r}): its {what} is {text!r}; give a text")
    for anchor, meaning in (anchors or {}).items():
        if not _is_measurement(anchor) or not is_text(meaning):
            raise DeclarationError(
                f"judge({name!r}): the anchor {anchor!r}: {meaning!r} is not a number from 0 to 1 with a text"
            )
    return Judge(
        name=name,
        rubric=rubric,
        anchors=None if anchors is None else {float(anchor): meaning for anchor, meaning in anchors.items()},
        model=model,
    )


def _is_measurement(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
