"""A body that blocks is named, and plain bodies block nobody."""

from __future__ import annotations

from tests.faults.shell import Shell

CONFIG = """
max_concurrent = 200
[harness.terse]
kind = "fake"
"""


def test_a_blocking_call_in_an_async_body_is_named(shell: Shell) -> None:
    body = """
import time
from reeval import evaluate, equals

@evaluate("blocks")
async def blocks(c):
    time.sleep(2.5)
    c.check(1, equals(1))
"""
    done = shell.set_up(CONFIG, blocks=body).run("run")
    said = "evals/blocks.eval.py:7: the body of evals/blocks.eval.py::blocks@terse/-/fake#1 blocks every other attempt"
    assert done.exit_code == 0
    assert f"warning: {said}" in done.stdout
    (told,) = shell.attempt("blocks")["diagnostics"]
    assert told.startswith(said)


def test_a_hundred_plain_bodies_wait_for_each_other_without_a_deadlock(shell: Shell) -> None:
    body = """
import threading
from reeval import evaluate, equals

everybody = threading.Barrier(100)

@evaluate("meets", runs=100, timeout=50)
def meets(c):
    c.send("Go.")
    everybody.wait()
    c.check(c.exec("true").exit_code, equals(0))
"""
    done = shell.set_up(CONFIG, meets=body).run("run", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    assert shell.record()["totals"]["passed"] == 100
