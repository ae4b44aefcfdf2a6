"""What the guide on environments shows is what comes."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import DOCS, Block, blocks_of
from tests.docs.test_examples import project, reeval
from tests.environments.sources.repositories import Repository

AGENT = '[harness.looks]\nkind = "fake"\nscript = [[{ exec = "git log --format=%s; git status --short; ls -A" }]]\n'
EVAL = """
from reeval import Attempt, evaluate

@evaluate("looks", environment="{name}")
async def looks(c: Attempt) -> None:
    turn = await c.send("Look.")
    c.attach("seen.txt", turn.tool_calls[0].output)
    listed = await c.exec("find . -name SKILL.md -o -name data.csv -o -name started-at -o -name index.html | sort")
    assert listed.stdout.split() == {found}
    assert turn.tool_calls[0].output.startswith({start!r})
"""


def with_key(word: str) -> Block:
    (block,) = [one for one in blocks_of(DOCS / "guide/environments.md") if one.language == "toml" and word in one.text]
    return block


def test_sources_from_git_arrive_and_are_said_as_the_guide_shows(tmp_path: Path) -> None:
    shop = Repository(tmp_path / "shop")
    commit = shop.commit({"apps/web/index.html": "<h1>", "README.md": "no"})
    shop.git("tag", "v2.1")
    names = ("greeting", "testing", "other")
    Repository(tmp_path / "skills").commit({f"skills/{name}/SKILL.md": "x" for name in names})
    text = with_key("[environment.shop]").text
    text = text.replace("https://github.com/acme/shop.git", "../shop").replace(
        "git@github.com:acme/skills.git", "../skills"
    )
    found = ["./.agents/skills/greeting/SKILL.md", "./.agents/skills/testing/SKILL.md", "./index.html"]
    written = EVAL.format(name="shop", found=found, start="Start\n.agents\n.git\nindex.html")
    project(tmp_path / "p", f"{AGENT}\n{text}", {"evals/a.eval.py": written})
    done = reeval(tmp_path / "p", "run")
    assert done.returncode == 0, done.stdout
    assert f"git source ../shop@v2.1 is commit {commit[:12]}" in done.stdout.splitlines()
    shown = (DOCS / "guide" / "environments.md").read_text()
    assert "git source https://github.com/acme/shop.git@v2.1 is commit 5f0c3a91d2e4" in shown.splitlines()


def test_cached_setup_runs_as_the_guide_shows(tmp_path: Path) -> None:
    traces, command = tmp_path / "runs", "python3 make_data.py"
    text = with_key("[environment.ready]").text.replace(command, f"echo run >>{traces}; {command}")
    written = EVAL.format(name="ready", found=["./data.csv", "./started-at"], start="")
    project(tmp_path / "p", f"{AGENT}\n{text}", {"evals/a.eval.py": written})
    for _ in range(2):
        done = reeval(tmp_path / "p", "run", "--runs", "3")
        assert done.returncode == 0, done.stdout
    assert traces.read_text() == "run\n"
