"""A second engine, for what would harm the first: it may be killed, and its disk may be filled."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import pytest

BRIDGE, ADDRESS = "reevaltest0", "10.231.7.1/24"
DISK = "200m"


class PrivateEngine:
    """A running ``dockerd`` with a socket and a small disk of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.url = f"unix://{directory}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """Start one; skip where that takes rights or programs that are not there."""
        if os.geteuid() != 0 or shutil.which("dockerd") is None:
            pytest.skip("a second container engine needs root and dockerd")
        directory = Path(tempfile.mkdtemp(prefix="reeval-engine-"))
        engine = cls(directory)
        (directory / "data").mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(directory / "data"))
        # One without a bridge would remove that of the first engine.
        _run("ip", "link", "add", BRIDGE, "type", "bridge")
        _run("ip", "addr", "add", ADDRESS, "dev", BRIDGE)
        _run("ip", "link", "set", BRIDGE, "up")
        try:
            engine.start()
            yield engine
        finally:
            engine.stop()
            subprocess.run(["ip", "link", "del", BRIDGE], check=False)
            _unmounted(directory)
            shutil.rmtree(directory, ignore_errors=True)

    def start(self) -> None:
        own = self.directory
        with (own / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    "dockerd", "-H", self.url, "--data-root", f"{own}/data", "--exec-root", f"{own}/exec",
                    "--pidfile", f"{own}/docker.pid", "--iptables=false", f"--bridge={BRIDGE}", "--log-level", "warn",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + 30
        while not self._answers():
            assert time.monotonic() < deadline, (own / "log").read_text()[-2000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as a crash would, with the program that holds its containers."""
        assert self._process is not None
        for pid in self._kin():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                self._process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(20)
            self.kill()

    def _kin(self) -> list[int]:
        """The processes that were started for this engine: by the path of its own directory in their command."""
        found = []
        for path in Path("/proc").iterdir():
            if path.name.isdecimal() and int(path.name) != os.getpid():
                with suppress(OSError):
                    if os.fsencode(f"{self.directory}/") in (path / "cmdline").read_bytes():
                        found.append(int(path.name))
        return found

    def _answers(self) -> bool:
        done = subprocess.run(["docker", "-H", self.url, "version"], capture_output=True, check=False)
        return done.returncode == 0


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _unmounted(directory: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((one for one in mounts if one.startswith(f"{directory}/")), reverse=True):
        subprocess.run(["umount", "-l", mount], check=False, capture_output=True)
