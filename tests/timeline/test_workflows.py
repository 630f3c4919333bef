"""The timeline over entrypoints and graphs by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import ckpt_viz
from ckpt_viz.channels import LastValue
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.func import entrypoint, task
from ckpt_viz.pregel import NodeBuilder, Pregel
from ckpt_viz.types import interrupt

C: dict[str, Any] = {"configurable": {"thread_id": "1"}}


def test_an_async_entrypoint_is_shown_and_answered() -> None:
    @task
    async def work(x: int) -> int:
        return x + 1

    @entrypoint(checkpointer=InMemorySaver())
    async def flow(x: int) -> Any:
        return [await work(x), interrupt("go on?")]

    asyncio.run(flow.ainvoke(1, C))
    explorer = ckpt_viz.explore(flow, thread_id="1")
    explorer.resume("yes")
    assert flow.get_state(C).values == [2, "yes"]


def test_a_graph_by_hand_is_shown() -> None:
    def node(source: str, target: str) -> NodeBuilder:
        return NodeBuilder().subscribe_only(source).do(lambda x: x + 1).write_to(target)

    graph = Pregel(
        nodes={"one": node("input", "mid"), "two": node("mid", "output")},
        channels={name: LastValue(int) for name in ("input", "mid", "output")},
        input_channels="input",
        output_channels="output",
        checkpointer=InMemorySaver(),
    )
    graph.invoke(1, C)
    explorer = ckpt_viz.explore(graph, thread_id="1")
    explorer.select(step=0)
    assert explorer.selected.values == {"input": 1, "mid": 2}
    explorer.replay()
    assert graph.get_state(C).values["output"] == 3
