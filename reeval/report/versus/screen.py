"""What changed between two runs? The screen of ``--vs``: which runs, what differs in them, the lifts, what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from reeval.grade.compared.boschloo import LEVEL
from reeval.grade.versus.results import ComparedEval, Versus
from reeval.report.screen.compares import DOUBTS, lift_text
from reeval.report.screen.failures import Page
from reeval.report.screen.numbers import moment, plural
from reeval.report.screen.table import flow
from reeval.report.text import one_line, wrap
from reeval.report.versus.blocks import EARLIER, LATER, eval_block, labels_of, pooled_block
from reeval.schema.record import RunRecord
from reeval.schema.recorded.lifts import Said

__all__ = ["SHOWN_EVALS", "versus_screen", "worse_lines"]

SHOWN_EVALS = 40
"""Evals of which nothing can be told, when there are many; what can be told is always shown."""
_SHOWN_LINES = 20
_TEXT_CELLS = 400
_MANY = 20
"""Cells of which one is told by chance although nothing changed, at 5 %."""
_SAME = "nothing that is recorded: a difference in results is chance, or what a provider changed"
_ORDER: tuple[Said, ...] = ("made it worse", "helped", "can't tell yet")
_WORDS: dict[Said, str] = {"made it worse": "fail", "helped": "pass"}
"""The words whose colors they take."""


def versus_screen(found: Versus, page: Page) -> list[str]:
    """Return the lines of two compared runs, at most ``page.cells`` wide."""
    sections = [
        [*_run_lines(EARLIER, found.earlier, page), *_run_lines(LATER, found.later, page)],
        _listed("what differs", found.differences or [_SAME], page),
        *_blocks(found, page),
        _listed("not compared", [f"{it.what}: {it.why}" for it in found.apart], page),
        _summary(found, page),
    ]
    lines: list[str] = []
    for section in filter(None, sections):
        lines += [*([""] if lines else []), *section]
    return lines


def worse_lines(found: Versus, page: Page) -> list[str]:
    """Return what got worse, each with its lift; empty when nothing did."""
    worse = list(found.worse())
    if not worse:
        return []
    title = one_line(f"worse than run {found.earlier.run_id}, so exit 1 (--fail-on worse)")
    lines = [page.ink("red", line) for line in wrap(title, page.cells)]
    for what, lift in worse:
        lines += _bullet(f"{what}  {lift_text(lift)}", page)
    return lines


def _run_lines(word: str, record: RunRecord, page: Page) -> list[str]:
    facts = [record.run_id, record.state.value, f"{moment(record.created_at)} UTC"]
    if record.totals.finished < record.totals.planned:
        facts.append(f"{record.totals.finished:,} of {plural(record.totals.planned, 'attempt')}")
    if record.git_commit:
        branch = f"{record.git_branch} " if record.git_branch else ""
        facts.append(f"{branch}{record.git_commit[:7]}" + (" and changed files" if record.git_dirty else ""))
    if record.selection:
        facts.append(record.selection)
    room = None if page.cells is None else max(10, page.cells - 5)
    lines = wrap(one_line(" · ".join(facts)), room)
    return [f"{page.ink('bold', word.ljust(3))}  {lines[0]}", *(f"     {line}" for line in lines[1:])]


def _listed(title: str, texts: Sequence[str], page: Page) -> list[str]:
    if not texts:
        return []
    shown = len(texts) if page.full else _SHOWN_LINES
    lines = [page.ink("bold", title)]
    for text in texts[:shown]:
        lines += _bullet(text, page)
    if len(texts) > shown:
        lines.append("  " + page.ink("dim", f"… {len(texts) - shown:,} more (--full)"))
    return lines


def _bullet(text: str, page: Page) -> list[str]:
    first, *rest = wrap(
        one_line(text, None if page.full else _TEXT_CELLS), None if page.cells is None else max(10, page.cells - 4)
    )
    return [f"  · {first}", *(f"    {line}" for line in rest)]


# --- lifts --------------------------------------------------------------------------------------------


def _blocks(found: Versus, page: Page) -> Iterator[list[str]]:
    places = [cell.place for one in found.evals for cell in one.cells]
    labels = labels_of(places)
    hidden = 0
    for number, one in enumerate(sorted(found.evals, key=_rank)):
        if number >= SHOWN_EVALS and _rank(one) == _OPEN and not page.full:
            hidden += 1
        else:
            yield eval_block(one, labels, page, scored=found.scored)
    if hidden:
        yield [page.ink("dim", f"… {plural(hidden, 'more eval')} of which nothing can be told yet (--full)")]
    yield pooled_block(found.pooled, {place.cell: labels(place) for place in places}, page)


_OPEN = _ORDER.index("can't tell yet")


def _rank(one: ComparedEval) -> int:
    """Order evals by what matters: worse, helped, the rest; within them the order of the plan stays."""
    said = {cell.lift.said for cell in one.cells}
    return min(map(_ORDER.index, said), default=_OPEN)


def _summary(found: Versus, page: Page) -> list[str]:
    """Return how many cells came to what, and why the others could not be told."""
    lifts = [cell.lift for one in found.evals for cell in one.cells]
    counts = Counter(lift.said for lift in lifts)
    parts = [(f"{counts[said]} {said}", _WORDS.get(said)) for said in _ORDER if counts[said]]
    lines = flow([(plural(len(lifts), "cell"), None), *parts], " · ", page.ink, page.cells)
    doubts = Counter(lift.doubt for lift in lifts if lift.doubt is not None)
    for doubt in (it for it in DOUBTS if doubts[it]):
        lines += _bullet(f"{doubts[doubt]} can't be told yet: {DOUBTS[doubt]}", page)
    if len(lifts) >= _MANY and counts["can't tell yet"] < len(lifts):
        expected = plural(round(len(lifts) * LEVEL), "cell")
        lines += _bullet(f"if nothing changed, up to {expected} would still be told by chance: see all evals", page)
    return lines
