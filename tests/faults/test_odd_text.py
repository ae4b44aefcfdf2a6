"""Text that nobody would write, from a prompt, a file name or an agent: it arrives whole and is shown as text."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from tests.faults.shell import Done, Shell

CONTROL = "\x1b[2J\x1b]0;owned\x07\x1b[31m\u202egnp.exe\x9b1A\r"
MARKUP = "# head\n| <img src=x onerror=alert(1)> | `x` ``` [a](http://evil.example) @team **b** ~~~\n</details>"
HOSTILE = f"{CONTROL}{MARKUP}"
ODD = (
    "quote ' double \" back \\ dollar $HOME `id` $(id) tab\t end\n"
    "line {prompt} {0} % * ? ~ # ; & | < > é 日本 \U0001f600 \ufeff"
)
NAMED = "has a hostile name | <img src=x> | `x` [a](http://evil.example) @team **b** #1 'q' \"q\" $(id) \\ é日本"
KEPT = "<img src=x> | `x` @team 'q' $(id) é日本.txt"
NAMES = [
    "space and 'quote' \"double\".txt",
    "-rf",
    "--help",
    "$(touch owned)",
    "back\\slash",
    "new\nline",
    "tab\tname",
    "*?[a]{b}",
    "#hash;semi&and|pipe",
    "é日本\U0001f600",
    "\x1b[31mred\x1b[0m",
    "~",
    "...",
    "a" * 255,
]


def toml(text: str) -> str:
    """Return a string as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


EVALS = f"""
import os
from reeval import *

ODD = {ODD!r}
HOSTILE = {HOSTILE!r}
NAMES = {NAMES!r}

@evaluate("hears every odd character", harness="echo")
async def _(c):
    turn = await c.send(ODD)
    c.check(turn.message, equals(ODD.strip()))

@evaluate("hears every odd character as an argument", harness="argument")
async def _(c):
    turn = await c.send(ODD)
    c.check(turn.message, equals(ODD.strip()))

@evaluate("sees every odd file name", harness="names")
async def _(c):
    turn = await c.send("Go.")
    for name in NAMES:
        c.check(await c.read_text("./" + name), equals("odd")).label(f"reads {{name!r:.99}}")
    c.check(sorted(file.path for file in turn.changes.files), equals(sorted(NAMES))).label("sees every name")

@evaluate("fails with hostile text", harness="hostile")
async def _(c):
    turn = await c.send(HOSTILE)
    print(HOSTILE)
    c.check(turn.message, equals("fine")).label(f"is {{HOSTILE!r}}"[:250])
    c.observe("said", turn.message)
    c.diagnostic(turn.message)
    c.attach({KEPT!r}, turn.message)

@evaluate("breaks with hostile text", harness="hostile")
async def _(c):
    turn = await c.send("Go.")
    raise RuntimeError(turn.message)

@evaluate("skips with hostile text", harness="hostile")
async def _(c):
    c.skip((await c.send("Go.")).message)

@evaluate({NAMED!r}, harness="hostile")
async def _(c):
    c.check(1, equals(2))
"""
CONFIG = f"""
[sandbox.local]
isolation = "prefer"
[harness.echo]
kind = "command"
command = ["cat"]
[harness.argument]
kind = "command"
prompt = "argument"
command = "printf %s {{prompt}}"
[harness.names]
kind = "command"
command = ["python3", "-c", {toml(f"[open(name, 'w').write('odd') for name in {NAMES!r}]")}]
[harness.hostile]
kind = "fake"
script = [[{{ reply = {toml(HOSTILE)} }}]]
"""
SHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What would move a cursor, change a color or turn text around."""


@pytest.fixture(scope="module")
def done(shared: Shell) -> Done:
    return shared.set_up(CONFIG, odd=EVALS).run("run")


@pytest.mark.parametrize(
    "name", ["hears every odd character", "hears every odd character as an argument", "sees every odd file name"]
)
def test_odd_text_arrives_as_it_is(shared: Shell, done: Done, name: str) -> None:
    attempt = shared.attempt(name)
    assert attempt["outcome"] == "pass", attempt


def test_a_run_shows_hostile_text_as_text(shared: Shell, done: Done) -> None:
    assert (done.exit_code, done.stderr) == (1, "")
    assert not SHOWN.search(done.stdout)
    assert "gnp.exe" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["show"], ["show", "--full"], ["runs"], ["query", "attempts"], ["query", "checks"]]
)
def test_what_reads_the_record_shows_hostile_text_as_text(shared: Shell, done: Done, arguments: list[str]) -> None:
    shown = shared.run(*arguments)
    assert shown.exit_code == 0, shown.stderr
    assert not SHOWN.search(shown.stdout + shown.stderr)


def test_an_attempt_with_hostile_text_is_shown_whole(shared: Shell, done: Done) -> None:
    shown = shared.run("show", "fails with hostile text@")
    assert shown.exit_code == 0, shown.stderr
    assert not SHOWN.search(shown.stdout)
    for title in ("turn 1", "checks", "observations", "diagnostics", "log", "artifacts"):
        assert any(line.strip().startswith(title) for line in shown.stdout.splitlines()), title


def test_an_eval_with_a_hostile_name_is_found_by_it(shared: Shell, done: Done) -> None:
    again = shared.run("run", "-q", "--dry-run", "-k", "has")
    assert again.exit_code == 0
    assert not SHOWN.search(again.stdout)
    chosen = shared.run("run", f"evals/odd.eval.py::{NAMED}", "--dry-run", "--json")
    assert chosen.exit_code == 0, chosen.stderr
    assert len(json.loads(chosen.stdout)["evals"]) == 1


def test_a_summary_holds_hostile_text_in_code_only(shared: Shell, done: Done) -> None:
    text = (shared.last / "summary.md").read_text()
    assert not SHOWN.search(text)
    assert "<img" in text
    outside = re.sub(r"^(`{3,}|~{3,}).*?^\1[`~]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert [sign for sign in ("<img", "](http://evil", "@team", "**b**", "</details>") if sign in outside] == []


def test_a_record_keeps_hostile_text_as_it_was_and_its_files_inside(shared: Shell, done: Done) -> None:
    run = shared.runs[0]
    (attempt,) = [one for one in shared.attempts(run) if "fails with" in one["eval"]]
    assert attempt["turns"][0]["message"] == HOSTILE
    (kept,) = attempt["artifacts"]
    assert (run / kept["ref"]["file"]).resolve().is_relative_to(run.resolve())
    assert (run / kept["ref"]["file"]).read_bytes().decode() == HOSTILE


def test_junit_and_json_of_hostile_text_can_be_read(shared: Shell, done: Done) -> None:
    again = shared.run("run", "--json", "--junit", "out.xml", "-k", "hostile")
    assert again.exit_code == 1
    assert len(again.events) == 2 + 2 * 4
    (suite,) = ET.parse(shared.root / "out.xml").getroot()
    assert len(suite.findall("testcase")) == 4
