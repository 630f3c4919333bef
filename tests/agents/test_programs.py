"""Whole programs as their documentation shows them, with local callables where a model would be.

A support agent as a graph, a session that is restored after a failed refund, a memory across
threads that is searched by meaning, and a state that moves to a second version.
"""

from __future__ import annotations

import operator
import re
import uuid
from typing import Annotated, Any, TypedDict

import pytest
import redis.asyncio

from ckpt_viz.agents import (
    AgentState,
    HybridMemory,
    MultiTurnAgent,
    OptimizedStateManager,
    PostgreSQLStorage,
    RedisStorage,
    SessionStorage,
    StateManager,
    StateMigrator,
    StateRecovery,
)
from ckpt_viz.graph import END, START, MessagesState, StateGraph
from ckpt_viz.store.base import BaseStore

from .test_memory import new_store
from .versions import AgentStateV2

# -- a support agent as a graph -----------------------------------------------------------------


class AgentGraphState(TypedDict):
    messages: Annotated[list[dict[str, str]], operator.add]
    context: dict[str, Any]
    next_action: str | None
    tool_results: list[dict[str, Any]]


async def process_user_input(state: AgentGraphState) -> Any:
    said = state["messages"][-1]["content"]
    intent = "refund" if "refund" in said else "order_help" if "order" in said else "other"
    return {"context": {**state["context"], "intent": intent}, "next_action": "select_tool"}


async def select_tool(state: AgentGraphState) -> Any:
    actions = {"order_help": "get_order", "refund": "process_refund"}
    return {"next_action": actions.get(state["context"]["intent"], "general_response")}


async def get_order(state: AgentGraphState) -> Any:
    found = re.search(r"ORD-\d+", " ".join(m["content"] for m in state["messages"]))
    order = {"id": found[0] if found else None, "status": "shipped"}
    done = {"tool": "get_order", "result": order}
    return {
        "tool_results": [*state["tool_results"], done],
        "next_action": "generate_response",
    }


async def process_refund(state: AgentGraphState) -> Any:
    done = {"tool": "process_refund", "result": "ok"}
    return {"tool_results": [*state["tool_results"], done]}


async def generate_response(state: AgentGraphState) -> Any:
    tools = [one["tool"] for one in state["tool_results"]]
    return {"messages": [{"role": "assistant", "content": f"done: {tools}"}], "next_action": END}


def create_agent_graph(checkpointer: Any) -> Any:
    graph = StateGraph(AgentGraphState)
    graph.add_node("process_input", process_user_input)
    graph.add_node("select_tool", select_tool)
    graph.add_node("get_order", get_order)
    graph.add_node("process_refund", process_refund)
    graph.add_node("generate_response", generate_response)
    graph.set_entry_point("process_input")
    graph.add_edge("process_input", "select_tool")
    graph.add_conditional_edges(
        "select_tool",
        lambda state: state["next_action"],
        {
            "get_order": "get_order",
            "process_refund": "process_refund",
            "general_response": "generate_response",
        },
    )
    graph.add_edge("get_order", "generate_response")
    graph.add_edge("process_refund", "generate_response")
    graph.add_edge("generate_response", END)
    return graph.compile(checkpointer=checkpointer)


async def test_a_support_agent_of_two_turns(saver: Any) -> None:
    agent = create_agent_graph(saver)
    config = {"configurable": {"thread_id": "sess-12345"}}
    result = await agent.ainvoke(
        {
            "messages": [{"role": "user", "content": "I need help with order ORD-123"}],
            "context": {},
            "next_action": None,
            "tool_results": [],
        },
        config=config,
    )
    assert result["messages"][-1]["content"] == "done: ['get_order']"
    assert result["tool_results"][0]["result"] == {"id": "ORD-123", "status": "shipped"}
    result = await agent.ainvoke(
        {"messages": [{"role": "user", "content": "Can I get a refund?"}]}, config=config
    )
    assert result["messages"][-1]["content"] == "done: ['get_order', 'process_refund']"
    assert [m["role"] for m in result["messages"]] == ["user", "assistant"] * 2


# -- a session, from its first word to its second version -----------------------------------------


async def model(messages: Any) -> str:
    return f"{len(messages)} messages so far"


def storage_of(kind: str, request: pytest.FixtureRequest, saver: Any) -> Any:
    """The same in the words of the program: a constructor for each server."""
    if kind == "postgres":
        return PostgreSQLStorage(request.getfixturevalue("postgres_url"))
    if kind == "redis":
        return RedisStorage(request.getfixturevalue("redis_url"))
    return SessionStorage(saver)


async def process_refund_of(state: AgentState) -> None:
    state.set_context("refund", "begun")
    raise ConnectionError("the bank is away")


async def test_a_session_from_beginning_to_end(saver: Any, request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["saver"]
    storage = storage_of(kind, request, saver)
    await storage.initialize()
    state_manager = StateManager(storage_backend=storage)

    agent = MultiTurnAgent(state_manager, model)
    for said in ("I need help with my order", "It's order number ORD-12345", "A refund?"):
        result = await agent.handle_turn(session_id="sess-123", user_message=said)
    assert result == {
        "response": "5 messages so far",
        "session_id": "sess-123",
        "turn_count": 3,
        "checkpoint_id": result["checkpoint_id"],
    }

    recovery = StateRecovery(state_manager)
    state = await state_manager.get_state("sess-123")
    checkpoint_id = await recovery.save_checkpoint(state, "before_refund")
    with pytest.raises(ConnectionError):
        await process_refund_of(state)
    state = await recovery.restore_checkpoint(checkpoint_id)
    assert state.context == {}
    await recovery.rollback_to_turn("sess-123", turn_number=2)
    assert (await state_manager.get_state("sess-123")).turns == 2
    assert [c["name"] for c in await recovery.list_checkpoints("sess-123")] == ["before_refund"]

    migrator = StateMigrator()
    migrator.register(1, 2, to_second_version)
    state_dict = await storage.load_state_dict("sess-123")
    if await migrator.detect_version(state_dict) == 1:
        state_v2 = await migrator.migrate_v1_to_v2(AgentState(**state_dict))
        await storage.save_state(state_v2)
    moved = await state_manager.get_state("sess-123")
    assert isinstance(moved, AgentStateV2)
    assert (moved.turns, moved.version) == (2, 2)
    await agent.handle_turn("sess-123", "and on it goes")
    assert (await state_manager.get_state("sess-123")).turns == 3
    await storage.aclose()


async def to_second_version(state_v1: AgentState) -> AgentStateV2:
    return AgentStateV2(**vars(state_v1), tags=[], sentiment_history=[])


async def test_the_optimized_manager_over_postgres_and_redis(
    postgres_url: str, redis_url: str
) -> None:
    postgres_storage = PostgreSQLStorage(postgres_url)
    await postgres_storage.initialize()
    redis_client = redis.asyncio.from_url(redis_url)
    optimized_manager = OptimizedStateManager(
        storage_backend=postgres_storage, cache_backend=redis_client
    )
    agent = MultiTurnAgent(optimized_manager, model)
    for number in range(15):
        await agent.handle_turn("sess-1", f"question {number}")
    state = await optimized_manager.get_state("sess-1")
    assert 10 <= len(state.conversation_history) <= 20
    assert re.fullmatch(r"Previous conversation \(\d+ messages\)", state.context["history_summary"])
    whole = await postgres_storage.load_state("sess-1")
    assert len(whole.conversation_history) == 30
    await redis_client.aclose()
    await postgres_storage.aclose()


async def test_a_hybrid_memory_in_a_checkpoint(saver: Any) -> None:
    memory = HybridMemory(new_store())
    await memory.add_memory("user", "I ordered item XYZ last week", {"topic": "order"})
    await memory.add_memory("assistant", "Let me check on that order for you.")
    relevant = await memory.recall("What did I order?", strategy="vector")
    assert relevant[0]["metadata"] == {"topic": "order"}
    manager = StateManager(saver)
    state = await manager.create_state("s", "a", "u")
    state.set_context("memory", memory.to_dict())
    await manager.checkpoint(state)
    found = await manager.get_state("s")
    again = HybridMemory.from_dict(found.context["memory"], memory.vector.vector_store)
    assert await again.recall("What did I order?") == relevant
    assert await again.recall("", "buffer") == await memory.recall("", "buffer")


# -- a memory that outlives a thread --------------------------------------------------------------


def update_memory(state: MessagesState, config: Any, *, store: BaseStore) -> None:
    namespace = (config["configurable"]["user_id"], "memories")
    store.put(namespace, str(uuid.uuid4()), {"memory": state["messages"][-1].content})


def call_model(state: MessagesState, config: Any, *, store: BaseStore) -> Any:
    namespace = (config["configurable"]["user_id"], "memories")
    memories = store.search(namespace, query=state["messages"][-1].content, limit=3)
    info = "\n".join([d.value["memory"] for d in memories])
    return {"messages": [{"role": "assistant", "content": f"I remember: {info}"}]}


async def test_memories_of_a_user_in_another_thread(saver: Any) -> None:
    builder = StateGraph(MessagesState)
    builder.add_node(call_model)
    builder.add_node(update_memory)
    builder.add_edge(START, "call_model").add_edge("call_model", END)
    builder.add_edge(START, "update_memory")
    store = new_store()
    graph = builder.compile(checkpointer=saver, store=store)

    async def say(text: str, thread: str, user: str) -> str:
        config = {"configurable": {"thread_id": thread, "user_id": user}}
        found = await graph.ainvoke({"messages": [{"role": "user", "content": text}]}, config)
        return str(found["messages"][-1].content)

    assert await say("I like pizza", "1", "1") == "I remember: "
    assert await say("the weather is fine", "1", "1") == "I remember: I like pizza"
    heard = await say("what pizza?", "2", "1")  # another thread of the same user
    assert heard.split(": ")[1].split("\n")[0] == "I like pizza"
    assert await say("what pizza?", "3", "2") == "I remember: "
    found = [item.dict()["value"]["memory"] for item in store.search(("1", "memories"))]
    assert found == ["I like pizza", "the weather is fine", "what pizza?"]
