"""`OptimizedStateManager`: a cache in front of the saver, and long conversations folded.

Rules: the saver is written before the cache, and what the cache has of a session goes before the
saver is written. So whatever crashes in between, the cache has a state that was saved or none. A
reader that fills the cache looks again whether the session has gone on meanwhile. A state that the
cache gives all the same too late can't do harm: a save that is made from it is refused.
"""

from __future__ import annotations

import base64
import copy
import inspect
import time
import warnings
from collections.abc import Callable
from typing import Any

import zstandard

from ckpt_viz.agents.folding import FoldingPolicy, become, view_of
from ckpt_viz.agents.manager import StateManager
from ckpt_viz.agents.state import Fields, fields_of, state_from, version_of
from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, StaleStateError

FAILED = object()
_RAW, _SMALL = b"r", b"z"


class MemoryCache:
    """A cache in this process, with the few methods of a Redis client that are needed here.

    ``clock`` gives seconds; tests have their own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, bytes]] = {}

    def get(self, key: str) -> bytes | None:
        """What was set, unless its time is over."""
        end, value = self._kept.get(key, (0.0, b""))
        if self._clock() < end:
            return value
        self._kept.pop(key, None)
        return None

    def setex(self, key: str, seconds: float, value: bytes) -> None:
        """Set a value for some seconds."""
        self._kept[key] = (self._clock() + seconds, value)

    def delete(self, key: str) -> None:
        """Forget a value."""
        self._kept.pop(key, None)


class OptimizedStateManager(StateManager):
    """A `StateManager` that reads from a cache, and whose states are views of folded conversations.

    Args:
        storage_backend: as of `StateManager`.
        cache_backend: what has ``get(key)`` and ``setex(key, seconds, value)``, async or not, such
            as a Redis client; None: a `MemoryCache`, for programs of one process.
        ttl: seconds that the cache keeps a state.
        folding: when conversations are folded; None never folds.
        compress: whether what is cached is compressed.
    """

    def __init__(
        self,
        storage_backend: Any,
        cache_backend: Any = None,
        *,
        ttl: int = 3600,
        folding: FoldingPolicy | None = FoldingPolicy(),  # noqa: B008 - frozen
        compress: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(storage_backend, **options)
        self.cache: Any = MemoryCache() if cache_backend is None else cache_backend
        self.ttl = ttl
        self.folding = folding
        self.compression_enabled = compress
        self._doubtful: set[str] = set()
        setter = getattr(self.cache, "set", None)
        self._sets = setter is not None and "ex" in inspect.signature(setter).parameters

    # -- states ---------------------------------------------------------------------------------

    async def create_state(self, session_id: str, agent_id: str, user_id: str) -> Any:
        await self.forget(session_id)
        state = await super().create_state(session_id, agent_id, user_id)
        await self._keep(state)
        return state

    async def get_state(self, session_id: str) -> Any:
        """The state of a session as it was saved last, folded; or None.

        It comes from the cache where that has it. The cache does not hear of edits that are made
        past this manager, as by the Explorer: `forget` makes it ask the saver.
        """
        whole = await self._cached(session_id) or await self._read(session_id)
        return None if whole is None else view_of(whole)

    async def _read(self, session_id: str) -> Any:
        """What is saved, which is then cached, unless the session goes on meanwhile."""
        whole = await super().get_state(session_id)
        if whole is None:
            return None
        await self._keep(whole)
        now = await self.storage.saved(session_id)
        if now is not None and now.id == whole.origin:
            return whole
        await self.forget(session_id)
        return None if now is None else await self.storage.state_of(session_id, now)

    async def checkpoint(self, state: Any) -> str:
        """Save a state; the id of its checkpoint. Where it is folded, it becomes the view of it.

        Raises:
            StaleStateError: the session has gone on since the state was read; nothing was saved.
        """
        whole = copy.copy(await self.whole(state))
        if self.folding is not None:
            try:
                await self.folding.fold(whole)
            except Exception as error:  # noqa: BLE001 - the user's summarizer; the turn is worth more
                _warn(f"The conversation of {state.session_id!r} was not folded", error)
        await self.forget(state.session_id)
        id_ = await self._save(whole)
        await self._keep(whole)
        become(state, view_of(whole))
        return id_

    async def _save(self, whole: Any) -> str:
        try:
            return await super().checkpoint(whole)
        except (StaleStateError, CheckpointNotFoundError):  # what it was made from is out of date
            await self.forget(whole.session_id)
            raise

    async def fork(
        self, session_id: str, checkpoint_id: str, event: str, changes: Fields | None = None
    ) -> Any:
        await self.forget(session_id)
        await self.storage.fork(session_id, checkpoint_id, event, changes)
        await self.forget(session_id)
        return await self.get_state(session_id)

    async def delete_state(self, session_id: str) -> None:
        await self.forget(session_id)
        await super().delete_state(session_id)
        await self.forget(session_id)

    # -- the cache ------------------------------------------------------------------------------

    async def forget(self, session_id: str) -> None:
        """Take what the cache has of a session out of it."""
        self._doubtful.add(session_id)
        if await self._ask(self._delete, f"state:{session_id}", failed=FAILED) is not FAILED:
            self._doubtful.discard(session_id)

    async def _keep(self, whole: Any) -> None:
        packed, key = self._serialize(whole), f"state:{whole.session_id}"
        if await self._ask(self._set, key, packed, failed=FAILED) is not FAILED:
            self._doubtful.discard(whole.session_id)

    def _set(self, key: str, value: bytes) -> Any:
        if self._sets:  # redis-py's newer word for it
            return self.cache.set(key, value, ex=self.ttl)
        return self.cache.setex(key, self.ttl, value)

    def _delete(self, key: str) -> Any:
        if hasattr(self.cache, "delete"):
            return self.cache.delete(key)
        return self.cache.setex(key, 1, b"")

    async def _cached(self, session_id: str) -> Any:
        if session_id in self._doubtful:  # what it has could not be taken out
            return None
        packed = await self._ask(self.cache.get, f"state:{session_id}")
        if not packed:
            return None
        try:
            return self._deserialize(packed)
        except (CkptVizError, ValueError, TypeError, KeyError, zstandard.ZstdError) as error:
            _warn(f"What the cache has of {session_id!r} can't be read; the saver is asked", error)
            return None

    async def _ask(self, call: Callable[..., Any], *values: Any, failed: Any = None) -> Any:
        """Call the cache; ``failed`` where it can't be reached, which is told, and no failure."""
        try:
            found = call(*values)
            return await found if inspect.isawaitable(found) else found
        except Exception as error:  # noqa: BLE001 - any client's; a cache may be away
            name = call.__name__.strip("_")
            _warn(f"The cache failed to {name} {values[0]!r}; the saver is asked", error)
            return failed

    def _serialize(self, whole: Any) -> bytes:
        """A state as ASCII, which every client takes: packed by the saver's serializer."""
        version = version_of(type(whole))
        entry = {"origin": whole.origin, "version": version, "fields": fields_of(whole)}
        tag, data = self.storage.saver.serde.dumps_typed(entry)
        raw = tag.encode() + b"\0" + data
        if self.compression_enabled:
            return base64.b64encode(_SMALL + zstandard.compress(raw))
        return base64.b64encode(_RAW + raw)

    def _deserialize(self, packed: Any) -> Any:
        data = base64.b64decode(packed, validate=True)
        raw = zstandard.decompress(data[1:]) if data[:1] == _SMALL else data[1:]
        tag, _, rest = raw.partition(b"\0")
        entry = self.storage.saver.serde.loads_typed((tag.decode(), rest))
        state_class = self.storage.state_class
        if entry["version"] != version_of(state_class):
            return None
        return state_from(state_class, entry["fields"], entry["origin"])


def _warn(what: str, error: Exception) -> None:
    warnings.warn(f"{what}: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=3)
