"""The reference of the harnesses says what the code does."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from reeval.harnesses import command, fake, http, model
from reeval.harnesses.layouts import LAYOUTS
from reeval.harnesses.program.answers import EventAnswer
from reeval.harnesses.program.stream import StreamEvent
from reeval.protocols import HarnessKind
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import Channel, Notice

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/reference/harnesses.md").read_text()


def section(title: str) -> str:
    """The text from a heading to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, title
    return found[1]


def rows(title: str) -> dict[str, str]:
    """First cell without backticks → the rest of the row."""
    return dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$(?!\n\|---)", section(title), re.MULTILINE))


@pytest.mark.parametrize("kind", [fake.KIND, command.KIND, http.KIND, model.KIND], ids=lambda kind: kind.name)
def test_every_option_has_its_row(kind: HarnessKind) -> None:
    assert list(rows(f"`{kind.name}`")) == [field.name for field in fields(kind.options)]


def test_every_event_has_its_row_with_its_keys() -> None:
    documented = rows("The event form")
    events = {event.__struct_config__.tag: event for event in get_args(StreamEvent)}
    assert documented.keys() == events.keys()
    for tag, event in events.items():
        keys = documented[str(tag)].split(" | ")[0]
        assert [name for name in event.__struct_fields__ if f"`{name}`" not in keys] == []


def test_every_step_channel_and_layout_is_named() -> None:
    for field in fields(fake.Step):
        assert f"`{field.name}`" in section("`fake`")
    for channel in Channel:
        assert f"`{channel}`" in rows("`command`")["unreported"]
    layouts = {name: f"`{layout.rules}` | `{layout.skills}`" for name, layout in LAYOUTS.items()}
    assert rows("Layouts") == layouts


def test_the_examples_work() -> None:
    for title, kind in (
        ("`fake`", fake.KIND),
        ("`command`", command.KIND),
        ("`http`", http.KIND),
        ("`model`", model.KIND),
    ):
        (example,) = re.findall(r"```toml\n(.*?)```", section(title), re.DOTALL)
        ((name, table),) = tomllib.loads(example)["harness"].items()
        assert table.pop("kind") == kind.name
        kind.open(PlannedHarness(id=name, kind=kind.name, model=table.pop("model", None), options=table), ROOT)
    (lines,) = re.findall(r"```json\n(.*?)```", section("The event form"), re.DOTALL)
    answer = EventAnswer()
    answer.feed(lines.encode())
    assert answer.error(0, "") is None
    turn = answer.turn("p", "s", None)
    assert msgspec.json.encode(turn)
    assert not any(isinstance(event, Notice) for event in turn.events)
