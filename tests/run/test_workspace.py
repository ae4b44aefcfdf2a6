from __future__ import annotations

import pytest

from reeval.errors import Phase
from reeval.schema.environment import Environment, HostFile, Secret, SetupStep, Workspace
from reeval.schema.record import Outcome
from tests.run.kit import Stage, done


def test_a_command_is_tried_again_while_it_fails(stage: Stage) -> None:
    record = stage.record("""
@evaluate("tries")
async def tries(c):
    result = await c.exec("test -e there || { touch there; exit 3; }", retries=2, interval=0)
    c.check(result, command_succeeded())
    failing = await c.exec(["sh", "-c", "exit 7"], retries=1, interval=0)
    c.check([failing.exit_code, failing.tries, failing.allowed], equals([7, 2, 2]))
""")
    assert record.outcome == Outcome.PASS
    assert record.checks[0].message == "passed on try 2 of 3"


def test_a_file_that_the_agent_did_not_write_is_a_fail(stage: Stage) -> None:
    record = stage.record("""
@evaluate("reads")
async def reads(c):
    try:
        await c.read_text("out.json")
    except Exception:
        pass
    c.check("never", equals("reached"))
""")
    assert record.outcome == Outcome.FAIL
    assert [(check.label, check.line, check.stopped) for check in record.checks] == [("out.json exists", 6, True)]


@pytest.mark.parametrize(
    ("before", "call", "label"),
    [
        ("mkdir out", "read_text", "out exists"),
        ("printf '\\\\377' > out", "read_text", "out is text"),
        ("touch there", "read_bytes", "out exists"),
    ],
)
def test_a_file_that_is_not_as_it_must_be_is_a_fail(stage: Stage, before: str, call: str, label: str) -> None:
    record = stage.record(f"""
@evaluate("reads")
async def reads(c):
    await c.exec("{before}")
    await c.{call}("out")
""")
    assert record.outcome == Outcome.FAIL
    assert [check.label for check in record.checks] == [label]


def test_files_go_in_and_come_out(stage: Stage) -> None:
    record = stage.record("""
@evaluate("reads what it wrote")
async def reads(c):
    await c.write_file("a/b.txt", "ä")
    await c.write_file("raw", b"\\xff")
    c.check(await c.read_text("a/b.txt"), equals("ä"))
    c.check(await c.read_bytes("raw"), equals(b"\\xff"))
    c.check([await c.exists("a"), await c.exists("nothing")], equals([True, False]))
""")
    assert record.outcome == Outcome.PASS


def test_a_server_gets_a_port_and_ends_with_its_block(stage: Stage) -> None:
    record = stage.record("""
import anyio
@evaluate("serves")
async def serves(c):
    async with c.serve("echo port $PORT; echo $$ > pid; exec sleep 60") as server:
        while not await c.exists("pid") or "port" not in await server.log():
            await anyio.sleep(0.01)
        c.check(await server.log(), equals(f"port {server.port}\\n"))
        c.check(server.url, equals(f"http://127.0.0.1:{server.port}"))
        c.check(10240 <= server.port < 32768, is_true())
    result = await c.exec("kill -0 $(cat pid)")
    c.check(result.ok, equals(False))
    async with c.serve(["sh", "-c", "exit 0"], port=12345) as server:
        c.check(server.port, equals(12345))
""")
    assert [check.label for check in record.checks if not check.holds] == []
    assert record.outcome == Outcome.PASS


def test_a_server_that_is_left_running_ends_with_the_attempt(stage: Stage) -> None:
    stage.timeout = 0.5
    record = stage.record("""
import anyio
@evaluate("serves")
async def serves(c):
    async with c.serve("sleep 60"):
        await anyio.sleep(60)
""")
    assert record.outcome == Outcome.ERROR
    assert record.duration < 10


def test_an_environment_is_prepared_once_and_set_up_in_every_attempt(stage: Stage) -> None:
    (stage.root / "start").mkdir()
    (stage.root / "start" / "a.txt").write_text("from the workspace")
    (stage.root / "host.txt").write_text("from the host")
    stage.environments["full"] = Environment(
        name="full",
        workspace=Workspace(path="start"),
        files={"b.txt": HostFile(path="host.txt")},
        setup=(SetupStep(run="echo ready > c.txt"), SetupStep(run="cat c.txt a.txt > d.txt")),
    )
    stage.runs = 3
    stage.run("""
@evaluate("starts")
async def starts(c):
    c.check(await c.read_text("d.txt"), equals("ready\\nfrom the workspace"))
    c.check(await c.read_text("b.txt"), equals("from the host"))
    c.no_changes()
""")
    assert [record.outcome for record in stage.recorder.records] == [Outcome.PASS] * 3
    assert len({record.subject for record in stage.recorder.records}) == 1
    assert len(list((stage.root / ".reeval/cache/trees").iterdir())) == 1


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (SetupStep(run="echo broken >&2; exit 4"), "exited with 4"),
        (SetupStep(run="sleep 30", timeout=0.2), "took longer than its 0.2 s"),
    ],
)
def test_a_setup_step_that_fails_is_an_error_of_its_own_phase(stage: Stage, step: SetupStep, said: str) -> None:
    stage.environments["broken"] = Environment(name="broken", setup=(step,))
    record = stage.record("""
@evaluate("starts")
async def starts(c):
    await c.exec("true")
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.SETUP
    assert said in record.failure.reason
    assert record.failure.detail == ("broken" if "broken" in step.run else "")
    assert record.tries == 1


def test_an_environment_that_cannot_be_prepared_is_an_error_of_each_attempt(stage: Stage) -> None:
    stage.environments["gone"] = Environment(name="gone", files={"a": HostFile(path="gone.txt")})
    stage.runs = 2
    stage.run("""
@evaluate("starts")
async def starts(c):
    await c.exec("true")
""")
    assert [record.outcome for record in stage.recorder.records] == [Outcome.ERROR] * 2
    failures = [record.failure for record in stage.recorder.records]
    assert all(failure and failure.phase == Phase.SETUP and "gone.txt" in failure.reason for failure in failures)


def test_secrets_reach_those_they_are_for(stage: Stage) -> None:
    stage.environ = {"KEY": "agent-key", "TOKEN": "checks-token", "BOTH": "for-both"}
    stage.env = {
        "A": Secret(name="KEY", to="agent"),
        "B": Secret(name="TOKEN", to="checks"),
        "C": Secret(name="BOTH"),
        "D": Secret(name="UNSET", optional=True),
        "E": "plain",
        "F": "of the eval",
    }
    steps = (SetupStep(run='echo "$A $B $C $D $E $F" > setup.txt'),)
    stage.environments["with-env"] = Environment(name="with-env", env={"F": "of the environment"}, setup=steps)
    seen = []

    async def answer(prompt, room):
        seen.append(dict(room.env))
        return await done(prompt, room)

    stage.harnesses["terse"].answer = answer
    record = stage.record("""
@evaluate("shows")
async def shows(c):
    await c.send("Do it.")
    result = await c.exec('echo "$A $B $C $D $E $F $G"', env={"G": "of the call"})
    c.check(result.stdout, equals(" checks-token for-both  plain of the environment of the call\\n"))
    c.check(await c.read_text("setup.txt"), equals("agent-key checks-token for-both  plain of the environment\\n"))
""")
    assert record.outcome == Outcome.PASS
    assert seen == [{"A": "agent-key", "C": "for-both", "E": "plain", "F": "of the environment"}]


def test_a_secret_that_is_not_set_is_an_error_that_names_it(stage: Stage) -> None:
    stage.env = {"A": Secret(name="UNSET_KEY")}
    record = stage.record("""
@evaluate("runs")
async def runs(c):
    await c.exec("true")
""")
    assert record.outcome == Outcome.ERROR
    assert record.failure is not None
    assert record.failure.phase == Phase.SETUP
    assert "UNSET_KEY" in record.failure.reason


def test_a_kept_sandbox_is_asked_for(stage: Stage) -> None:
    stage.changes = {"keep_sandbox": True}
    stage.record("""
@evaluate("runs")
async def runs(c):
    await c.exec("true")
""")
    assert [request.keep for request in stage.sandbox.requests] == [True]
