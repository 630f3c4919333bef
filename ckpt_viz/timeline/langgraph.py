"""The timeline of real LangGraph graphs. The one module that imports `langgraph`, lazily."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.timeline.acts import GraphTimeline


class LangGraphTimeline(GraphTimeline):
    """History of, and acts on, a graph compiled by LangGraph."""

    def _command(self, **parts: Any) -> Any:
        from langgraph.types import Command  # noqa: PLC0415 - optional

        return Command(**parts)

    def _overwrite(self, value: Any) -> Any:
        from langgraph.types import Overwrite  # noqa: PLC0415 - optional

        return Overwrite(value)

    @staticmethod
    def memory(serde: Any = None) -> Any:
        """A saver of the engine's that keeps everything in memory."""
        from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415 - optional

        return InMemorySaver() if serde is None else InMemorySaver(serde=serde)


def is_langgraph(graph: Any) -> bool:
    """True for an object whose class comes from LangGraph. Imports nothing."""
    return any(cls.__module__.split(".", 1)[0] == "langgraph" for cls in type(graph).__mro__)


class _Awaited:
    """The awaited forms of a saver's methods, in a thread: graphs with async nodes ask for them."""

    async def aget_tuple(self: Any, *args: Any) -> Any:
        return await asyncio.to_thread(self.get_tuple, *args)

    async def alist(self: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        for found in await asyncio.to_thread(lambda: list(self.list(*args, **options))):
            yield found

    async def aput(self: Any, *args: Any) -> Any:
        return await asyncio.to_thread(self.put, *args)

    async def aput_writes(self: Any, *args: Any) -> None:
        await asyncio.to_thread(self.put_writes, *args)

    async def adelete_thread(self: Any, *args: Any) -> None:
        await asyncio.to_thread(self.delete_thread, *args)


def _both(kind: Any) -> Any:
    """A saver that only blocks, with its awaited forms too."""
    return type(kind.__name__, (_Awaited, kind), {})


def peer_saver(kind: str, place: str, key: Any) -> Any:
    """LangGraph's own saver for a database that it wrote, to write on.

    Raises `SourceError` where the package of that saver is not installed.
    """
    try:
        serde = _peer_serde(key)
        if kind == "sqlite":
            from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - optional

            return _both(SqliteSaver)(sqlite3.connect(place, check_same_thread=False), serde=serde)
        from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - optional
    except ImportError as error:
        raise SourceError(
            f"LangGraph wrote this database, and only its own saver may write on it. Type:  "
            f"pip install langgraph-checkpoint-{kind}"
        ) from error
    import psycopg  # noqa: PLC0415 - optional
    from psycopg.rows import dict_row  # noqa: PLC0415 - optional

    conn = psycopg.connect(place, autocommit=True, prepare_threshold=0, row_factory=dict_row)
    return _both(PostgresSaver)(conn, serde=serde)


def _peer_serde(key: Any) -> Any:
    if key is None and not os.environ.get("LANGGRAPH_AES_KEY"):
        return None
    from langgraph.checkpoint.serde.encrypted import (  # noqa: PLC0415 - optional
        EncryptedSerializer,
    )

    options: dict[str, Any] = (
        {} if key is None else {"key": key.encode() if isinstance(key, str) else key}
    )
    return EncryptedSerializer.from_pycryptodome_aes(**options)
