"""`StateManager`: the states of sessions, made, read, saved and removed.

What it gives is a copy of what is saved, never an object that somebody else may be changing; what
was not saved is never given. Two that save what they both read are not both right: the second is
refused.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from ckpt_viz.agents.folding import whole_of
from ckpt_viz.agents.migrator import Migration, StateMigrator
from ckpt_viz.agents.state import FOLDED, AgentState, Fields, fields_of, now
from ckpt_viz.agents.storage import SessionStorage
from ckpt_viz.errors import SessionNotFoundError


class StateManager:
    """Manages the states of sessions.

    Args:
        storage_backend: a saver, or a `SessionStorage`.
        state_class: the class of states, where it is not `AgentState`.
        migrator: brings states of older versions to it when they are read.
    """

    def __init__(
        self,
        storage_backend: Any,
        *,
        state_class: type[Any] | None = None,
        migrator: StateMigrator | None = None,
    ) -> None:
        if not isinstance(storage_backend, SessionStorage):
            storage_backend = SessionStorage(
                storage_backend, state_class=state_class or AgentState, migrator=migrator
            )
        elif state_class is not None or migrator is not None:
            storage_backend = SessionStorage(
                storage_backend.saver,
                state_class=state_class or storage_backend.state_class,
                migrator=migrator or storage_backend.migrator,
            )
        self.storage: SessionStorage = storage_backend

    @property
    def graph(self) -> Any:
        """The sessions as a compiled graph: ``explore(manager)`` shows it."""
        return self.storage.graph

    async def create_state(self, session_id: str, agent_id: str, user_id: str) -> Any:
        """Begin a session; its first state, which is saved.

        Raises:
            SessionExistsError: it is there already.
        """
        state = self.storage.state_class(
            state_id=str(uuid4()),
            session_id=session_id,
            agent_id=agent_id,
            user_id=user_id,
            created_at=now(),
        )
        state.origin = await self.storage.save_state(state, new=True)
        return state

    async def get_state(self, session_id: str) -> Any:
        """The state of a session as it was saved last, or None."""
        return await self.storage.load_state(session_id)

    async def checkpoint(self, state: Any) -> str:
        """Save a state; the id of its checkpoint.

        Raises:
            StaleStateError: the session has gone on since the state was read; nothing was saved.
        """
        whole = await self.whole(state)
        state.origin = await self.storage.save_state(whole)
        return str(state.origin)

    async def fork(
        self, session_id: str, checkpoint_id: str, event: str, changes: Fields | None = None
    ) -> Any:
        """Make an earlier state the newest one, as a branch of its own; that state.

        Raises:
            CheckpointNotFoundError: the session has no such checkpoint.
        """
        await self.storage.fork(session_id, checkpoint_id, event, changes)
        return await self.get_state(session_id)

    async def whole(self, state: Any) -> Any:
        """A state with the messages that its view leaves out; the same object where none are.

        Raises:
            ValueError: what is saved does not have them.
        """
        left_out = state.metadata.get(FOLDED)
        if not left_out:
            return state
        history = getattr(state, "earlier", ())
        if len(history) != left_out:  # a copy that was made by the constructor
            stored = await self.storage.saved(state.session_id, getattr(state, "origin", None))
            history = () if stored is None else stored.fields["conversation_history"]
        if len(history) < left_out:
            raise ValueError(
                f"This state of {state.session_id!r} leaves out {left_out} messages, and what is "
                f"saved has {len(history)}: get the state again."
            )
        return whole_of(state, history)

    async def delete_state(self, session_id: str) -> None:
        """Remove a session with its whole history."""
        await self.storage.delete_state(session_id)

    async def list_user_sessions(self, user_id: str) -> list[str]:
        """The sessions of a user, the last used first."""
        return await self.storage.list_sessions(user_id)

    async def migrate_state(self, session_id: str, *, dry_run: bool = False) -> Migration:
        """Save a session's state in the version of now; what that changed.

        Its older checkpoints stay as they are. With ``dry_run`` nothing is saved.

        Raises:
            SessionNotFoundError: there is no such session.
            MigrationError: no path leads from its version; nothing was saved.
        """
        saved = await self.storage.saved(session_id)
        if saved is None:
            raise SessionNotFoundError(f"Session {session_id} not found")
        state = await self.storage.state_of(session_id, saved)
        after = fields_of(state)
        wanted = int(after.get("version") or 1)
        if wanted != saved.version and not dry_run:
            await self.checkpoint(state)
        return Migration(session_id, saved.version, wanted, saved.fields, after, dry_run)
