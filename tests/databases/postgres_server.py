"""A PostgreSQL server of the tests' own, on loopback, as a user who is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

PASSWORD = "hunter2 & more"


def programs() -> Path | None:
    """Where ``initdb`` and ``postgres`` are; Debian keeps them off the PATH."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda it: int(it.parent.name), default=None)


@dataclass(frozen=True)
class Server:
    port: int

    def url(self, user: str = "owner", password: str = "hunter2%20%26%20more", database: str = "postgres") -> str:
        return f"postgres://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str) -> list[Any]:
        """Run statements as the superuser and return the rows of the last one."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            for one in statements:
                cursor = connection.execute(one.encode())
            return cursor.fetchall() if cursor.description else []


@contextmanager
def serving(bin: Path) -> Iterator[Server]:
    top = Path(tempfile.mkdtemp(prefix="pg-"))
    other = _other_user()
    try:
        (top / "password").write_text(PASSWORD)
        if other:
            for path in (top, top / "password"):
                os.chown(path, other.pw_uid, other.pw_gid)
        as_other: dict[str, Any] = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []} if other else {}
        initdb = [bin / "initdb", "-D", top / "data", "-U", "owner", "-A", "scram-sha-256", "-E", "UTF8", "--no-sync"]
        subprocess.run(
            [*initdb, "--locale=C", f"--pwfile={top / 'password'}"],
            check=True, capture_output=True, cwd=top, **as_other,
        )  # fmt: skip
        port = _free_port()
        options = [f"-c{it}" for it in ("listen_addresses=127.0.0.1", f"unix_socket_directories={top}", "fsync=off")]
        with (top / "log").open("wb") as log:
            process = subprocess.Popen(
                [bin / "postgres", "-D", top / "data", "-p", str(port), *options],
                stdout=log, stderr=log, cwd=top, **as_other,
            )  # fmt: skip
        try:
            server = Server(port)
            _wait(server, process, top / "log")
            yield server
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _other_user() -> Any:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("there is no user beside root")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
    raise AssertionError(log.read_text())
