"""What may a model claim about a run? Findings as data, each with the attempts, numbers and quotes it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["TEXT_LIMIT", "Cited", "Claim", "ClaimKind", "Number", "Quote", "RunName", "claims_schema", "parse_claims"]

TEXT_LIMIT = 1500
"""Characters of a claim's text; a longer one is an essay, not a claim."""


class RunName(StrEnum):
    """Which of the runs that a model is shown."""

    THIS = "this"
    VS = "vs"
    """The one it is compared with."""


class ClaimKind(StrEnum):
    """What a claim is about."""

    PATTERN = "pattern"
    REGRESSION = "regression"
    EVAL_PROBLEM = "eval problem"
    SUGGESTION = "suggestion"


@dataclass(frozen=True, kw_only=True)
class Cited:
    """An attempt of a run."""

    run: RunName = RunName.THIS
    eval: str
    """Its id."""
    attempt: str
    """Its id in the eval."""


@dataclass(frozen=True, kw_only=True)
class Number:
    """A figure of the digest, by its id, and the value that it is said to have."""

    figure: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Words that are said to stand in the record of an attempt."""

    of: Cited
    text: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One thing that a model says about a run. Nothing in it is known to be true."""

    text: str
    kind: ClaimKind
    records: tuple[Cited, ...] = ()
    numbers: tuple[Number, ...] = ()
    quotes: tuple[Quote, ...] = ()


def claims_schema(*, two_runs: bool) -> dict[str, Any]:
    """Return the JSON Schema of an answer; an attempt names its run where there are two."""
    cited = {
        **({"run": _text("Which run.", enum=[*RunName])} if two_runs else {}),
        "eval": _text("The eval's id, exactly as shown."),
        "attempt": _text("The attempt's id, exactly as shown."),
    }
    number = {
        "figure": _text("The id of a figure, such as n12."),
        "value": {"type": "number", "description": "Its value."},
    }
    quote = {**cited, "text": _text("Words copied from the record of this attempt.")}
    claim = {
        "text": _text("One finding, in one to three sentences."),
        "kind": _text("What it is.", enum=[*ClaimKind]),
        "records": _list(cited, "The attempts that it rests on."),
        "numbers": _list(number, "The figures that it rests on."),
        "quotes": _list(quote, "The words that it rests on."),
    }
    return _object({"claims": _list(claim, "The most important first.")})


def parse_claims(data: Mapping[str, Any]) -> list[Claim]:
    """Return the claims of an answer that is valid by the schema."""
    return [
        Claim(
            text=" ".join(one["text"].split()),
            kind=ClaimKind(one["kind"]),
            records=tuple(dict.fromkeys(map(_cited, one["records"]))),
            numbers=tuple(Number(figure=it["figure"].strip(), value=float(it["value"])) for it in one["numbers"]),
            quotes=tuple(Quote(of=_cited(it), text=it["text"]) for it in one["quotes"]),
        )
        for one in data["claims"]
    ]


def _cited(data: Mapping[str, Any]) -> Cited:
    return Cited(run=RunName(data.get("run", RunName.THIS)), eval=data["eval"], attempt=data["attempt"])


def _text(meaning: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": meaning, **more}


def _list(properties: Mapping[str, Any], meaning: str) -> dict[str, Any]:
    return {"type": "array", "description": meaning, "items": _object(properties)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
