"""What states, histories and metadata show, and who may keep them."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from ..basics import C, State, adds, linear_graph, program, says
from ..harness import Engine, Recorder


@program
def parts_of_a_history(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    for k in (1, 2):
        g.invoke({"foo": "x"}, {**C, "metadata": {"k": k}}, durability="sync")

    def steps(**options: Any) -> list[Any]:
        return [s.metadata for s in g.get_state_history(C, **options)]

    for wanted in ({"source": "input"}, {"step": 1}, {"k": 2, "source": "loop"}, {"zz": 1}, {}):
        rec.call("filtered", steps, filter=wanted)
    for limit in (0, 1, 3, 100):
        rec.call("limited", steps, limit=limit)
    history = list(g.get_state_history(C))
    rec.call("before", steps, before=history[3].config)
    rec.call("all", steps, before=history[3].config, limit=2, filter={"source": "loop"})
    rec.call("one", lambda: list(g.get_state_history(history[2].config)))


@program
def what_goes_into_metadata(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    mixed = {"n": 3, "f": 1.5, "b": True, "none": None, "obj": {"x": 1}, "l": [1], "__x": 1}
    config = {
        "configurable": {**C["configurable"], **mixed, "checkpoint_ns": ""},
        "metadata": {**mixed, "m": "v", "source": "mine", "thread_id": "other", "step": 99},
        "tags": ["t"],
        "run_name": "named",
    }
    g.invoke({"foo": "x"}, config, durability="sync")
    rec.look(g, C)


@program
def a_config_of_the_graph_s_own(e: Engine, rec: Recorder) -> None:
    own = {"metadata": {"w": 1}, "configurable": {"c": 2}, "tags": ["q"]}
    g = linear_graph(e).with_config(own)
    g.invoke({"foo": "x"}, {**C, "metadata": {"m": 3}}, durability="sync")
    rec.look(g, C)


@program
def thread_ids_of_many_types(e: Engine, rec: Recorder) -> None:
    for thread in (1, uuid.UUID(int=5), 1.5, "", True):
        config = {"configurable": {"thread_id": thread}}
        g = linear_graph(e)
        rec.invoke(g, {"foo": "x"}, config)
        rec.call("state", g.get_state, config)
        rec.call("history", lambda c=config, g=g: list(g.get_state_history(c)))


@program
def a_run_of_the_same_run_id(e: Engine, rec: Recorder) -> None:
    ran: list[int] = []

    def fails_once(state: Any) -> dict[str, Any]:
        ran.append(1)
        if len(ran) == 1:
            raise ValueError("once")
        return {"bar": ["a"]}

    g = e.build(State, {"a": fails_once}, [(e.START, "a")])
    same = {**C, "metadata": {"run_id": "r1"}}
    for _ in range(3):
        rec.invoke(g, {"foo": "x"}, same)
    rec.invoke(g, {"foo": "y"}, {**C, "metadata": {"run_id": "r2"}})
    rec.look(g, C)


@program
def without_any_checkpoint(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    rec.look(g, C)
    rec.invoke(g, None, C)
    rec.call("no saver", linear_graph(e, saver=None).get_state, C)
    rec.call("no saver", linear_graph(e, saver=None).update_state, C, {"foo": "x"})


@program
def records(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e)
    g.invoke({"foo": "x"}, C)
    state = g.get_state(C)
    rec.note("fields", [state._fields, e.PregelTask._fields, e.StateUpdate._fields])
    rec.note("types", [type(value).__name__ for value in state])
    rec.note("defaults", e.PregelTask("id", "name", ("path",)))


@program
def a_saver_given_by_the_config(e: Engine, rec: Recorder) -> None:
    g = linear_graph(e, saver=None)
    given = {"configurable": {"thread_id": "1", "__pregel_checkpointer": e.MemorySaver()}}
    rec.invoke(g, {"foo": "x"}, given)
    rec.call("state", g.get_state, given)
    rec.update(g, given, {"foo": "z"}, as_node="a")
    rec.call("history", lambda: list(g.get_state_history(given)))


def by_hand(e: Engine) -> Any:
    """A saver written from the documentation: sync methods over one list."""
    base: Any = e.module("checkpoint.base")

    class Mine(base.BaseCheckpointSaver):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rows: list[Any] = []
            self.writes: dict[str, list[Any]] = {}

        def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            parent = config["configurable"].get("checkpoint_id")
            packed = self.serde.dumps_typed(checkpoint)
            self.rows.append((checkpoint["id"], packed, dict(metadata), parent))
            return self.place(checkpoint["id"])

        def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            kept = self.writes.setdefault(config["configurable"]["checkpoint_id"], [])
            kept.extend((task_id, channel, value) for channel, value in writes)

        def place(self, id_: str) -> Any:
            return {"configurable": {"thread_id": "1", "checkpoint_ns": "", "checkpoint_id": id_}}

        def list(self, config: Any, **options: Any) -> Any:
            for id_, packed, metadata, parent in reversed(self.rows):
                yield base.CheckpointTuple(
                    self.place(id_),
                    self.serde.loads_typed(packed),
                    metadata,
                    self.place(parent) if parent else None,
                    self.writes.get(id_, []),
                )

        def get_tuple(self, config: Any) -> Any:
            wanted = config["configurable"].get("checkpoint_id")
            found = (t for t in self.list(config) if wanted in (None, t.checkpoint["id"]))
            return next(found, None)

    return Mine()


@program
def a_saver_written_by_hand(e: Engine, rec: Recorder) -> None:
    saver = by_hand(e)
    g = linear_graph(e, saver=saver)
    rec.call("run", g.invoke, {"foo": "x"}, C, durability="sync")
    rec.look(g, C)
    rec.update(g, C, {"foo": "z"}, as_node="a")
    rec.call("run", g.invoke, None, C, durability="sync")
    rec.look(g, C)
    rec.note("versions", [saver.get_next_version(None, None), saver.get_next_version(7, None)])


@program
def a_saver_with_async_methods_only(e: Engine, rec: Recorder) -> None:
    base: Any = e.module("checkpoint.base")

    class Mine(base.BaseCheckpointSaver):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = e.MemorySaver()

        async def aput(self, *args: Any) -> Any:
            return self.inner.put(*args)

        async def aput_writes(self, *args: Any) -> None:
            self.inner.put_writes(*args)

        async def aget_tuple(self, config: Any) -> Any:
            return self.inner.get_tuple(config)

        async def alist(self, config: Any, **options: Any) -> Any:
            for one in self.inner.list(config, **options):
                yield one

        def get_next_version(self, current: Any, channel: Any) -> Any:
            return self.inner.get_next_version(current, channel)

    g = linear_graph(e, saver=Mine())

    async def go() -> None:
        rec.note("run", await g.ainvoke({"foo": "x"}, C, durability="sync"))
        rec.note("state", await g.aget_state(C))
        rec.note("update", await g.aupdate_state(C, {"foo": "z"}, as_node="a"))
        rec.note("run", await g.ainvoke(None, C, durability="sync"))
        rec.note("history", [s async for s in g.aget_state_history(C)])

    asyncio.run(go())
    rec.call("sync", g.invoke, {"foo": "x"}, C)
    rec.call("sync", g.get_state, C)


@program
def one_thread_used_in_turns(e: Engine, rec: Recorder) -> None:
    """Two graphs on one saver, a stream that is looked at while read, one that is left."""
    saver = e.MemorySaver()
    first, second = linear_graph(e, saver=saver), linear_graph(e, saver=saver)
    rec.invoke(first, {"foo": "x"}, C)
    rec.invoke(second, {"foo": "y"}, C)
    for chunk in first.stream({"foo": "z"}, C, stream_mode="updates", durability="sync"):
        rec.note("seen", [chunk, first.get_state(C).next])
    for _ in first.stream({"foo": "left"}, C, durability="sync"):
        break
    rec.invoke(first, None, C)
    rec.look(first, C)


@program
def a_node_that_uses_its_own_thread(e: Engine, rec: Recorder) -> None:
    graphs: list[Any] = []

    def edits(state: Any) -> dict[str, Any]:
        graphs[0].update_state(C, {"bar": ["from inside"]}, as_node="a")
        return {"bar": ["a"]}

    def calls(state: Any) -> dict[str, Any]:
        other = {"configurable": {"thread_id": "2"}}
        return {"bar": inner.invoke({"foo": "q"}, other)["bar"]}

    saver = e.MemorySaver()
    inner = linear_graph(e, saver=saver)
    nodes = {"a": edits, "b": adds("b"), "c": calls, "d": says("d")}
    edges = [(e.START, "a"), ("a", "b"), ("b", "c"), ("c", "d")]
    graphs.append(e.build(State, nodes, edges, saver=saver))
    rec.invoke(graphs[0], {"foo": "x"}, C)
    rec.call("history", lambda: [(s.values, s.next) for s in graphs[0].get_state_history(C)])
