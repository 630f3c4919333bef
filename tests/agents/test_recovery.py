"""Names, restores and rollbacks: all are forks, and every earlier state stays as it was."""

from __future__ import annotations

import asyncio
import copy
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_viz import ids
from ckpt_viz.agents import (
    AgentState,
    FoldingPolicy,
    MultiTurnAgent,
    OptimizedStateManager,
    StateManager,
    StateRecovery,
)
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.checkpoint.sqlite import SqliteSaver
from ckpt_viz.errors import CheckpointNotFoundError, SessionNotFoundError, StaleStateError

from .conftest import echo
from .versions import AgentStateV2, newest_migrator


async def talk(manager: Any, turns: int, session: str = "sess-123") -> MultiTurnAgent:
    agent = MultiTurnAgent(manager, echo)
    for number in range(1, turns + 1):
        await agent.handle_turn(session, f"question {number}")
    return agent


async def test_restore_a_named_state_after_something_went_wrong(manager: Any) -> None:
    agent = await talk(manager, 3)
    recovery = StateRecovery(manager)
    state = await manager.get_state("sess-123")
    checkpoint_id = await recovery.save_checkpoint(state, "before_refund")
    state.set_context("refund", "half done")
    await manager.checkpoint(state)
    await agent.handle_turn("sess-123", "is it done?")
    restored = await recovery.restore_checkpoint(checkpoint_id)
    assert restored.turns == 3
    assert restored.context == {}
    assert await manager.get_state("sess-123") == restored
    await agent.handle_turn("sess-123", "then not")
    named = await recovery.list_checkpoints("sess-123")
    assert [(one["name"], one["checkpoint_id"], one["turn"]) for one in named] == [
        ("before_refund", checkpoint_id, 3)
    ]


async def test_another_program_restores_by_the_id_alone(saver: Any) -> None:
    manager = StateManager(saver)
    await talk(manager, 1, "one")
    await talk(manager, 2, "two")
    state = await manager.get_state("one")
    id_ = await StateRecovery(manager).save_checkpoint(state, "mark")
    await talk(manager, 2, "one")
    elsewhere = StateRecovery(StateManager(saver))
    assert (await elsewhere.restore_checkpoint(id_)).turns == 1
    assert (await elsewhere.restore_checkpoint(id_, "one")).session_id == "one"
    for args in (("nope",), (id_, "two")):
        with pytest.raises(CheckpointNotFoundError, match="not found"):
            await elsewhere.restore_checkpoint(*args)


async def test_two_names_for_one_state_are_two_checkpoints(manager: Any) -> None:
    state = await manager.create_state("s", "a", "u")
    recovery = StateRecovery(manager)
    first = await recovery.save_checkpoint(state, "one")
    assert await recovery.save_checkpoint(state, "one") == first
    second = await recovery.save_checkpoint(state, "two")
    assert [one["name"] for one in await recovery.list_checkpoints("s")] == ["two", "one"]
    assert {first, second} == {c["checkpoint_id"] for c in await recovery.list_checkpoints("s")}


async def test_a_changed_state_is_saved_with_its_name(manager: Any) -> None:
    state = await manager.create_state("s", "a", "u")
    old = await manager.get_state("s")
    state.set_context("k", 1)
    id_ = await StateRecovery(manager).save_checkpoint(state, "with k")
    assert (await manager.get_state("s")).context == {"k": 1}
    assert (await manager.storage.load_state("s", id_)).context == {"k": 1}
    old.set_context("k", 2)
    with pytest.raises(StaleStateError):
        await StateRecovery(manager).save_checkpoint(old, "late")


async def test_roll_back_to_a_turn(manager: Any) -> None:
    agent = await talk(manager, 5)
    recovery = StateRecovery(manager)
    state = await manager.get_state("sess-123")
    state.set_context("known", "since turn 5")
    await manager.checkpoint(state)
    rolled = await recovery.rollback_to_turn("sess-123", turn_number=2)
    assert len(rolled.conversation_history) == 4
    assert rolled.context == {}  # what was not known then is not known now
    assert (await agent.handle_turn("sess-123", "another third"))["turn_count"] == 3
    again = await recovery.rollback_to_turn("sess-123", 3)
    assert again.conversation_history[-2]["content"] == "another third"
    assert (await recovery.rollback_to_turn("sess-123", 0)).conversation_history == []
    for turn in (-1, 1, 9):
        with pytest.raises(ValueError, match="has turns 0 to 0"):
            await recovery.rollback_to_turn("sess-123", turn)
    with pytest.raises(SessionNotFoundError, match="Session nobody not found"):
        await recovery.rollback_to_turn("nobody", 1)


async def test_going_back_counts_also_after_a_machine_whose_clock_is_ahead(
    manager: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(manager, 2)
    real = time.time_ns
    with monkeypatch.context() as ahead:
        ahead.setattr("ckpt_viz.ids.time.time_ns", lambda: real() + 3_600_000_000_000)
        await talk(manager, 1)
    ids._clock.reset()  # another process than the one whose clock is ahead
    rolled = await StateRecovery(manager).rollback_to_turn("sess-123", 1)
    assert (rolled.turns, (await manager.get_state("sess-123")).turns) == (1, 1)
    await talk(manager, 1)
    assert (await manager.get_state("sess-123")).turns == 2


async def test_a_turn_at_which_nothing_was_saved_is_cut_out(kind: Any) -> None:
    manager = kind(InMemorySaver())
    state = await manager.create_state("s", "a", "u")
    for number in range(6):
        state.add_message("user" if number % 2 == 0 else "assistant", str(number))
    await manager.checkpoint(state)
    rolled = await StateRecovery(manager).rollback_to_turn("s", 2)
    assert [m["content"] for m in rolled.conversation_history] == ["0", "1", "2", "3"]


async def test_a_cut_takes_the_summary_with_it() -> None:
    manager = OptimizedStateManager(InMemorySaver(), folding=FoldingPolicy(threshold=4, keep=2))
    state = await manager.create_state("s", "a", "u")
    for number in range(10):
        state.add_message("user" if number % 2 == 0 else "assistant", str(number))
    await manager.checkpoint(state)
    assert "history_summary" in (await manager.get_state("s")).context
    rolled = await StateRecovery(manager).rollback_to_turn("s", 1)
    assert [m["content"] for m in rolled.conversation_history] == ["0", "1"]
    assert (rolled.context, rolled.turns) == ({}, 1)


class Model:
    """What a session should be: all its saved states by id, and its newest one."""

    def __init__(self) -> None:
        self.states: dict[str, Any] = {}
        self.named: dict[str, str] = {}
        self.version = 1

    def note(self, state: Any) -> None:
        self.states.setdefault(state.origin, copy.deepcopy(state))


acts = st.one_of(
    st.tuples(st.just("turn"), st.text(max_size=8)),
    st.tuples(st.just("context"), st.integers(0, 3)),
    st.tuples(st.just("name"), st.sampled_from(["one", "two"])),
    st.tuples(st.just("restore"), st.integers(0, 9)),
    st.tuples(st.just("rollback"), st.integers(0, 9)),
    st.tuples(st.just("migrate"), st.just(0)),
)


async def step(manager: Any, model: Model, act: str, what: Any) -> None:
    recovery = StateRecovery(manager)
    state = await manager.get_state("s")
    if act == "turn":
        await MultiTurnAgent(manager, echo).handle_turn("s", what)
    elif act == "context":
        state.set_context("k", what)
        await manager.checkpoint(state)
    elif act == "name":
        model.named[await recovery.save_checkpoint(state, what)] = what
    elif act == "restore" and model.named:
        id_ = sorted(model.named)[what % len(model.named)]
        found = await recovery.restore_checkpoint(id_, "s")
        assert said(found) == said(model.states[id_])
        assert found.context == model.states[id_].context
    elif act == "rollback":
        turn = what % (state.turns + 1)
        found = await recovery.rollback_to_turn("s", turn)
        assert (found.turns, said(found)) == (turn, said(state)[: turn * 2])
    elif act == "migrate":
        await manager.migrate_state("s")


def said(state: Any) -> list[Any]:
    return [message["content"] for message in state.conversation_history]


async def play(saver: Any, script: list[Any], kind: Any) -> None:
    model = Model()
    first = kind(saver)
    await first.create_state("s", "a", "u")
    for at, (act, what) in enumerate(script):
        newer = at >= len(script) // 2  # a new program takes over, with a new class of states
        manager = first
        if newer:
            migrator = newest_migrator()
            manager = kind(saver, state_class=AgentStateV2, migrator=migrator)
        model.note(await manager.storage.load_state("s"))
        await step(manager, model, act, what)
        model.note(await manager.storage.load_state("s"))
        plain = StateManager(saver)
        for id_, then in model.states.items():
            saved = await plain.storage.saved("s", id_)
            assert saved is not None
            assert saved.fields["conversation_history"] == then.conversation_history
            assert saved.fields["context"] == then.context
        names = await plain.storage.names("s")
        assert names == model.named


@pytest.mark.parametrize("kind", [StateManager, OptimizedStateManager])
@settings(max_examples=100, deadline=None)
@given(script=st.lists(acts, max_size=12))
def test_whatever_is_done_all_earlier_states_stay_readable_and_equal(
    kind: Any, script: list[Any]
) -> None:
    asyncio.run(play(InMemorySaver(), script, kind))


@pytest.mark.soak
@pytest.mark.parametrize("kind", [StateManager, OptimizedStateManager])
@settings(max_examples=600, deadline=None)
@given(script=st.lists(acts, max_size=30))
def test_whatever_is_done_in_sqlite(kind: Any, script: list[Any]) -> None:
    with SqliteSaver.from_conn_string(":memory:") as saver:
        asyncio.run(play(saver, script, kind))


async def test_a_migration_followed_by_turns_keeps_the_older_versions(saver: Any) -> None:
    await talk(StateManager(saver), 2)
    before = {s.id: s async for s in StateManager(saver).storage.lineage("sess-123")}
    newer = StateManager(saver, migrator=newest_migrator())
    report = await newer.migrate_state("sess-123", dry_run=True)
    assert report.changed == ["sentiment_history", "tags", "version"]
    assert {s.id async for s in newer.storage.lineage("sess-123")} == set(before)
    await newer.migrate_state("sess-123")
    await talk(newer, 2)
    state = await newer.get_state("sess-123")
    assert isinstance(state, AgentStateV2)
    assert (state.turns, state.version) == (4, 2)
    old = StateManager(saver)
    for id_, then in before.items():
        assert await old.storage.saved("sess-123", id_) == then
        assert isinstance(await old.storage.load_state("sess-123", id_), AgentState)
    versions = [s.version async for s in newer.storage.lineage("sess-123")]
    assert versions == [2, 2, 2, 1, 1, 1]
    rolled = await StateRecovery(newer).rollback_to_turn("sess-123", 1)
    assert (rolled.turns, rolled.version, rolled.tags) == (1, 2, ["migrated"])
