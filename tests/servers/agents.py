"""A model server on loopback for real agents: four wire forms, a model that does what its prompt says, and faults.

    with AgentServer() as server:
        server.url("ok")            # the base URL of a run without faults, before /v1 or /v1beta
        server.url("limited-2")     # its first two requests are refused with 429
        server.requests("ok")       # what was asked in it

The part of the path before the provider's own says what happens: ``ok``; ``limited-N`` (the first N requests get 429);
``limited`` (all of them); ``busy`` (503); ``no-key`` (401); ``tells-key`` (401, with the key in its text);
``overflow`` (the prompt is too long); ``empty`` (no text); ``hang`` (no answer); ``cut`` (half a stream). Started as a
program it prints its URL and serves until its standard input ends.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

if __name__ == "__main__":  # a program finds its neighbors from the project's root
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.servers.obedient import Say, Spent, act_on, heard
from tests.servers.speech import Form, form_of

__all__ = ["AgentServer", "Asked", "closed_port"]

REFUSALS = {
    "no-key": (401, "invalid x-api-key", "invalid_api_key"),
    "tells-key": (401, "Incorrect API key provided: {key}", "invalid_api_key"),
    "limited": (429, "Rate limit reached for requests", "rate_limit_exceeded"),
    "busy": (503, "The engine is currently overloaded, please try again later", "overloaded"),
    "overflow": (400, "", "context_length_exceeded"),
}


@dataclass(frozen=True)
class Asked:
    """One request for an answer."""

    path: str
    headers: dict[str, str]
    """By name in lower case."""
    body: dict[str, Any]


class AgentServer:
    """Serves from threads of its own until the block ends."""

    def __init__(self) -> None:
        self._asked: dict[str, list[Asked]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def url(self, run: str) -> str:
        """Return the base URL of a run: what happens in it, and after ``.`` a word to tell it from others."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{run}"

    def requests(self, run: str) -> list[Asked]:
        """Return what was asked for an answer in a run, in order."""
        with self._lock:
            return list(self._asked.get(run, ()))

    def received(self, run: str, asked: Asked) -> int:
        """Keep a request and return how many there were before it."""
        with self._lock:
            known = self._asked.setdefault(run, [])
            known.append(asked)
            return len(known) - 1


def closed_port() -> int:
    """Return a port of loopback on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class _Handler(BaseHTTPRequestHandler):
    owner: AgentServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the agent may leave
            super().handle()

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        _, _, path = self._place()
        if self.headers.get("upgrade"):
            self._send(426, {"error": {"message": "no WebSocket here"}})
        elif path.partition("?")[0].endswith("/models"):
            self._send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})
        else:
            self._send(404, {"error": {"message": f"there is no {path}", "type": "not_found_error"}})

    def do_POST(self) -> None:
        body = self._body()
        run, fault, path = self._place()
        if path.partition("?")[0].endswith(("/count_tokens", ":countTokens")):
            self._send(200, {"input_tokens": 1000, "totalTokens": 1000})
            return
        form = form_of(path)
        if form is None:
            self._send(404, {"error": {"message": f"there is no {path}", "type": "not_found_error"}})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        before = self.owner.received(run, Asked(path, headers, body))
        fault, _, first = fault.partition("-") if fault.startswith("limited-") else (fault, "", "")
        if fault == "hang":
            time.sleep(600)
        elif fault in REFUSALS and (not first or before < int(first)):
            status, message, code = REFUSALS[fault]
            bearer = headers.get("authorization", "").removeprefix("Bearer ")
            key = headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer
            said = message.format(key=key) or form.overflow
            self._send(status, form.error(status, said, code), {"retry-after": "0"})
        else:
            self._answer(form, path, body, fault)

    def _answer(self, form: Form, path: str, body: dict[str, Any], fault: str) -> None:
        ask = heard(form.kind, body)
        step = Say("") if fault == "empty" and ask.tools else act_on(ask)
        model = path.rpartition("/")[2].partition(":")[0] if form.kind == "gemini" else body.get("model", "scripted")
        answer = form.answer(model, step, Spent(ask.step))
        if body.get("stream") or ":stream" in path:
            self._stream(form, answer, cut=fault == "cut")
        else:
            self._send(200, answer)

    def _stream(self, form: Form, answer: dict[str, Any], *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        events = list(form.events(answer))
        for name, data in events[: len(events) // 2] if cut else events:
            head = f"event: {name}\n" if name else ""
            self._chunk(f"{head}data: {json.dumps(data)}\n\n")
        if cut:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._chunk(form.ending)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        if text:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text.encode()), text.encode()))
            self.wfile.flush()

    def _send(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": len(data), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _place(self) -> tuple[str, str, str]:
        """Return the run, what happens in it, and the provider's own path."""
        run, _, path = self.path.lstrip("/").partition("/")
        return run, run.partition(".")[0], f"/{path}"

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("content-length")
        data = self.rfile.read(int(length)) if length else b"".join(self._chunks())
        if self.headers.get("content-encoding") == "gzip":
            data = zlib.decompress(data, wbits=31)
        found = json.loads(data or b"{}")
        return found if isinstance(found, dict) else {}

    def _chunks(self) -> Any:
        while size := int(self.rfile.readline().strip() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()


if __name__ == "__main__":
    with AgentServer() as serving:
        print(serving.url(""), flush=True)  # noqa: T201
        sys.stdin.read()
