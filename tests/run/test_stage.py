from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
import time

import anyio
import pytest

from reeval.errors import BodyStop, UsageError
from reeval.run.body.escaped import told, without_control
from reeval.run.room.clock import Clock
from reeval.run.room.server import free_port
from reeval.run.stage.process import staged
from reeval.run.stage.text import Excerpt
from tests.run.kit import Stage


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ([], ""),
        (["abc"], "abc"),
        (["abcdefghij"], "abcdefghij"),
        (["abcde", "fghij"], "abcdefghij"),
        (["abcdefghijk"], "abcde\n[… 1 characters left out …]\nghijk"),
        (list("abcdefghijklmnop"), "abcde\n[… 6 characters left out …]\nlmnop"),
        (["abc", "defghijkl", "mnop"], "abcde\n[… 6 characters left out …]\nlmnop"),
    ],
)
def test_an_excerpt_keeps_the_beginning_and_the_end(parts: list[str], kept: str) -> None:
    excerpt = Excerpt(10)
    for part in parts:
        excerpt.add(part)
    assert excerpt.text() == kept


def test_a_clock_does_not_count_while_it_is_paused() -> None:
    async def main() -> tuple[float, bool]:
        expired = anyio.Event()
        clock = Clock(0.2)
        clock.start(expired.set)
        with clock.paused(), clock.paused():
            await anyio.sleep(0.4)
        running = not clock.expired and clock.elapsed < 0.2
        with anyio.fail_after(5):
            await expired.wait()
        clock.stop()
        elapsed = clock.elapsed
        await anyio.sleep(0.05)
        assert clock.elapsed == elapsed
        return elapsed, running

    elapsed, running = anyio.run(main)
    assert running
    assert 0.19 < elapsed < 2


def test_a_clock_without_a_limit_never_expires() -> None:
    async def main() -> Clock:
        clock = Clock(None)
        clock.start(lambda: None)
        await anyio.sleep(0.05)
        return clock

    clock = anyio.run(main)
    assert not clock.expired
    assert clock.elapsed >= 0.05


def test_a_free_port_is_one_that_nobody_listens_on() -> None:
    ports = {free_port() for _ in range(20)}
    assert len(ports) > 10
    for port in ports:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", port))


@pytest.mark.parametrize(
    ("error", "left"),
    [
        (BodyStop(), None),
        (ValueError("x"), ValueError),
        (BaseExceptionGroup("tasks", [BodyStop(), asyncio.CancelledError()]), None),
        (BaseExceptionGroup("tasks", [BodyStop(), ValueError("x")]), ExceptionGroup),
    ],
)
def test_what_only_ends_a_body_is_no_error(error: BaseException, left: type[BaseException] | None) -> None:
    found = without_control(error)
    assert found is None if left is None else isinstance(found, left)


def test_an_error_is_told_in_one_bounded_line() -> None:
    assert told(ValueError("x" * 10_000), "/nowhere")[0] == f"ValueError: {'x' * 488}…"
    assert told(UsageError("write it like this"), "/nowhere")[0] == "write it like this"
    assert told(KeyError(), "/nowhere")[0] == "KeyError"
    one = ExceptionGroup("unhandled errors in a TaskGroup", [ExceptionGroup("again", [UsageError("write it")])])
    assert told(one, "/nowhere")[0] == "write it"
    two = ExceptionGroup("two tasks", [ValueError("a"), KeyError("b")])
    assert told(two, "/nowhere")[0] == "ExceptionGroup: two tasks (2 sub-exceptions)"


def test_everything_is_put_back_after_a_run(stage: Stage) -> None:
    before = (sys.stdout, sys.stderr, logging.getLogger().level, list(logging.getLogger().handlers))
    stage.run("""
@evaluate("passes")
async def passes(c):
    c.check(1, equals(1))
""")
    assert (sys.stdout, sys.stderr, logging.getLogger().level, list(logging.getLogger().handlers)) == before
    deadline = time.monotonic() + 10
    while any(thread.name == "reeval watchdog" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_output_outside_of_a_body_goes_where_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        with staged(), staged():
            sys.stdout.write("to stdout\n")
            sys.stderr.write("to stderr\n")

    anyio.run(main)
    assert capsys.readouterr() == ("to stdout\n", "to stderr\n")
