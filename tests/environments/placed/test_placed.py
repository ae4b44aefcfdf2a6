"""What an environment gives is where it was said, in every kind of sandbox."""

from __future__ import annotations

import pytest

from reeval.schema.environment import Environment, HostFile, Layout, SetupStep, Skill, Workspace
from tests.environments.placed.places import Place
from tests.environments.sources.repositories import Repository

pytestmark = pytest.mark.anyio

SKILL = Skill(kind="inline", name="greet", description="d", content="Say hi.", files={"ref/a.md": "more"})
LISTED = "find . ! -path './.git/*' | sort"


def write(place: Place, path: str, text: str, mode: int = 0o644) -> None:
    target = place.site.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(mode)


async def test_everything_lies_where_it_was_said(place: Place) -> None:
    write(place, "app/sub/deep.txt", "deep")
    write(place, "app/.git/config", "history")
    write(place, "hidden/b.sh", "#!/bin/sh\necho ran", 0o755)
    environment = Environment(
        name="e",
        workspace=Workspace(path="app"),
        files={"new/ü 🐍.txt": "odd", "b.sh": HostFile(path="hidden/b.sh"), "~/.config/x": "home"},
        rules="Be kind.",
        skills=(SKILL,),
    )
    async with place.opened(environment) as sandbox:
        listed = (await sandbox.exec(LISTED)).stdout.splitlines()
        said = (await sandbox.exec("cat AGENTS.md sub/deep.txt ~/.config/x new/*; ./b.sh")).stdout
    assert said == "Be kind.deephomeoddran\n"
    assert listed == sorted(
        [
            ".",
            "./.agents",
            "./.agents/skills",
            "./.agents/skills/greet",
            "./.agents/skills/greet/SKILL.md",
            "./.agents/skills/greet/ref",
            "./.agents/skills/greet/ref/a.md",
            "./AGENTS.md",
            "./b.sh",
            "./new",
            "./new/ü 🐍.txt",
            "./sub",
            "./sub/deep.txt",
        ],
        key=str.encode,
    )


async def test_rules_and_skills_lie_where_the_agent_reads_them(place: Place) -> None:
    layout = Layout(rules="CLAUDE.md", skills="~/.claude/skills")
    async with place.opened(Environment(name="e", rules="r", skills=(SKILL,)), layout) as sandbox:
        assert await sandbox.read("CLAUDE.md") == b"r"
        assert b"Say hi." in await sandbox.read("~/.claude/skills/greet/SKILL.md")


async def test_links_and_modes_are_kept_and_all_of_it_can_be_written(place: Place) -> None:
    write(place, "app/a.txt", "a")
    write(place, "app/run.sh", "#!/bin/sh\necho ran", 0o755)
    (place.site.root / "app" / "link").symlink_to("a.txt")
    (place.site.root / "app" / "empty").mkdir()
    environment = Environment(name="e", workspace=Workspace(path="app"), files={"~/h": "h"})
    command = (
        "readlink link; ./run.sh; test -d empty; test ! -x a.txt; echo b >>a.txt; echo c >>~/h; rm run.sh; cat link"
    )
    for _ in range(2):
        assert await place.said(environment, command) == "a.txt\nran\nab\n"


async def test_a_git_source_is_placed_with_a_history_of_one_commit(place: Place) -> None:
    source = Repository(place.site.root / "source")
    source.commit({"apps/shop/a.txt": "first"})
    source.commit({"apps/shop/a.txt": "second", "solution.txt": "42"})
    workspace = Workspace(git="source", ref="main", path="apps/shop", init=True)
    async with place.opened(Environment(name="e", workspace=workspace)) as sandbox:
        assert (await sandbox.exec(LISTED)).stdout.splitlines() == [".", "./.git", "./a.txt"]
        assert await sandbox.read("a.txt") == b"second"
        assert await sandbox.read(".git/HEAD") == b"ref: refs/heads/main\n"


async def test_what_was_placed_is_not_a_change_and_what_comes_after_is(place: Place) -> None:
    workspace = Workspace(init=True)
    environment = Environment(
        name="e", workspace=workspace, files={"a": "1\n", "b": "1\n"}, setup=(SetupStep(run="echo 2 >set-up"),)
    )
    async with place.opened(environment) as sandbox:
        before = await sandbox.snapshot()
        await sandbox.exec("echo 2 >>a; rm b; echo new >c")
        changes = await sandbox.changes(before, await sandbox.snapshot())
    assert sorted((file.path, file.status) for file in changes.files) == [
        ("a", "modified"),
        ("b", "deleted"),
        ("c", "added"),
    ]


async def test_setup_runs_in_the_workspace_after_everything_with_its_variables(place: Place) -> None:
    environment = Environment(
        name="e",
        files={"a.txt": "placed"},
        env={"WORD": "hello"},
        setup=(SetupStep(run='cat a.txt >>log; echo " $WORD" >>log'), SetupStep(run="echo second >>log")),
    )
    assert await place.said(environment, "cat log") == "placed hello\nsecond\n"
