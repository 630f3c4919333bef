"""A cache in front of the saver, and folded conversations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis.asyncio

from ckpt_viz.agents import (
    FoldingPolicy,
    MemoryCache,
    MultiTurnAgent,
    OptimizedStateManager,
    PostgreSQLStorage,
    StateManager,
)
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import CheckpointNotFoundError, StaleStateError

from .conftest import echo
from .versions import AgentStateV2, newest_migrator


class Counting(InMemorySaver):
    """Counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def get_tuple(self, config: Any) -> Any:
        self.reads += 1
        return super().get_tuple(config)


class Broken(MemoryCache):
    """A cache that is away while ``down`` names the method, or is ``all``."""

    down = ""

    def _up(self, name: str) -> None:
        if self.down in (name, "all"):
            raise ConnectionError("no cache today")

    def get(self, key: str) -> Any:
        self._up("get")
        return super().get(key)

    def setex(self, key: str, seconds: float, value: bytes) -> None:
        self._up("setex")
        super().setex(key, seconds, value)

    def delete(self, key: str) -> None:
        self._up("delete")
        super().delete(key)


async def test_what_the_cache_has_is_not_read_again() -> None:
    saver = Counting()
    manager = OptimizedStateManager(saver)
    state = await manager.create_state("s", "a", "u")
    saver.reads = 0
    assert await manager.get_state("s") == state
    assert saver.reads == 0


async def test_the_cache_keeps_a_state_for_a_time() -> None:
    time = [100.0]
    saver = Counting()
    manager = OptimizedStateManager(saver, MemoryCache(lambda: time[0]), ttl=10)
    await manager.create_state("s", "a", "u")
    saver.reads = 0
    time[0] += 9.9
    await manager.get_state("s")
    assert saver.reads == 0
    time[0] += 0.1
    await manager.get_state("s")
    assert saver.reads > 0
    saver.reads = 0
    await manager.get_state("s")  # what was read is cached again
    assert saver.reads == 0


@pytest.mark.parametrize("decode", [False, True], ids=["bytes", "text"])
async def test_postgres_behind_redis(postgres_url: str, redis_url: str, decode: bool) -> None:
    client = redis.asyncio.from_url(redis_url, decode_responses=decode)
    storage = PostgreSQLStorage(postgres_url)
    await storage.initialize()
    one = OptimizedStateManager(storage_backend=storage, cache_backend=client)
    two = OptimizedStateManager(storage_backend=storage, cache_backend=client)
    state = await one.create_state("s", "a", "u")
    state.add_message("user", "hi " * 1000)
    await one.checkpoint(state)
    assert await two.get_state("s") == state  # two programs share what the cache has
    state.add_message("user", "more")
    await one.checkpoint(state)
    assert await two.get_state("s") == state
    assert 0 < await client.ttl("state:s") <= 3600
    assert await client.strlen("state:s") < 1500
    await two.delete_state("s")
    assert await client.exists("state:s") == 0
    assert await one.get_state("s") is None
    await client.aclose()
    await storage.aclose()


@pytest.mark.parametrize("compress", [True, False])
async def test_compression_is_a_matter_of_size_alone(compress: bool) -> None:
    manager = OptimizedStateManager(InMemorySaver(), compress=compress)
    state = await manager.create_state("s", "a", "u")
    state.add_message("user", "hi " * 1000)
    await manager.checkpoint(state)
    assert await manager.get_state("s") == state
    assert (len(manager.cache.get("state:s")) < 1500) is compress


async def saved_and_read(manager: Any, state: Any) -> Any:
    await manager.checkpoint(state)
    return await manager.get_state(state.session_id)


async def test_a_cache_that_is_away_is_told_and_does_no_harm() -> None:
    cache = Broken()
    manager = OptimizedStateManager(InMemorySaver(), cache)
    state = await manager.create_state("s", "a", "u")
    for down in ("all", "delete", "setex", "get"):
        cache.down = down
        state.add_message("user", down)
        with pytest.warns(RuntimeWarning, match="cache failed to"):
            assert await saved_and_read(manager, state) == state
        cache.down = ""
        assert await manager.get_state("s") == state


async def test_what_is_no_state_in_the_cache_is_not_believed() -> None:
    cache = MemoryCache()
    manager = OptimizedStateManager(InMemorySaver(), cache)
    state = await manager.create_state("s", "a", "u")
    good = cache.get("state:s")
    assert good is not None
    for bad in (b"?", b"00000", good[:-5], b"c" + good[1:], good[: len(good) // 10 * 5]):
        cache.setex("state:s", 60, bad)
        with pytest.warns(RuntimeWarning, match="can't be read"):
            assert await manager.get_state("s") == state


async def test_a_crash_between_cache_and_saver_never_serves_what_was_not_saved() -> None:
    class Dies(InMemorySaver):
        dies = False

        async def aput(self, *args: Any) -> Any:
            if self.dies:
                raise KeyboardInterrupt
            return await super().aput(*args)

    saver, cache = Dies(), MemoryCache()
    manager = OptimizedStateManager(saver, cache)
    state = await manager.create_state("s", "a", "u")
    saver.dies = True
    state.add_message("user", "never saved")
    with pytest.raises(KeyboardInterrupt):
        await manager.checkpoint(state)
    saver.dies = False
    after = OptimizedStateManager(saver, cache)  # the next program, with the same cache
    assert (await after.get_state("s")).conversation_history == []


async def test_a_crash_after_the_saver_serves_what_was_saved() -> None:
    class Dies(MemoryCache):
        dies = False

        def setex(self, key: str, seconds: float, value: bytes) -> None:
            if self.dies:
                raise KeyboardInterrupt
            super().setex(key, seconds, value)

    saver, cache = InMemorySaver(), Dies()
    manager = OptimizedStateManager(saver, cache)
    state = await manager.create_state("s", "a", "u")
    cache.dies = True
    state.add_message("user", "saved")
    with pytest.raises(KeyboardInterrupt):
        await manager.checkpoint(state)
    cache.dies = False
    after = await OptimizedStateManager(saver, cache).get_state("s")
    assert [m["content"] for m in after.conversation_history] == ["saved"]


async def test_a_reader_that_is_overtaken_does_not_fill_the_cache_with_what_is_old() -> None:
    class Slow(MemoryCache):
        wait = 0.0

        async def setex(self, key: str, seconds: float, value: bytes) -> None:  # type: ignore[override]
            await asyncio.sleep(self.wait)
            super().setex(key, seconds, value)

    cache, saver = Slow(), InMemorySaver()
    reader, writer = OptimizedStateManager(saver, cache), OptimizedStateManager(saver, cache)
    state = await writer.create_state("s", "a", "u")
    await writer.forget("s")
    cache.wait = 0.02
    reading = asyncio.create_task(reader.get_state("s"))
    await asyncio.sleep(0.005)
    cache.wait = 0.0
    state.add_message("user", "newer")
    await writer.checkpoint(state)
    assert await reading == state
    assert await reader.get_state("s") == state


async def test_a_state_that_the_cache_gave_too_late_cannot_be_saved() -> None:
    saver, cache = InMemorySaver(), MemoryCache()
    manager = OptimizedStateManager(saver, cache)
    await manager.create_state("s", "a", "u")
    elsewhere = StateManager(saver)  # writes past the cache
    newer = await elsewhere.get_state("s")
    newer.add_message("user", "newer")
    await elsewhere.checkpoint(newer)
    late = await manager.get_state("s")
    assert late.conversation_history == []
    late.set_context("k", 1)
    with pytest.raises(StaleStateError):
        await manager.checkpoint(late)
    assert await manager.get_state("s") == newer  # the cache has been set right
    await elsewhere.delete_state("s")
    late = await manager.get_state("s")
    with pytest.raises(CheckpointNotFoundError):
        await manager.checkpoint(late)
    assert await manager.get_state("s") is None


async def test_an_edit_in_the_explorer_is_seen_after_forget() -> None:
    manager = OptimizedStateManager(InMemorySaver())
    await manager.create_state("s", "a", "u")
    config = {"configurable": {"thread_id": "s"}}
    manager.graph.update_state(config, {"context": {"by": "hand"}}, as_node="checkpoint")
    await manager.forget("s")
    assert (await manager.get_state("s")).context == {"by": "hand"}


async def test_long_conversations_are_folded_and_nothing_is_dropped(saver: Any) -> None:
    manager = OptimizedStateManager(saver)
    agent = MultiTurnAgent(manager, echo)
    for number in range(15):
        result = await agent.handle_turn("s", f"question {number}")
        view = await manager.get_state("s")
        assert len(view.conversation_history) <= 20
        assert (view.turns, result["turn_count"]) == (number + 1, number + 1)
    assert view.context["history_summary"] == "Previous conversation (12 messages)"
    assert view.metadata == {"folded": 12}
    whole = await StateManager(saver).get_state("s")
    asked = [m["content"] for m in whole.conversation_history[::2]]
    assert asked == [f"question {n}" for n in range(15)]
    assert view.conversation_history == whole.conversation_history[12:]
    assert (await manager.whole(view)).conversation_history == whole.conversation_history


async def test_a_state_that_one_goes_on_with_is_folded_once() -> None:
    calls = []

    def summarize(before: str | None, messages: Any) -> str:
        calls.append(len(messages))
        return f"{before} + {len(messages)}"

    folding = FoldingPolicy(threshold=20, keep=10, summarize=summarize)
    manager = OptimizedStateManager(InMemorySaver(), folding=folding)
    state = await manager.create_state("s", "a", "u")
    for number in range(25):
        state.add_message("user", str(number))
    await manager.checkpoint(state)
    assert len(state.conversation_history) == 10
    assert state.context == {"history_summary": "None + 15"}
    assert state == await manager.get_state("s")
    for number in range(25, 60):
        state.add_message("user", str(number))
        await manager.checkpoint(state)
        assert state == await manager.get_state("s")
        assert state.turns == (number + 1) // 2
    assert calls == [15, 11, 11, 11]
    assert state.context["history_summary"] == "None + 15 + 11 + 11 + 11"
    whole = (await manager.whole(state)).conversation_history
    assert [m["content"] for m in whole] == [str(n) for n in range(60)]


async def test_a_view_saved_by_another_manager_drops_nothing() -> None:
    saver = InMemorySaver()
    folding = OptimizedStateManager(saver, folding=FoldingPolicy(threshold=4, keep=2))
    await MultiTurnAgent(folding, echo).handle_turn("s", "1")
    for number in "234":
        await MultiTurnAgent(folding, echo).handle_turn("s", number)
    view = await folding.get_state("s")
    assert view.metadata["folded"] > 0
    view.set_context("k", 1)
    plain = StateManager(saver)
    await plain.checkpoint(view)
    assert len((await plain.get_state("s")).conversation_history) == 8
    view.metadata["folded"] = 99
    with pytest.raises(ValueError, match="leaves out 99 messages"):
        await plain.checkpoint(view)


async def test_a_summarizer_that_fails_loses_no_turn() -> None:
    calls = []

    async def summarize(before: str | None, messages: Any) -> str:
        calls.append((before, [m["content"] for m in messages]))
        if len(calls) == 1:
            raise ConnectionError("no model")
        return f"summary {len(calls)}"

    folding = FoldingPolicy(threshold=3, keep=1, summarize=summarize)
    manager = OptimizedStateManager(InMemorySaver(), folding=folding)
    state = await manager.create_state("s", "a", "u")
    for number in range(4):
        state.add_message("user", str(number))
    with pytest.warns(RuntimeWarning, match="was not folded"):
        await manager.checkpoint(state)
    assert len((await manager.get_state("s")).conversation_history) == 4
    for number in range(4, 9):
        state = await manager.get_state("s")
        state.add_message("user", str(number))
        await manager.checkpoint(state)
    assert calls[1:] == [
        (None, ["0", "1", "2", "3"]),
        ("summary 2", ["4", "5", "6"]),
    ]
    assert (await manager.get_state("s")).context == {"history_summary": "summary 3"}


async def test_no_folding_and_bad_policies() -> None:
    manager = OptimizedStateManager(InMemorySaver(), folding=None)
    state = await manager.create_state("s", "a", "u")
    for number in range(50):
        state.add_message("user", str(number))
    await manager.checkpoint(state)
    assert await manager.get_state("s") == state
    with pytest.raises(ValueError, match="from 0 to threshold=5"):
        FoldingPolicy(threshold=5, keep=6)


async def test_a_cached_state_of_an_older_version_is_read_from_the_saver() -> None:
    saver, cache = SqliteSaver.from_conn_string(":memory:"), MemoryCache()
    await OptimizedStateManager(saver, cache).create_state("s", "a", "u")
    newer = OptimizedStateManager(saver, cache, migrator=newest_migrator())
    assert isinstance(await newer.get_state("s"), AgentStateV2)
    saver.close()
