"""MCP servers in whole runs: written where an agent reads them, with secrets that no record holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from reeval.harnesses.layouts import LAYOUTS
from tests.faults.shell import Shell

CONFIG = r"""
[harness.agent]
kind = "fake"
layout = "LAYOUT"
script = [[
    { exec = "sh look.sh tools/server.py" },
    { exec = "sh look.sh https://docs.example.com/mcp" },
    { exec = "sh look.sh \"Bearer $NOTES_TOKEN\"" },
]]

[harness.plain]
kind = "fake"

[environment.tools]
files = { "look.sh" = "grep -rlF -- \"$1\" . ~ || env | grep -F -- \"$1\" | cut -d= -f1" }
env = { NOTES_TOKEN = { from = "NOTES_TOKEN" } }

[environment.tools.mcp.notes]
command = ["python3", "tools/server.py"]
env = { TOKEN = { from = "NOTES_TOKEN" } }

[environment.tools.mcp.docs]
url = "https://docs.example.com/mcp"
headers = { Authorization = { from = "DOCS_AUTH" } }
"""
EVAL = """
from reeval import Attempt, evaluate

@evaluate("is given servers", environment="tools", harness="HARNESS")
async def given(c: Attempt) -> None:
    started, reached, secrets = [call.output.split() for call in (await c.send("Go.")).tool_calls]
    assert started == reached == secrets
    assert len(started) == 1
"""
SECRET = "correct-horse-battery"


def shell(directory: Path, *, layout: str = "claude-code", harness: str = "agent") -> Shell:
    made = Shell(directory, {"NOTES_TOKEN": SECRET, "DOCS_AUTH": f"Bearer {SECRET}"})
    return made.set_up(config=CONFIG.replace("LAYOUT", layout), given=EVAL.replace("HARNESS", harness))


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_servers_are_written_where_each_agent_reads_them_and_secrets_nowhere_else(tmp_path: Path, layout: str) -> None:
    made = shell(tmp_path, layout=layout)
    done = made.run("run")
    assert done.exit_code == 0, done.stdout
    for path in (made.root / ".reeval").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_a_server_that_an_agent_cannot_be_given_stops_the_run(tmp_path: Path) -> None:
    done = shell(tmp_path, harness="plain").run("run")
    assert done.exit_code == 2
    assert (
        "harness 'plain' (fake) cannot be given MCP servers, but environment 'tools' has 'notes' (stdio); "
        "run it on another harness, or leave the server out"
    ) in done.stderr


def test_a_server_without_its_secret_stops_the_run(tmp_path: Path) -> None:
    made = shell(tmp_path)
    done = Shell(tmp_path, {"NOTES_TOKEN": SECRET}).run("run")
    assert done.exit_code == 2
    assert "environment 'tools': Authorization is the host's DOCS_AUTH, which is not set" in done.stderr
    assert not (made.root / ".reeval" / "runs").exists()
