"""Which engine is meant, and that nothing of it is assumed to be on this machine; whole runs on it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from reeval.errors import PlanError
from reeval.sandboxes.docker.engine.address import SOCKET, engine_address
from reeval.sandboxes.docker.kind import DockerSandboxKind
from tests.sandboxes.docker.site import BUSYBOX, DockerSite, needs_engine

FORWARD = """
import socket, sys, threading
def forward(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    near, _ = listener.accept()
    far = socket.socket(socket.AF_UNIX)
    far.connect(sys.argv[1])
    for pair in ((near, far), (far, near)):
        threading.Thread(target=forward, args=pair, daemon=True).start()
"""


@pytest.fixture
def contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration of the docker command with the context ``far``."""
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    meta = tmp_path / "contexts" / "meta" / sha256(b"far").hexdigest()
    meta.mkdir(parents=True)
    far = {"Name": "far", "Metadata": {}, "Endpoints": {"docker": {"Host": "tcp://far:2375", "SkipTLSVerify": False}}}
    (meta / "meta.json").write_text(json.dumps(far))
    return tmp_path


def test_an_engine_is_found_as_by_the_docker_command(contexts: Path) -> None:
    assert engine_address({}).url in {f"unix://{SOCKET}", "unix:///run/podman/podman.sock"}
    assert engine_address({"DOCKER_CONTEXT": "far"}).url == "tcp://far:2375"
    (contexts / "config.json").write_text('{"currentContext": "far"}')
    found = engine_address({})
    assert (found.url, found.why) == ("tcp://far:2375", "the docker context 'far'")
    found = engine_address({"DOCKER_HOST": "tcp://here:1", "DOCKER_CONTEXT": "far"})
    assert (found.url, found.why) == ("tcp://here:1", "DOCKER_HOST")


def test_a_context_that_is_not_there_is_said(contexts: Path) -> None:
    with pytest.raises(PlanError, match="there is no docker context 'gone'"):
        engine_address({"DOCKER_CONTEXT": "gone"})


@pytest.fixture
def over_tcp(docker: DockerSite, monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerSite]:
    """The same engine, reached over a network."""
    docker.containers()
    with subprocess.Popen([sys.executable, "-c", FORWARD, SOCKET], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{process.stdout.readline().strip()}")
        kind = DockerSandboxKind()
        yield DockerSite(docker.root, kind)
        kind.close()
        process.kill()


@needs_engine
@pytest.mark.anyio
async def test_an_engine_over_a_network_does_all_that_one_here_does(over_tcp: DockerSite) -> None:
    tree = over_tcp.tree({"workspace/a.txt": "a\n"})
    async with over_tcp.open(tree=tree) as sandbox:
        before = await sandbox.snapshot()
        assert (await sandbox.exec("cat a.txt; wc -c", stdin=b"x" * 3_000_000)).stdout == "a\n3000000\n"
        await sandbox.write("big", b"y" * 100_000)
        assert await sandbox.read("big") == b"y" * 100_000
        async with sandbox.start("read x; echo got $x", stdin="open") as process:
            await process.send(b"it\n")
            assert b"".join([chunk async for chunk in process.stdout()]) == b"got it\n"
        changes = await sandbox.changes(before, await sandbox.snapshot())
        assert [file.path for file in changes.files] == ["big"]


EVAL = """
from reeval import Attempt, evaluate
@evaluate("waits", runs=3)
async def waits(c: Attempt) -> None:
    assert (await c.exec("sleep {seconds}")).ok
"""
CONFIG = f"""
[defaults]
harness = "quiet"
sandbox = "box"
[harness.quiet]
kind = "fake"
[sandbox.box]
kind = "docker"
image = "{BUSYBOX}"
"""


def begun(site: DockerSite, seconds: float) -> subprocess.Popen[str]:
    project = site.root / "project"
    (project / "evals").mkdir(parents=True)
    (project / "reeval.config.toml").write_text(CONFIG)
    (project / "evals" / "a.eval.py").write_text(EVAL.format(seconds=seconds))
    site.root = project
    command = [sys.executable, "-m", "reeval", "run"]
    return subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@needs_engine
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_container(docker: DockerSite, number: signal.Signals) -> None:
    with begun(docker, 4321) as process:
        deadline = time.monotonic() + 30
        while sum(one["State"] == "running" for one in docker.containers()) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        process.communicate(timeout=40)
    assert process.returncode == 130
    assert docker.containers() == []


@needs_engine
def test_a_finished_run_leaves_no_container(docker: DockerSite) -> None:
    with begun(docker, 0) as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert f"box (docker, {BUSYBOX})" in said
    assert docker.containers() == []
