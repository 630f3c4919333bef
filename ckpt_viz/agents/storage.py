"""`SessionStorage`: the states of sessions as the checkpoints of threads, in any saver.

A session is a thread, each saved state is a checkpoint of it, and a name is a label. Nothing is
overwritten: a save is a child of the state it was made from, a fork is a branch, and the newest
checkpoint is the session's state. A save is one call of the saver, so it is there wholly or not at
all; and it is refused when the session has gone on meanwhile.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from ckpt_viz.agents.graph import saving_graph, session_graph
from ckpt_viz.agents.migrator import StateMigrator, detect
from ckpt_viz.agents.state import (
    AgentState,
    Fields,
    Traced,
    fields_of,
    state_from,
    turns_of,
    version_of,
)
from ckpt_viz.checkpoint.serde.alike import stored_alike
from ckpt_viz.constants import EVENT
from ckpt_viz.errors import (
    CheckpointNotFoundError,
    MigrationError,
    SessionExistsError,
    SessionNotFoundError,
    StaleStateError,
    ThreadBusyError,
)
from ckpt_viz.pregel.adrivers import afinish
from ckpt_viz.pregel.migrate import VERSION
from ckpt_viz.pregel.revise import Revision, revise_steps

TURN, USER, AGENT = "turn", "session_user", "session_agent"
"""What the metadata of a session's checkpoint tell: turns so far, and whose session it is."""
_NEEDED = ("state_id", "session_id", "agent_id", "user_id", "created_at")


class Saved(NamedTuple):
    """A state as it is stored: its checkpoint's id and metadata, its fields, and its parent's id.

    ``time`` is when it was saved, in ISO form.
    """

    id: str
    metadata: dict[str, Any]
    fields: Fields
    parent: str | None
    time: str

    @property
    def version(self) -> int:
        """The version that the state has."""
        return int(self.fields.get("version") or self.metadata.get(VERSION) or 1)

    @property
    def turn(self) -> int:
        """How many turns it has."""
        return turns_of(self.fields)


class SessionStorage:
    """Sessions in a saver.

    Args:
        saver: any saver; of this package's, each serves async programs.
        state_class: the class of states, at the version of now.
        migrator: brings states of older versions to it when they are loaded.

    Raises:
        TypeError: it is no saver. ValueError: no class is known of the version that the migrations
            lead to.
    """

    def __init__(
        self,
        saver: Any,
        *,
        state_class: type[Any] = AgentState,
        migrator: StateMigrator | None = None,
    ) -> None:
        if not hasattr(saver, "put_writes"):
            raise TypeError(
                f"Sessions are kept by a saver, such as SqliteSaver, and not by "
                f"{type(saver).__name__}."
            )
        self.saver = saver
        self.migrator = migrator
        self.state_class = state_class
        newest = 0 if migrator is None else migrator.newest
        if migrator is not None and newest > version_of(state_class):
            if newest not in migrator.classes:
                raise ValueError(
                    f"The migrations lead to version {newest}, and {state_class.__name__} is of "
                    f"version {version_of(state_class)}: give the class of states that has "
                    f"`version: int = {newest}` as state_class=, or annotate the function with it."
                )
            self.state_class = migrator.classes[newest]
        self._classes: dict[int, type[Any]] = {version_of(self.state_class): self.state_class}
        self._seen: Any = None
        self._graphs: dict[type[Any], Any] = {}

    async def initialize(self) -> None:
        """Make the tables that the saver needs; it does so by itself at first use as well."""
        if hasattr(self.saver, "asetup"):
            await self.saver.asetup()

    async def aclose(self) -> None:
        """Close the saver's connections."""
        if hasattr(self.saver, "aclose"):
            await self.saver.aclose()

    @property
    def graph(self) -> Any:
        """The sessions as a compiled graph, for the Explorer and for reading history."""
        if self._seen is None:
            self._seen = session_graph(self.saver, self.state_class, self.migrator)
        return self._seen

    def _saving(self, state_class: type[Any]) -> Any:
        if state_class not in self._graphs:
            self._graphs[state_class] = saving_graph(self.saver, state_class)
        return self._graphs[state_class]

    # -- saving -------------------------------------------------------------------------------

    async def save_state(self, state: Any, *, new: bool = False) -> str:
        """Save a state as the newest of its session; the id of its checkpoint.

        A state that was read before is saved as the child of what was read. One of a class that
        knows nothing of this package gets no attribute by being saved. ``new``: there must be no
        such session yet.

        Raises:
            StaleStateError: the session has gone on since the state was read.
            SessionExistsError: it is to be new, and is there.
        """
        self._classes.setdefault(version_of(type(state)), type(state))
        fields, base = fields_of(state), getattr(state, "origin", None)

        def revise(saved: Any) -> Revision:
            if saved is not None and new:
                raise SessionExistsError(
                    f"Session {state.session_id!r} is there since {saved.checkpoint['ts']}: "
                    "get_state gives it, and delete_state removes it."
                )
            return self._revision(fields, saved)

        config = {"configurable": {"thread_id": state.session_id}}
        try:
            id_ = await self._revise(self._saving(type(state)), config, base, revise)
        except ThreadBusyError as error:
            raise StaleStateError(
                f"Session {state.session_id!r} has gone on since this state was read at checkpoint "
                f"{base}: nothing was saved. Get the state again, and repeat the change."
            ) from error
        if isinstance(state, Traced) or base is not None:
            state.origin = id_
        return id_

    async def fork(
        self, session_id: str, checkpoint_id: str, event: str, changes: Fields | None = None
    ) -> str:
        """A branch from a checkpoint with its state, and some fields changed; the new one's id.

        Raises:
            CheckpointNotFoundError: there is no such checkpoint.
        """

        def revise(saved: Any) -> Revision:
            fields = {**_values(saved), **(changes or {})}
            return Revision(changes or {}, event, _metadata(fields, event))

        where = {"thread_id": session_id, "checkpoint_id": checkpoint_id}
        return await self._revise(self.graph, {"configurable": where}, checkpoint_id, revise)

    async def _revise(self, graph: Any, config: Any, base: Any, revise: Any) -> str:
        run = graph._reader(config, "save a state")
        made = await afinish(run, revise_steps(run, base, revise))
        return str(made["configurable"]["checkpoint_id"])

    def _revision(self, fields: Fields, saved: Any) -> Revision:
        old = {} if saved is None else _values(saved)
        changed = {k: v for k, v in fields.items() if k not in old or not stored_alike(old[k], v)}
        event = _event(fields, saved, old)
        return Revision(changed, event, _metadata(fields, event))

    # -- loading ------------------------------------------------------------------------------

    async def load_state(self, session_id: str, checkpoint_id: str | None = None) -> Any:
        """The newest state of a session, or that of a checkpoint; None where there is none.

        A state of an older version is brought to the version of now; what is stored stays.

        Raises:
            MigrationError: it is of a version that can't be brought here.
        """
        saved = await self.saved(session_id, checkpoint_id)
        return None if saved is None else await self.state_of(session_id, saved)

    async def load_state_dict(self, session_id: str) -> Fields | None:
        """The fields of a session's newest state as they are stored, of whatever version."""
        saved = await self.saved(session_id)
        return None if saved is None else saved.fields

    async def state_of(self, session_id: str, saved: Saved) -> Any:
        """The state that was stored, brought to the version of now."""
        fields, found = {**saved.fields, "session_id": session_id}, saved.version
        wanted = version_of(self.state_class)
        if found != wanted and self.migrator is not None:
            fields, found = await self.migrator.bring(fields, found, wanted), wanted
        if found not in self._classes:
            raise MigrationError(
                f"Session {session_id!r} has a state of version {found}, and no class of that "
                f"version is known here (known: {sorted(self._classes)}): give the class as "
                "state_class=, or register a migration.",
                found=found,
                wanted=wanted,
            )
        return state_from(self._classes[found], fields, saved.id)

    async def saved(self, session_id: str, checkpoint_id: str | None = None) -> Saved | None:
        """What is stored as a session's newest state, or as a checkpoint of it.

        Raises:
            SessionNotFoundError: the thread is there, and holds no session.
        """
        tup = await self.saver.aget_tuple(_config(session_id, checkpoint_id))
        return None if tup is None else _saved(tup)

    async def lineage(self, session_id: str) -> AsyncIterator[Saved]:
        """The newest state and those it came from, one after the other, back to the first."""
        at = await self.saved(session_id)
        while at is not None:
            yield at
            at = None if at.parent is None else await self.saved(session_id, at.parent)

    async def delete_state(self, session_id: str) -> None:
        """Remove a session with its whole history."""
        await self.saver.adelete_thread(session_id)

    async def list_sessions(self, user_id: str) -> list[str]:
        """The sessions of a user, the last used first. Reads all of the user's saved states."""
        found: dict[str, None] = {}
        async for tup in self.saver.alist(None, filter={USER: user_id}):
            found.setdefault(str(tup.config["configurable"]["thread_id"]))
        return list(found)

    # -- names --------------------------------------------------------------------------------

    async def set_name(self, session_id: str, checkpoint_id: str, name: str) -> None:
        """Name a checkpoint."""
        await self._own("aset_label")(_config(session_id, checkpoint_id), name)

    async def names(self, session_id: str) -> dict[str, str]:
        """Checkpoint id -> name, the newest first."""
        found = await self._own("alabels")(session_id)
        return {str(one["checkpoint_id"]): str(one["label"]) for one in found}

    def _own(self, method: str) -> Any:
        """A method that the savers of this package have, and others may lack."""
        found = getattr(self.saver, method, None)
        if found is None:
            raise NotImplementedError(
                f"{type(self.saver).__name__} keeps no names of checkpoints and no list of threads "
                f"(it lacks {method}): use a saver of ckpt_viz, or give session_id."
            )
        return found

    async def home_of(self, checkpoint_id: str) -> str:
        """The session that has a checkpoint; all sessions are asked, the last used first.

        Raises:
            CheckpointNotFoundError: none has it.
        """
        for thread in await self._own("athreads")():
            if await self.saver.aget_tuple(_config(thread["thread_id"], checkpoint_id)) is not None:
                return str(thread["thread_id"])
        raise CheckpointNotFoundError(f"Checkpoint {checkpoint_id} not found in any session.")


class PostgreSQLStorage(SessionStorage):
    """Sessions in PostgreSQL: ``PostgreSQLStorage("postgresql://user@host/database")``."""

    def __init__(self, connection_string: str, **options: Any) -> None:
        from ckpt_viz.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - an extra

        super().__init__(PostgresSaver.from_conn_string(connection_string), **options)


class RedisStorage(SessionStorage):
    """Sessions in Redis, each of which lives for ``ttl`` seconds after its last save, or for ever.

    ``RedisStorage("redis://host:6379")``; the default is a day.
    """

    def __init__(self, redis_url: str, ttl: float | None = 86_400, **options: Any) -> None:
        from ckpt_viz.checkpoint.redis import RedisSaver  # noqa: PLC0415 - an extra

        super().__init__(RedisSaver.from_conn_string(redis_url, ttl=ttl), **options)


def _config(session_id: str, checkpoint_id: str | None = None) -> dict[str, Any]:
    where = {"thread_id": session_id, "checkpoint_ns": ""}
    if checkpoint_id is not None:
        where["checkpoint_id"] = checkpoint_id
    return {"configurable": where}


def _saved(tup: Any) -> Saved:
    fields, where = _values(tup), tup.config["configurable"]
    missing = [name for name in _NEEDED if name not in fields]
    if missing:
        raise SessionNotFoundError(
            f"Thread {where['thread_id']!r} is there, and its checkpoint {where['checkpoint_id']} "
            f"is no session's state (it lacks {', '.join(missing)}): another graph has run on it."
        )
    parent = tup.parent_config
    above = None if parent is None else parent["configurable"]["checkpoint_id"]
    id_, time = where["checkpoint_id"], str(tup.checkpoint["ts"])
    return Saved(id_, dict(tup.metadata or {}), fields, above, time)


def _values(tup: Any) -> Fields:
    values = tup.checkpoint["channel_values"]
    return {k: v for k, v in values.items() if not k.startswith(("branch:", "join:", "__"))}


def _metadata(fields: Fields, event: str) -> dict[str, Any]:
    whose = {USER: fields.get("user_id"), AGENT: fields.get("agent_id")}
    return {TURN: turns_of(fields), EVENT: event, **whose}


def _event(fields: Fields, saved: Any, old: Fields) -> str:
    """Why a state is saved, told from what differs."""
    if saved is None:
        return "create"
    before = int(old.get("version") or (saved.metadata or {}).get(VERSION) or 1)
    if detect(fields) > before:
        return "migrate"
    return "turn" if turns_of(fields) > turns_of(old) else "checkpoint"
