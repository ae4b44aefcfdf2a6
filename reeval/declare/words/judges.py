"""``judge``: how is a reusable judge made?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from reeval.declare.options import is_text
from reeval.errors import DeclarationError
from reeval.schema.spec import Judge

__all__ = ["judge", "judge_models"]


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


def judge_models(body: Callable[..., Any]) -> tuple[str, ...]:
    """Return the models of the judges that a body names, directly or from around it, sorted.

    A judge that it only reaches through something else is not found: its model is known once the body runs.
    """
    if not isinstance(body, FunctionType):
        return ()
    names = {name for code in _codes(body.__code__) for name in code.co_names}
    values = [body.__globals__.get(name) for name in names] + [_content(cell) for cell in body.__closure__ or ()]
    return tuple(sorted({one.model for one in values if isinstance(one, Judge) and one.model}))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _is_measurement(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
