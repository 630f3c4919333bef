"""`StateRecovery`: named states, and the way back to them or to a turn.

Going back is a fork: the session's newest state is then a branch from the one that was gone back
to, and the states in between stay where they were.
"""

from __future__ import annotations

from typing import Any

from ckpt_viz.agents.folding import cut
from ckpt_viz.agents.manager import StateManager
from ckpt_viz.agents.state import fields_of
from ckpt_viz.agents.storage import Saved
from ckpt_viz.errors import CheckpointNotFoundError, SessionNotFoundError


class StateRecovery:
    """Names states of a manager's sessions, and goes back to them."""

    def __init__(self, state_manager: StateManager) -> None:
        self.state_manager = state_manager
        self._homes: dict[str, str] = {}

    @property
    def graph(self) -> Any:
        """The sessions as a compiled graph."""
        return self.state_manager.graph

    async def save_checkpoint(self, state: Any, checkpoint_name: str = "auto") -> str:
        """Give a state a name; the id of its checkpoint.

        A state that is saved as it is gets the name there; else it is saved, with the name.

        Raises:
            StaleStateError: it was changed, and the session has gone on since it was read.
        """
        storage, id_ = self.state_manager.storage, getattr(state, "origin", None)
        names = await storage.names(state.session_id)
        other = id_ is None or names.get(id_, checkpoint_name) != checkpoint_name
        if id_ is None or other or not await self._is_saved(state, id_):
            id_ = await self.state_manager.checkpoint(state)
        await storage.set_name(state.session_id, id_, checkpoint_name)
        self._homes[id_] = state.session_id
        return id_

    async def _is_saved(self, state: Any, checkpoint_id: str) -> bool:
        stored = await self.state_manager.storage.load_state(state.session_id, checkpoint_id)
        whole = await self.state_manager.whole(state)
        return stored is not None and fields_of(stored) == fields_of(whole)

    async def restore_checkpoint(self, checkpoint_id: str, session_id: str | None = None) -> Any:
        """Make a state the newest of its session again; that state.

        Without ``session_id`` the session is looked for, unless the name was given here.

        Raises:
            CheckpointNotFoundError: there is no such checkpoint.
        """
        storage = self.state_manager.storage
        home = session_id or self._homes.get(checkpoint_id) or await storage.home_of(checkpoint_id)
        if await storage.saved(home, checkpoint_id) is None:
            raise CheckpointNotFoundError(
                f"Checkpoint {checkpoint_id} not found in session {home!r}: list_checkpoints tells "
                "those that have a name."
            )
        return await self.state_manager.fork(home, checkpoint_id, "restore")

    async def rollback_to_turn(self, session_id: str, turn_number: int) -> Any:
        """Go back to how a session was when a turn was over and the next had not begun; that state.

        What was known then is known again, and nothing more.

        Where no state was saved at that turn, the next one is taken and its conversation cut.

        Raises:
            SessionNotFoundError: there is no such session.
            ValueError: it has no such turn.
        """
        after: Saved | None = None
        newest: Saved | None = None
        async for saved in self.state_manager.storage.lineage(session_id):
            newest = newest or saved
            if saved.turn == turn_number:
                return await self.state_manager.fork(session_id, saved.id, "rollback")
            if saved.turn < turn_number:
                break
            after = saved
        if newest is None:
            raise SessionNotFoundError(f"Session {session_id} not found")
        if after is None or turn_number < 0:
            raise ValueError(
                f"Session {session_id!r} has turns 0 to {newest.turn}, and not {turn_number}."
            )
        changes = cut(after.fields, turn_number * 2)
        return await self.state_manager.fork(session_id, after.id, "rollback", changes)

    async def list_checkpoints(self, session_id: str) -> list[dict[str, Any]]:
        """The named states of a session, the newest first.

        One ``{checkpoint_id, name, session_id, turn, version, created_at}`` each; ``created_at``
        is when the state was saved.
        """
        storage = self.state_manager.storage
        found = []
        for id_, name in (await storage.names(session_id)).items():
            saved = await storage.saved(session_id, id_)
            if saved is not None:
                self._homes[id_] = session_id
                found.append(
                    {
                        "checkpoint_id": id_,
                        "name": name,
                        "session_id": session_id,
                        "turn": saved.turn,
                        "version": saved.version,
                        "created_at": saved.time,
                    }
                )
        return found
