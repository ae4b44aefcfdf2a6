"""A user's eval file passes a strict type checker, and the mistakes it can see are seen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GOOD = '''\
"""An eval file with everything in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reeval import (
    Attempt,
    BlockingAttempt,
    BlockingScoredAttempt,
    Question,
    ScoredAttempt,
    command_succeeded,
    compare,
    egress,
    environment,
    evaluate,
    group,
    includes,
    judge,
    load_json,
    load_text,
    mcp,
    questions,
    secret,
    similarity,
    skill,
)

plain = environment("plain", files={"a": "b", "c": Path("evals/c")}, setup=["ls", {"run": "ls", "timeout": 3}])
house = plain.extend("house", skills=[skill.local("skills/x")], env={"T": secret("T", to="agent")}, egress="deny-all")
served = house.extend("served", mcp={"db": mcp.stdio(["python", "db.py"])}, egress=egress.allow("a.example.com"))
private = served.extend("private", egress=egress.deny_all)
clear = judge("clear", "Is it clear?", anchors={0: "no", 1: "yes"})
HIDDEN = load_text("hidden.txt")
DATA: Mapping[str, int] = load_json("data.json")


@dataclass
class Person:
    name: str


@group("greetings", runs=4, tags=["smoke"])
@compare(baseline=plain, variants=[house, "served"], min_lift=0.2)
@questions("How?", Question("Handled?", choices=["yes", "no"]), Question("Simpler?", across="environment"))
def greetings() -> None:
    @evaluate("greets", timeout=300, harness={"add": ["x"]}, gate={"pass_rate": 0.8}, judge={"threshold": 0.6})
    async def greets(c: Attempt) -> None:
        turn = await c.send("Write greet.js")
        c.check(turn.message, includes("greet.js")).label("names the file").optional()
        result = await c.exec(["node", "greet.js"], retries=2, env={"A": "b"})
        await c.check(result, command_succeeded()).key("runs").or_stop()
        c.file_changed("greet.js", status="added")
        c.judge(clear).gate(0.5)
        assert result.exit_code == 0, result.stderr
        async with c.serve("node server.js") as server:
            await c.exec(f"curl {server.url}")

    @evaluate("greets plainly")
    def plainly(c: BlockingAttempt) -> None:
        turn = c.send("Write greet.js")
        c.check(turn.message, includes("greet.js")).or_stop()


@evaluate("scores", scored=True, gate={"mean_score": 3})
async def scores(c: ScoredAttempt) -> None:
    turn = await c.send("Write greet.js")
    c.check(turn.message, similarity("greet.js")).score(3).gate(0.5)
    c.score(2).label("for free")


@evaluate.skip("scores plainly", "not now", scored=True)
def scores_plainly(c: BlockingScoredAttempt) -> None:
    c.check(c.send("x").message, includes("x")).score(1)


@evaluate.each([Person("Ada")], "greets {name}", key=lambda person: person.name)
async def greets_each(c: Attempt, person: Person) -> None:
    await c.send(person.name)


@evaluate.each(["a", "b"], "says {}", scored=True)
def says(c: BlockingScoredAttempt, word: str) -> None:
    c.check(c.send(word).message, includes(word)).score(1)


@evaluate.only("alone")
async def alone(c: Attempt) -> None:
    await greets_each(c, Person("Bob"))


evaluate.todo("later")
'''

HEAD = """\
from reeval import Attempt, BlockingAttempt, ScoredAttempt, evaluate, includes

"""
BAD = {
    "a check as a condition": ("async def f(c: Attempt) -> None:\n    if c.check(1, includes('x')):\n        ...\n", 2),
    "a check that is asserted": ("async def f(c: Attempt) -> None:\n    assert c.check(1, includes('x'))\n", 2),
    "a configured check that is asserted": (
        "async def f(c: Attempt) -> None:\n    assert c.check(1, includes('x')).label('x')\n",
        2,
    ),
    "a scored body on a pass/fail eval": ("@evaluate('a')\nasync def f(c: ScoredAttempt) -> None: ...\n", 1),
    "a pass/fail body on a scored eval": ("@evaluate('a', scored=True)\nasync def f(c: Attempt) -> None: ...\n", 1),
    "an async body that blocks": ("@evaluate('a')\nasync def f(c: BlockingAttempt) -> None: ...\n", 1),
    "a plain body with awaitables": ("@evaluate('a')\ndef f(c: Attempt) -> None: ...\n", 1),
    "points on a pass/fail check": ("async def f(c: Attempt) -> None:\n    c.check(1, includes('x')).score(1)\n", 2),
    "points in a pass/fail eval": ("async def f(c: Attempt) -> None:\n    c.score(1)\n", 2),
    "an optional scored check": ("async def f(c: ScoredAttempt) -> None:\n    c.check(1, includes('')).optional()", 2),
    "a misspelt option": ("@evaluate('a', tiemout=3)\nasync def f(c: Attempt) -> None: ...\n", 1),
    "an option's wrong type": ("@evaluate('a', runs='four')\nasync def f(c: Attempt) -> None: ...\n", 1),
    "a case of another type": ("@evaluate.each(['a'], '{}')\nasync def f(c: Attempt, case: int) -> None: ...\n", 1),
    "a body without its case": ("@evaluate.each(['a'], '{}')\nasync def f(c: Attempt) -> None: ...\n", 1),
    "a gate that is no number": ("async def f(c: Attempt) -> None:\n    c.check(1, includes('x')).gate('high')\n", 2),
}  # fmt: skip


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """What mypy strict says of the good file and of each bad one, in one go: file → lines."""
    folder = tmp_path_factory.mktemp("typed")
    head = HEAD.count("\n")
    (folder / "good.py").write_text(GOOD)
    for number, (text, _) in enumerate(BAD.values()):
        (folder / f"bad_{number}.py").write_text(HEAD + text)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--enable-error-code", "truthy-bool"),
            *("--config-file=", "--no-error-summary", "--no-color-output", "--hide-error-context", "."),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    found: dict[str, list[int]] = {}
    for line in done.stdout.splitlines():
        file, number, kind, *_ = line.split(":")
        if kind.strip() == "error":
            found.setdefault(Path(file).stem, []).append(int(number) - (head if file.startswith("bad") else 0))
    return found


def test_a_file_with_everything_passes(complaints: dict[str, list[int]]) -> None:
    assert complaints.get("good", []) == []


@pytest.mark.parametrize("number", range(len(BAD)), ids=BAD)
def test_a_mistake_is_seen_at_its_line(complaints: dict[str, list[int]], number: int) -> None:
    line = list(BAD.values())[number][1]
    assert line in complaints.get(f"bad_{number}", [])
