"""States of older versions: brought to newer ones, or refused."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from ckpt_viz.agents import AgentState, SessionStorage, StateManager, StateMigrator
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.errors import MigrationError, SessionNotFoundError

from .versions import AgentStateV2, newest_migrator


@dataclass
class AgentStateV3(AgentStateV2):
    version: int = 3
    mood: str = ""


def first(**fields: Any) -> AgentState:
    return AgentState("id", "s", "a", "u", "2026-01-01T00:00:00+00:00", **fields)


async def test_the_text_way_detect_migrate_save(saver: Any) -> None:
    storage = SessionStorage(saver)
    migrator = newest_migrator()
    await StateManager(storage).create_state("sess-123", "a", "u")
    state_dict = await storage.load_state_dict("sess-123")
    assert state_dict is not None
    version = await migrator.detect_version(state_dict)
    assert version == 1
    state_v1 = AgentState(**state_dict)
    state_v2 = await migrator.migrate_v1_to_v2(state_v1)
    await storage.save_state(state_v2)
    assert await migrator.detect_version(await storage.load_state_dict("sess-123") or {}) == 2
    loaded = await storage.load_state("sess-123")
    assert isinstance(loaded, AgentStateV2)
    assert loaded == state_v2
    made_by = [s.metadata["checkpoint_event"] async for s in storage.lineage("sess-123")]
    assert made_by == ["migrate", "create"]


async def test_functions_that_name_no_class_get_the_fields_by_key_and_by_name() -> None:
    migrator = StateMigrator()
    migrator.register(1, 2, lambda s: {**s, "tags": [s.user_id], "sentiment_history": []})

    @migrator.register(2)
    def to_3(state: Any) -> Any:
        state.mood = "good"
        state["tags"].append("3")
        return state

    before = first(context={"k": [1]})
    kept = copy.deepcopy(before)
    made = await migrator.migrate({**vars(before)})
    assert (made["version"], made["tags"], made["mood"]) == (3, ["u", "3"], "good")
    assert before == kept
    assert await migrator.migrate(made) == made
    assert await migrator.migrate({**vars(before)}, 2) == {
        **vars(before),
        "tags": ["u"],
        "sentiment_history": [],
        "version": 2,
    }
    assert await migrator.migrate_v1_to_v3({**vars(before)}) == made
    migrator.register(3, 4, lambda s: s.nothing)
    with pytest.raises(AttributeError, match="nothing"):
        await migrator.migrate(made)


async def test_classes_that_only_the_function_sees_are_found() -> None:
    @dataclass
    class Here(AgentState):
        version: int = 2
        tags: list[str] = field(default_factory=list)

    migrator = StateMigrator()

    @migrator.register(1)
    def to_here(state: AgentState) -> Here:
        assert isinstance(state, AgentState)
        return Here(**vars(state), tags=["here"])

    made = await migrator.migrate(first())
    assert (type(made), made.tags, made.version) == (Here, ["here"], 2)
    plain = StateMigrator()
    plain.register(1, 2, lambda state: Here(**vars(state), tags=["plain"]))
    assert (await plain.migrate({**vars(first())}))["tags"] == ["plain"]

    class Callable:
        def __call__(self, state: AgentState) -> Here:
            return to_here(state)

    plain.register(1, 2, Callable())
    assert (await plain.migrate(first())).tags == ["here"]


async def test_a_dry_run_tells_what_would_change() -> None:
    migrator = newest_migrator()
    before = first(context={"k": 1})
    for state in (before, {**vars(before)}):
        plan = await migrator.dry_run(state)
        assert (plan.session_id, plan.found, plan.wanted, plan.dry_run) == ("s", 1, 2, True)
        assert plan.changed == ["sentiment_history", "tags", "version"]
        assert plan.after["tags"] == ["migrated"]
    assert before == first(context={"k": 1})
    with pytest.raises(MigrationError):
        await migrator.dry_run(before, 3)


async def test_the_shortest_way_is_taken() -> None:
    took: list[str] = []
    migrator = StateMigrator()
    for begin, end in ((1, 2), (2, 3), (3, 4), (1, 3), (4, 20260101)):
        migrator.register(begin, end, lambda s, way=f"{begin}-{end}": took.append(way) or s)
    assert (await migrator.migrate({}))["version"] == 20260101
    assert took == ["1-3", "3-4", "4-20260101"]


async def test_refusals() -> None:
    migrator = newest_migrator()
    with pytest.raises(MigrationError, match="version 7, newer than 2"):
        await migrator.migrate({"version": 7})
    migrator.register(3, 4, lambda s: s)
    with pytest.raises(MigrationError, match=r"No path leads from version 1 .* 1 → 2, 3 → 4"):
        await migrator.migrate({})
    with pytest.raises(ValueError, match="goes up"):
        migrator.register(2, 2, lambda s: s)
    nothing = StateMigrator()
    nothing.register(1, 2, lambda s: None)
    with pytest.raises(MigrationError, match="gave NoneType"):
        await nothing.migrate({})
    with pytest.raises(AttributeError):
        _ = nothing.anything


async def test_loading_migrates_and_keeps_what_is_stored(saver: Any) -> None:
    old = StateManager(saver)
    state = await old.create_state("s", "a", "u")
    state.add_message("user", "hi")
    await old.checkpoint(state)
    stored = await old.storage.saved("s")
    new = StateManager(saver, migrator=newest_migrator())
    loaded = await new.get_state("s")
    assert isinstance(loaded, AgentStateV2)
    assert loaded.tags == ["migrated"]
    assert await old.storage.saved("s") == stored
    report = await new.migrate_state("s", dry_run=True)
    assert (report.found, report.wanted, report.dry_run) == (1, 2, True)
    assert await old.storage.saved("s") == stored
    loaded.add_message("assistant", "hello")
    await new.checkpoint(loaded)
    newest = await new.storage.saved("s")
    assert newest is not None
    assert (newest.version, newest.metadata["graph_version"]) == (2, 2)
    assert stored is not None
    assert newest.parent == stored.id
    again = await new.migrate_state("s")
    assert again.changed == []
    assert await new.storage.saved("s") == newest  # nothing to do, nothing saved
    with pytest.raises(SessionNotFoundError):
        await new.migrate_state("nobody")


async def test_a_newer_version_is_refused_and_nothing_is_overwritten(saver: Any) -> None:
    await StateManager(saver, state_class=AgentStateV2).create_state("s", "a", "u")
    stored = await StateManager(saver).storage.saved("s")
    for old in (StateManager(saver), StateManager(saver, migrator=StateMigrator())):
        with pytest.raises(MigrationError, match="version 2"):
            await old.get_state("s")
        with pytest.raises(MigrationError):
            await old.migrate_state("s")
        late = first()
        with pytest.raises(MigrationError, match="version 2"):
            await old.checkpoint(late)
    assert await StateManager(saver).storage.saved("s") == stored


async def test_a_gap_is_refused(saver: Any) -> None:
    await StateManager(saver).create_state("s", "a", "u")
    no_way = StateManager(saver, state_class=AgentStateV2)
    with pytest.raises(MigrationError, match="version 1"):
        await no_way.get_state("s")
    migrator = StateMigrator()
    migrator.register(2, 3, lambda s: s)
    gap = StateManager(saver, state_class=AgentStateV3, migrator=migrator)
    with pytest.raises(MigrationError, match="No path leads from version 1"):
        await gap.get_state("s")


async def test_the_graph_of_the_sessions_migrates_too(saver: Any) -> None:
    await StateManager(saver).create_state("s", "a", "u")
    graph = StateManager(saver, migrator=newest_migrator()).graph
    config = {"configurable": {"thread_id": "s"}}
    assert (await graph.aget_state(config)).values["tags"] == ["migrated"]
    await graph.aupdate_state(config, {"tags": ["by hand"]}, as_node="checkpoint")
    new = await StateManager(saver, migrator=newest_migrator()).get_state("s")
    assert new.tags == ["by hand"]
    migrator = StateMigrator()

    @migrator.register(1)
    async def waits(state: Any) -> Any:
        import asyncio

        await asyncio.sleep(0)
        return state

    graph = StateManager(InMemorySaver(), state_class=AgentStateV2, migrator=migrator).graph
    old = StateManager(graph.checkpointer)
    await old.create_state("s", "a", "u")
    with pytest.raises(MigrationError, match="can't"):
        graph.get_state(config)
    waiting = StateManager(graph.checkpointer, state_class=AgentStateV2, migrator=migrator)
    assert (await waiting.get_state("s")).version == 2


@dataclass
class Wrong(AgentState):
    extra: list[int] = field(default_factory=list)


def test_migrations_to_a_version_of_which_no_class_is_known() -> None:
    migrator = StateMigrator()
    migrator.register(1, 2, lambda state: {**state, "context": {}})
    with pytest.raises(ValueError, match="lead to version 2, and AgentState is of version 1"):
        StateManager(InMemorySaver(), migrator=migrator)
    manager = StateManager(InMemorySaver(), state_class=AgentStateV2, migrator=migrator)
    assert manager.storage.state_class is AgentStateV2


async def test_fields_that_the_class_does_not_have_are_named(saver: Any) -> None:
    await StateManager(saver, state_class=Wrong).create_state("s", "a", "u")
    with pytest.raises(TypeError, match="has extra, which AgentState does not have"):
        await StateManager(saver).get_state("s")
