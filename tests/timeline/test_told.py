"""Logs and exported files tell the same history as the graph that made them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import json
from pathlib import Path
from typing import Any

import histories
import pytest
from graphs import CONFIG, engine
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import PROGRAMS
from runs import PROGRAMS as RUNS

import ckpt_viz
from ckpt_viz.timeline import compare, open_timeline
from ckpt_viz.timeline.recording import record

FILES = Path(__file__).parent / "files"


def streamed(graph: Any, inputs: list[Any], subgraphs: bool = False) -> list[list[Any]]:
    """The events of each run."""
    runs = []
    for value in inputs:
        value, failure = value if isinstance(value, tuple) else (value, None)
        events: list[Any] = []
        with pytest.raises(failure) if failure else contextlib.nullcontext():
            for event in graph.stream(value, CONFIG, stream_mode="debug", subgraphs=subgraphs):
                events.append(event)
        runs.append(events)
    return runs


def task(view: Any) -> Any:
    asked = [(i.value, i.answered) for i in view.interrupts]
    state = view.state if view.name != "__start__" else ""
    result = None if view.name == "__start__" else view.result or None
    return view.name, state, plain(result), view.error, plain(asked)


def plain(value: Any) -> Any:
    """Without the difference of tuple and list, which LangGraph's savers don't keep."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


def told(timeline: Any) -> Any:
    """All that a source tells, in a form that can be compared across sources and engines."""
    rows = timeline.rows()
    place = {row.id: n for n, row in enumerate(rows)}
    out = []
    for row in rows:
        snapshot, writes = timeline.snapshot(row.id), timeline.writes(row.id)
        nodes, first = sorted(row.nodes), row.nodes == ("__start__",)
        out.append(
            {
                "row": (place.get(row.parent_id), row.step, row.source, nodes, row.status),
                "changed": None if first else row.changed,
                "next": (sorted(row.next), sorted(snapshot.next)),
                "values": plain(snapshot.values),
                "made": sorted((task(t) for t in writes.made), key=repr),
                "following": sorted((task(t) for t in writes.next), key=repr),
            }
        )
    unfinished = [(place[u.parent], u.name, u.status, u.text) for u in timeline.unfinished()]
    return out, sorted(unfinished)


def lined(events: list[Any], path: Path) -> Path:
    record(events, path)
    return path


def served(runs: list[list[Any]]) -> str:
    """As a server sends them, cut and taken up again within the last run."""
    from ckpt_viz.timeline.wire import to_json

    out = []
    for n, events in enumerate(runs):
        out.append(f'event: metadata\r\ndata: {{"run_id": "{n}"}}\r\n\r\n: heartbeat\r\n\r\n')
        again = events if n < len(runs) - 1 else [*events[:3], *events[1:]]
        for event in again:
            ns, event = event if isinstance(event, tuple) else ((), event)
            name = "|".join(["debug", *ns])
            out.append(f"event: {name}\r\ndata: {json.dumps(to_json(event))}\r\nid: 7\r\n\r\n")
    return "".join(out)


def printed(runs: list[list[Any]]) -> str:
    out = io.StringIO()
    for events in runs:
        for event in events:
            print(event, file=out)
    return out.getvalue()


FORMS = {
    "list": lambda runs, path: [e for run in runs for e in run],
    "jsonl": lambda runs, path: lined([e for run in runs for e in run], path),
    "sse": lambda runs, path: served(runs),
    "printed": lambda runs, path: printed(runs),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("form", FORMS)
def test_a_log_tells_what_the_graph_tells(e, name, form, tmp_path):
    graph, inputs = PROGRAMS[name](e, e.Saver())
    deep = name.startswith("nested")
    log = FORMS[form](streamed(graph, inputs, subgraphs=deep), tmp_path / "run.jsonl")
    found, real = open_timeline(log), open_timeline(graph, "1")
    assert found.notes == ()
    assert found.namespaces() == real.namespaces()
    for ns in real.namespaces():
        assert told(found.at("1", ns)) == told(real.at("1", ns))
    assert compare(found, real).first is None


@pytest.mark.parametrize("name", RUNS)
def test_an_exported_file_tells_all_that_the_graph_tells(e, name, tmp_path):
    graph = RUNS[name](e, e.Saver(), CONFIG)
    with contextlib.closing(ckpt_viz.explore(graph, "1", follow=False)) as explorer:
        path = explorer.export(tmp_path / "run.json")
    found, real = ckpt_viz.explore(path, follow=False).timeline, open_timeline(graph, "1")
    assert found.title in (real.title, "run.json")
    assert not found.can.run.ok
    assert "exported" in found.can.run.why
    assert histories.told(found) == histories.told(real)


def test_labels_travel_and_an_export_from_inside_holds_all_namespaces(tmp_path):
    e = engine("ckpt_viz")
    real = open_timeline(RUNS["nested"](e, e.Saver(), CONFIG), "1")
    ns = real.namespaces()[1]
    real.set_label(None, "the end")
    real.at("1", ns).set_label(real.at("1", ns).rows()[0].id, "inside")
    explorer = ckpt_viz.explore(real.graph, "1", checkpoint_ns=ns, follow=False)
    found = open_timeline(explorer.export(tmp_path / "run.json"))
    assert found.namespaces() == real.namespaces()
    for one in real.namespaces():
        assert found.at("1", one).labels() == real.at("1", one).labels() != {}
    found.set_label(found.rows()[0].id, "for now")
    assert sorted(found.labels().values()) == ["for now", "the end"]


@pytest.mark.parametrize("name", ["sends", "asks_beside", "fails_beside", "nested_asks"])
def test_a_log_is_exported_and_opened_again(name, tmp_path):
    e = engine("ckpt_viz")
    graph, inputs = PROGRAMS[name](e, e.Saver())
    log = open_timeline([v for run in streamed(graph, inputs, subgraphs=True) for v in run])
    path = ckpt_viz.explore(log, follow=False).export(tmp_path / "run.json")
    found = open_timeline(path)
    assert found.namespaces() == log.namespaces()
    for ns in log.namespaces():
        assert told(found.at("1", ns)) == told(log.at("1", ns))


def test_an_export_holds_nothing_that_is_redacted(e, tmp_path):
    graph = PROGRAMS["sends"](e, e.Saver())[0]
    graph.invoke({"xs": [], "foo": {"key": "s3cret", "n": [1]}}, CONFIG)
    path = tmp_path / "run.json"
    ckpt_viz.explore(graph, "1", redact=["key"], follow=False).export(path)
    assert "s3cret" not in path.read_text()
    state = ckpt_viz.explore(path, follow=False).select(step=0).values
    assert state["foo"] == {"key": "[redacted]", "n": [1]}


def test_a_large_value_is_left_out_of_an_export_and_said(e, tmp_path, monkeypatch):
    monkeypatch.setattr("ckpt_viz.timeline.history_file.VALUE_LIMIT", 500)
    graph = PROGRAMS["linear"](e, e.Saver())[0]
    graph.invoke({"xs": [], "foo": "x" * 600}, CONFIG)
    path = ckpt_viz.explore(graph, "1", follow=False).export(tmp_path / "run.json")
    timeline = open_timeline(path)
    assert timeline.snapshot().values["foo"] == "[left out: 602 characters]"
    assert timeline.notes == ("foo: a value of 602 characters was left out",)


def damaged(data: Any) -> list[Any]:
    history = data["history"]
    space = history["spaces"][0]
    point = space["checkpoints"][0]
    cut = {**history, "spaces": [{**space, "values": []}]}
    odd = {**history, "spaces": [{**space, "checkpoints": [{**point, "seen": 5}]}]}
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    return [
        {**history, "version": 2},
        {**history, "spaces": None},
        {k: v for k, v in history.items() if k != "thread"},
        {**history, "spaces": []},
        {**history, "notes": deep},
        cut,
        odd,
    ]


def test_a_damaged_export_is_refused_in_words(tmp_path):
    e = engine("ckpt_viz")
    graph = PROGRAMS["linear"](e, e.Saver())[0]
    graph.invoke({"xs": [], "foo": 1}, CONFIG)
    path = ckpt_viz.explore(graph, "1", follow=False).export(tmp_path / "run.json")
    for data in damaged(json.loads(path.read_text())):
        path.write_text(json.dumps(data))
        with pytest.raises(ValueError, match=r"Export it again|holds no checkpoint|version 2"):
            open_timeline(path)


@pytest.mark.parametrize("odd", [0, "x", [1], None, [None]])
@pytest.mark.parametrize("part", ["parents", "writes", "source", "thread_id"])
def test_an_event_with_odd_metadata_is_read_all_the_same(part, odd):
    e = engine("langgraph")
    graph = PROGRAMS["linear"](e, e.Saver())[0]
    events = [*graph.stream({"xs": [], "foo": 1}, CONFIG, stream_mode="debug")]
    for event in events:
        if event["type"] == "checkpoint":
            event["payload"]["metadata"][part] = odd
    timeline = open_timeline(events, "1")
    assert [row.step for row in timeline.rows()] == [-1, 0, 1, 2, 3]
    assert timeline.snapshot().values["foo"] is not None


# -- the documented stream -------------------------------------------------------------------


def test_the_documented_stream_opens_as_it_was_printed():
    timeline = open_timeline(FILES / "printed_stream.txt")
    rows = timeline.rows()
    assert timeline.thread_id == "be4fd54d-ff22-4e9e-8876-d5cccc0e8048"
    assert timeline.notes == ()
    assert [(r.step, r.source, r.nodes) for r in rows] == [
        (-1, "input", ()),
        (0, "loop", ("__start__",)),
        (1, "loop", ("call_model",)),
        (2, "loop", ("exa_search", "tavily_search")),
        (3, "loop", ("summarize_search_results",)),
    ]
    assert [r.parent_id for r in rows] == [None, *(r.id for r in rows[:-1])]
    assert [r.changed for r in rows[1:]] == [
        ("messages",),
        ("messages",),
        ("search_results",),
        ("final_answer",),
    ]
    assert rows[-1].status == "done"
    assert timeline.snapshot(rows[2].id).next == ("exa_search", "tavily_search")
    made = [t for r in rows[2:] for t in timeline.writes(r.id).made]
    assert [(t.id[:8], t.name, t.state, t.triggers) for t in made] == [
        ("600a6ff3", "call_model", "done", ("start:call_model",)),
        ("870b5854", "exa_search", "done", ("call_model",)),
        ("7589abfc", "tavily_search", "done", ("call_model",)),
        ("5beaa05d", "summarize_search_results", "done", ("exa_search", "tavily_search")),
    ]
    values = timeline.snapshot().values
    assert values["messages"][1]["content"] == made[0].result["messages"]["content"]
    assert values["search_results"] == [
        *made[1].result["search_results"],
        *made[2].result["search_results"],
    ]
    assert values["final_answer"] == made[3].result["final_answer"]
    with contextlib.closing(ckpt_viz.explore(FILES / "printed_stream.txt")) as explorer:
        assert "call_model at step 1" in explorer.blame("messages[1].content").text
        assert "tavily_search" in explorer.blame("search_results[1]").text
        assert [s.id for s in explorer.search('"San Francisco" node:call_model')] == [rows[2].id]


def test_a_long_log_is_read_in_pages(monkeypatch):
    monkeypatch.setattr("ckpt_viz.timeline.pages.PAGE", 7)
    timeline = open_timeline([point(f"{n:03}", n, {"x": n}) for n in range(30)])
    assert [row.step for row in timeline.newest_first()] == list(range(29, -1, -1))


@pytest.mark.parametrize("options", [
    {"stream_mode": ["values", "debug"]},
    {"stream_mode": ["updates", "debug"], "subgraphs": True},
    {"stream_mode": ["checkpoints", "tasks"]},
    {"stream_mode": "debug", "version": "v2"},
    {"stream_mode": ["values", "debug"], "version": "v2", "subgraphs": True},
])  # fmt: skip
def test_debug_among_other_modes(e, options, tmp_path):
    graph, inputs = PROGRAMS["parallel"](e, e.Saver())
    events = list(graph.stream(inputs[0], CONFIG, **options))
    real = told(open_timeline(graph, "1"))
    for log in (events, record(events, tmp_path / "run.jsonl")):
        timeline = open_timeline(log)
        assert told(timeline) == real
        assert timeline.notes == ()


# -- recording -------------------------------------------------------------------------------


def test_a_run_that_fails_is_recorded_up_to_there(e, tmp_path):
    graph, [(value, failure)] = PROGRAMS["fails"](e, e.Saver())
    path = tmp_path / "run.jsonl"
    with pytest.raises(failure):
        record(graph.stream(value, CONFIG, stream_mode="debug"), path)
    assert told(open_timeline(path)) == told(open_timeline(graph, "1"))
    last = json.loads(path.read_text().splitlines()[-1])
    assert last == {"event": "error", "data": {"error": "ValueError", "message": "no luck"}}


def test_an_async_stream_among_others_is_recorded(e, tmp_path):
    graph, inputs = PROGRAMS["nested"](e, e.Saver())

    async def run() -> Path:
        modes = ["values", "debug"]
        stream = graph.astream(inputs[0], CONFIG, stream_mode=modes, subgraphs=True)
        return await record(stream, tmp_path / "run.jsonl")

    found, real = open_timeline(asyncio.run(run())), open_timeline(graph, "1")
    for ns in real.namespaces():
        assert told(found.at("1", ns)) == told(real.at("1", ns))


def test_a_second_run_is_added_after_one_that_was_cut(e, tmp_path):
    graph, inputs = PROGRAMS["two_turns"](e, e.Saver())
    path = tmp_path / "run.jsonl"
    record(graph.stream(inputs[0], CONFIG, stream_mode="debug"), path)
    path.write_text(path.read_text()[:-40])
    record(graph.stream(inputs[1], CONFIG, stream_mode="debug"), path, append=True)
    timeline = open_timeline(path)
    real = [r.id for r in open_timeline(graph, "1").rows()]
    assert [r.id for r in timeline.rows()] == [i for n, i in enumerate(real) if n != 3]
    assert len(timeline.notes) == 1
    with pytest.raises(TypeError, match="Can't record str"):
        record("run", path)


def test_a_log_is_followed_while_it_is_written(e, tmp_path):
    graph, inputs = PROGRAMS["asks"](e, e.Saver())
    whole = record([v for run in streamed(graph, inputs) for v in run], tmp_path / "whole.jsonl")
    raw = whole.read_bytes()
    path = tmp_path / "run.jsonl"
    path.write_bytes(raw[: raw.index(b"\n", 800) + 20])
    timeline = open_timeline(path)
    seen = [len(timeline.rows())]
    with path.open("ab", buffering=0) as file:
        for at in range(path.stat().st_size, len(raw), 150):
            file.write(raw[at : at + 150])
            timeline.refresh()
            seen.append(len(timeline.rows()))
    assert seen == sorted(seen)
    assert len(set(seen)) > 2
    assert told(timeline) == told(open_timeline(graph, "1"))
    assert timeline.notes == ()
    path.unlink()
    assert timeline.refresh() == []


# -- rules of the fold -----------------------------------------------------------------------


def point(id_: str, step: int, values: Any = None, **more: Any) -> dict[str, Any]:
    where = {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": id_}
    payload = {
        "config": {"configurable": {**where, **more.pop("where", {})}},
        "values": values or {},
        "metadata": {"source": "loop" if step >= 0 else "input", "step": step},
        "next": [],
        "tasks": [],
        **more,
    }
    return {"type": "checkpoint", "timestamp": f"2026-01-01T00:00:{step + 2:02}", "step": step,
            "payload": payload}  # fmt: skip


def test_without_parent_config_a_checkpoint_follows_the_one_before_it_in_its_run():
    run = [{"where": {"run_id": f"r{n}"}} for n in range(2)]
    inner = {"where": {"run_id": "r0", "checkpoint_ns": "sub:1"}}
    timeline = open_timeline(
        [
            point("1", -1, **run[0]),
            point("2", -1, **run[1]),
            point("3", 0, **run[0]),
            point("9", 0, **inner),
            point("4", 0, **run[1]),
            point("3", 0, **run[0]),
            point("5", 1, **run[0]),
            point("6", 1, parent_config=None, **run[1]),
        ]
    )
    parents = {row.id: row.parent_id for row in timeline.rows()}
    assert parents == {"1": None, "2": None, "3": "1", "4": "2", "5": "3", "6": None}
    assert [r.parent_id for r in timeline.at("t", "sub:1").rows()] == [None]


def test_tasks_without_result_are_told_as_open():
    events = [
        point("1", 0, next=["a", "b"], tasks=[{"id": "A", "name": "a"}, {"id": "B", "name": "b"}]),
        {"type": "task", "step": 1, "payload": {"id": "A", "name": "a", "triggers": []}},
        {"type": "task", "step": 1, "payload": {"id": "B", "name": "b", "triggers": []}},
        {"type": "task_result", "step": 1, "payload": {"id": "A", "name": "a", "result": []}},
    ]
    timeline = open_timeline(events)
    assert [(t.name, t.state) for t in timeline.writes("1").next] == [
        ("a", "done"),
        ("b", "pending"),
    ]
    assert timeline.notes == ("the end: no result was told of b",)
    failed = open_timeline([*events, {"event": "error", "data": {"error": "E", "message": "m"}}])
    assert [row.status for row in failed.rows()] == ["error"]
    assert [(u.name, u.text) for u in failed.unfinished()] == [("b", "E('m')")]


# -- hostile and broken ----------------------------------------------------------------------


def lines(*things: Any) -> str:
    return "".join(json.dumps(thing) + "\n" for thing in things)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (" \n ", "is empty"),
        ("hello\nworld\n", "no checkpoint that could be read"),
        ("{}\n", "no checkpoint that could be read"),
        ('{"type": "task", "step": 1, "payload": {"id": "a", "name": "b"}}\n', "follows no"),
        ("event: debug\ndata: {\n\n", "no checkpoint that could be read"),
        ('{"hello": {}, "checkpoints": {}}', "older versions wrote it"),
    ],
)
def test_what_is_no_log_is_refused_in_words(text, says, tmp_path):
    path = tmp_path / "x.log"
    path.write_text(text)
    with pytest.raises((ValueError, OSError), match=says):
        open_timeline(path)


GOOD = point("1", 0, {"x": 1})
BAD: dict[str, Any] = {
    "a type unknown": {"type": "checkpint", "payload": {}},
    "no payload": {"type": "checkpoint", "payload": None},
    "no id": point("", 0),
    "an odd id": point(7, 0),
    "an odd step": point("2", 0, metadata={"step": "one"}),
    "a task without name": {"type": "task", "step": 1, "payload": {"id": "1"}},
    "no event": [1, 2],
    "a number": 5,
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_event_is_left_out_and_noted(name):
    timeline = open_timeline(lines(GOOD, BAD[name], point("3", 1)))
    assert [row.id for row in timeline.rows()] == ["1", "3"]
    assert len(timeline.notes) == 1
    assert timeline.notes[0].startswith("line 2: ")
    assert timeline.notes[0] in timeline.can.run.why


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        json.dumps(GOOD)[:-1] + ', "x": ' + "[" * 200 + "]" * 200 + "}",
        "{'a': " + "[" * 5_000 + "]" * 5_000 + "}",
        "{'a': " + "-" * 50_000 + "1}",
        "{'a': " + "1+" * 50_000 + "1}",
        "{'a': " + "x." * 50_000 + "y}",
        "{'a': " + "9" * 50_000 + "}",
        "{'a': lambda: 1}",
        "{'a': <object object at 0x1>}",
        '{"a": "\\ud8"}',
        "{\0}",
    ],
    ids=str,
)
def test_no_line_breaks_the_reader(line):
    timeline = open_timeline(lines(GOOD) + line + "\n" + lines(point("2", 1)))
    assert [row.id for row in timeline.rows()] == ["1", "2"]
    assert len(timeline.notes) == 1


@pytest.mark.parametrize("form", ["jsonl", "sse", "printed", "documented"])
def test_a_log_cut_anywhere_opens_or_says_why(form, tmp_path):
    if form == "documented":
        text = (FILES / "printed_stream.txt").read_text()
    else:
        e = engine("ckpt_viz")
        graph, inputs = PROGRAMS["asks"](e, e.Saver())
        made = FORMS[form](streamed(graph, inputs), tmp_path / "x")
        text = made.read_text() if isinstance(made, Path) else made
    ends = range(1, len(text), max(1, len(text) // 150))
    assert {opened(text[:end]) for end in ends} >= {0, 1, 2, 3}


def opened(text: str) -> int:
    """How many checkpoints could be read; 0 where it is said that none could."""
    try:
        timeline = open_timeline(text if "\n" in text else text + "\n")
        return sum(len(timeline.at(info.id).rows()) for info in timeline.threads())
    except ValueError as error:
        if "checkpoint" in str(error) or "empty" in str(error):
            return 0
        raise


def test_the_form_that_curl_and_awk_print():
    text = "output\n\n" + "".join(
        f"Receiving event of type: {kind}...\n{json.dumps(thing)}\n\n"
        for kind, thing in (
            ("metadata", {"run_id": "r"}),
            ("debug", GOOD),
            ("debug", point("2", 1)),
        )
    )
    timeline = open_timeline(text)
    assert [(row.id, row.parent_id) for row in timeline.rows()] == [("1", None), ("2", "1")]
    assert timeline.notes == ()


def test_ids_that_do_not_sort_as_they_came_are_said():
    timeline = open_timeline([point("9", 0), point("10", 1)])
    assert {row.id: row.parent_id for row in timeline.rows()} == {"9": None, "10": "9"}
    assert timeline.notes == ("event 2: 10 sorts before 9: shown in that order",)


@functools.cache
def texts() -> list[str]:
    e = engine("ckpt_viz")
    graph, inputs = PROGRAMS["asks_beside"](e, e.Saver())
    runs = streamed(graph, inputs)
    return [served(runs), printed(runs), lines(*(event for run in runs for event in run))]


@settings(deadline=None, max_examples=120)
@given(st.data())
def test_no_damage_breaks_the_reader(data):
    text = data.draw(st.sampled_from(texts()))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        put = data.draw(
            st.sampled_from(["", "\n", '"', "{", "]", "null", "event: x\n", "\x00", "}}"])
        )
        text = text[:at] + put + text[at + data.draw(st.integers(0, 40)) :]
    if not opened(text + "\n"):
        return
    timeline = open_timeline(text + "\n")
    for info in timeline.threads():
        there = timeline.at(info.id)
        for row in there.rows():
            there.snapshot(row.id)
            there.writes(row.id)


def test_nothing_that_a_log_names_is_imported_or_run(tmp_path, monkeypatch):
    (tmp_path / "trap_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    import base64

    import ormsgpack

    inner = ormsgpack.packb(("trap_module", "Trap", {"a": 1}))
    packed = ormsgpack.packb(ormsgpack.Ext(5, inner))
    envelope = {"$ckpt": "msgpack", "tag": "msgpack", "data": base64.b64encode(packed).decode()}
    pickled = {"$ckpt": "msgpack", "tag": "pickle", "data": "Y29zCnN5c3RlbQo="}
    lc = {"lc": 2, "type": "constructor", "id": ["trap_module", "Trap"], "kwargs": {}}
    text = lines(point("1", 0, {"a": envelope, "b": pickled, "c": lc}))
    text += "{'type': 'checkpoint', 'step': 1, 'payload': {'config': {'configurable': "
    text += "{'checkpoint_id': '2'}}, 'values': {'d': __import__('trap_module')}}}\n"
    timeline = open_timeline(text)
    values = timeline.snapshot("1").values
    assert type(values["a"]).__name__ == "Opaque"
    assert (values["b"], values["c"]) == (pickled, lc)
    assert timeline.snapshot("2").values == {"d": "__import__('trap_module')"}


def test_chat_messages_are_written_as_servers_write_them(tmp_path):
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph

    from ckpt_viz.timeline.preview import chat_role

    builder = StateGraph(MessagesState)
    builder.add_node("talk", lambda s: {"messages": [AIMessage("hi", id="2")]})
    builder.add_edge(START, "talk")
    graph = builder.compile(checkpointer=InMemorySaver())
    stream = graph.stream(
        {"messages": [HumanMessage("hello", id="1")]}, CONFIG, stream_mode="debug"
    )
    log, real = open_timeline(record(stream, tmp_path / "run.jsonl")), open_timeline(graph, "1")
    path = ckpt_viz.explore(graph, "1", follow=False).export(tmp_path / "run.json")
    for timeline in (log, open_timeline(path)):
        messages = timeline.snapshot().values["messages"]
        assert [chat_role(m) for m in messages] == ["human", "ai"]
        assert messages[1]["content"] == "hi"
        assert compare(timeline, real).first is None


def test_the_explorer_s_requests_are_answered_over_a_log():
    from ckpt_viz.explorer.messages import answer
    from ckpt_viz.explorer.session import Session

    session = Session(open_timeline(FILES / "printed_stream.txt"), lambda m: None, follow=False)
    head, base = session.timeline.rows()[-1].id, session.timeline.rows()[2].id
    asked = {"checkpoint": head, "a": base, "b": head, "path": ["messages"], "query": "exa"}
    for kind in ("hello", "threads", "checkpoint", "value", "diff", "blame", "search", "align",
                 "graph", "phases", "storage", "surprises", "nested", "refresh"):  # fmt: skip
        reply = answer(session, {"id": 1, "kind": kind, **asked})
        assert reply["ok"], (kind, reply)
    for kind in ("preview", "fork", "make_head", "scratch"):
        reply = answer(session, {"id": 1, "kind": kind, **asked, "values": {}})
        assert reply["error"]["type"] == "ReadOnlyError"
        assert "log of events" in reply["error"]["message"]
    session.close()
