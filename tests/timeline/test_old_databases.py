"""Databases that LangGraph's savers wrote, from 0.1 to today, as those versions read them.

`databases/make.py` made them. What a saved history cannot tell without its graph is left out of the
comparison: empty channels that nothing wrote; and before LangGraph 0.4, nodes that never ran.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from histories import DATABASES, KEY, fixtures, plain, truth, unpacked

from ckpt_viz.checkpoint.serde.views import View
from ckpt_viz.errors import SourceError
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.paths import follow
from ckpt_viz.timeline.preview import Previewer
from ckpt_viz.timeline.saved import UNKNOWN

SQLITE, POSTGRES = fixtures("db"), fixtures("sql")
BEFORE_BRANCH_TO = ("langgraph-0.1", "sqlite-1.0", "sqlite-2.0.0", "postgres-2.0.1")
NEVER_RAN = {"asks": {"ask"}, "fails": {"bad", "good"}, "stops": {"b"}}


def key_of(name: str) -> str | None:
    return KEY if name.endswith("encrypted") else None


def compare(name: str, source: Any) -> None:
    told = truth(name)["threads"]
    timeline = open_timeline(source, key=key_of(name))
    assert {info.id for info in timeline.threads()} == set(told)
    for thread, wanted in told.items():
        here = timeline.at(thread)
        rows = here.rows()
        assert [row.id for row in reversed(rows)] == [w["id"] for w in wanted]
        assert {r.id: r.parent_id for r in rows} == {w["id"]: w["parent"] for w in wanted}
        for w in wanted:
            _compare_one(here.snapshot(w["id"]), w, _hidden(name, thread), name)


def _hidden(name: str, thread: str) -> set[str]:
    return NEVER_RAN.get(thread, set()) if name in BEFORE_BRANCH_TO else set()


def _compare_one(found: Any, wanted: Any, hidden: set[str], name: str) -> None:
    assert found.metadata["step"] == wanted["step"]
    assert found.metadata["source"] == wanted["source"]
    values = plain(found.values)
    kept = {k: v for k, v in wanted["values"].items() if v != [] or k in values}
    assert {k: v for k, v in values.items() if v is not None or k in kept} == kept
    known = [node for node in found.next if node != UNKNOWN]
    assert known == [node for node in wanted["next"] if node not in hidden]
    if name != "langgraph-0.1":  # which kept no tasks of its own
        _compare_tasks(found.tasks, wanted["tasks"], hidden)


def _compare_tasks(found: Any, wanted: Any, hidden: set[str]) -> None:
    told = [
        {"name": t.name, "error": t.error is not None, "interrupts": plain(_asked(t))}
        for t in found
    ]
    if hidden & {t["name"] for t in wanted}:
        wanted = [{**t, "name": UNKNOWN} for t in wanted if t["error"] or t["interrupts"]]
    assert told == wanted


def _asked(task: Any) -> list[Any]:
    return [i.value for i in task.interrupts]


@pytest.mark.parametrize("name", SQLITE)
def test_a_sqlite_file_of_each_version(name: str, tmp_path: Path) -> None:
    path = unpacked(name, tmp_path)
    before = hashlib.sha256(path.read_bytes()).digest()
    compare(name, path)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", POSTGRES)
def test_a_postgres_database_of_each_version(name: str, postgres_url: str) -> None:
    import gzip

    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute(gzip.decompress((DATABASES / f"{name}.sql.gz").read_bytes()))
    compare(name, postgres_url)
    if key_of(name):
        with pytest.raises(SourceError, match="encrypted"):
            open_timeline(postgres_url)


@pytest.mark.parametrize("name", [n for n in SQLITE if key_of(n)])
def test_an_encrypted_file_opens_with_its_key_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpacked(name, tmp_path)
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    with pytest.raises(SourceError, match=r"encrypted \(aes\).*key=.*LANGGRAPH_AES_KEY"):
        open_timeline(path)
    with pytest.raises(SourceError, match="does not fit"):
        open_timeline(path, key="short")
    with pytest.raises(SourceError, match="the key is another one"):
        open_timeline(path, "line", key=KEY[::-1]).rows()
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY)
    assert len(open_timeline(path, "line").rows()) == 8


def test_messages_are_views_where_nothing_is_given_to_load_them(tmp_path: Path) -> None:
    state = open_timeline(unpacked("sqlite-3.1", tmp_path), "line").snapshot().values
    assert [type(m) for m in state["messages"]] == [View] * 4
    assert [m.name for m in state["messages"][:1]] == ["HumanMessage"]
    assert state["messages"][1].tool_calls[0]["args"] == {"what": "x"}
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]
    with pytest.raises(AttributeError, match="no field 'nothing'; it has content"):
        _ = state["messages"][0].nothing


def test_views_look_like_a_chat(tmp_path: Path) -> None:
    state = open_timeline(unpacked("sqlite-2.0.0", tmp_path), "line").snapshot().values
    entry = Previewer().entry("messages", state["messages"], ("messages",))
    assert [(m["t"], m["chat"], m["s"]) for m in entry["c"]] == [
        ("HumanMessage", "human", "how many?"),
        ("AIMessage", "ai", ""),
        ("ToolMessage", "tool", "7"),
        ("AIMessage", "ai", "seven"),
    ]
    assert follow(state, ("messages", 1, "tool_calls", 0, "name")) == "count"


SCRIPT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("langgraph", "langchain", "langchain_core"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
from ckpt_viz.timeline import open_timeline

for path in sys.argv[1:]:
    timeline = open_timeline(path, "line")
    assert len(timeline.rows()) == 8, path
    assert timeline.snapshot().values["messages"][-1].content == "seven"
    timeline.writes(timeline.head)
assert not [m for m in sys.modules if m.split(".")[0] in ("langgraph", "langchain_core")]
"""


def test_langgraph_and_langchain_are_not_needed(tmp_path: Path) -> None:
    names = [n for n in SQLITE if not key_of(n)]
    paths = [str(unpacked(name, tmp_path)) for name in names]
    subprocess.run([sys.executable, "-c", SCRIPT, *paths], check=True, timeout=60)
