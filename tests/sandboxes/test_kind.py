"""What the kind decides before anything starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.sandboxes.local import bubblewrap
from reeval.sandboxes.local.kind import LocalSandboxKind
from reeval.schema.environment import Egress
from reeval.schema.plan import PlannedSandbox
from tests.sandboxes.site import AGENT, Site, needs_bubblewrap

KIND = LocalSandboxKind()
SCRIPTED = replace(AGENT, in_process=True)


@pytest.fixture
def without_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", str(tmp_path))
    bubblewrap.problem.cache_clear()
    yield
    bubblewrap.problem.cache_clear()


@needs_bubblewrap
@pytest.mark.parametrize(
    ("id", "options", "in_process", "planned"),
    [
        ("local", {}, False, ("local", True)),
        ("local", {}, True, ("fake", False)),
        ("local", {"isolation": "none"}, False, ("fake", False)),
        ("local", {"isolation": "require"}, True, ("local", True)),
        ("local", {"isolation": "prefer"}, False, ("local", True)),
        ("box", {"kind": "local"}, False, ("box", True)),
        ("box", {"kind": "local", "isolation": "none"}, False, ("box", False)),
        ("box", {"kind": "local"}, True, ("box", False)),
    ],
)
def test_isolation_and_the_name_follow_from_the_table_and_the_harness(
    id: str, options: dict[str, str], in_process: bool, planned: tuple[str, bool]
) -> None:
    found = KIND.plan(id, options, SCRIPTED if in_process else AGENT, Path())
    assert (found.id, found.isolated) == planned
    assert found.kind == "local"


def test_limits_become_fields_and_the_rest_stays_an_option() -> None:
    table = {"kind": "local", "isolation": "none", "max_concurrent": 3, "start_timeout": "2m", "output_limit": 10}
    assert KIND.plan("box", table, AGENT, Path()) == PlannedSandbox(
        id="box",
        kind="local",
        isolated=False,
        max_concurrent=3,
        start_timeout=120.0,
        options={"isolation": "none", "output_limit": 10},
    )


@pytest.mark.usefixtures("without_bubblewrap")
def test_required_isolation_that_cannot_be_had_is_refused_with_what_to_install() -> None:
    with pytest.raises(PlanError) as caught:
        KIND.plan("local", {}, AGENT, Path())
    assert str(caught.value) == (
        '[sandbox.local]: isolation = "require", but bubblewrap is missing: apt install bubblewrap (Debian, Ubuntu), '
        "dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch); "
        'isolation = "prefer" falls back to a plain directory, where the agent can reach all of this machine'
    )


@pytest.mark.usefixtures("without_bubblewrap")
def test_preferred_isolation_falls_back_and_says_why() -> None:
    planned = KIND.plan("local", {"isolation": "prefer"}, AGENT, Path())
    assert (planned.id, planned.isolated) == ("fake", False)
    assert KIND.describe(planned).startswith("plain directory (bubblewrap is missing: apt install bubblewrap")


def test_a_bubblewrap_that_fails_is_a_problem_with_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, script in (
        ("bwrap", "echo 'bwrap: No permissions to create namespace' >&2; exit 1"),
        ("nsenter", "exit 0"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    bubblewrap._tool.cache_clear()
    bubblewrap._system.cache_clear()
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    try:
        assert "No permissions to create namespace" in str(bubblewrap.problem.__wrapped__())
    finally:
        bubblewrap._tool.cache_clear()
        bubblewrap._system.cache_clear()


@pytest.mark.parametrize(
    ("isolated", "egress", "reason"),
    [
        (True, None, None),
        (False, None, None),
        (True, Egress(mode="allow-all"), None),
        (True, Egress(mode="deny-all"), None),
        (False, Egress(mode="allow-all"), None),
        (
            False,
            Egress(mode="deny-all"),
            'egress = "deny-all" needs an isolated sandbox; set isolation = "require" for it',
        ),
        (
            True,
            Egress(mode="allow", hosts=("example.com",)),
            'a local sandbox cannot allow single hosts; use egress = "deny-all" or "allow-all"',
        ),
    ],
)
def test_a_network_policy_that_cannot_be_held_is_refused(
    isolated: bool, egress: Egress | None, reason: str | None
) -> None:
    assert KIND.refuse(PlannedSandbox(id="x", kind="local", isolated=isolated), egress) == reason


def test_a_sandbox_is_described_in_a_few_words() -> None:
    assert KIND.describe(PlannedSandbox(id="local", kind="local", isolated=True)) == "local (bubblewrap)"
    assert KIND.describe(PlannedSandbox(id="fake", kind="local", isolated=False)) == "plain directory"
    assert KIND.describe(PlannedSandbox(id="box", kind="local", isolated=False)) == "box: plain directory"


@pytest.mark.anyio
async def test_a_temporary_directory_that_cannot_be_written_is_named(
    plain: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(plain.root / "none"))
    with pytest.raises(InfrastructureError) as caught:
        await plain.open().__aenter__()
    assert caught.value.phase is Phase.SANDBOX
    assert str(caught.value) == (
        f"no sandbox can be made in {plain.root}/none: No such file or directory; free some space or set TMPDIR"
    )


@needs_bubblewrap
@pytest.mark.anyio
async def test_a_bubblewrap_that_does_not_start_can_be_tried_again(isolated: Site) -> None:
    given = isolated.root / "given"
    given.mkdir()
    request = isolated.request(options={"read_only": [str(given)]})
    given.rmdir()
    with pytest.raises(InfrastructureError, match="bubblewrap did not start: bwrap: Can't find source path") as caught:
        await isolated.kind.open(request).__aenter__()
    assert (caught.value.phase, caught.value.retryable) == (Phase.SANDBOX, True)
    assert isolated.attempts() == []


def test_a_read_only_path_that_is_not_there_is_refused() -> None:
    with pytest.raises(PlanError) as caught:
        KIND.plan("box", {"isolation": "none", "read_only": ["/no/such"]}, AGENT, Path())
    assert str(caught.value) == "[sandbox.box]: read_only: there is no '/no/such' on this machine; correct the path"
