"""A secret that the agent or the body says is nowhere: not in a record, not on the terminal, not in the history."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

from tests.faults.shell import Shell

SECRET = 'tok-"é/+with odd=chars&more\\x'
CONFIG = """
[sandbox.local]
isolation = "prefer"
[defaults.env]
TOKEN = { from = "HOST_TOKEN", to = "all" }
[harness.leaky]
kind = "command"
command = "printf 'I know %s' \\"$TOKEN\\"; printf '%s' \\"$TOKEN\\" > secret.txt; printf %s \\"$TOKEN\\" >&2"
"""
EVAL = """
import os
from reeval import *

@evaluate("leaks", runs=2)
async def leaks(c):
    turn = await c.send("Say " + os.environ["HOST_TOKEN"])
    print(turn.message)
    got = await c.exec("echo $TOKEN; base64 < secret.txt; echo $TOKEN >&2; exit 3")
    c.observe("said", {turn.message: [got.stdout]})
    c.diagnostic(got.stderr)
    c.attach("said.txt", turn.message)
    c.check(turn.message, includes("nothing")).label("hides " + os.environ["HOST_TOKEN"]).key(os.environ["HOST_TOKEN"])
    c.check(got, command_succeeded())
    c.check("\\n".join([turn.message] * 1000), equals("nothing"))
    if c.run == 2:
        raise RuntimeError("it said " + turn.message)
"""


def forms(secret: str) -> list[bytes]:
    """Return how a secret may be written."""
    data = secret.encode()
    return [
        data,
        json.dumps(secret)[1:-1].encode(),
        json.dumps(secret, ensure_ascii=False)[1:-1].encode(),
        repr(secret)[1:-1].encode(),
        quote(secret).encode(),
        quote(secret, safe="").encode(),
        base64.b64encode(data),
        base64.urlsafe_b64encode(data),
    ]


def found(secret: str, data: bytes) -> list[bytes]:
    return [form for form in forms(secret) if form in data]


def test_a_secret_is_nowhere(shell: Shell) -> None:
    shell.set_up(CONFIG, leaks=EVAL)
    outputs = [
        shell.run(*arguments, HOST_TOKEN=SECRET)
        for arguments in (
            ["run", "-v", "--junit", ".reeval/out.xml", "-k", "leaks"],
            ["run", "--json"],
            ["show", "--full"],
            ["show", "leaks@#2"],
            ["query", "attempts", "--format", "json"],
            ["query", "turns", "--format", "json"],
            ["query", "checks", "--format", "csv"],
        )
    ]
    assert [done.exit_code for done in outputs] == [1, 1, 0, 0, 0, 0, 0], outputs
    assert sorted(one["outcome"] for one in shell.attempts()) == ["error", "fail"]
    shown = "".join(done.stdout + done.stderr for done in outputs)
    assert "I know" in shown
    assert found(SECRET, shown.encode()) == []
    files = [path for path in (shell.root / ".reeval").rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"record.json", "events.ndjson", "summary.md", "history.duckdb", "out.xml"}
    assert {str(path): found(SECRET, path.read_bytes() + str(path).encode()) for path in files} == {
        str(path): [] for path in files
    }


def test_a_secret_that_is_not_set_is_told_before_anything_starts(shell: Shell) -> None:
    done = shell.set_up(CONFIG, leaks=EVAL).run("run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "HOST_TOKEN" in done.stderr
    assert shell.nothing_written()
    shell.write(".env", f"HOST_TOKEN='{'abc' * 9}'\n")
    assert shell.run("run", "--runs", "1").exit_code == 1
    assert found("abc" * 9, b"".join(path.read_bytes() for path in Path(shell.last).rglob("*.ndjson"))) == []
