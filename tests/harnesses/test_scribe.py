"""The example's own agent, driven as an eval drives it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reeval.harnesses.command import KIND
from reeval.schema.plan import PlannedHarness
from reeval.schema.transcript import FileEdit, ToolCall, Turn
from tests.harnesses.rooms import PlainRoom

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent.parent
SCRIBE = PlannedHarness(
    id="scribe",
    kind="command",
    options={
        "command": f"{sys.executable} ~/scribe.py",
        "files": {"~/scribe.py": "evals/agents/scribe.py"},
        "output": "events",
    },
)
GREET = "Write greet.py that greets the name it is given."
HOUSE = (ROOT / "evals/skills/house-greeting/SKILL.md").read_text()


async def ask(room: PlainRoom, *prompts: str) -> list[Turn]:
    async with KIND.open(SCRIBE, ROOT).session(room) as session:
        return [await session.send(prompt) for prompt in prompts]


async def give(room: PlainRoom, **files: str) -> None:
    for path, text in files.items():
        await (await room.sandbox()).write(path, text.encode())


async def said_by(room: PlainRoom, command: str) -> str:
    result = await (await room.sandbox()).exec(command)
    assert result.ok, result.stderr
    return result.stdout


async def test_it_writes_a_greeter_and_reports_all_of_it(room: PlainRoom) -> None:
    (turn,) = await ask(room, GREET)
    assert turn.message == 'I wrote greet.py. It says "Hello, NAME!".'
    assert turn.events[:2] == (
        ToolCall(name="edit", input={"path": "greet.py"}, ok=True),
        FileEdit(path="greet.py", kind="create"),
    )
    assert (turn.status, turn.model, turn.unreported) == ("completed", "scribe-1", ())
    assert turn.usage is not None
    assert turn.usage.input == 9
    assert turn.usage.cost == 0.0
    assert await said_by(room, "python3 greet.py Ada") == "Hello, Ada!\n"
    assert await said_by(room, "python3 greet.py") == "Hello, world!\n"


@pytest.mark.parametrize("where", [".agents/skills/house-greeting", "~/.agents/skills/house-greeting"])
async def test_a_skill_changes_how_it_greets(room: PlainRoom, where: str) -> None:
    await give(room, **{f"{where}/SKILL.md": HOUSE, ".agents/skills/a-other/SKILL.md": "---\nname: x\n---\n"})
    (turn,) = await ask(room, GREET)
    assert turn.tool_calls[0] == ToolCall(name="skill", input={"skill": "house-greeting"}, ok=True)
    assert await said_by(room, "python3 greet.py Ada") == "Ahoy, Ada!\n"
    assert await said_by(room, "python3 greet.py") == "Ahoy, crew!\n"


async def test_it_obeys_the_rules_it_knows(room: PlainRoom) -> None:
    await give(room, **{"AGENTS.md": "# Rules\n- Start every file with `# (c) us`.\n- End every answer with `Aye.`\n"})
    (turn,) = await ask(room, GREET)
    assert turn.message.splitlines()[-1] == "Aye."
    assert room.file("greet.py").startswith("# (c) us\nimport sys\n")
    assert await said_by(room, "python3 greet.py Ada") == "Hello, Ada!\n"


ODD = "{x} 'q' \"d\" $HOME %s \\n NAME \\ ü!"
PROGRAMS = {"py": "python3", "sh": "sh", "js": "node"}


@pytest.mark.parametrize("suffix", [suffix for suffix, program in PROGRAMS.items() if shutil.which(program)])
async def test_odd_greetings_are_written_as_they_are(room: PlainRoom, suffix: str) -> None:
    await give(room, **{".agents/skills/s/SKILL.md": f"---\nname: greet\n---\nGreet with `{ODD}`."})
    await ask(room, f"Write sub/greet.{suffix} that greets the name it is given.")
    assert await said_by(room, f"{PROGRAMS[suffix]} sub/greet.{suffix} Ada") == f"{ODD.replace('NAME', 'Ada')}\n"


async def test_a_session_goes_on_where_it_was(room: PlainRoom) -> None:
    turns = await ask(
        room,
        "Add function double(x) to lib.py that returns 2 * x. Add function half(x) to lib.py that returns x / 2.",
        "Rename double to twice in lib.py\nRun `python3 -c 'import lib; print(lib.twice(4), lib.half(4))'`.",
        "Show lib.py.",
        "Delete lib.py.",
    )
    assert [turn.status for turn in turns] == ["completed"] * 4
    assert turns[0].message == "I added double to lib.py.\nI added half to lib.py."
    ran = turns[1].tool_calls[-1]
    assert (ran.name, ran.output, ran.exit_code) == ("shell", "8 2.0\n", 0)
    assert "def twice(x):\n    return 2 * x\n\n\ndef half(x):" in turns[2].message
    assert turns[3].events[1] == FileEdit(path="lib.py", kind="delete")
    assert not await (await room.sandbox()).exists("lib.py")


async def test_a_command_that_fails_is_reported_with_its_exit_code(room: PlainRoom) -> None:
    (turn,) = await ask(room, "Run `echo a. B; exit 3`.")
    assert turn.tool_calls[0] == ToolCall(
        name="shell", input={"command": "echo a. B; exit 3"}, output="a. B\n", ok=False, exit_code=3
    )
    assert turn.status == "completed"


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("Please fix everything.", "I do not understand 'Please fix everything.'."),
        ("", "I was asked for nothing."),
        ("Write greet.rs that greets the name it is given.", "I can write .js, .py, .sh files, not greet.rs."),
        ("Write ../greet.py that greets the name it is given.", "../greet.py is outside of my workspace."),
        ("Delete /etc/passwd.", "/etc/passwd is outside of my workspace."),
        ("Show nothing.txt.", "cannot be done"),
        ("Add function f(x) to a.py that returns 2 +.", "is not Python"),
        ("Add function f(x) to a.js that returns 2.", "not to a.js"),
    ],
)
async def test_what_it_cannot_do_it_says_and_leaves(room: PlainRoom, prompt: str, reason: str) -> None:
    (turn,) = await ask(room, prompt)
    assert turn.status == "failed"
    assert turn.error is not None
    assert reason in turn.error
    assert await said_by(room, "ls") == ""


async def test_what_is_not_there_cannot_be_renamed_or_added_twice(room: PlainRoom) -> None:
    await give(room, **{"a.py": "def f(x):\n    return x\n"})
    renamed, added = await ask(room, "Rename g to h in a.py.", "Add function f(y) to a.py that returns y.")
    assert (renamed.error, added.error) == ("a.py does not mention g.", "a.py has a function f already.")
    assert room.file("a.py") == "def f(x):\n    return x\n"


def test_every_line_is_an_event_and_the_last_one_says_done(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(ROOT / "evals/agents/scribe.py")],
        input=b"\xff\xfe nonsense",
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert kinds == ["model", "error", "usage", "done"]
    assert done.stderr == b""
