"""A program that talks in many sessions at once until it is killed, and what must be true then.

``python -m tests.agents.victim KIND URL CACHE_URL MANAGER SESSIONS TURNS`` goes on with every
session where it was. A line is written by one system call when a turn is acknowledged, so that a
kill loses none.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from typing import Any

import redis.asyncio

from ckpt_viz.agents import MultiTurnAgent, OptimizedStateManager, StateManager
from ckpt_viz.checkpoint.postgres import PostgresSaver
from ckpt_viz.checkpoint.redis import RedisSaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver


def open_saver(kind: str, url: str) -> Any:
    savers: dict[str, Any] = {"sqlite": SqliteSaver, "postgres": PostgresSaver, "redis": RedisSaver}
    return savers[kind].from_conn_string(url)


def question(session: str, turn: int) -> str:
    return f"{session} asks {turn} " * 5


async def model(messages: Any) -> str:
    await asyncio.sleep(random.uniform(0, 0.004))
    return f"answer {len(messages)} to {messages[-1]['content']}"


class SlowCache:
    """A Redis that takes its time, so that a kill finds it between saver and cache."""

    def __init__(self, url: str) -> None:
        self.client = redis.asyncio.from_url(url)

    async def get(self, key: str) -> Any:
        return await self.client.get(key)

    async def delete(self, key: str) -> None:
        await self.client.delete(key)
        await asyncio.sleep(random.uniform(0, 0.002))

    async def setex(self, key: str, seconds: int, value: bytes) -> None:
        await asyncio.sleep(random.uniform(0, 0.004))
        await self.client.set(key, value, ex=seconds)


class Lying(OptimizedStateManager):
    """Caches what it has not saved yet, as one must not."""

    async def _save(self, whole: Any) -> str:
        whole.origin = "not yet"
        await self._keep(whole)
        await asyncio.sleep(0.05)
        del whole.origin
        return await super()._save(whole)


def manager_of(name: str, saver: Any, cache_url: str) -> Any:
    if name == "plain":
        return StateManager(saver)
    kind = Lying if name == "lying" else OptimizedStateManager
    return kind(saver, SlowCache(cache_url), folding=None)


async def talk(agent: MultiTurnAgent, session: str, turns: int) -> None:
    state = await agent.state_manager.get_state(session)
    for turn in range((state.turns if state else 0) + 1, turns + 1):
        told = await agent.handle_turn(session, question(session, turn))
        os.write(1, f"{session} {told['turn_count']}\n".encode())


async def main(kind: str, url: str, cache_url: str, name: str, *counts: str) -> None:
    sessions, turns = map(int, counts)
    agent = MultiTurnAgent(manager_of(name, open_saver(kind, url), cache_url), model)
    await asyncio.gather(*(talk(agent, f"session{n}", turns) for n in range(sessions)))
    os.write(1, b"end 0\n")


async def check(manager: Any, acknowledged: dict[str, int], sample: int) -> dict[str, int]:
    """Every acknowledged turn is there, whole, and what the cache serves was saved; the turns.

    Of ``sample`` sessions all states are read.
    """
    found, deep = {}, random.sample(sorted(acknowledged), min(sample, len(acknowledged)))
    for session, turns in acknowledged.items():
        served = await manager.get_state(session)
        saved = await manager.storage.load_state(session)
        assert served == saved, (session, served, saved)
        assert served.origin == saved.origin, session
        assert saved.turns >= turns, (session, saved.turns, turns)
        talks = [saved.conversation_history]
        if session in deep:
            states = manager.storage.lineage(session)
            talks = [one.fields["conversation_history"] async for one in states]
        for one in talks:
            said = [m["content"] for m in one]
            assert len(said) % 2 == 0, (session, said)
            for at in range(0, len(said), 2):
                asked = question(session, at // 2 + 1)
                assert said[at : at + 2] == [asked, f"answer {at + 1} to {asked}"]
        found[session] = saved.turns
    return found


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
