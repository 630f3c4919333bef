"""What a node can ask for without naming it as a parameter."""

from __future__ import annotations

from typing import Any

from ckpt_viz.types import Scope, StreamWriter, scope


def _scope(what: str) -> Scope:
    current = scope.get(None)
    if current is None:
        raise RuntimeError(
            f"Called get_config outside of a runnable context: call {what}() in a running node."
        )
    return current


def get_config() -> dict[str, Any]:
    """The config of the running task."""
    return _scope("get_config").config


def get_store() -> Any:
    """The store that the graph was compiled with, or None."""
    return _scope("get_store").store


def get_stream_writer() -> StreamWriter:
    """A function that puts a chunk into the ``custom`` stream."""
    return _scope("get_stream_writer").writer
