"""A saver that only reads: what the readers of all schemas share.

A page of checkpoints is asked for by a `Wanted`; which statements answer it, each reader knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from ckpt_viz.checkpoint.base import (
    BaseCheckpointSaver,
    CheckpointTuple,
    Config,
    address,
    check_filter,
    get_checkpoint_id,
    matches,
    text_version,
    time_of,
)
from ckpt_viz.checkpoint.serde.base import SerializerProtocol
from ckpt_viz.errors import ReadOnlyError

PAGE = 200
WHY = "This database is opened read-only. To write: explore(source, graph=graph, write=True)"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which checkpoints are asked for; None: any. The page holds at most `size`, newest first.

    `before` is an id; `after` the place (id, thread, namespace) where the page before ended.
    """

    thread: str | None = None
    ns: str | None = None
    id: str | None = None
    before: str | None = None
    after: tuple[str, str, str] | None = None
    size: int = PAGE
    filter: Mapping[str, Any] = field(default_factory=dict)


class HistoryReader(BaseCheckpointSaver):
    """The reading half of a saver over rows that something else wrote."""

    spoken = "A database of LangGraph's"

    def __init__(self, serde: SerializerProtocol) -> None:
        super().__init__(serde=serde)

    get_next_version = staticmethod(text_version)

    # -- what each reader knows ------------------------------------------------------------------

    def _page(self, wanted: Wanted) -> list[CheckpointTuple]:
        """A page of checkpoints; its filter is applied later."""
        raise NotImplementedError

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        """``(thread, newest root checkpoint)`` where the id holds `query`, newest first."""
        raise NotImplementedError

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        """How many root checkpoints each of these threads has."""
        raise NotImplementedError

    # -- what follows --------------------------------------------------------------------------

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """The addressed checkpoint, or the newest of the thread; None if there is none."""
        thread, ns, id_ = address(config)
        found = self._page(Wanted(thread, ns, id_, size=1))
        return found[0] if found else None

    def list(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first; no config means all threads, no namespace means all."""
        wanted = Wanted(filter=check_filter(filter))
        if config is not None:
            thread, ns, id_ = address(config)
            is_told = config["configurable"].get("checkpoint_ns") is not None
            wanted = replace(wanted, thread=thread, ns=ns if is_told else None, id=id_)
        if before is not None:
            wanted = replace(wanted, before=get_checkpoint_id(before))
        if limit is not None and not filter:
            wanted = replace(wanted, size=min(PAGE, limit))
        return self._pages(wanted, limit)

    def _pages(self, wanted: Wanted, limit: int | None) -> Iterator[CheckpointTuple]:
        left = limit
        while left is None or left > 0:
            page = self._page(wanted)
            for item in page:
                if matches(item.metadata, wanted.filter):
                    yield item
                    left = None if left is None else left - 1
                if left == 0:
                    return
            if len(page) < wanted.size or wanted.id is not None:
                return
            last = page[-1].config["configurable"]
            ended = (last["checkpoint_id"], last["thread_id"], last["checkpoint_ns"])
            wanted = replace(wanted, after=ended)

    def threads(self) -> list[dict[str, Any]]:  # type: ignore[valid-type]
        """One ``{thread_id, checkpoints, last_time}`` a thread, the last used first."""
        heads = self.thread_heads()
        counted = self.count_checkpoints([thread for thread, _ in heads])
        return [
            {"thread_id": thread, "checkpoints": counted.get(thread, 0), "last_time": time_of(id_)}
            for thread, id_ in heads
        ]

    def put(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `ReadOnlyError`."""
        raise ReadOnlyError(WHY)

    def put_writes(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `ReadOnlyError`."""
        raise ReadOnlyError(WHY)

    async def aput(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `ReadOnlyError`."""
        raise ReadOnlyError(WHY)

    async def aput_writes(self, *_: Any, **__: Any) -> NoReturn:
        """Raises `ReadOnlyError`."""
        raise ReadOnlyError(WHY)


def holds(query: str) -> Any:
    """A test of a thread's id: whether it holds the query, in any case."""
    wanted = query.casefold()
    return lambda thread: wanted in str(thread).casefold()
