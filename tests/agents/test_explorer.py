"""Sessions in the Explorer: events, turns, versions and names, and acts that sessions then see."""

from __future__ import annotations

from typing import Any

import ckpt_viz
from ckpt_viz.agents import MultiTurnAgent, StateManager, StateRecovery
from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.explorer.columns import columns, row_json
from ckpt_viz.explorer.panels import checkpoint_json
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.timeline.phases import phases

from .conftest import echo
from .versions import newest_migrator


async def story(saver: Any) -> tuple[Any, str]:
    """Three turns, a name, a way back, a migration and one more turn."""
    manager = StateManager(saver)
    agent = MultiTurnAgent(manager, echo)
    for number in range(3):
        await agent.handle_turn("s", f"question {number}")
    recovery = StateRecovery(manager)
    named = await recovery.save_checkpoint(await manager.get_state("s"), "good")
    state = await manager.get_state("s")
    state.set_context("k", 1)
    await manager.checkpoint(state)
    await recovery.rollback_to_turn("s", 1)
    newer = StateManager(saver, migrator=newest_migrator())
    await newer.migrate_state("s")
    await MultiTurnAgent(newer, echo).handle_turn("s", "another second")
    await StateRecovery(newer).restore_checkpoint(named, "s")
    return newer, named


async def test_rows_tell_what_happened_in_a_session(saver: Any) -> None:
    manager, named = await story(saver)
    timeline = open_timeline(manager, "s")
    told = [(row.event, row.turn, row.version) for row in timeline.rows()]
    assert told == [
        ("create", 0, "1"),
        ("turn", 1, "1"),
        ("turn", 2, "1"),
        ("turn", 3, "1"),
        ("checkpoint", 3, "1"),
        ("rollback", 1, "1"),
        ("migrate", 1, "2"),
        ("turn", 2, "2"),
        ("restore", 3, "2"),
    ]
    rows = timeline.rows()
    parents = [rows.index(next(r for r in rows if r.id == row.parent_id)) for row in rows[1:]]
    assert parents == [0, 1, 2, 3, 1, 5, 6, 3]
    assert timeline.labels() == {named: "good"}
    assert rows[-1].head
    assert timeline.title == "sessions"
    assert [t.id for t in timeline.threads()] == ["s"]
    assert row_json(rows[1])[10:13] == ["1", 1, "turn"]
    assert columns(rows)["shapes"][1][5:8] == ["1", 1, "turn"]
    assert timeline.snapshot(rows[0].id).values["tags"] == ["migrated"]


async def test_questions_about_a_session_are_answered_in_its_words() -> None:
    manager, named = await story(InMemorySaver())
    explorer = ckpt_viz.explore(manager)
    explorer.select(named)
    assert explorer.blame("conversation_history[0].content").text.startswith(
        "conversation_history[0].content: set by the session (turn) at step 1"
    )
    turns = [one.id for one in explorer.search("node:turn")]
    assert turns == [r.id for r in reversed(explorer.timeline.rows()) if r.event == "turn"]
    made = explorer.timeline.writes(named).made
    assert [(task.name, task.why) for task in made] == [
        ("turn", "the session's state was saved: turn")
    ]
    panels = checkpoint_json(explorer.timeline, named, explorer._session)
    assert panels["title"] == "After turn (step 3)"
    (ran,) = phases(explorer.timeline, named).run
    assert (ran.node, [channel for channel, _ in ran.writes]) == (
        "the session (turn)",
        ["conversation_history"],
    )
    explorer.close()


async def test_whoever_has_the_sessions_can_be_explored() -> None:
    manager = StateManager(InMemorySaver())
    agent = MultiTurnAgent(manager, echo)
    await agent.handle_turn("s", "hi")
    for source in (manager, agent, StateRecovery(manager), manager.graph):
        explorer = ckpt_viz.explore(source)
        assert explorer.timeline.thread_id == "s"
        assert "turn  [head · turn 1 · v1" in repr(explorer)
        explorer.close()


async def test_names_stand_in_the_pictures() -> None:
    _, named = await story(saver := InMemorySaver())
    explorer = ckpt_viz.explore(StateManager(saver))
    assert "turn  [good · turn 3 · v1]" in repr(explorer)
    explorer.timeline.set_label(named, "<i>better</i>")
    picture = explorer._picture()
    assert "&lt;i&gt;better&lt;/i&gt;" in picture["image/svg+xml"]
    assert "<i>better</i>" in picture["text/plain"]
    explorer.close()


async def test_an_edit_in_the_explorer_is_the_sessions_newest_state() -> None:
    manager = StateManager(InMemorySaver())
    agent = MultiTurnAgent(manager, echo)
    for number in range(3):
        await agent.handle_turn("s", f"question {number}")
    late = await manager.get_state("s")
    explorer = ckpt_viz.explore(manager, "s")
    explorer.select(step=2)
    explorer.fork({"context": {"by": "hand"}})
    state = await manager.get_state("s")
    assert (state.turns, state.context) == (2, {"by": "hand"})
    row = explorer.timeline.rows()[-1]
    assert (row.event, row.version) == (None, "1")  # by hand, and not for the session's reasons
    assert (await agent.handle_turn("s", "on from the edit"))["turn_count"] == 3
    assert late.turns == 3
    explorer.close()


async def test_what_a_state_says_is_text_and_nothing_else() -> None:
    manager = StateManager(InMemorySaver())
    await MultiTurnAgent(manager, echo).handle_turn("<b>s</b>", "<script>alert(1)</script>")
    explorer = ckpt_viz.explore(manager)
    picture = explorer._picture()["image/svg+xml"]
    assert "<script" not in picture
    assert "<b>" not in picture
    explorer.close()
