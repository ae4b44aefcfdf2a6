"""What is left of a sandbox: nothing, on every way out; and what a killed run left is swept."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from reeval.errors import InfrastructureError, PlanError
from reeval.protocols import SandboxRequest
from reeval.sandboxes.docker.kind import DockerSandboxKind
from tests.sandboxes.docker.engines import PrivateEngine
from tests.sandboxes.docker.site import BUSYBOX, DockerSite, make_busybox, needs_engine

pytestmark = [pytest.mark.anyio, needs_engine]

HOLD = """
import sys, tempfile, anyio
from pathlib import Path
from reeval.sandboxes.docker.kind import KIND
from tests.sandboxes.docker.site import DockerSite
async def main():
    root = Path(sys.argv[1])
    tempfile.tempdir = str(root / "tmp")
    async with DockerSite(root, KIND).open() as sandbox:
        await sandbox.exec("sleep 4321 >/dev/null 2>&1 &")
        print("ready", flush=True)
        await anyio.sleep(60)
anyio.run(main)
"""


@pytest.fixture
def holder(docker: DockerSite) -> Iterator[subprocess.Popen[str]]:
    """Another process that has a container of the project."""
    command = [sys.executable, "-c", HOLD, str(docker.root)]
    top = Path(__file__).parent.parent.parent.parent
    with subprocess.Popen(command, cwd=top, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


async def until(found: object, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not found():  # type: ignore[operator]
        assert time.monotonic() < deadline
        await anyio.sleep(0.05)


async def test_nothing_is_left_after_an_error_or_a_cancellation(docker: DockerSite) -> None:
    with pytest.raises(ZeroDivisionError):
        await _divides(docker)
    assert docker.containers() == []
    with anyio.move_on_after(1) as scope:
        async with docker.open() as sandbox:
            await sandbox.exec("sleep 4321")
    assert scope.cancelled_caught
    assert docker.containers() == []
    assert list((docker.root / "tmp").glob("reeval-*/[0-9]*")) == []


async def _divides(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        await sandbox.exec("sleep 4321 >/dev/null 2>&1 &")
        raise ZeroDivisionError


@pytest.mark.parametrize("moment", [0.005, 0.02, 0.05, 0.1, 0.2, 0.35])
async def test_nothing_is_left_when_a_start_is_cancelled_at_any_moment(docker: DockerSite, moment: float) -> None:
    await docker.kind.prepare(docker.request())
    with anyio.move_on_after(moment):
        async with docker.open():
            await anyio.sleep_forever()
    await until(lambda: docker.containers() == [])


async def test_a_kept_container_stays_and_says_how_to_look_into_it(docker: DockerSite) -> None:
    places: list[str] = []
    request = docker.request(keep=True, kept=places.append)
    async with docker.kind.open(request) as sandbox:
        await sandbox.write("x", b"kept")
    (container,) = docker.containers()
    name = container["Names"][0].lstrip("/")
    assert places == [f"the container {name} (docker exec -it {name} sh)"]
    assert await docker.kind.sweep(docker.root) == []
    made = docker.engine.now(lambda client: client.exec_create(name, ["cat", "/workspace/x"])["Id"])
    assert docker.engine.now(lambda client: client.exec_start(made)) == b"kept"


async def test_a_process_that_is_killed_takes_its_containers_with_it_and_the_next_one_sweeps(
    docker: DockerSite, holder: subprocess.Popen[str]
) -> None:
    (container,) = docker.containers()
    assert await docker.kind.sweep(docker.root) == []  # It lives.
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    await until(lambda: docker.containers()[0]["State"] == "exited")
    async with docker.open() as sandbox:  # A live one beside it.
        removed = await docker.kind.sweep(docker.root)
        assert f"container {container['Names'][0].lstrip('/')}" in removed
        assert (await sandbox.exec("echo untouched")).stdout == "untouched\n"
    assert docker.containers() == []


async def test_another_project_or_host_sweeps_nothing_of_it(docker: DockerSite, tmp_path: Path) -> None:
    labels = {"reeval.project": "other", "reeval.host": "elsewhere", "reeval.pid": "1", "reeval.started": "1"}
    made = docker.engine.now(lambda client: client.create_container(BUSYBOX, "true", labels=labels)["Id"])
    try:
        await docker.kind.sweep(docker.root)
        assert docker.engine.now(lambda client: client.inspect_container(made)["Id"]) == made
    finally:
        docker.engine.now(lambda client: client.remove_container(made))


async def test_an_engine_that_does_not_run_is_said_when_a_run_is_planned(
    docker: DockerSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert docker.containers() == []
    monkeypatch.setenv("DOCKER_HOST", f"unix://{docker.root}/none.sock")
    with pytest.raises(PlanError) as caught:
        DockerSite(docker.root, DockerSandboxKind()).request()
    assert str(caught.value) == (
        f"[sandbox.docker]: no container engine answers at unix://{docker.root}/none.sock (DOCKER_HOST says so); "
        "start it (sudo systemctl start docker, or Docker Desktop), or set DOCKER_HOST to where it is"
    )


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[DockerSite, PrivateEngine]]:
    """An engine of its own, which may be killed."""
    with PrivateEngine.running() as engine:
        monkeypatch.setenv("DOCKER_HOST", engine.url)
        kind = DockerSandboxKind()
        make_busybox(kind.engine())
        (tmp_path / "private").mkdir()
        yield DockerSite(tmp_path / "private", kind), engine
        kind.close()
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()


# The docker package leaves a socket open that finds no engine.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
async def test_an_engine_that_is_killed_is_an_error_of_what_runs_and_nothing_hangs(
    private: tuple[DockerSite, PrivateEngine],
) -> None:
    site, engine = private
    request = site.request()
    began = time.monotonic()
    async with anyio.create_task_group() as tasks:
        for command in ("yes", "sleep 4321", "echo done; sleep 4321 &"):
            tasks.start_soon(_fails, site, request, command)
        await anyio.sleep(5)
        engine.kill()
    with pytest.raises(InfrastructureError, match="does not answer any more"):
        await site.kind.open(request).__aenter__()
    assert await site.kind.sweep(site.root) == []
    assert time.monotonic() - began < 60


async def _fails(site: DockerSite, request: SandboxRequest, command: str) -> None:
    with pytest.raises(InfrastructureError):
        await _runs_forever(site, request, command)


async def _runs_forever(site: DockerSite, request: SandboxRequest, command: str) -> None:
    async with site.kind.open(request) as sandbox:
        while True:
            await sandbox.exec(command)


async def test_a_disk_that_is_full_is_output_of_a_command_and_an_error_of_a_write(
    private: tuple[DockerSite, PrivateEngine],
) -> None:
    site, _ = private
    async with site.open() as sandbox:
        done = await sandbox.exec("dd if=/dev/zero of=x bs=1M")
        assert done.exit_code == 1
        assert "No space left on device" in done.stderr
        for data in (b"x" * 1000, b"x" * 100_000):
            with pytest.raises(InfrastructureError, match="No space left on device"):
                await sandbox.write("y", data)
        assert (await sandbox.exec("rm x; echo room again > y")).ok
        assert await sandbox.read("y") == b"room again\n"
