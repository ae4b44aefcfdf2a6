"""Environments, their parts, and judges, as they are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reeval import egress, environment, judge, mcp, secret, skill
from reeval.errors import DeclarationError
from reeval.schema.environment import Egress, Environment, HostFile, Secret, SetupStep, Skill, Workspace


def test_parts_are_written_short_and_stored_plainly() -> None:
    made = environment(
        "full",
        workspace="evals/workspaces/shop",
        files={"a.txt": "text", "~/.npmrc": Path("evals/files/npmrc")},
        rules=Path("evals/AGENTS.md"),
        setup=["git init -q", {"run": "npm ci", "timeout": 60, "cache": True}],
        skills=[skill.local("skills/house"), skill.inline("x", "does x", "Do x.", files={"a.md": "b"})],
        mcp={"db": mcp.stdio("python server.py"), "web": mcp.http("https://example.com/mcp")},
        env={"A": "b", "TOKEN": secret("HOST_TOKEN", to="agent", optional=True)},
        egress="deny-all",
        sandbox="local",
    )
    assert made.workspace == Workspace(path="evals/workspaces/shop")
    assert made.files == {"a.txt": "text", "~/.npmrc": HostFile(path="evals/files/npmrc")}
    assert made.rules == HostFile(path="evals/AGENTS.md")
    assert made.setup == (SetupStep(run="git init -q"), SetupStep(run="npm ci", timeout=60, cache=True))
    assert [each.kind for each in made.skills] == ["local", "inline"]
    assert made.mcp["db"].command == ("python", "server.py")
    assert made.env["TOKEN"] == Secret(name="HOST_TOKEN", to="agent", optional=True)
    assert made.egress == Egress(mode="deny-all")


def test_a_workspace_may_be_a_git_source() -> None:
    made = environment("git", workspace={"git": "https://example.com/x.git", "ref": "v1", "path": "sub"})
    assert made.workspace == Workspace(git="https://example.com/x.git", ref="v1", path="sub")


def test_extend_appends_merges_and_replaces() -> None:
    parent = environment(
        "parent",
        files={"a": "1", "b": "1"},
        rules="parent",
        setup=["one"],
        skills=[skill.local("skills/x")],
        env={"A": "1", "B": "1"},
    )
    child = parent.extend(
        "child",
        files={"b": "2"},
        setup=["two"],
        skills=[skill.local("skills/y"), skill.local("skills/x", only=["z"])],
        env={"B": "2"},
        egress=egress.allow("*.example.com"),
    )
    assert (child.name, child.files, child.rules) == ("child", {"a": "1", "b": "2"}, "parent")
    assert [step.run for step in child.setup] == ["one", "two"]
    assert child.skills == (skill.local("skills/y"), skill.local("skills/x", only=["z"]))
    assert child.env == {"A": "1", "B": "2"}
    assert child.egress == Egress(mode="allow", hosts=("*.example.com",))
    assert parent == environment(
        "parent",
        files={"a": "1", "b": "1"},
        rules="parent",
        setup=["one"],
        skills=[skill.local("skills/x")],
        env={"A": "1", "B": "1"},
    )


def test_egress_has_both_ends() -> None:
    assert (egress.allow_all.mode, egress.deny_all.mode) == ("allow-all", "deny-all")


def test_a_git_skill_says_where_from() -> None:
    made = skill.git("https://example.com/x.git", ref="v1", path="skills", exclude=["*.png"])
    assert made == Skill(kind="git", url="https://example.com/x.git", ref="v1", path="skills", exclude=("*.png",))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a misspelt part": (
        lambda: environment("e", fiels={}),  # type: ignore[call-arg]
        "environment 'e': it has no part 'fiels'; did you mean 'files'?",
    ),
    "a misspelt part of a child": (
        lambda: Environment(name="e").extend("f", skils=[]),  # type: ignore[call-arg]
        "environment 'f': it has no part 'skils'; did you mean 'skills'?",
    ),
    "no name": (lambda: environment(""), "environment '': its name must be a text"),
    "a path outside": (
        lambda: environment("e", files={"a": Path("../a")}),
        "environment 'e': files['a'] is '../a'; write it from the project's root, such as 'evals/files/x.txt'",
    ),
    "an absolute path": (
        lambda: environment("e", workspace="/srv/x"),
        "environment 'e': workspace is '/srv/x'; write it from the project's root, such as 'evals/files/x.txt'",
    ),
    "a target outside": (
        lambda: environment("e", files={"../a": "x"}),
        "environment 'e': files has '../a'; write a path in the workspace, or '~/…' for the agent's home",
    ),
    "bytes": (
        lambda: environment("e", files={"a": b"x"}),  # type: ignore[dict-item]
        "environment 'e': files['a'] is b'x'; give a text, or a Path for a file of the project",
    ),
    "one setup command": (
        lambda: environment("e", setup="ls"),
        "environment 'e': setup is 'ls'; give a list of commands",
    ),
    "a misspelt step": (
        lambda: environment("e", setup=[{"run": "ls", "timout": 1}]),
        "environment 'e': a setup step has no 'timout'; did you mean 'timeout'?",
    ),
    "a step without time": (
        lambda: environment("e", setup=[{"run": "ls", "timeout": 0}]),
        "environment 'e': the setup step 'ls' has timeout=0; give seconds above 0",
    ),
    "a skill as text": (
        lambda: environment("e", skills=["skills/x"]),  # type: ignore[list-item]
        "environment 'e': a skill is 'skills/x'; give skill.local(…)",
    ),
    "a skill twice": (
        lambda: environment("e", skills=[skill.local("x"), skill.local("x")]),
        "environment 'e': the skill 'x' is listed twice; drop one",
    ),
    "a workspace of nothing": (
        lambda: environment("e", workspace={"init": False}),
        "environment 'e': workspace needs 'path' or 'git', or init=True for an empty one with a git history",
    ),
    "a ref of no source": (
        lambda: environment("e", workspace={"path": "x", "ref": "v1"}),
        "environment 'e': workspace has ref='v1', which belongs to a git source; add git, or drop it",
    ),
    "a source that is no text": (
        lambda: environment("e", workspace={"git": 1}),
        "environment 'e': workspace has git=1; give a text",
    ),
    "a number in env": (
        lambda: environment("e", env={"A": 1}),  # type: ignore[dict-item]
        "environment 'e': env['A'] is 1; give a text or secret('HOST_NAME')",
    ),
    "a name no variable has": (
        lambda: environment("e", env={"A=B": "1"}),
        "environment 'e': env has the name 'A=B', which no variable can have",
    ),
    "an unknown egress": (
        lambda: environment("e", egress="some"),  # type: ignore[arg-type]
        "environment 'e': egress is 'some'; give 'deny-all', 'allow-all' or egress.allow(…)",
    ),
    "a secret for nobody": (
        lambda: secret("A", to="me"),  # type: ignore[arg-type]
        "secret('A') is to='me'; it takes 'agent', 'checks' or 'all'",
    ),
    "a URL as host": (
        lambda: egress.allow("https://x.com"),
        "egress.allow('https://x.com'): give a host name, such as 'example.com', without scheme or port",
    ),
    "no host": (
        egress.allow,
        "egress.allow() names no host; for none at all there is egress.deny_all",
    ),
    "a skill nobody can choose": (
        lambda: skill.inline("x", "", "Do x."),
        "skill.inline('x') needs a description: agents choose a skill by it",
    ),
    "a skill's odd name": (
        lambda: skill.inline("a/b", "d", "Do x."),
        "skill.inline('a/b'): a skill's name holds letters, digits, '-' and '_'",
    ),
    "an odd MCP URL": (
        lambda: mcp.http("example.com"),
        "mcp.http('example.com'): give a URL that starts with http:// or https://",
    ),
    "no MCP command": (lambda: mcp.stdio(" "), "mcp.stdio(' '): give a command"),
    "a judge without a rubric": (lambda: judge("clear", ""), "judge('clear'): its rubric is ''; give a text"),
    "an anchor off the scale": (
        lambda: judge("clear", "Is it?", anchors={2: "very"}),
        "judge('clear'): the anchor 2: 'very' is not a number from 0 to 1 with a text",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_used_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        make()
    assert str(caught.value) == message


def test_a_judge_keeps_its_anchors_as_numbers() -> None:
    made = judge("clear", "Is it clear?", anchors={0: "no", 1: "yes"}, model="p/m")
    assert made.anchors == {0.0: "no", 1.0: "yes"}
    assert (made.name, made.rubric, made.model) == ("clear", "Is it clear?", "p/m")


def test_a_bad_environment_is_refused_at_its_line(project: Any) -> None:
    assert project.refusal("from reeval import environment\n\nplain = environment('p', rule='x')\n") == (
        "evals/x.eval.py:3: environment 'p': it has no part 'rule'; did you mean 'rules'?"
    )
