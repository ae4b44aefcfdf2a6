"""A model without a model, for the examples: it reads the figures of a run and says which check fails most, if any."""

import json
import re
from typing import Any

from reeval.backends import ModelRequest

FAILED = re.compile(
    r"^(?P<figure>n\d+) = (?P<count>\d+) attempts in which a check failed: “(?P<label>.+)” · \S+ · (?P<eval>.+)\n"
    r" +(?P<attempt>.+?): “(?P<message>.+)”$",
    re.MULTILINE,
)
PASSED = re.compile(
    r"^eval (?P<eval>.+) \(.*\n(?:  +.*\n)*? +(?P<figure>n\d+) = (?P<count>[1-9]\d*) attempts that passed\n"
    r"(?:  +.*\n)*? +pass, for example: (?P<attempt>[^,\n]+)",
    re.MULTILINE,
)


def claims(request: ModelRequest) -> dict[str, Any]:
    """Return one claim about what fails, or about what passes when nothing does."""
    if failed := FAILED.search(request.prompt):
        quote = failed["message"].split(" got ")[0]
        text = f"The check that fails most does so in {failed['count']} attempts; it says “{quote}”."
        return {"claims": [claim(request, "pattern", text, failed, [quote])]}
    if passed := PASSED.search(request.prompt):
        text = f"No check failed. All {passed['count']} attempts of a cell passed: a harder eval would tell more."
        return {"claims": [claim(request, "suggestion", text, passed, [])]}
    return {"claims": []}


def claim(request: ModelRequest, kind: str, text: str, found: re.Match[str], quotes: list[str]) -> dict[str, Any]:
    cited = {"eval": found["eval"], "attempt": found["attempt"]}
    if '"run"' in json.dumps(request.schema):  # there are two runs: an attempt names its own
        cited["run"] = "this"
    return {
        "kind": kind,
        "text": text,
        "records": [cited],
        "numbers": [{"figure": found["figure"], "value": int(found["count"])}],
        "quotes": [{**cited, "text": quote} for quote in quotes],
    }
