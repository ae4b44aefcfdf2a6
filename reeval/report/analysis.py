"""How does a person read what a model made of a run? Claims that hold, what they rest on, and what was dropped."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reeval.grade.analysis.checking import Dropped
from reeval.grade.analysis.claims import Cited, Claim, RunName
from reeval.grade.analysis.figures import Figure, shown
from reeval.report.screen.failures import Page
from reeval.report.screen.numbers import count, dollars, plural
from reeval.report.text import escape
from reeval.usage import Usage

__all__ = ["Analysis", "analysis_data", "analysis_lines"]

TEXT_LINES = 12
QUOTE_LINES = 4
SHOWN_RECORDS = 5
"""Attempts of one claim that are listed; the rest is counted."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A run, read by a model."""

    run: str
    """Its id."""
    vs: str | None
    places: Mapping[RunName, str | None]
    """What ``--run`` has to say for the attempts of each run; None: nothing, since it is the last one."""
    model: str
    kept: Sequence[Claim]
    dropped: Sequence[Dropped]
    figures: Mapping[str, Figure]
    usage: Usage
    served: str | None


def analysis_lines(found: Analysis, page: Page) -> list[str]:
    """Return the claims, each with figures, quotes and the commands that show its attempts; then what was dropped."""
    lines = [page.ink("bold", page.line(_head(found))), page.line(" · ".join(_facts(found)))]
    for number, claim in enumerate(found.kept, 1):
        lines += ["", *_claim(number, claim, found, page)]
    if not found.kept:
        lines += ["", "nothing that holds was claimed" if found.dropped else "nothing stands out, says the model"]
    return [*lines, *_dropped(found.dropped, page)]


def _head(found: Analysis) -> str:
    return f"analysis of run {found.run}" + (f" against {found.vs}" if found.vs else "")


def _facts(found: Analysis) -> Iterator[str]:
    yield found.model
    if found.served and found.served != found.model:
        yield f"served by {found.served}"
    if found.usage.total is not None:
        yield f"{count(found.usage.total)} tokens"
    if found.usage.cost is not None:
        yield dollars(found.usage.cost)
    yield plural(len(found.kept), "claim")


def _claim(number: int, claim: Claim, found: Analysis, page: Page) -> Iterator[str]:
    yield page.ink("bold", f"{number}  {claim.kind.value}")
    yield from page.lines(claim.text, TEXT_LINES, 3)
    for cited in claim.numbers:
        figure = found.figures[cited.figure]
        yield from page.lines(f"{shown(figure.value)}  {_counted(figure)}", QUOTE_LINES, 5, style="dim")
    for quote in claim.quotes:
        yield from page.lines(f"“{' '.join(quote.text.split())}”", QUOTE_LINES, 5)
        yield from page.lines(f"{quote.of.eval}@{quote.of.attempt}{_run_words(quote.of.run)}", 2, 7, style="dim")
    most = len(claim.records) if page.full else SHOWN_RECORDS
    for one in claim.records[:most]:
        # Whole, however wide: a command that was cut cannot be copied.
        yield f"     {escape(_command(one, found))}"
    if (more := len(claim.records) - most) > 0:
        yield f"     … {plural(more, 'more attempt')}: --full"


def _counted(figure: Figure) -> str:
    if figure.run == "both":
        return f"{figure.what} (this run against the other)"
    return figure.what + _run_words(figure.run)


def _run_words(run: str) -> str:
    return " (of the other run)" if run == RunName.VS.value else ""


def _command(cited: Cited, found: Analysis) -> str:
    place = found.places[cited.run]
    words = ["reeval", "show", f"{cited.eval}@{cited.attempt}", *(["--run", place] if place else [])]
    return shlex.join(words)


def _dropped(dropped: Sequence[Dropped], page: Page) -> Iterator[str]:
    if not dropped:
        return
    reasons = Counter(one.why.value for one in dropped)
    said = ", ".join(reason + (f" ({amount}×)" if amount > 1 else "") for reason, amount in reasons.items())
    yield ""
    yield from page.lines(
        f"{plural(len(dropped), 'claim')} {'was' if len(dropped) == 1 else 'were'} dropped: {said}", 4, 0
    )
    if page.full:
        for one in dropped:
            yield from page.lines(one.claim.text, TEXT_LINES, 3, style="dim")
            yield from page.lines(f"{one.why.value}: {one.detail}", QUOTE_LINES, 5)


def analysis_data(found: Analysis) -> dict[str, Any]:
    """Return everything as JSON data; numbers with what they count, attempts with the command that shows them."""
    return {
        "run": found.run,
        "vs": found.vs,
        "model": found.model,
        "served": found.served,
        "usage": {name: getattr(found.usage, name) for name in (*_TOKENS, "cost")},
        "claims": [_data(claim, found) for claim in found.kept],
        "dropped": [
            {"text": one.claim.text, "kind": one.claim.kind.value, "why": one.why.value, "detail": one.detail}
            for one in found.dropped
        ],
    }


_TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")


def _data(claim: Claim, found: Analysis) -> dict[str, Any]:
    numbers = [found.figures[number.figure] for number in claim.numbers]
    return {
        "kind": claim.kind.value,
        "text": claim.text,
        "records": [{**_cited(one), "command": _command(one, found)} for one in claim.records],
        "numbers": [{"what": one.what, "value": one.value, "run": one.run} for one in numbers],
        "quotes": [{**_cited(quote.of), "text": quote.text} for quote in claim.quotes],
    }


def _cited(cited: Cited) -> dict[str, str]:
    return {"run": cited.run.value, "eval": cited.eval, "attempt": cited.attempt}
