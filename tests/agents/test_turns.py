"""Turns of a conversation: each is saved with its answer, or not at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ckpt_viz.agents import FoldingPolicy, MultiTurnAgent, OptimizedStateManager, StateManager
from ckpt_viz.checkpoint.memory import InMemorySaver

from .conftest import echo

QUESTIONS = ["I need help with my order", "It's order number ORD-12345", "Can I get a refund?"]


async def test_three_turns_with_what_was_said_before(manager: Any) -> None:
    shown: list[list[str]] = []

    async def model(messages: Any) -> str:
        shown.append([f"{m['role']}: {m['content']}" for m in messages])
        return f"answer {len(shown)}"

    agent = MultiTurnAgent(manager, model, user_id="user-123")
    for number, question in enumerate(QUESTIONS, 1):
        result = await agent.handle_turn(session_id="sess-123", user_message=question)
        assert result["response"] == f"answer {number}"
        assert result["session_id"] == "sess-123"
        assert result["turn_count"] == number
    assert shown[2] == [
        "user: I need help with my order",
        "assistant: answer 1",
        "user: It's order number ORD-12345",
        "assistant: answer 2",
        "user: Can I get a refund?",  # once, and not twice
    ]
    state = await manager.get_state("sess-123")
    assert (state.turns, state.agent_id) == (3, "multi-turn-agent")
    assert result["checkpoint_id"] == state.origin
    assert await manager.list_user_sessions("user-123") == ["sess-123"]


async def test_a_turn_that_fails_leaves_the_session_as_it_was(manager: Any) -> None:
    async def model(messages: Any) -> str:
        if "boom" in messages[-1]["content"]:
            raise ConnectionError("no model today")
        return "fine"

    agent = MultiTurnAgent(manager, model)
    await agent.handle_turn("s", "hello")
    before = await manager.get_state("s")
    with pytest.raises(ConnectionError):
        await agent.handle_turn("s", "boom")
    assert await manager.get_state("s") == before
    waits = asyncio.ensure_future(MultiTurnAgent(manager, _never).handle_turn("s", "slow"))
    await asyncio.sleep(0.05)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert await manager.get_state("s") == before
    assert (await agent.handle_turn("s", "again"))["turn_count"] == 2


async def _never(messages: Any) -> str:
    await asyncio.sleep(60)
    return ""


async def test_turns_of_one_session_wait_for_each_other(manager: Any) -> None:
    async def slow(messages: Any) -> str:
        await asyncio.sleep(0.005)
        return await echo(messages)

    agent = MultiTurnAgent(manager, slow)
    turns = [agent.handle_turn("s", str(n)) for n in range(6)]
    others = [agent.handle_turn(f"other{n}", "hi") for n in range(6)]
    counts = [one["turn_count"] for one in await asyncio.gather(*turns, *others)]
    assert sorted(counts[:6]) == [1, 2, 3, 4, 5, 6]
    assert counts[6:] == [1] * 6
    said = (await manager.get_state("s")).conversation_history
    for question, answer in zip(said[::2], said[1::2], strict=True):
        assert answer["content"] == f"You said: {question['content']}"


async def test_two_agents_that_begin_one_session_at_once() -> None:
    manager = StateManager(InMemorySaver())
    one, two = MultiTurnAgent(manager, echo), MultiTurnAgent(manager, echo)
    ends = await asyncio.gather(
        one.handle_turn("s", "a"), two.handle_turn("s", "b"), return_exceptions=True
    )
    right = [end for end in ends if isinstance(end, dict)]
    assert (await manager.get_state("s")).turns == len(right) >= 1


async def test_the_model_may_be_anything_that_answers() -> None:
    class Answer:
        content = "an object's text"

    manager = StateManager(InMemorySaver())
    plain = MultiTurnAgent(manager, lambda messages: "a plain function's")
    assert (await plain.handle_turn("1", "hi"))["response"] == "a plain function's"
    wraps = MultiTurnAgent(manager, lambda messages: Answer())
    assert (await wraps.handle_turn("2", "hi"))["response"] == "an object's text"

    class Own(MultiTurnAgent):
        async def _process_with_context(self, state: Any, user_message: str) -> str:
            state.set_context("asked", user_message)
            return "my own way"

    assert (await Own(manager).handle_turn("3", "hi"))["response"] == "my own way"
    assert (await manager.get_state("3")).context == {"asked": "hi"}
    with pytest.raises(TypeError, match="has no model"):
        await MultiTurnAgent(manager).handle_turn("4", "hi")


async def test_the_model_is_shown_the_summary_of_what_was_folded() -> None:
    shown: list[Any] = []

    async def model(messages: Any) -> str:
        shown.append(messages)
        return "ok"

    folding = FoldingPolicy(threshold=6, keep=2, summarize=lambda old, said: f"{old}+{len(said)}")
    manager = OptimizedStateManager(InMemorySaver(), folding=folding)
    agent = MultiTurnAgent(manager, model)
    counts = [(await agent.handle_turn("s", str(n)))["turn_count"] for n in range(8)]
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8]
    assert max(map(len, shown)) <= 1 + 6 + 1  # the summary, a view, the question
    assert shown[-1][0]["role"] == "system"
    assert shown[-1][0]["content"].startswith("None+")
    assert [m["content"] for m in shown[-1][1:]][-1] == "7"
