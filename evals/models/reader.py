"""A model without a model, for the examples: it reads greet.py in a diff and says what a missing name does to it."""

import re
from typing import Any

from reeval.backends import ModelRequest

FALLBACK = re.compile(r"len\(sys\.argv\) > 1 else '(\w+)'")


def answer(request: ModelRequest) -> dict[str, Any]:
    """Answer a question about an attempt or a pair, by the names of the fields that the answer must have."""
    wanted = request.schema["properties"]
    if "winner" in wanted:
        return compared(request.prompt)
    fallback = FALLBACK.search(request.prompt)
    if "choice" in wanted:
        reason = f"it falls back to {fallback[1]!r}" if fallback else "sys.argv[1] fails without a name"
        return {"choice": "yes" if fallback else "no", "reason": reason}
    return {"answer": f"It greets {fallback[1]}." if fallback else "It ends with an IndexError."}


def compared(prompt: str) -> dict[str, Any]:
    first, _, second = prompt.partition('title="B: Diff"')
    handles = [bool(FALLBACK.search(side)) for side in (first, second)]
    if handles[0] == handles[1]:
        return {"winner": "tie", "reason": "both treat it alike"}
    return {"winner": "A" if handles[0] else "B", "reason": "it falls back to a name"}
