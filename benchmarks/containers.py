"""What does reeval add to a container engine? Attempts beside bare containers, in turns, through the same API.

    python benchmarks/containers.py                 every row
    python benchmarks/containers.py --image IMAGE   another image than that of the examples

A bare container is made, started, made to run one command and removed, by the ``docker`` package and nothing else. An
attempt is the same through a sandbox of reeval, and through whole ``reeval run`` processes. Nothing here fails a build.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import docker
from measure import REEVAL, measure
from projects import make_project

from reeval.protocols import HarnessKind, SandboxRequest
from reeval.sandboxes.docker.kind import DockerSandboxKind
from reeval.schema.environment import SetupStep

AGENT = HarnessKind(name="agent", options=object, open=lambda *_: None)  # type: ignore[arg-type, return-value]
ROUNDS, AT_ONCE, MANY = 15, 8, 24
BODY = """
from reeval import evaluate
@evaluate("one command", runs={runs})
async def one(c):
    assert (await c.exec("true")).ok
"""
CONFIG = '[defaults]\nharness = "quiet"\nsandbox = "docker"\n[harness.quiet]\nkind = "fake"\n'


def bare(client: Any, image: str) -> None:
    """Run one command in a container of its own."""
    host = client.create_host_config(network_mode="none", cap_drop=["ALL"], security_opt=["no-new-privileges"])
    id = client.create_container(image, ["sleep", "300"], host_config=host, user="1000:1000", entrypoint=[])["Id"]
    client.start(id)
    process = client.exec_create(id, ["/bin/sh", "-c", "true"])["Id"]
    for _ in client.exec_start(process, stream=True):
        pass
    assert client.exec_inspect(process)["ExitCode"] == 0
    client.remove_container(id, force=True, v=True)


async def attempt(kind: DockerSandboxKind, request: SandboxRequest) -> None:
    """Run one command in a sandbox of its own."""
    async with kind.open(request) as sandbox:
        assert (await sandbox.exec("true")).ok


def requested(kind: DockerSandboxKind, image: str, root: Path, **parts: Any) -> SandboxRequest:
    planned = kind.plan("docker", {"image": image}, AGENT, root)
    return SandboxRequest(key="a@b", run_id="bench", sandbox=planned, root=root, **parts)


async def one_by_one(client: Any, kind: DockerSandboxKind, request: SandboxRequest, image: str) -> tuple[float, float]:
    """Return the median seconds of a bare container and of an attempt, taken in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        await anyio.to_thread.run_sync(bare, client, image)
        between = time.perf_counter()
        await attempt(kind, request)
        times[0].append(between - began)
        times[1].append(time.perf_counter() - between)
    return statistics.median(times[0][1:]), statistics.median(times[1][1:])


def many_bare(client: Any, image: str) -> float:
    """Return how many containers a second the engine manages, eight at once."""
    began = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: bare(client, image), range(MANY)))
    return MANY / (time.perf_counter() - began)


async def many_attempts(kind: DockerSandboxKind, request: SandboxRequest) -> float:
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def limited() -> None:
        async with limiter:
            await attempt(kind, request)

    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(MANY):
            tasks.start_soon(limited)
    return MANY / (time.perf_counter() - began)


async def cached_start(kind: DockerSandboxKind, image: str, root: Path) -> tuple[float, float]:
    """Return the seconds of the first and second attempt with a setup step of 10 s that may be cached."""
    step = SetupStep(run=f"sleep 10; echo {os.getpid()} > made", cache=True)
    request = requested(kind, image, root, cached=(step,))
    times = []
    for _ in range(2):
        began = time.perf_counter()
        await kind.prepare(request)
        async with kind.open(request):
            times.append(time.perf_counter() - began)
    return times[0], times[1]


def whole_run(image: str, runs: int) -> float:
    """Return the wall seconds of a process that runs so many attempts, eight at once."""
    config = f'{CONFIG}[sandbox.docker]\nkind = "docker"\nimage = "{image}"\n'
    project = make_project(Path(tempfile.mkdtemp(prefix="reeval-bench-")) / "p", BODY.format(runs=runs), config=config)
    command = [*REEVAL, "run", "-n", str(AT_ONCE)]
    measure(command, project)
    return measure(command, project).wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", default="reeval-examples:1")
    image = parser.parse_args().image
    client, kind = docker.APIClient(version="auto", max_pool_size=64), DockerSandboxKind()
    root = Path(tempfile.mkdtemp(prefix="reeval-bench-"))
    request = requested(kind, image, root)
    anyio.run(kind.prepare, request)

    alone, ours = anyio.run(partial(one_by_one, client, kind, request, image))
    print(f"bare container, one command       {alone * 1000:6.0f} ms")
    print(f"attempt, one command              {ours * 1000:6.0f} ms   {ours / alone:.2f} × bare (aim: 1.25)")
    rates = [(many_bare(client, image), anyio.run(many_attempts, kind, request)) for _ in range(3)]
    engine, reached = (statistics.median(column) for column in zip(*rates, strict=True))
    print(f"bare, {AT_ONCE} at once                    {engine:6.2f} /s")
    print(f"attempts, {AT_ONCE} at once                {reached:6.2f} /s   {reached / engine:.2f} of bare (aim: 0.9)")
    few, lots = whole_run(image, 1), whole_run(image, MANY)
    print(f"reeval run, 1 attempt             {few * 1000:6.0f} ms")
    rate = MANY / (lots - few + ours)
    print(f"reeval run, {MANY} attempts, {AT_ONCE} at once {rate:6.2f} /s   {rate / engine:.2f} of bare")
    first, second = anyio.run(cached_start, kind, image, root)
    print(f"setup of 10 s, first attempt      {first:6.2f} s")
    print(f"setup of 10 s, second attempt     {second:6.2f} s    (aim: 1)")


if __name__ == "__main__":
    main()
