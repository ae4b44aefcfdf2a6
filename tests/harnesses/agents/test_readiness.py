"""What doctor says of an agent's program, on a machine that is made for the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from reeval.harnesses.agents.options import AgentOptions
from reeval.harnesses.agents.programs.install import place_of
from reeval.harnesses.agents.programs.package import Package
from reeval.harnesses.agents.programs.readiness import readiness

TOOL = Package(source="npm", name="@maker/tool", version="1.2.3", program="tool", entry="x")
SHELL = Package(source="npm", name="@maker/shell", version="1.2.3", program="sh", entry="x")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def program(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def test_one_that_is_installed_is_ready_and_says_where() -> None:
    place = place_of(TOOL, "1.2.3")
    place.mkdir(parents=True)
    (place / "installed").touch()
    found = readiness(TOOL, AgentOptions(install=True))
    assert (found.ready, found.text) == (True, f"@maker/tool 1.2.3 in {place}")


def test_one_that_can_be_installed_is_ready(machine: Path) -> None:
    program(machine / "npm")
    found = readiness(TOOL, AgentOptions(install=True, version="2.0.0"))
    assert (found.ready, found.text) == (True, "@maker/tool 2.0.0 will be installed by the first run")


def test_without_npm_it_says_what_brings_it(monkeypatch: pytest.MonkeyPatch, machine: Path) -> None:
    monkeypatch.setenv("PATH", str(machine))
    found = readiness(TOOL, AgentOptions(install=True))
    assert (found.ready, found.mend) == (False, "install Node.js, which brings npm")


def test_one_on_the_path_is_ready() -> None:
    assert readiness(SHELL, AgentOptions()).ready


def test_one_that_a_sandbox_does_not_see_is_told(machine: Path) -> None:
    program(machine / "tool")
    found = readiness(TOOL, AgentOptions())
    assert not found.ready
    assert "which a local sandbox does not see" in found.text
    assert "read_only of [sandbox.local]" in found.mend


def test_one_that_is_nowhere_is_told_with_the_next_step() -> None:
    found = readiness(TOOL, AgentOptions(program="other"))
    assert found.text == "no program 'other' on this machine; a container's image may have one"
    assert found.mend.startswith("write install = true in its table, to have @maker/tool installed once")
