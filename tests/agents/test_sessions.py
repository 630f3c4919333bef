"""Sessions: made, read, saved, listed and removed, in every saver and by both managers."""

from __future__ import annotations

import asyncio
import base64
import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ckpt_viz.agents import (
    AgentState,
    MultiTurnAgent,
    OptimizedStateManager,
    PostgreSQLStorage,
    RedisStorage,
    SessionStorage,
    StateManager,
    StateRecovery,
)
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.serde.encrypted import EncryptedSerializer
from ckpt_viz.errors import (
    SerializationError,
    SessionExistsError,
    SessionNotFoundError,
    StaleStateError,
    ThreadBusyError,
)
from ckpt_viz.graph import START, MessagesState, StateGraph

from .conftest import SAVERS, echo, open_saver


async def test_a_state_is_made_changed_saved_and_read_again(manager: Any) -> None:
    state = await manager.create_state(
        session_id="sess-12345", agent_id="support-agent", user_id="user-123"
    )
    state.add_message("user", "I need help with my order")
    state.set_context("current_intent", "order_help")
    state.add_tool_result("get_order", {"id": "ORD-1", "items": [1, 2]})
    await manager.checkpoint(state)
    restored = await manager.get_state("sess-12345")
    assert restored == state
    assert restored is not state
    assert restored.get_context("current_intent") == "order_help"
    assert restored.get_context("nothing", "default") == "default"
    assert [m["content"] for m in restored.conversation_history] == ["I need help with my order"]
    assert restored.tool_results[0]["result"] == {"id": "ORD-1", "items": [1, 2]}
    assert restored.turns == 0


async def test_what_was_not_saved_is_never_given(manager: Any) -> None:
    state = await manager.create_state("s", "a", "u")
    state.add_message("user", "not saved")
    found = await manager.get_state("s")
    assert found.conversation_history == []
    found.context["mine"] = "not saved either"
    assert (await manager.get_state("s")).context == {}


async def test_unknown_sessions_and_sessions_that_are_there(manager: Any) -> None:
    assert await manager.get_state("nobody") is None
    await manager.create_state("s", "a", "u")
    with pytest.raises(SessionExistsError, match="'s' is there since"):
        await manager.create_state("s", "a", "u")
    await manager.delete_state("s")
    assert await manager.get_state("s") is None
    await manager.delete_state("s")
    await manager.create_state("s", "a", "u")


async def test_a_users_sessions_the_last_used_first(manager: Any) -> None:
    for number, user in enumerate(["u", "other", "u", "u'; DROP"]):
        await manager.create_state(f"s{number}", "a", user)
    first = await manager.get_state("s0")
    first.add_message("user", "again")
    await manager.checkpoint(first)
    assert await manager.list_user_sessions("u") == ["s0", "s2"]
    assert await manager.list_user_sessions("u'; DROP") == ["s3"]
    assert await manager.list_user_sessions("nobody") == []
    await manager.delete_state("s0")
    assert await manager.list_user_sessions("u") == ["s2"]


async def test_the_second_of_two_that_save_what_both_have_read_is_refused(manager: Any) -> None:
    state = await manager.create_state("s", "a", "u")
    one, two = await manager.get_state("s"), await manager.get_state("s")
    one.add_message("user", "one")
    await manager.checkpoint(one)
    for late in (two, state):
        late.add_message("user", "two")
        with pytest.raises(StaleStateError, match="'s' has gone on since"):
            await manager.checkpoint(late)
    assert (await manager.get_state("s")).conversation_history == one.conversation_history
    one.add_message("user", "one more")  # what was saved last goes on
    await manager.checkpoint(one)


async def test_of_many_that_save_at_once_one_is_right(manager: Any) -> None:
    await manager.create_state("s", "a", "u")
    states = [await manager.get_state("s") for _ in range(8)]
    for number, state in enumerate(states):
        state.add_message("user", str(number))
    ends = await asyncio.gather(*map(manager.checkpoint, states), return_exceptions=True)
    right = [n for n, end in enumerate(ends) if isinstance(end, str)]
    wrong = [end for end in ends if not isinstance(end, str)]
    assert len(right) == 1
    assert all(isinstance(end, ThreadBusyError) for end in wrong)
    said = (await manager.get_state("s")).conversation_history
    assert [m["content"] for m in said] == [str(right[0])]


@pytest.mark.parametrize("which", SAVERS[1:])
async def test_two_programs_on_one_database(
    which: str, kind: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    savers = [open_saver(which, request, tmp_path)]
    one = kind(savers[0])
    await one.create_state("s", "a", "u")
    savers.append(open_saver(which, request, tmp_path))
    two = StateManager(savers[1])
    mine, theirs = await one.get_state("s"), await two.get_state("s")
    mine.add_message("user", "mine")
    theirs.add_message("user", "theirs")
    await one.checkpoint(mine)
    with pytest.raises(StaleStateError):
        await two.checkpoint(theirs)
    ends = await asyncio.gather(
        MultiTurnAgent(one, echo).handle_turn("s", "a"),
        MultiTurnAgent(two, echo).handle_turn("s", "b"),
        return_exceptions=True,
    )
    right = [end for end in ends if isinstance(end, dict)]
    assert right
    assert all(isinstance(end, dict | StaleStateError) for end in ends)
    said = [m["content"] for m in (await two.get_state("s")).conversation_history]
    assert said[0] == "mine"
    assert len(said) == 1 + 2 * len(right)
    for saver in savers:
        saver.close()


async def test_all_earlier_states_stay(manager: Any) -> None:
    state = await manager.create_state("s", "a", "u")
    saved = {}
    for number in range(12):
        state.add_message("user", f"message {number} " * 20)
        state.context["number"] = number
        saved[await manager.checkpoint(state)] = copy.deepcopy(state)
    for id_, then in saved.items():
        assert await manager.storage.load_state("s", id_) == then


async def test_types_survive(manager: Any) -> None:
    state = await manager.create_state("s", "a", "u")
    state.context = {"pair": (1, 2), "set": {3}, "bytes": b"\0x", "flag": True}
    await manager.checkpoint(state)
    state.context = {**state.context, "flag": 1}  # equal, and of another type
    await manager.checkpoint(state)
    found = (await manager.get_state("s")).context
    assert found == {"pair": (1, 2), "set": {3}, "bytes": b"\0x", "flag": 1}
    assert [type(v) for v in found.values()] == [tuple, set, bytes, int]


async def test_a_state_that_cannot_be_saved_leaves_the_session_as_it_was(manager: Any) -> None:
    state = await manager.create_state("s", "a", "u")
    state.context["lock"] = asyncio.Lock()
    with pytest.raises(SerializationError, match="context"):
        await manager.checkpoint(state)
    assert (await manager.get_state("s")).context == {}


async def test_odd_names(manager: Any) -> None:
    for name in ("a/b", "ünï ☃", "a'b\"c", "%_*", "a:b|c"):
        state = await manager.create_state(name, name, name)
        state.add_message("user", name)
        await manager.checkpoint(state)
        assert (await manager.get_state(name)).agent_id == name
        assert await manager.list_user_sessions(name) == [name]


async def test_a_copied_thread_is_a_session_of_its_own(saver: Any) -> None:
    manager = StateManager(saver)
    state = await manager.create_state("s", "a", "u")
    await saver.acopy_thread("s", "copy")
    copied = await manager.get_state("copy")
    assert (copied.session_id, copied.state_id) == ("copy", state.state_id)
    copied.add_message("user", "only here")
    await manager.checkpoint(copied)
    assert (await manager.get_state("s")).conversation_history == []


async def test_a_thread_of_another_graph_is_no_session(saver: Any) -> None:
    flow = StateGraph(MessagesState).add_node("a", lambda s: {"messages": [("ai", "hi")]})
    graph = flow.add_edge(START, "a").compile(checkpointer=saver)
    await graph.ainvoke({"messages": [("user", "hi")]}, {"configurable": {"thread_id": "t"}})
    manager = StateManager(saver)
    with pytest.raises(SessionNotFoundError, match="no session's state"):
        await manager.get_state("t")
    assert await manager.list_user_sessions("u") == []


async def test_a_state_made_by_hand_extends_what_is_there(saver: Any) -> None:
    storage = SessionStorage(saver)
    await storage.initialize()
    made = AgentState("id", "s", "a", "u", "2026-01-01T00:00:00+00:00")
    await storage.save_state(made)
    await storage.save_state(dataclasses.replace(made, context={"k": 1}))
    assert (await storage.load_state("s")).context == {"k": 1}
    assert await storage.list_sessions("u") == ["s"]
    assert (await storage.load_state_dict("s") or {})["state_id"] == "id"
    assert await storage.load_state_dict("nobody") is None


async def test_the_server_variants_are_one_constructor_call(
    postgres_url: str, redis_url: str
) -> None:
    for storage in (PostgreSQLStorage(postgres_url), RedisStorage(redis_url, ttl=60)):
        await storage.initialize()
        manager = StateManager(storage_backend=storage)
        state = await manager.create_state("s", "a", "u")
        state.add_message("user", "hi")
        await manager.checkpoint(state)
        assert (await manager.get_state("s")) == state
        await storage.aclose()


async def test_sessions_in_redis_live_for_a_time(redis_url: str) -> None:
    storage = RedisStorage(redis_url, ttl=0.3)
    manager = StateManager(storage)
    await manager.create_state("s", "a", "u")
    assert await manager.get_state("s") is not None
    await asyncio.sleep(0.4)
    assert await manager.get_state("s") is None
    assert await manager.list_user_sessions("u") == []
    await storage.aclose()


async def test_encrypted_sessions_can_be_listed_and_are_not_in_clear(kind: Any) -> None:
    saver = InMemorySaver(serde=EncryptedSerializer.from_key(b"k" * 32))
    manager = kind(saver)
    state = await manager.create_state("s", "a", "user-secret")
    state.add_message("user", "a secret text")
    await manager.checkpoint(state)
    assert await manager.get_state("s") == state
    assert await manager.list_user_sessions("user-secret") == ["s"]
    kept = repr((dict(saver.storage), dict(saver.blobs)))
    if kind is OptimizedStateManager:
        packed = base64.b64decode(manager.cache.get("state:s"))
        kept += repr(zstandard.decompress(packed[1:]))
    assert "secret" not in kept


async def test_sessions_in_a_saver_of_langgraph() -> None:
    from langgraph.checkpoint.memory import InMemorySaver as Foreign

    manager = StateManager(Foreign())
    state = await manager.create_state("s", "a", "u")
    late = await manager.get_state("s")
    state.add_message("user", "hi")
    await manager.checkpoint(state)
    assert await manager.get_state("s") == state
    with pytest.raises(StaleStateError):
        await manager.checkpoint(late)
    assert await manager.list_user_sessions("u") == ["s"]
    with pytest.raises(NotImplementedError, match="keeps no names"):
        await StateRecovery(manager).save_checkpoint(state, "name")
    assert (await StateRecovery(manager).rollback_to_turn("s", 0)).turns == 0


async def test_sessions_need_a_saver() -> None:
    with pytest.raises(TypeError, match="not by dict"):
        StateManager({})


@dataclasses.dataclass
class PlainState:
    """A state as a program has it that was not written for this package."""

    state_id: str
    session_id: str
    agent_id: str
    user_id: str
    created_at: str
    conversation_history: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    context: dict[str, Any] = dataclasses.field(default_factory=dict)
    tool_results: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)


async def test_states_of_a_class_that_knows_nothing_of_this_package(saver: Any) -> None:
    """Such programs make a state anew of its ``__dict__``, and save it."""
    storage = SessionStorage(saver)
    state = PlainState("id", "s", "a", "u", "2026-01-02T03:04:05+00:00")
    for said in ("hello", "again"):
        state.conversation_history.append({"role": "user", "content": said})
        await storage.save_state(state)
        state = PlainState(**json.loads(json.dumps(state.__dict__)))
    loaded = await storage.load_state("s")
    assert vars(loaded) == vars(state)
    assert [saved.turn async for saved in storage.lineage("s")] == [1, 0]


async def test_the_class_of_states_may_be_any_dataclass(kind: Any) -> None:
    manager = kind(InMemorySaver(), state_class=PlainState)
    state = await manager.create_state("s", "a", "u")
    late = await manager.get_state("s")
    state.conversation_history.append({"role": "user", "content": "hello"})
    await manager.checkpoint(state)
    with pytest.raises(StaleStateError):
        await manager.checkpoint(late)
    assert await manager.get_state("s") == state
