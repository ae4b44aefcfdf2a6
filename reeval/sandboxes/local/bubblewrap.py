"""Does bubblewrap isolate on this machine, and what does a sandbox made with it look like inside?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from reeval.sandboxes.directories import AttemptDirectory

__all__ = ["HOME", "INSTALL", "PATH", "TMP", "WORKSPACE", "arguments", "entering", "problem", "write_etc"]

WORKSPACE, HOME, TMP = "/workspace", "/home/agent", "/tmp"  # noqa: S108 - the sandbox's own
USER = "1000"
INSTALL = "apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch)"
PATH = ":".join(
    dict.fromkeys(
        [
            f"{sys.base_prefix}/bin",
            *(f"/usr/{name}" for name in ("local/sbin", "local/bin", "sbin", "bin")),
            "/sbin",
            "/bin",
        ]
    )
)
"""The Python that runs reeval comes first, so that ``python3`` is the same on every machine."""

DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
ETC_COPIED = ("ld.so.cache",)
ETC_NETWORK = ("hosts", "nsswitch.conf")
ETC_MOUNTED = ("alternatives", "ca-certificates/extracted", "crypto-policies", "pki/ca-trust", "pki/tls/certs")
ETC_CERTIFICATES = ("ssl/certs", "ssl/openssl.cnf")
ETC_CHANGING = "resolv.conf"
"""Mounted and not copied: a laptop changes its network during a run.

All of these: what is seen of the host's ``/etc``, nothing that says who uses the machine.
"""

INIT = "trap 'c=1' CHLD; echo ready; while c=; read x || [ \"$c\" ]; do (:); done"
"""The first process. It ends when its standard input does, that is when reeval ends; as process 1 nothing in the
sandbox can kill it. A child that was left to it interrupts ``read``, and waiting for the subshell reaps that child."""


@cache
def problem() -> str | None:
    """Say in a few words why a process cannot be isolated here; None when it can."""
    if sys.platform != "linux":
        return "bubblewrap needs Linux"
    if shutil.which("bwrap") is None:
        return f"bubblewrap is missing: {INSTALL}"
    if shutil.which("nsenter") is None:
        return "nsenter is missing: install util-linux"
    return _trial()


def arguments(directory: AttemptDirectory, etc: Path, *, network: bool, read_only: Sequence[str]) -> list[str]:
    """Return the command that starts a sandbox, without the descriptor it reports to."""
    binds: list[str] = []
    for source, target in ((directory.tmp, TMP), (directory.workspace, WORKSPACE), (directory.home, HOME)):
        binds += ["--bind", source, target]
    for path in read_only:  # After /tmp, which may hold them.
        if path.startswith("/etc/"):
            _mountpoint(etc, path.removeprefix("/etc/"))
        binds += ["--ro-bind", path, path]
    net = [] if network else ["--unshare-net"]
    end = ["--remount-ro", "/", "--chdir", WORKSPACE, "--", "/bin/sh", "-c", INIT]
    return [*_system(etc, network=network), *net, *binds, *end]


def write_etc(above: Path, *, network: bool) -> Path:
    """Make what ``/etc`` is at first in sandboxes with or without a network, unless it is there; return where.

    A copy of a few small files in one directory, because every mount costs time at the start of every attempt.
    """
    etc = above / ("etc-network" if network else "etc")
    if etc.exists():
        return etc
    making = etc.with_suffix(".new")
    making.mkdir()
    for name in (*ETC_COPIED, *(ETC_NETWORK if network else ())):
        with suppress(OSError):
            shutil.copyfile(f"/etc/{name}", making / name)
    (making / "passwd").write_text(f"agent:x:{USER}:{USER}:agent:{HOME}:/bin/sh\n")
    (making / "group").write_text(f"agent:x:{USER}:\n")
    if not network:
        (making / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    for name in _mounted_etc(network=network):
        _mountpoint(making, name)
    making.rename(etc)
    return etc


def _mountpoint(etc: Path, name: str) -> None:
    target = etc / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if (Path("/etc") / name).is_dir():
        target.mkdir(exist_ok=True)
    else:
        target.touch()


def entering(pid: int, *, network: bool) -> list[str]:
    """Return what to put before a command to run it in the sandbox whose first process is ``pid``."""
    # Its options take optional values, so they cannot be written in one word.
    namespaces = ["-U", "--preserve-credentials", "-m", "-p", "-i", "-u", *([] if network else ["-n"])]
    return [_tool("nsenter"), "-t", str(pid), *namespaces, "-r", "-w", "--"]


@cache
def _tool(name: str) -> str:
    return shutil.which(name) or name


@cache
def _mounted_etc(*, network: bool) -> tuple[str, ...]:
    names = (*ETC_MOUNTED, *ETC_CERTIFICATES, *((ETC_CHANGING,) if network else ()))
    java = (path.name for path in Path("/etc").glob("java-*"))  # Debian's Java does not start without it.
    return tuple(name for name in (*names, *java) if (Path("/etc") / name).exists())


@cache
def _system(etc: Path, *, network: bool) -> tuple[str, ...]:
    """Return the part of the command that is the same for all sandboxes: namespaces, programs, devices."""
    # No --dev: it needs a second user namespace inside the first, which a process could then not enter.
    parts = [_tool("bwrap"), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
    parts += ["--uid", USER, "--gid", USER, "--hostname", "sandbox", "--as-pid-1"]
    parts += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = f"/{name}"
        if os.path.islink(path):  # noqa: PTH114 - beside readlink
            parts += ["--symlink", os.readlink(path), path]  # noqa: PTH115 - a text, as it stands
        elif Path(path).is_dir():
            parts += ["--ro-bind", path, path]
    if not sys.base_prefix.startswith("/usr"):
        parts += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    parts += ["--proc", "/proc", "--tmpfs", "/dev", "--dir", "/dev/shm"]  # noqa: S108 - the sandbox's own
    for name in DEVICES:
        parts += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        parts += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
    parts += ["--symlink", "/proc/self/fd", "/dev/fd", "--dir", "/run", "--dir", "/var", "--symlink", TMP, "/var/tmp"]  # noqa: S108
    parts += ["--ro-bind", str(etc), "/etc"]
    for name in _mounted_etc(network=network):
        parts += ["--ro-bind", f"/etc/{name}", f"/etc/{name}"]
    return tuple(parts)


def _trial() -> str | None:
    """Start a sandbox as an attempt would and enter it."""
    with tempfile.TemporaryDirectory(prefix="reeval.probe-") as made:
        directory = AttemptDirectory(Path(made), 1)
        directory.make()
        reader, writer = os.pipe()
        program, *rest = arguments(directory, write_etc(directory.shared, network=True), network=True, read_only=())
        command = [program, "--info-fd", str(writer), *rest]
        with (
            os.fdopen(reader, "rb") as info,
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(writer,),
                start_new_session=True,
            ) as init,
        ):
            os.close(writer)
            assert init.stdout is not None
            if (line := init.stdout.readline()) != b"ready\n":
                return _does_not_work(line)
            return _enter(info.read())


def _enter(info: bytes) -> str | None:
    command = [*entering(child_pid(info), network=True), "/bin/sh", "-c", "exit 7"]
    done = subprocess.run(command, check=False, capture_output=True)
    return None if done.returncode == 7 else _does_not_work(done.stderr)


def child_pid(info: bytes) -> int:
    """Return the host's number of the first process, from what bubblewrap reports."""
    import json

    return int(json.loads(info)["child-pid"])


def _does_not_work(output: bytes) -> str:
    said = output.decode("utf-8", "replace").strip().partition("\n")[0] or "it said nothing"
    return (
        f"bubblewrap does not work here ({said[:200]}): user namespaces may be off (Ubuntu: sysctl "
        "kernel.apparmor_restrict_unprivileged_userns=0; Docker: --security-opt seccomp=unconfined)"
    )
