"""The timeline of real LangGraph graphs. The one module that imports `langgraph`, lazily."""

from __future__ import annotations

import os
import sqlite3
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


def peer_saver(kind: str, place: str, key: Any) -> Any:
    """LangGraph's own saver for a database that it wrote, to write on.

    Raises `SourceError` where the package of that saver is not installed.
    """
    try:
        serde = _peer_serde(key)
        if kind == "sqlite":
            from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - optional

            return SqliteSaver(sqlite3.connect(place, check_same_thread=False), serde=serde)
        from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - optional
    except ImportError as error:
        raise SourceError(
            f"LangGraph wrote this database, and only its own saver may write on it. Type:  "
            f"pip install langgraph-checkpoint-{kind}"
        ) from error
    import psycopg  # noqa: PLC0415 - optional
    from psycopg.rows import dict_row  # noqa: PLC0415 - optional

    conn = psycopg.connect(place, autocommit=True, prepare_threshold=0, row_factory=dict_row)
    return PostgresSaver(conn, serde=serde)


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
