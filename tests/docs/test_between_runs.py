"""The comparison that the guide shows is what comes."""

from __future__ import annotations

from dataclasses import replace

from reeval.grade.versus.results import versus
from reeval.report.screen.failures import Page
from reeval.report.versus.screen import versus_screen
from reeval.schema.plan import PlannedHarness
from tests.docs.pages import DOCS, blocks_of
from tests.grade.versus.samples import EARLIER, LATER, attempts, plan, planned, run


def test_the_guides_comparison_is_what_comes() -> None:
    (shown,) = [block for block in blocks_of(DOCS / "guide/between-runs.md") if block.language == "text"]
    greets, goodbye = planned("greets by name"), planned("says goodbye")
    old, new = plan(greets, goodbye), plan(greets, goodbye)
    small = PlannedHarness(id="terse", kind="fake", model="small-1")
    old.harnesses["terse"], new.harnesses["terse"] = small, replace(small, model="small-2")
    found = versus(
        run(EARLIER, old, attempts(greets, "pppppp", tokens=3000), attempts(goodbye, "pppppf", tokens=3000)),
        run(LATER, new, attempts(greets, "fpffff", tokens=2700), attempts(goodbye, "pppppp", tokens=3000)),
    )
    assert shown.text.strip() in "\n".join(versus_screen(found, Page()))
