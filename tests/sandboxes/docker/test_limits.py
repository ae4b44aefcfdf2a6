"""What a container may use, and what is said when it uses it up."""

from __future__ import annotations

import time
from contextlib import suppress

import anyio
import pytest

from reeval.errors import InfrastructureError, Phase
from tests.sandboxes.docker.site import DockerSite, needs_engine

pytestmark = [pytest.mark.anyio, needs_engine]

HOG = "awk 'BEGIN { x = \"0123456789\"; while (1) x = x x }'"
BOMB = """awk 'BEGIN { while (1) system("sleep 4321 &") }'"""
"""It goes on when nothing can be started any more, where a shell would give up."""


async def test_a_command_that_is_out_of_memory_is_an_error_that_names_the_limit(docker: DockerSite) -> None:
    async with docker.open(options={"memory": "32m"}) as sandbox:
        assert (await sandbox.exec("exit 137")).exit_code == -9
        with pytest.raises(InfrastructureError) as caught:
            await sandbox.exec(HOG)
        assert caught.value.phase is Phase.SANDBOX
        assert str(caught.value) == (
            "out of memory: memory = '32m' of the sandbox was used up, and a process was killed; raise it"
        )
        assert (await sandbox.exec("echo the others live")).exit_code == 0


async def test_a_child_that_is_out_of_memory_is_an_error_when_its_command_fails(docker: DockerSite) -> None:
    async with docker.open(options={"memory": "32m"}) as sandbox:
        with pytest.raises(InfrastructureError, match="out of memory"):
            await sandbox.exec(f"{HOG}; exit 1")
        assert (await sandbox.exec(f"{HOG}; exit 0")).exit_code == 0
        assert (await sandbox.exec("exit 1")).exit_code == 1


async def test_a_container_whose_first_process_is_out_of_memory_is_an_error_that_names_the_limit(
    docker: DockerSite,
) -> None:
    async with docker.open(options={"memory": "16m"}) as sandbox:
        # What lies in memory as a file is not given back when a process is killed.
        fill = "dd if=/dev/zero of=/dev/shm/x bs=1M count=64"
        with pytest.raises(InfrastructureError, match="out of memory: memory = '16m'"):
            await sandbox.exec(fill)
        with pytest.raises(InfrastructureError, match="out of memory: memory = '16m'"):
            await sandbox.exec(fill)


async def test_a_fork_bomb_ends_with_its_command(docker: DockerSite) -> None:
    async with docker.open(options={"processes": 60}) as sandbox:
        with anyio.move_on_after(2) as scope:
            await sandbox.exec(BOMB)
        assert scope.cancelled_caught
        assert (await sandbox.exec("ps | grep -c '[s]leep 4321'")).stdout.strip() == "0"


async def test_a_fork_bomb_that_goes_on_ends_with_the_attempt(docker: DockerSite) -> None:
    began = time.monotonic()
    async with docker.open(options={"processes": 60}) as sandbox:
        await sandbox.exec(f"{BOMB} >/dev/null 2>&1 &")
        await anyio.sleep(1)
        with suppress(InfrastructureError):  # The engine itself may find no room for a process.
            await sandbox.exec("echo what needs no process may work")
    assert docker.containers() == []
    assert time.monotonic() - began < 60


async def test_limits_reach_the_engine(docker: DockerSite) -> None:
    options = {"cpus": 0.5, "memory": "64m", "processes": 99}
    async with docker.open(options=options):
        (found,) = docker.containers()
        host = docker.engine.now(lambda client: client.inspect_container(found["Id"]))["HostConfig"]
    assert (host["NanoCpus"], host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (5 * 10**8, 2**26, 2**26, 99)


async def test_a_disk_limit_that_the_engine_cannot_hold_is_refused(docker: DockerSite) -> None:
    with pytest.raises(InfrastructureError, match=r"cannot limit disk .* drop disk"):
        async with docker.open(options={"disk": "100m"}):
            pass


async def test_a_full_disk_is_output_of_a_command_and_an_error_of_a_write(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        # The one file system of a container that is small whatever the engine is: 64 MB.
        done = await sandbox.exec("ln -s /dev/shm full; dd if=/dev/zero of=full/x bs=1M")
        assert done.exit_code == 1
        assert "No space left on device" in done.stderr
