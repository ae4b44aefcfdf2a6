"""Which models do an eval's judges name, as far as its file tells?"""

from __future__ import annotations

from typing import Any

import pytest

HEAD = """
from reeval import evaluate, judge
kind = judge("kind", "Be kind.", model="p/kind")
short = judge("short", "Be short.", model="p/short")
bare = judge("bare", "Be good.")
"""

BODIES = [
    ("    c.judge(kind)\n    c.judge(bare)\n    c.judge('Why?', model='p/call')", ("p/kind",)),
    ("    for one in (short, kind):\n        c.judge(one)", ("p/kind", "p/short")),
    ("    def inner():\n        return [c.judge(short) for _ in range(2)]\n    inner()", ("p/short",)),
    ("    c.judge(missing)", ()),
]


@pytest.mark.parametrize(("body", "models"), BODIES)
def test_the_models_of_judges_that_a_body_names_are_known(project: Any, body: str, models: tuple[str, ...]) -> None:
    assert project.one(f"{HEAD}\n@evaluate('a')\nasync def a(c):\n{body}\n").judge_models == models


def test_a_judge_from_around_the_body_is_found_too(project: Any) -> None:
    source = f"""{HEAD}
def declare(one):
    @evaluate("a")
    def a(c):
        c.judge(one)
        c.check(late)
    if False:
        late = None

declare(short)
"""
    assert project.one(source).judge_models == ("p/short",)
