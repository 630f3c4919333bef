"""A database whose blobs name modules and constructors: nothing is imported, nothing is called.

The marker module writes a file when it is imported, and when its class is made or called.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

from ckpt_viz.checkpoint.base import empty_checkpoint
from ckpt_viz.checkpoint.serde import registry as reg
from ckpt_viz.checkpoint.sqlite import SqliteSaver

MARKER = """
from pathlib import Path

def leave(*args, **kwargs):
    Path(__file__).with_name("TOUCHED").write_text("x")

leave()

class Thing:
    def __init__(self, *args, **kwargs):
        leave()
        self.args = args

    def __setstate__(self, state):
        leave()
"""

READ = """
import contextlib, io, sys
sys.path.insert(0, sys.argv[1])
from ckpt_viz.cli.main import main
from ckpt_viz.explorer.widget import explore

for path in sys.argv[2:]:
    explorer = explore(path)
    timeline = explorer.timeline.at("t")
    for row in timeline.rows():
        values = timeline.snapshot(row.id).values
        assert set(values) >= {"bad"}, values
        repr(values)
        timeline.writes(row.id)
        timeline.threads()
    explorer.export(path + ".html")
    for words in ("threads F", "history F", "show F", "search F bad", "blame F bad", "report F"):
        with contextlib.redirect_stdout(io.StringIO()):
            assert main([*words.replace("F", path).split(), "--json"]) == 0, words
assert "marker" not in sys.modules
"""

TWIN = """
import sys
sys.path.insert(0, sys.argv[1])
from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.timeline import open_timeline

serde = JsonPlusSerializer(allowed_msgpack_modules=[("marker", "Thing")])
saver = SqliteSaver.from_conn_string(sys.argv[2], serde=serde)
found = open_timeline(saver, "t").snapshot().values["bad"]
assert type(found[0]).__name__ == "Thing" and "marker" in sys.modules, found
"""


def hostile() -> list[Any]:
    """One value for each way to name a class."""

    def ext(code: int, *parts: Any) -> Any:
        return ormsgpack.Ext(code, ormsgpack.packb(list(parts), None, ormsgpack.OPT_NON_STR_KEYS))

    name = ("marker", "Thing")
    return [
        ext(reg.ONE, *name, 1),
        ext(reg.ARGS, *name, [1]),
        ext(reg.KWARGS, *name, {"a": 1}),
        ext(reg.METHOD, *name, "x", "leave"),
        ext(reg.PYDANTIC_V1, *name, {"a": 1}, "construct"),
        ext(reg.PYDANTIC, *name, {"a": 1}, "model_validate_json"),
        ext(reg.STATE, *name, {"a": 1}),
        ext(reg.SUBCLASS, *name, 1, {}),
        ext(reg.EXCEPTION, *name, [], {}),
        ext(reg.REFERENCE, "marker", "leave"),
        ext(reg.KWARGS, "langchain_core.messages.human", "__class__", {"content": "x"}),
        ext(reg.ARGS, "os", "system", ["touch TOUCHED"]),
        ext(reg.ARGS, "builtins", "eval", ["__import__('marker')"]),
        ext(reg.METHOD, "builtins", "set", "x", "__import__"),
    ]


CONSTRUCTORS = [
    {"lc": 2, "type": "constructor", "id": ["marker", "Thing"], "args": [1]},
    {"lc": 2, "type": "constructor", "id": ["marker", "Thing"], "method": "leave", "args": [1]},
    {"lc": 1, "type": "constructor", "id": ["marker", "Thing"], "kwargs": {"a": 1}},
    {"lc": 1, "type": "secret", "id": ["LANGGRAPH_AES_KEY"]},
    {"lc": 1, "type": "not_implemented", "id": ["marker", "Thing"], "repr": "Thing()"},
    {"lc": 2, "type": "constructor", "id": ["builtins", "eval"], "args": ["1"]},
    {"lc": 2, "type": "constructor", "id": ["builtins", "set"], "method": "__import__"},
]


class Reduced:
    def __reduce__(self) -> Any:
        return __import__, ("marker",)


def checkpoint(value: Any) -> dict[str, Any]:
    made = empty_checkpoint()
    return made | {"channel_values": {"bad": value}, "channel_versions": {"bad": 1}}


def peer_file(path: Path) -> Path:
    """A file in LangGraph's schema: one checkpoint in msgpack, one in JSON; writes of all kinds."""
    with sqlite3.connect(path) as conn:
        conn.execute(
            "CREATE TABLE checkpoints(thread_id, checkpoint_ns, checkpoint_id, "
            "parent_checkpoint_id, type, checkpoint, metadata)"
        )
        conn.execute(
            "CREATE TABLE writes(thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, "
            "type, value)"
        )
        first, second = checkpoint(hostile()), checkpoint(CONSTRUCTORS)
        packed = ormsgpack.packb(first, None, ormsgpack.OPT_NON_STR_KEYS)
        meta = json.dumps({"source": "loop", "step": 1, "writes": CONSTRUCTORS})
        for made, tag, data in (
            (first, "msgpack", packed),
            (second, "json", json.dumps(second).encode()),
        ):
            row = ("t", "", made["id"], None, tag, data, meta)
            conn.execute("INSERT INTO checkpoints VALUES(?,?,?,?,?,?,?)", row)
            for at, (tag_, value) in enumerate(
                [
                    ("pickle", pickle.dumps(Reduced())),
                    ("json", json.dumps(CONSTRUCTORS).encode()),
                    ("msgpack", ormsgpack.packb(hostile(), None, 0)),
                    ("strange", b"marker"),
                ]
            ):
                write = ("t", "", made["id"], "task", at, "bad", tag_, value)
                conn.execute("INSERT INTO writes VALUES(?,?,?,?,?,?,?,?)", write)
    conn.close()
    return path


class Raw:
    """A serializer that writes what no honest one would."""

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        return "msgpack", ormsgpack.packb(value, None, ormsgpack.OPT_NON_STR_KEYS)

    def loads_typed(self, data: Any) -> Any:
        raise NotImplementedError


def own_file(path: Path) -> Path:
    with SqliteSaver.from_conn_string(path, serde=Raw()) as saver:
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        meta = {"source": "loop", "step": 1}
        saved = saver.put(config, checkpoint(hostile()), meta, {"bad": 1})
        saver.put_writes(saved, [("bad", hostile())], "task")
    return path


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    folder = tmp_path / "trap"
    folder.mkdir()
    (folder / "marker.py").write_text(MARKER)
    return folder


def run(script: str, *args: Any, cwd: Path) -> None:
    command = [sys.executable, "-c", script, *map(str, args)]
    subprocess.run(command, check=True, timeout=120, cwd=cwd)


def test_nothing_is_imported_or_called(trap: Path, tmp_path: Path) -> None:
    files = peer_file(tmp_path / "peer.db"), own_file(tmp_path / "own.db")
    run(READ, trap, *files, cwd=trap)
    assert sorted(p.name for p in trap.iterdir() if p.name != "__pycache__") == ["marker.py"]


def test_what_is_allowed_by_name_is_loaded(trap: Path, tmp_path: Path) -> None:
    """The twin: the same file, read by a serializer that was told to load the class."""
    run(TWIN, trap, own_file(tmp_path / "own.db"), cwd=trap)
    assert (trap / "TOUCHED").exists()
