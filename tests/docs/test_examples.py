"""The examples of the documentation work: eval files run, configs load, command lines parse, queries answer."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import dropwhile
from pathlib import Path
from typing import Any

import pytest
import typer.main

from reeval.cli.app import app
from reeval.cli.argv import as_meant
from reeval.cli.project import build_catalog
from reeval.plan.config import CONFIG_NAME, load_config
from reeval.plan.parts.harnesses import Harnesses
from reeval.plan.parts.problems import Problems
from reeval.sandboxes.docker.options import parse_options as parse_docker_options
from reeval.sandboxes.local.options import parse_options
from tests.docs.pages import Block, blocks

AGENT = """
[harness.scripted]
kind = "fake"
script = [[
    { write = { "greet.py" = "import sys\\nprint('Hello', *sys.argv[1:])\\n" } },
    { write = { "service.py" = "print('ok')\\n", "index.html" = "<h1>Hello</h1>\\n<p>Hi.</p>\\n" } },
    { reply = '{"count": 1, "unit": "file", "of": "greet.py"}' },
]]

[harness.speaker]
kind = "fake"
script = [[{ reply = "All systems are up." }]]

[harness.echo]
kind = "fake"
script = [[{ reply = "{prompt}" }]]

[harness.terse]
kind = "fake"
script = [[{ write = { "greet.py" = "import sys\\nprint('Hello', sys.argv[1])\\n" } }, { reply = "greet.py greets." }]]

[harness.chatty]
kind = "fake"
script = [[
    { write = { "greet.py" = "import sys\\nprint('Hello', *(sys.argv[1:] or ['crew']))\\n" } },
    { reply = "I wrote greet.py, which greets the name it is given, and the crew where there is none." },
]]
"""
"""Agents that do what the examples ask for."""
AGENT_OF = {"keeps the wording": "speaker", '"greets {name}"': "echo"}
"""What stands in an example → the agent that can do it; every other example gets the first one."""
FILES = {
    "fixtures/app.py": "print('app')\n",
    "fixtures/expected.json": '{"answer": 42}\n',
    "evals/hidden/test_greet.py": "import subprocess, sys\n"
    "assert 'Ada' in subprocess.check_output([sys.executable, 'greet.py', 'Ada'], text=True)\n",
}
"""What the examples take from the project."""

PYTHON, TOML, CONSOLE, SQL = (blocks(language) for language in ("python", "toml", "console", "sql"))
EVALS = [block for block in PYTHON if "evaluate" in block.text]
BY_ID: dict[str, Any] = {"ids": lambda block: block.id}


def project(root: Path, config: str, files: dict[str, str]) -> Path:
    for path, text in {CONFIG_NAME: config, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def reeval(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name not in {"CI", "NO_COLOR", "FORCE_COLOR"}}
    command = [sys.executable, "-m", "reeval", *arguments]
    return subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False, timeout=120)


# --- eval files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", EVALS, **BY_ID)
def test_an_eval_file_passes(block: Block, tmp_path: Path) -> None:
    agent = next((agent for text, agent in AGENT_OF.items() if text in block.text), "scripted")
    chosen = [] if "harness=[" in block.text else ["--harness", agent]
    project(tmp_path, AGENT, {**FILES, "evals/example.eval.py": block.text})
    done = reeval(tmp_path, "run", *chosen)
    assert done.returncode == 0, done.stdout + done.stderr


def test_type_checkers_accept_the_eval_files(tmp_path: Path) -> None:
    names = [f"{block.page.stem.replace('-', '_')}_{block.line}.py" for block in PYTHON]
    for name, block in zip(names, PYTHON, strict=True):
        (tmp_path / name).write_text(block.text, encoding="utf-8")
    options = ["--strict", "--enable-error-code=truthy-bool", f"--cache-dir={tmp_path / 'cache'}", "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *names], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


# --- configs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", TOML, **BY_ID)
def test_a_config_loads(block: Block, tmp_path: Path) -> None:
    config = load_config(project(tmp_path, block.text, {}))
    problems = Problems()
    Harnesses(config, build_catalog(), problems).check_tables()
    problems.raise_any()
    for name, table in config.sandboxes.items():
        parse = parse_docker_options if table.get("kind", name) == "docker" else parse_options
        parse(table, name)


# --- command lines --------------------------------------------------------------------------------------------


def sessions(block: Block) -> list[tuple[str, str]]:
    """The command lines of a block, each with the output below it."""
    found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE)
    return [(command, output) for command, output in found]


COMMANDS = [(block, command) for block in CONSOLE for command, _ in sessions(block)]


def words_of(command: str) -> list[str]:
    """The arguments of ``reeval``, without comments and redirections; empty for another program."""
    words = shlex.split(command, comments=True)
    words = list(dropwhile(lambda word: re.fullmatch(r"[A-Z_]+=.*", word), words))
    words = words[: next((at for at, word in enumerate(words) if word in {">", "|", "&&"}), len(words))]
    return words[1:] if words[:1] == ["reeval"] else []


def test_the_blocks_hold_nothing_but_sessions() -> None:
    for block in CONSOLE:
        assert block.text.startswith("$ "), block.id


@pytest.mark.parametrize(("block", "command"), COMMANDS, ids=[f"{one.id}: {text[:60]}" for one, text in COMMANDS])
def test_a_command_line_parses(block: Block, command: str) -> None:
    words = as_meant(words_of(command))
    if not words:
        assert command.split(maxsplit=1)[0] in {
            *("make", "git", "cd", "pip", "uv", "python", "python3", "docker", "ssh"),
        }, block.id
        return
    parse(typer.main.get_command(app), "reeval", words)


def parse(command: Any, name: str, words: list[str], parent: Any = None) -> None:
    with command.make_context(name, words, parent=parent) as context:
        if context._protected_args:
            below, *rest = [*context._protected_args, *context.args]
            parse(command.commands[below], below, rest, context)


# --- output -----------------------------------------------------------------------------------------------------

STARTS_A_PROJECT = [block for block in CONSOLE if block.text.startswith("$ reeval init\nmade")]


def normal(text: str) -> str:
    """Output without what differs from run to run and from machine to machine."""
    text = re.sub(r"\d{8}-\d{6}-\w{4}", "RUN", text)
    text = re.sub(r"\b[\d.]+ (?:ms|s)\b", "TIME", text)
    return re.sub(r"^(\[\d/\d\] .*)#\d", r"\1#N", text, flags=re.MULTILINE)


def test_there_is_a_session_with_output() -> None:
    assert STARTS_A_PROJECT


@pytest.mark.parametrize("block", STARTS_A_PROJECT, **BY_ID)
def test_a_session_shows_what_comes(block: Block, tmp_path: Path) -> None:
    for command, output in sessions(block):
        done = reeval(tmp_path, *words_of(command))
        assert (done.returncode, done.stderr) == (0, "")
        assert normal(done.stdout) == normal(output), command


# --- queries ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("recorded")
    assert reeval(root, "init").returncode == 0
    assert reeval(root, "run").returncode == 0
    return root


QUERIES = [
    *((block, [statement]) for block in SQL for statement in re.findall(r"^[A-Z][^;]*;", block.text, re.MULTILINE)),
    *((block, words_of(text)[1:]) for block, text in COMMANDS if words_of(text)[:1] == ["query"] and "…" not in text),
]


@pytest.mark.parametrize(("block", "query"), QUERIES, ids=[f"{one.id}: {text[0][:60]}" for one, text in QUERIES])
def test_a_query_answers(block: Block, query: list[str], recorded: Path) -> None:
    done = reeval(recorded, "query", *query)
    assert done.returncode == 0, done.stderr
