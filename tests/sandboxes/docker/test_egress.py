"""What can be connected to from a container? A real engine, a real proxy, and servers on the engine's own machine."""

from __future__ import annotations

import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import anyio
import pytest

from reeval.errors import InfrastructureError
from reeval.protocols import Sandbox
from reeval.sandboxes.docker.labels import filtered
from reeval.schema.environment import Egress
from reeval.schema.recorded.network import RefusedRecord
from tests.sandboxes.docker.site import DockerSite, needs_engine, needs_python

pytestmark = [pytest.mark.anyio, needs_engine, needs_python]

FETCH = """
import sys, urllib.request, urllib.error
try:
    with urllib.request.urlopen(sys.argv[1], timeout=20) as answer:
        print(answer.status, answer.read().decode().strip())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode().strip())
except OSError as error:
    print("error", error)
"""
DIRECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=4)
    print("connected")
except OSError as error:
    print("error", error)
"""


@contextmanager
def serving(*, location: str | None = None) -> Iterator[int]:
    """Serve on every address of this machine: ``hello``, or a redirect; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302 if location else 200)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: Any) -> None: ...

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("0.0.0.0", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def gateway() -> str:
    """The engine's machine, as seen from its default network."""
    shown = subprocess.run(["ip", "-4", "-o", "addr", "show", "docker0"], capture_output=True, text=True, check=True)
    return shown.stdout.split()[3].partition("/")[0]


async def fetched(sandbox: Sandbox, url: str) -> str:
    return (await sandbox.exec(["python3", "-c", FETCH, url])).stdout.strip()


async def direct(sandbox: Sandbox, host: str, port: int) -> str:
    return (await sandbox.exec(["python3", "-c", DIRECT, host, str(port)])).stdout.strip()


class Held:
    """Opens containers under a policy, and collects what is refused."""

    def __init__(self, site: DockerSite) -> None:
        self.site = site
        self.refused: list[RefusedRecord] = []

    def open(self, *hosts: str, mode: str = "allow", of_models: tuple[str, ...] = ()) -> Any:
        egress = Egress(mode=mode, hosts=hosts) if hosts or mode != "allow" else None  # type: ignore[arg-type]
        return self.site.kind.open(self.site.request(egress=egress, hosts=of_models, refused=self.refused.append))


@pytest.fixture
async def held(docker_python: DockerSite) -> Any:
    yield Held(docker_python)
    await docker_python.kind.finish(docker_python.root, 0)
    labels = filtered(docker_python.root)
    assert not docker_python.engine.now(lambda client: client.networks(filters=labels))
    assert not docker_python.containers()


async def test_a_named_host_is_reached_and_no_other(held: Held) -> None:
    with serving() as port, serving() as other:
        async with held.open(f"host.docker.internal:{port}") as sandbox:
            assert await fetched(sandbox, f"http://host.docker.internal:{port}/") == "200 hello"
            assert (await fetched(sandbox, f"http://host.docker.internal:{other}/")).startswith("403 reeval: ")
            assert (await fetched(sandbox, f"http://host.docker.internal:{other}/again")).startswith("403")
            assert "403" in await fetched(sandbox, "https://example.com/")
    found = {(one.host, one.port): one for one in held.refused}
    assert found.keys() == {("host.docker.internal", other), ("example.com", 443)}
    assert found["host.docker.internal", other].count == 2
    assert found["host.docker.internal", other].why == "its port is not allowed"
    assert found["example.com", 443].why == "it is not allowed"
    assert found["example.com", 443].first > 1_700_000_000_000


async def test_an_address_stands_for_no_name(held: Held) -> None:
    with serving() as port:
        async with held.open(f"host.docker.internal:{port}") as sandbox:
            assert (await fetched(sandbox, f"http://{gateway()}:{port}/")).startswith("403")
    assert [one.host for one in held.refused] == [gateway()]


async def test_a_redirect_leads_nowhere_else(held: Held) -> None:
    with serving() as goal, serving(location=f"http://{gateway()}:{goal}/") as port:
        async with held.open(f"host.docker.internal:{port}") as sandbox:
            assert (await fetched(sandbox, f"http://host.docker.internal:{port}/")).startswith("403")


async def test_a_name_of_a_private_address_is_not_public(held: Held) -> None:
    async with held.open("host.docker.internal") as sandbox:
        assert "its address is not in the public network" in await fetched(sandbox, "http://host.docker.internal/")


@pytest.mark.parametrize("mode", ["allow-all", "allow"])
async def test_nothing_is_reached_past_the_proxy(held: Held, mode: str) -> None:
    with serving() as port:
        async with held.open("example.com", mode=mode) as sandbox:
            for host in (gateway(), "1.1.1.1", "host.docker.internal"):
                assert (await direct(sandbox, host, port)).startswith("error")
            assert "403" in await fetched(sandbox, f"http://{gateway()}:{port}/")
            assert "403" in await fetched(sandbox, f"http://127.0.0.2:{port}/")
            assert "403" in await fetched(sandbox, "http://169.254.169.254/latest/meta-data/")
            assert "403" in await fetched(sandbox, f"http://[::ffff:10.0.0.1]:{port}/")


async def test_names_are_not_looked_up_and_that_is_soon_known(held: Held) -> None:
    async with held.open("example.com") as sandbox:
        look = (
            "import socket, time; t = time.time()\ntry: socket.getaddrinfo('secret.example.org', 80); print('found')\n"
        )
        done = await sandbox.exec(["python3", "-c", f"{look}except OSError: print(time.time() - t < 8)"])
        assert done.stdout == "True\n"


async def test_without_a_policy_only_the_models_are_reached(held: Held) -> None:
    with serving() as port:
        async with held.open(of_models=(f"host.docker.internal:{port}",)) as sandbox:
            assert await fetched(sandbox, f"http://host.docker.internal:{port}/") == "200 hello"
        async with held.open(mode="deny-all", of_models=(f"host.docker.internal:{port}",)) as sandbox:
            assert (await fetched(sandbox, f"http://host.docker.internal:{port}/")).startswith("error")


async def test_a_lost_proxy_is_told_and_not_that_nothing_was_refused(held: Held) -> None:
    engine, found = held.site.engine, filtered(held.site.root)

    async def loses_its_proxy() -> None:
        async with held.open("example.com"):
            names = [one["Names"][0] for one in engine.now(lambda client: client.containers(filters=found))]
            proxy = next(name for name in names if name.startswith("/reeval-proxy-"))
            engine.now(lambda client: client.remove_container(proxy.lstrip("/"), force=True))

    with pytest.raises(InfrastructureError, match="the proxy of allowed hosts: it"):
        await loses_its_proxy()
    assert held.refused == []
    async with held.open("example.com") as sandbox:
        assert "403" in await fetched(sandbox, "http://example.org/"), "the next attempt has another one"


async def test_forty_attempts_at_once_have_a_network_each(held: Held) -> None:
    with serving() as port:
        answers: list[str] = []

        async def one() -> None:
            async with held.open(f"host.docker.internal:{port}") as sandbox:
                answers.append(await fetched(sandbox, f"http://host.docker.internal:{port}/"))

        async with anyio.create_task_group() as tasks:
            for _ in range(40):
                tasks.start_soon(one)
    assert answers == ["200 hello"] * 40


async def test_an_attempt_cannot_reach_another(held: Held) -> None:
    async with held.open("example.com") as first, held.open("example.com") as second:
        address = (await first.exec(["hostname", "-i"])).stdout.split()[0]
        async with first.start(["python3", "-m", "http.server", "8000"]):
            await anyio.sleep(0.5)
            assert (await direct(second, address, 8000)).startswith("error")
            assert "403" in await fetched(second, f"http://{address}:8000/")


async def test_an_image_without_python_is_told_what_to_name(docker: DockerSite) -> None:
    from reeval.errors import InfrastructureError

    with pytest.raises(InfrastructureError, match="proxy_image"):
        async with docker.open(egress=Egress(mode="allow", hosts=("example.com",))):
            pass
