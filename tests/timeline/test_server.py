"""A real LangGraph server, started here: its histories are told as those of our engine's graphs."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from graphs import engine
from programs import PROGRAMS
from test_told import streamed, told

import ckpt_viz
from ckpt_viz.errors import CheckpointNotFoundError, ReadOnlyError, SourceError
from ckpt_viz.timeline import compare, open_timeline
from ckpt_viz.timeline.server_acts import ServerRunError

HERE = Path(__file__).parent
SERVED = [name for name in PROGRAMS if name != "odd_values"]
LINE = 'pip install "langgraph-cli[inmem]"'


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a server that serves the programs."""
    command = shutil.which("langgraph", path=str(Path(sys.executable).parent))
    if command is None:
        text = f"No LangGraph server here. Type:  {LINE}"
        pytest.fail(text) if os.environ.get("CI") else pytest.skip(text)
    home = tmp_path_factory.mktemp("server")
    for name in ("served.py", "graphs.py", "programs.py"):
        shutil.copy(HERE / name, home)
    graphs = {name: f"./served.py:{name}" for name in [*SERVED, "slow"]}
    (home / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": graphs}))
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    env = {**os.environ, "LANGSMITH_TRACING": "false", "PYTHONPATH": str(home)}
    words = [command, "dev", "--no-browser", "--no-reload", "--port", str(port)]
    words += ["--n-jobs-per-worker", "8"]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(words, cwd=home, env=env, stdout=log, stderr=log)
    try:
        wait_for(address, process, home / "log")
        yield address
    finally:
        process.terminate()
        process.wait(20)


def wait_for(address: str, process: Any, log: Path, patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(f"{address}/ok", timeout=2):
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(log.read_text()[-3000:])
            time.sleep(0.1)


@pytest.fixture
def client(url):
    from langgraph_sdk import get_sync_client

    return get_sync_client(url=url)


def served(url: str, name: str) -> str:
    """Runs a program on the server; gives the thread."""
    from langgraph_sdk import get_sync_client

    client = get_sync_client(url=url)
    thread = client.threads.create()["thread_id"]
    for value in PROGRAMS[name](engine("ckpt_viz"), None)[1]:
        value = value[0] if isinstance(value, tuple) else value
        begin = {"input": value} if isinstance(value, dict) else {"command": {"resume": "yes"}}
        for _ in client.runs.stream(thread, name, **begin):
            pass
    return thread


@pytest.fixture(scope="module")
def threads(url):
    """Program -> the thread in which it ran; all at once, for each run waits for its turn."""
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(SERVED, pool.map(partial(served, url), SERVED), strict=True))


@pytest.mark.parametrize("name", SERVED)
def test_a_server_tells_what_the_engine_tells(url, threads, name):
    e = engine("ckpt_viz")
    graph, inputs = PROGRAMS[name](e, e.Saver())
    streamed(graph, inputs)
    found, real = open_timeline(url, threads[name]), open_timeline(graph, "1")
    pairs = zip(sorted(found.namespaces()), sorted(real.namespaces()), strict=True)
    for here, there in pairs:
        assert here.split(":")[0] == there.split(":")[0]
        wanted = told(real.at("1", there))
        if name == "parallel":  # servers tell nothing of the task behind a barrier but that it was
            for point in wanted[0]:
                for kind in ("made", "following"):
                    point[kind] = [(n, *_without(n, rest)) for n, *rest in point[kind]]
        assert told(found.at(found.thread_id, here)) == wanted
    assert compare(found, real).first is None


def _without(node: str, told_of: list[Any]) -> list[Any]:
    """What is told of a task, but for the result of the one behind the barrier."""
    return [told_of[0], None, *told_of[2:]] if node == "d" else told_of


def test_threads_and_what_is_not_there(url, client):
    thread = served(url, "linear")
    timeline = open_timeline(url)
    newest = timeline.threads(limit=1)[0]
    assert (newest.id, newest.checkpoints, newest.status) == (thread, 5, "done")
    assert timeline.threads(thread[3:20])[0].id == thread
    assert timeline.at("no such thread").rows() == []
    assert timeline.at("01a23109-0000-73d2-beb9-2d3a12bc7f74").rows() == []
    there = timeline.at(thread)
    assert [r.nodes for r in there.rows()][2:] == [("a",), ("b",), ("c",)]
    with pytest.raises(CheckpointNotFoundError):
        there.snapshot("1f1ed6d8-0000-6000-8000-000000000000")
    with pytest.raises(ReadOnlyError, match="write=True"):
        there.run({"xs": ["x"]})
    whys = [w.why for r in there.rows() for w in there.writes(r.id).next]
    assert whys[1:3] == ["ran because START's edge leads here", "ran because a's edge leads here"]


def test_fork_replay_resume_and_run(url, client):
    thread = served(url, "waits")
    steps: list[int] = []
    explorer = ckpt_viz.explore(url, thread, write=True, follow=False)
    timeline = explorer.timeline
    assert explorer.head.snapshot.interrupts[0].value == "sure?"
    explorer.resume("sure")
    assert explorer.selected.values == {"xs": ["a"], "foo": "sure"}
    base = explorer.select(step=1).id
    explorer.fork({"xs": ["mine"]}, as_node="a", replace=["xs"])
    assert explorer.selected.values["xs"] in (["mine"], ["a", "mine"])
    timeline.go_on(explorer.selected.id, lambda: steps.append(1))
    assert explorer.head.snapshot.next == ("ask",)
    assert len(steps) > 2
    explorer.resume("again")
    assert explorer.selected.values["foo"] == "again"
    explorer.select(base)
    explorer.replay()
    tips = {row.id for row in timeline.rows()} - {row.parent_id for row in timeline.rows()}
    assert len(tips) == 3
    explorer.run({"xs": ["new"], "foo": 1})
    assert timeline.rows()[-1].status == "interrupt"
    assert timeline.snapshot().values["xs"][-2:] == ["new", "a"]
    with pytest.raises(ReadOnlyError, match="on the server"):
        timeline.preview(base, {"foo": 2})
    assert not timeline.can.scratch.ok
    explorer.close()


def test_a_run_that_fails_is_told(url, client):
    thread = client.threads.create()["thread_id"]
    timeline = open_timeline(f"{url}#fails", thread, write=True)
    with pytest.raises(ServerRunError, match="no luck"):
        timeline.run({"xs": [], "foo": 0})
    assert [(u.name, u.text) for u in timeline.unfinished()] == [("bad", "ValueError('no luck')")]
    with pytest.raises(SourceError, match="Which assistant"):
        open_timeline(url, client.threads.create()["thread_id"], write=True).run({"xs": []})


def test_breakpoints_are_the_server_s(url, client):
    thread = client.threads.create()["thread_id"]
    timeline = open_timeline(f"{url}#linear", thread, write=True)
    timeline.breakpoints = type(timeline.breakpoints)(before=("b",))
    timeline.run({"xs": [], "foo": 0})
    assert timeline.snapshot().next == ("b",)


def test_a_run_is_cancelled_and_followed_from_elsewhere(url, client):
    thread = client.threads.create()["thread_id"]
    timeline = open_timeline(f"{url}#slow", thread, write=True)
    watcher = open_timeline(url, thread)
    seen: list[int] = []
    begun = threading.Event()
    work = threading.Thread(target=lambda: timeline.run({"xs": [], "foo": 0}, begun.set))
    work.start()
    assert begun.wait(30)
    while len(watcher.rows()) < 4:
        watcher.refresh()
        seen.append(len(watcher.rows()))
        time.sleep(0.1)
    assert timeline.stop()
    work.join(30)
    assert not work.is_alive()
    assert sorted(seen) == seen
    count = len(timeline.rows())
    time.sleep(1)
    assert len(open_timeline(url, thread).rows()) == count < 20


def test_long_histories_come_in_pages(url, threads, monkeypatch):
    whole = open_timeline(url, threads["router"]).rows()
    assert len(whole) > 5
    monkeypatch.setattr("ckpt_viz.timeline.server.PAGE", 2)
    monkeypatch.setattr("ckpt_viz.timeline.pages.PAGE", 3)
    timeline = open_timeline(url, threads["router"])
    assert [row.id for row in timeline.newest_first()] == [row.id for row in reversed(whole)]
    assert [*reversed([*timeline.newest_first()])] == whole
    assert len(timeline.threads()) >= len(SERVED)


def test_the_command_line_reads_a_server(url, threads, capsys):
    from ckpt_viz.cli import main

    assert main(["history", url, "-t", threads["linear"], "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [r["nodes"] for r in rows][:3] == [["c"], ["b"], ["a"]]
    same = ["diff", url, url, "-t", threads["linear"], "--other-thread", threads["linear"]]
    assert main(same) == 0
    capsys.readouterr()
    assert main(["history", url]) == 2
    assert "Which thread?" in capsys.readouterr().err


def test_no_server_is_said_at_once():
    begun = time.monotonic()
    with pytest.raises(SourceError, match=r"127\.0\.0\.1") as refused:
        open_timeline(f"http://user:pass@127.0.0.1:{free_port()}")
    assert time.monotonic() - begun < 5
    assert "pass" not in str(refused.value)
