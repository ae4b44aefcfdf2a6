"""What a model is shown of an attempt."""

from __future__ import annotations

from typing import Any

import pytest

from reeval.run.asking.material import Evidence, Section, explicit, sections
from reeval.schema.record import ObservationRecord
from reeval.schema.transcript import (
    Changes,
    CommandResult,
    FileChange,
    FileEdit,
    Notice,
    Reasoning,
    Text,
    ToolCall,
    Turn,
    WebFetch,
    WebSearch,
)


def changed(*files: tuple[str, str], **more: Any) -> Changes:
    heads = {"added": "new file", "modified": "index 1", "deleted": "deleted file"}
    patch = "".join(f"diff --git a/{path} b/{path}\n{heads[status]}\n+{path}\n" for status, path in files)
    return Changes(files=tuple(FileChange(path=path, status=status) for status, path in files), patch=patch, **more)


FIRST = Turn(prompt="Write a.py.", message="Wrote a.py.", changes=changed(("added", "a.py"), ("added", "docs/a.md")))
SECOND = Turn(prompt="Fix it.", message="Fixed.", changes=changed(("modified", "a.py"), ("deleted", "docs/a.md")))
BOTH = Evidence(turns=(FIRST, SECOND))


def shown(state: Any, evidence: Evidence = BOTH) -> dict[str, str]:
    return {one.title: one.text for one in sections(evidence, state)}


def test_sections_come_in_a_fixed_order_whatever_the_order_of_the_keys() -> None:
    keys = ("observations", "checks", "transcript", "files", "diff", "output", "task")
    titles = ["Task", "Output", "Diff", "Files", "Transcript", "Checks", "Observations"]
    assert list(shown(dict.fromkeys(keys, True))) == titles


def test_what_is_not_wanted_is_not_shown() -> None:
    assert list(shown({"task": True, "diff": False, "checks": []})) == ["Task"]


def test_the_last_turn_is_shown_unless_all_are_wanted() -> None:
    assert shown({"task": True, "output": True}) == {"Task": "Fix it.", "Output": "Fixed."}
    both = shown({"task": True, "output": True, "turns": "all"})
    assert both["Task"] == "[turn 1]\nWrite a.py.\n\n[turn 2]\nFix it."
    assert both["Output"] == "[turn 1]\nWrote a.py.\n\n[turn 2]\nFixed."


def test_a_value_stands_for_the_output() -> None:
    assert shown({"output": True}, Evidence(turns=(FIRST,), output="null")) == {"Output": "null"}


def test_a_failed_turn_says_so() -> None:
    failed = Turn(prompt="Do it.", status="failed", error="out of context")
    text = shown({"output": True}, Evidence(turns=(failed,)))["Output"]
    assert text == "(this turn failed: out of context)"


def test_what_is_not_there_is_said_in_words() -> None:
    state = {"task": True, "output": True, "diff": True, "files": True, "checks": True, "observations": True}
    texts = shown(state, Evidence()).values()
    assert all(text.startswith("(") and text.endswith(")") for text in texts)
    assert shown({"diff": True}, Evidence(turns=(Turn(prompt="x"),))) == {
        "Diff": "(the agent changed nothing that is shown here)"
    }


PATTERNS = [
    (True, ["a.py", "docs/a.md"]),
    (["*.py"], ["a.py"]),
    (["docs/"], ["docs/a.md"]),
    (["*", "!docs/"], ["a.py"]),
    (["!docs/"], ["a.py"]),
    (["!*.md", "docs/a.md"], ["docs/a.md"]),
    (["nothing"], []),
]


@pytest.mark.parametrize(("patterns", "paths"), PATTERNS)
def test_patterns_choose_files_of_the_diff_and_of_the_list(patterns: Any, paths: list[str]) -> None:
    found = shown({"diff": patterns, "files": True}, Evidence(turns=(FIRST,)))
    assert [path for path in ("a.py", "docs/a.md") if f"+{path}\n" in found["Diff"]] == paths
    assert [path for path in ("a.py", "docs/a.md") if f"added {path}" in found["Files"]] == paths


def test_files_say_what_became_of_each_over_the_turns() -> None:
    again = Turn(prompt="Again.", changes=changed(("added", "docs/a.md"), ("deleted", "b.py")))
    evidence = Evidence(turns=(FIRST, SECOND, again))
    assert shown({"files": True, "turns": "all"}, evidence)["Files"] == "added a.py\ndeleted b.py\nadded docs/a.md"
    assert shown({"files": True, "turns": "all"})["Files"] == "added a.py"


def test_a_file_deleted_and_added_again_is_modified() -> None:
    turns = (Turn(prompt="1", changes=changed(("deleted", "x"))), Turn(prompt="2", changes=changed(("added", "x"))))
    assert shown({"files": True, "turns": "all"}, Evidence(turns=turns))["Files"] == "modified x"


def test_files_that_are_shown_whole_leave_the_diff() -> None:
    evidence = Evidence(turns=(FIRST,), contents={"a.py": "print()\n", "gone.py": None})
    found = shown({"diff": True}, evidence)
    assert "+a.py" not in found["Diff"]
    assert "+docs/a.md" in found["Diff"]
    assert (found["Contents of a.py"], found["Contents of gone.py"]) == ("print()\n", "null")


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028", "\r"])
def test_a_files_content_cannot_pass_for_another_files_diff(separator: str) -> None:
    patch = f"diff --git a/a.py b/a.py\n+x{separator}diff --git a/b.md b/b.md\n+secret plan\n"
    turn = Turn(prompt="x", changes=Changes(files=(FileChange(path="a.py", status="added"),), patch=patch))
    assert shown({"diff": ["*.py"]}, Evidence(turns=(turn,)))["Diff"] == patch


def test_a_quoted_or_unlisted_path_is_read_from_the_diff_itself() -> None:
    patch = 'diff --git "a/t\\tb.py" "b/t\\tb.py"\n+quoted\ndiff --git a/late.py b/late.py\n+late\n'
    turn = Turn(prompt="x", changes=Changes(patch=patch, truncated=True))
    found = shown({"diff": ["late.py"]}, Evidence(turns=(turn,)))["Diff"]
    assert "+late" in found
    assert "quoted" not in found
    assert "longer than what is kept" in found


def test_a_binary_file_is_named() -> None:
    image = FileChange(path="logo.png", status="added", binary=True)
    found = shown({"diff": True}, Evidence(turns=(Turn(prompt="x", changes=Changes(files=(image,))),)))["Diff"]
    assert found.startswith("(added logo.png: binary")


def test_commands_are_shown_with_their_ends() -> None:
    ran = (
        CommandResult(command="pytest", exit_code=1, stdout="1 failed\n", stderr="oh\n", tries=2, allowed=3),
        CommandResult(command="ls", exit_code=0),
    )
    evidence = Evidence(commands=ran)
    whole = "$ pytest\nexit code 1 after 2 tries\nstdout:\n1 failed\n\nstderr:\noh\n\n\n$ ls\nexit code 0"
    assert shown({"checks": True}, evidence)["Checks"] == whole
    assert shown({"checks": ["ls", "make"]}, evidence)["Checks"] == "$ ls\nexit code 0\n\n$ make\n(not run)"


def test_observations_are_shown_as_json() -> None:
    seen = (ObservationRecord(name="lines", value=3), ObservationRecord(name="kinds", value=["a"]))
    assert shown({"observations": True}, Evidence(observations=seen))["Observations"].startswith("lines: 3\nkinds: [")


EVENTS = (
    Text(text="I look."),
    Reasoning(text="Hm."),
    ToolCall(name="shell", input={"command": "ls -a"}, output="x" * 5000, exit_code=2),
    ToolCall(name="fetch", input={"url": "http://x"}, ok=False),
    FileEdit(path="a.py", kind="create"),
    WebSearch(query="how"),
    WebFetch(url="http://y"),
    Notice(kind="retry", message="slow"),
    Text(text="Done."),
)
TALK = Evidence(turns=(Turn(prompt="Do it.", message="Done.", events=EVENTS, error="late"),))


def test_a_transcript_clips_outputs_and_leaves_thoughts_out() -> None:
    text = shown({"transcript": True}, TALK)["Transcript"]
    assert text.startswith("user: Do it.\nagent: I look.\ntool shell: ls -a (exit code 2)\nxxx")
    assert "3,500 characters left out" in text
    assert "Hm." not in text
    assert text.count("Done.") == 1
    assert text.endswith("(the turn failed: late)")
    assert 'tool fetch: {"url":"http://x"} (failed)' in text
    assert "edit: create a.py\nsearch: how\nfetch: http://y\nretry: slow\n" in text


def test_a_full_transcript_clips_nothing() -> None:
    text = shown({"transcript": "full"}, TALK)["Transcript"]
    assert "x" * 5000 in text
    assert "agent, thinking: Hm." in text


def test_a_transcript_of_tools_has_nothing_else() -> None:
    text = shown({"transcript": "tools"}, TALK)["Transcript"]
    assert text.startswith("tool shell: ls -a")
    assert "I look." not in text
    assert shown({"transcript": "tools"}, Evidence(turns=(FIRST,)))["Transcript"] == "(no tool was used)"


def test_explicit_material_is_text_as_it_is_and_json_otherwise() -> None:
    assert explicit({"a": "text", "b": {"n": 1}}) == [Section("a", "text"), Section("b", '{\n  "n": 1\n}')]
