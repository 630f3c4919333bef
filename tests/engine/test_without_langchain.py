"""Messages and tools where langchain_core is not installed: dictionaries and plain functions."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import asyncio, sys
sys.modules["langchain_core"] = None
from ckpt_viz.graph import END, START, MessagesState, StateGraph, add_messages
from ckpt_viz.prebuilt import InjectedState, ToolNode, tools_condition
from typing import Annotated

def add(a: int, b: int, who: Annotated[str, InjectedState("who")]) -> str:
    "Add."
    return f"{a + b} for {who}"

async def later(a: int) -> str:
    "Later."
    return f"later {a}"

class State(MessagesState):
    who: str

said = iter([
    {"role": "assistant", "content": "", "tool_calls": [
        {"name": "add", "args": {"a": 1, "b": 2}, "id": "1", "type": "tool_call"},
        {"name": "nope", "args": {}, "id": "2", "type": "tool_call"},
        {"name": "add", "args": {"a": 1}, "id": "3", "type": "tool_call"},
    ]},
    {"role": "assistant", "content": "done", "id": "last"},
])
graph = StateGraph(State).add_node("agent", lambda s: {"messages": [next(said)]})
graph.add_node("tools", ToolNode([add])).add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition).add_edge("tools", "agent")
found = graph.compile().invoke({"messages": "hi", "who": "me"})["messages"]
roles = [m["role"] for m in found]
assert roles == ["user", "assistant", "tool", "tool", "tool", "assistant"], roles
assert all(m["id"] for m in found if m["role"] != "tool")
three, unknown, wrong = (m["content"] for m in found[2:5])
assert three == "3 for me", three
assert unknown == "Error: nope is not a valid tool, try one of [add].", unknown
assert wrong.startswith("Error invoking tool 'add'"), wrong

merged = add_messages(found, [{"role": "remove", "id": "last"}, ("user", "more")])
assert [m["content"] for m in merged][-1] == "more" and len(merged) == 6
call = {"name": "later", "args": {"a": 1}, "id": "1", "type": "tool_call"}
answer = asyncio.run(ToolNode([later]).ainvoke([{"role": "assistant", "tool_calls": [call]}]))
assert answer[0]["content"] == "later 1"
try:
    graph.compile() | str
except ImportError as error:
    assert "langchain-core" in str(error)
print("fine")
"""


def test_plain_dictionaries_and_functions() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == "fine", ran.stderr
