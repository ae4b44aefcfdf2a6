"""How requests travel: over TLS, through a proxy that the host's variables name, on connections that are kept."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.models.bench import Bench, ask
from tests.servers.models import ANSWER, CERTIFICATE, Act, ModelServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[Bench]:
    """A model behind TLS."""
    with ModelServer(tls=True) as server:
        yield Bench(kind="openai-chat", server=server, root=tmp_path)


@asynccontextmanager
async def proxy(asked: list[str]) -> AsyncIterator[str]:
    """Serve as a proxy that keeps the head of each request; yields its URL without a scheme."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head)
        method, target, *_ = head.split()
        host, _, port = target.removeprefix("http://").partition("/")[0].partition(":")
        there, onward = await asyncio.open_connection(host, int(port))
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            onward.write(head.replace(f"http://{host}:{port}", "").encode())
        await asyncio.gather(pump(reader, onward), pump(there, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        server.close()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    except ConnectionError:
        pass
    finally:
        writer.close()


async def test_a_server_whose_certificate_is_trusted_is_asked_over_tls(
    secure: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    secure.server.acts = [Act(raw=b"x" * 3_000_000), Act(), Act(fault="cut"), Act()]
    assert "more than 2 MB" in await secure.error()
    async with secure.pool() as pool:
        assert (await pool.answer("it", ask())).tries == 1
        assert (await pool.answer("it", ask(prompt="x" * 500_000))).tries == 2


async def test_a_server_whose_certificate_is_not_trusted_is_sent_nothing(secure: Bench) -> None:
    text = await secure.error()
    assert "could not be reached (" in text
    assert "certificate verify failed" in text
    assert not secure.asked


async def test_a_proxy_that_the_hosts_variables_name_is_used_with_its_login(
    chat: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    async with proxy(asked) as address:
        monkeypatch.setenv("http_proxy", f"http://me:p%40ss@{address}")
        assert (await chat.answer()).data == ANSWER
    assert asked[0].startswith(f"POST {chat.server.url}/chat/completions HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {b64encode(b'me:p@ss').decode()}\r\n" in asked[0]
    assert chat.asked == 1


async def test_tls_goes_through_a_proxy_unread(secure: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    asked: list[str] = []
    async with proxy(asked) as address:
        monkeypatch.setenv("https_proxy", address)
        assert (await secure.answer()).data == ANSWER
    (head,) = asked
    assert head.startswith("CONNECT localhost:")


async def test_no_proxy_is_used_for_a_host_that_is_excepted(chat: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "example.com,127.0.0.1")
    assert (await chat.answer()).data == ANSWER


async def test_a_proxy_of_another_kind_is_told(chat: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:9")
    assert "cannot be asked through the proxy of the kind 'socks5'" in await chat.error()
    assert not chat.asked


async def test_a_login_in_the_base_url_is_sent(chat: Bench) -> None:
    await chat.answer(key=None, base_url=chat.server.url.replace("http://", "http://me:p%40ss@"))
    headers = chat.server.requests[0].headers
    assert headers["authorization"] == f"Basic {b64encode(b'me:p@ss').decode()}"
    assert headers["host"] == chat.server.url.split("/")[2]


async def test_calls_one_after_the_other_share_a_connection(remote: Bench) -> None:
    async with remote.pool() as pool:
        for _ in range(5):
            await pool.answer("it", ask())
    assert (remote.asked, remote.server.connections) == (5, 1)


async def test_a_connection_that_the_server_left_costs_no_try(chat: Bench) -> None:
    chat.server.patience = 0.1
    async with chat.pool() as pool:
        await pool.answer("it", ask())
        await anyio.sleep(0.5)
        assert (await pool.answer("it", ask())).tries == 1
    assert chat.server.connections == 2


async def test_a_call_that_is_given_up_leaves_its_connection(chat: Bench) -> None:
    chat.server.acts = [Act(delay=0.4)]
    async with chat.pool() as pool:
        with anyio.move_on_after(0.2):
            await pool.answer("it", ask())
        assert (await pool.answer("it", ask())).data == ANSWER
    assert chat.server.connections == 2
