"""What an isolated sandbox keeps from the host, and what it gives."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from reeval.schema.environment import Egress
from tests.sandboxes.site import Site, needs_bubblewrap

pytestmark = [pytest.mark.anyio, needs_bubblewrap]


async def test_the_host_is_neither_readable_nor_writable(isolated: Site) -> None:
    secret = isolated.root / "secret"
    secret.write_text("s3cret")
    async with isolated.open() as sandbox:
        read = await sandbox.exec(f"cat {secret}; ls {isolated.root} {Path.home()}/.ssh /etc/shadow /sys /boot")
        write = await sandbox.exec("touch /x; touch /usr/x; touch /etc/x; echo x > /etc/passwd; mount -t tmpfs x /tmp")
        await sandbox.exec(f"mkdir -p /tmp/a; echo x > /tmp{secret}")
    assert read.stdout == ""
    assert "s3cret" not in read.stdout + read.stderr
    assert write.stdout == ""
    assert write.stderr.count("Read-only file system") == 4
    assert "mount: /tmp: " in write.stderr
    assert secret.read_text() == "s3cret"


async def test_what_records_changes_is_out_of_reach(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        before = await sandbox.snapshot()
        await sandbox.write("a.txt", b"x")
        await sandbox.changes(before, await sandbox.snapshot())
        found = await sandbox.exec("find / -name owner.json -o -name objects -path '*state*' 2>/dev/null")
    assert found.stdout == ""


async def test_processes_have_no_privileges_and_see_no_others(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        result = await sandbox.exec(
            "id -u; id -un; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status; ls -d /proc/[0-9]*; hostname"
        )
    lines = result.stdout.split()
    assert lines[:2] == ["1000", "agent"]
    assert [lines[number] for number in (3, 5, 7, 9)] == ["0000000000000000"] * 4
    assert len([line for line in lines if line.startswith("/proc/")]) <= 4
    assert lines[-1] == "sandbox"


async def test_a_setuid_program_gives_nothing(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        result = await sandbox.exec(
            "cp $(command -v id) ./id && chmod 4755 id && ./id -u; awk '$2==\"/usr\"{print $4}' /proc/mounts"
        )
    uid, options = result.stdout.split()
    assert uid == "1000"
    assert {"ro", "nosuid", "nodev"} <= set(options.split(","))


async def test_the_users_terminal_is_out_of_reach(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        result = await sandbox.exec("echo x > /dev/tty; echo code $?")
    assert "code 2" in result.stdout or "code 1" in result.stdout


async def test_usual_devices_and_directories_work(isolated: Site) -> None:
    script = """
    set -e
    echo x > /dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c
    echo a | cat /dev/stdin; echo b > /dev/stdout; cat < /dev/fd/0 < /dev/null
    echo x > /dev/shm/x; echo x > /var/tmp/x; test -d /run; ls /tmp
    python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'
    python3 -c 'import ssl; print(len(ssl.create_default_context().get_ca_certs()) >= 0)'
    """
    async with isolated.open() as sandbox:
        result = await sandbox.exec(script)
    assert (result.stdout, result.exit_code) == ("4\n4\na\nb\nx\n[1, 2]\nTrue\n", 0), result.stderr


async def test_without_network_only_the_attempts_own_servers_can_be_reached(isolated: Site) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('reached')"
    serve = f"import http.server as h; h.HTTPServer(('127.0.0.1', {port}), h.SimpleHTTPRequestHandler).serve_forever()"
    fetch = (
        "import time, urllib.request as u\n"
        "for _ in range(100):\n"
        f"    try: print(u.urlopen('http://localhost:{port}/hi.txt').read()); break\n"
        "    except OSError: time.sleep(0.05)"
    )
    with listener:
        async with isolated.open(egress=Egress(mode="deny-all")) as sandbox:
            denied = await sandbox.exec(["python3", "-c", connect])
            interfaces = await sandbox.exec("tail -n +3 /proc/net/dev | cut -d: -f1")
            await sandbox.write("hi.txt", b"hi")
            async with sandbox.start(["python3", "-c", serve]):
                served = await sandbox.exec(["python3", "-c", fetch])
        async with isolated.open() as sandbox:
            allowed = await sandbox.exec(["python3", "-c", connect])
    assert not denied.ok
    assert interfaces.stdout.split() == ["lo"]
    assert served.stdout == "b'hi'\n", served.stderr
    assert allowed.stdout == "reached\n"


async def test_paths_given_as_read_only_are_seen_and_not_writable(isolated: Site) -> None:
    tools = isolated.root / "tools"
    tools.mkdir()
    (tools / "data").write_text("given")
    async with isolated.open(options={"read_only": [str(tools)]}) as sandbox:
        result = await sandbox.exec(f"cat {tools}/data; echo x > {tools}/data")
    assert result.stdout == "given"
    assert not result.ok
    assert (tools / "data").read_text() == "given"


async def test_a_path_below_etc_can_be_given_too(isolated: Site) -> None:
    async with isolated.open(options={"read_only": ["/etc/os-release", "/etc/profile.d"]}) as sandbox:
        result = await sandbox.exec("cat /etc/os-release; ls -d /etc/profile.d; ls /etc | wc -l")
    async with isolated.open() as sandbox:
        other = await sandbox.exec("cat /etc/os-release")
    directory, count = result.stdout.split()[-2:]
    assert directory == "/etc/profile.d"
    assert int(count) < 20
    assert result.stderr == ""
    assert other.stdout == ""


async def test_what_the_agent_writes_belongs_to_the_user_who_runs_reeval(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        await sandbox.exec("echo x > a")
        assert (isolated.host_workspace() / "a").stat().st_uid == os.geteuid()


async def test_the_same_paths_are_seen_on_every_machine(isolated: Site) -> None:
    async with isolated.open() as sandbox:
        result = await sandbox.exec('echo "$PWD $HOME $TMPDIR $PATH"')
    *paths, path = result.stdout.split()
    assert paths == ["/workspace", "/home/agent", "/tmp"]
    assert path.split(":")[0] == f"{sys.base_prefix}/bin"
