"""Is what a model claims in the record? Every attempt, number and quote is looked up; what does not hold is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reeval.grade.analysis.claims import TEXT_LIMIT, Cited, Claim, ClaimKind, RunName
from reeval.grade.analysis.figures import Figure, holds, shown
from reeval.grade.analysis.said import SHORTEST_QUOTE, agrees, numbers_in, plain, quoted_in, without_names

__all__ = ["MOST_CLAIMS", "Dropped", "Known", "Why", "check_claims"]

MOST_CLAIMS = 20
_SHOWN = 80


class Why(StrEnum):
    """Why a claim is not shown."""

    ATTEMPT = "an attempt is not in the record"
    NUMBER = "a number does not hold"
    QUOTE = "a quote is not in the record"
    NOTHING = "it rests on nothing that can be checked"
    COMPARED = "it compares what cannot be compared"
    LONG = "it is too long"
    MANY = f"it came after {MOST_CLAIMS} others"


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A claim that is not shown."""

    claim: Claim
    why: Why
    detail: str
    """What exactly does not hold."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What there is to hold a claim against."""

    figures: Mapping[str, Figure]
    attempts: Mapping[RunName, frozenset[tuple[str, str]]]
    """Of each run: eval and attempt."""
    texts: Callable[[Cited], Iterable[str]]
    """Returns every text of an attempt that is there."""
    comparable: frozenset[str] | None = None
    """Evals that may be compared between the runs; None: there is one run."""
    every: frozenset[str] = frozenset()
    """Evals of either run."""


def check_claims(claims: Sequence[Claim], known: Known) -> tuple[list[Claim], list[Dropped]]:
    """Return the claims that hold, in their order, and those that do not."""
    kept: list[Claim] = []
    dropped: list[Dropped] = []
    for claim in claims:
        problem = (Why.MANY, "") if len(kept) == MOST_CLAIMS else next(_problems(claim, known), None)
        if problem is None:
            kept.append(claim)
        else:
            dropped.append(Dropped(claim=claim, why=problem[0], detail=problem[1]))
    return kept, dropped


def _problems(claim: Claim, known: Known) -> Iterator[tuple[Why, str]]:
    """Yield what does not hold; what is cheap to see comes first."""
    if not claim.text or not claim.records or not (claim.numbers or claim.quotes):
        yield Why.NOTHING, "it needs a text, an attempt, and a number or a quote"
    if len(claim.text) > TEXT_LIMIT:
        yield Why.LONG, f"{len(claim.text):,} characters"
    for cited in (*claim.records, *(quote.of for quote in claim.quotes)):
        if (cited.eval, cited.attempt) not in known.attempts.get(cited.run, frozenset()):
            yield Why.ATTEMPT, f"there is no {cited.eval}@{cited.attempt}"[:400]
    yield from ((Why.NUMBER, text) for text in _figures(claim, known))
    yield from ((Why.COMPARED, text) for text in _compared(claim, known))
    yield from ((Why.NUMBER, text) for text in _spoken_numbers(claim, known))
    yield from ((Why.QUOTE, text) for text in _quotes(claim, known))


def _figures(claim: Claim, known: Known) -> Iterator[str]:
    for number in claim.numbers:
        figure = known.figures.get(number.figure)
        if figure is None:
            yield f"there is no figure {number.figure[:_SHOWN]!r}"
        elif not holds(number.value, figure):
            yield f"{figure.what} is {shown(figure.value)}, not {shown(number.value)}"


def _compared(claim: Claim, known: Known) -> Iterator[str]:
    """Yield why a claim about two runs compares nothing."""
    figures = [known.figures[number.figure] for number in claim.numbers]
    cited = (*claim.records, *(quote.of for quote in claim.quotes))
    runs = {*(one.run.value for one in cited), *(figure.run for figure in figures)}
    if known.comparable is None:
        if claim.kind is ClaimKind.REGRESSION:
            yield "one run shows no regression: --vs names another"
        return
    if "both" not in runs and len(runs) == 1:
        if claim.kind is ClaimKind.REGRESSION:
            yield "it is about both runs, and names one of them only"
        return
    for eval_id in dict.fromkeys((*(one.eval for one in cited), *(one.eval for one in figures))):
        if eval_id is None and known.comparable != known.every:
            yield "a number over all evals, of which some changed or stand in one run only"
        elif eval_id is not None and eval_id not in known.comparable:
            yield f"{eval_id} changed between the runs, or stands in one of them only"


def _spoken_numbers(claim: Claim, known: Known) -> Iterator[str]:
    """Yield numbers of the text that no figure, no quote and no count of its attempts bears."""
    figures = [known.figures[number.figure] for number in claim.numbers]
    quoted = [said.value for quote in claim.quotes for said in numbers_in(quote.text)]
    for said in numbers_in(without_names(claim.text, _names(claim, figures))):
        borne = any(agrees(said, figure) for figure in figures) or said.value == len(claim.records)
        if not borne and (said.counted or said.value not in quoted):
            yield f"nothing bears the {shown(said.value)} in its text"


def _names(claim: Claim, figures: Sequence[Figure]) -> Iterator[str]:
    """Yield what may stand in a text without being a number or a quote."""
    for cited in claim.records:
        cell, _, run = cited.attempt.rpartition("#")
        file, _, path = cited.eval.partition("::")
        case = cell.partition("[")[2].removesuffix("]")
        yield from (cited.eval, cited.attempt, cell, f"#{run}", file, path, *path.split("::"))
        yield from (case, f"[{case}]", f"case {case}") if case else ()
    for figure in figures:
        yield from figure.what.split(" · ")[1:]


def _quotes(claim: Claim, known: Known) -> Iterator[str]:
    for quote in claim.quotes:
        wanted = plain(quote.text)
        if len(wanted) < SHORTEST_QUOTE:
            yield f"{wanted!r} is too short to be a quote"
        elif not any(wanted in plain(text) for text in known.texts(quote.of)):
            yield f"{wanted[:_SHOWN]!r} is not in {quote.of.eval}@{quote.of.attempt}"
    figures = [known.figures[number.figure] for number in claim.numbers]
    borne = [*(plain(quote.text) for quote in claim.quotes), *map(plain, _names(claim, figures))]
    for spoken in quoted_in(claim.text):
        if not any(spoken in text for text in borne):
            yield f"{spoken[:_SHOWN]!r} stands in its text as a quote, and is none of its quotes"
