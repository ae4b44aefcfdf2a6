"""The harnesses in the sandbox they are used in."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import anyio
import pytest

from reeval.environments.prepare import prepare
from reeval.errors import InfrastructureError, Phase
from reeval.harnesses import command, fake
from reeval.protocols import HarnessKind, Sandbox, SandboxRequest, Session
from reeval.sandboxes.local.kind import LocalSandboxKind
from reeval.schema.environment import Environment, HostFile, Layout, Skill, Workspace
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import FileEdit

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent.parent
SCRIBE = {"command": "python3 ~/scribe.py", "files": {"~/scribe.py": "evals/agents/scribe.py"}, "output": "events"}
ENVIRONMENT = Environment(
    name="house",
    workspace=Workspace(path="evals/skills"),
    files={"~/.notes": "n", "sub/license": HostFile(path="Makefile")},
    rules="End every answer with `Aye.`",
    skills=(Skill(kind="local", path="evals/skills/house-greeting"),),
)


class Room:
    key = "evals/a.eval.py::a@x/house/local#1"
    env: Mapping[str, str] = MappingProxyType({"TOKEN": "s3cret"})
    skills = ("house-greeting",)

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def sandbox(self) -> Sandbox:
        return self._sandbox


@pytest.fixture(
    params=[
        "none",
        pytest.param(
            "require",
            marks=pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
        ),
    ]
)
def isolation(request: pytest.FixtureRequest) -> Any:
    return request.param


@asynccontextmanager
async def started(
    isolation: str, kind: HarnessKind, options: dict[str, Any], cache: Path
) -> AsyncIterator[tuple[Session, Sandbox]]:
    local = LocalSandboxKind()
    planned = local.plan("local", {"isolation": isolation}, kind, Path())
    request = SandboxRequest(
        key=Room.key,
        run_id="run",
        sandbox=planned,
        root=ROOT,
        tree=prepare(ENVIRONMENT, Layout(), ROOT, cache),
    )
    harness = kind.open(PlannedHarness(id="x", kind=kind.name, options=options), ROOT)
    async with local.open(request) as sandbox, harness.session(Room(sandbox)) as session:
        yield session, sandbox


async def test_a_program_of_the_project_works_with_rules_and_skills(isolation: str, tmp_path: Path) -> None:
    async with started(isolation, command.KIND, SCRIBE, tmp_path) as (session, sandbox):
        before = await sandbox.snapshot()
        turn = await session.send("Write greet.py that greets the name it is given.")
        changes = await sandbox.changes(before, await sandbox.snapshot())
        greeted = await sandbox.exec("python3 greet.py Ada")
        second = await session.send("Run `cat ~/.notes sub/license`.\nDelete greet.py.")
    assert turn.message.splitlines()[-1] == "Aye."
    assert FileEdit(path="greet.py", kind="create") in turn.events
    assert [(file.path, file.status) for file in changes.files] == [("greet.py", "added")]
    assert greeted.stdout == "Ahoy, Ada!\n"
    assert second.tool_calls[1].output == f"n{(ROOT / 'Makefile').read_text()}"


async def test_a_script_happens_there(isolation: str, tmp_path: Path) -> None:
    script = [[{"write": {"d/a": "1", "~/b": "2"}}, {"exec": 'cat d/a ~/b; echo "$TOKEN"; exit 3'}]]
    async with started(isolation, fake.KIND, {"script": script}, tmp_path) as (session, _):
        turn = await session.send("go")
    shell = turn.tool_calls[-1]
    assert (shell.output, shell.exit_code) == ("12s3cret\n", 3)


async def test_a_path_outside_is_a_failed_edit_of_the_script(isolation: str, tmp_path: Path) -> None:
    script = [[{"write": {"../../outside": "1"}}, {"write": {"d/a": "1"}}, {"write": {"d": "2"}}, {"reply": "on"}]]
    async with started(isolation, fake.KIND, {"script": script}, tmp_path) as (session, _):
        turn = await session.send("go")
    assert turn.message == "on"
    assert [call.ok for call in turn.tool_calls] == [False, True, False]


@pytest.mark.parametrize(
    ("program", "said"),
    [("no-such-program", "could not be started"), ("kill -SEGV $$", "killed by SIGSEGV")],
)
@pytest.mark.parametrize("form", ["shell", "argv"])
async def test_a_program_that_does_not_start_or_dies_is_told_apart(
    isolation: str, tmp_path: Path, program: str, said: str, form: str
) -> None:
    given: Any = program if form == "shell" else ["no-such-program"] if "no-" in program else ["sh", "-c", program]
    async with started(isolation, command.KIND, {"command": given}, tmp_path) as (session, _):
        with pytest.raises(InfrastructureError) as caught:
            await session.send("go")
    assert caught.value.phase == Phase.HARNESS
    assert said in caught.value.reason


async def test_a_background_process_and_a_limit_do_not_hold_a_turn(isolation: str, tmp_path: Path) -> None:
    options = {"command": "echo hi; sleep 60 & test $REEVAL_TURN = 1 || sleep 60", "turn_timeout": 2.5}
    with anyio.fail_after(30):
        async with started(isolation, command.KIND, options, tmp_path) as (session, _):
            first, second = await session.send("a"), await session.send("b")
    assert (first.status, first.message) == ("completed", "hi")
    assert (second.status, second.message) == ("failed", "hi")
