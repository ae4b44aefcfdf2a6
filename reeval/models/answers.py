"""Is what a model answered data of the asked shape?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from reeval.models.failures import TryError, quoted
from reeval.secrets import Masker
from reeval.usage import Usage

__all__ = ["get_ready", "instructions", "valid_answer"]

_MALFORMED_TRIES = 2
"""Models answer with chance: one more try often mends a malformed answer, a third seldom does."""
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.DOTALL)


def get_ready() -> None:
    """Load what the first answer needs, which takes longer than some answers; any thread may call it."""
    import jsonschema  # noqa: F401


def instructions(schema: Mapping[str, Any]) -> str:
    """Return what to add to the system text for a model that takes no schema beside it."""
    said = "Answer with one JSON object that is valid by this JSON Schema, and with nothing else:"
    return f"{said}\n{json.dumps(schema)}"


def valid_answer(answer: object, schema: Mapping[str, Any], usage: Usage, masker: Masker) -> dict[str, Any]:
    """Return the answer, data or JSON text, when it is valid; raise ``TryError`` otherwise."""
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        raise _malformed("gave an empty answer", usage)
    data = _parsed(answer, usage, masker) if isinstance(answer, str) else answer
    problem = _problem(data, schema)
    if problem is None and isinstance(data, dict):
        return data
    shown = quoted(json.dumps(data, ensure_ascii=False, default=repr), masker, 200)
    why = quoted(problem or "$: not an object", masker, 200)
    raise _malformed(f"gave an answer of the wrong shape ({why}): {shown}", usage)


def _parsed(text: str, usage: Usage, masker: Masker) -> object:
    """Read JSON text, also behind a local model's thoughts or in a fence."""
    bare = _THOUGHTS.sub("", text).strip()
    fenced = _FENCED.match(bare)
    try:
        return msgspec.json.decode((fenced[1] if fenced else bare).encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        raise _malformed(f"gave an answer that is not JSON: {quoted(text, masker, 200)}", usage) from None


def _problem(data: object, schema: Mapping[str, Any]) -> str | None:
    from jsonschema.exceptions import best_match

    error = best_match(_validator(json.dumps(schema)).iter_errors(data))
    if error is None:
        return None
    return f"{error.json_path}: {error.message}"


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    """Return the validator of a schema; a run asks the same few schemas again and again."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema))


def _malformed(what: str, usage: Usage) -> TryError:
    return TryError(f"{what}; name a model that keeps to a schema", tries=_MALFORMED_TRIES, wait=0.0, usage=usage)
