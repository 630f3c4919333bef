"""Writes a stream of debug events to a file, a line an event, as it is consumed.

Each line is flushed before the next event is asked for: a run that fails, or is killed, leaves all
that it told. Values are written in the form of `wire`; reading the file imports nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Awaitable, Iterable
from pathlib import Path
from typing import IO, Any, overload
from uuid import uuid4

from ckpt_viz.timeline.event_text import event_of
from ckpt_viz.timeline.wire import to_json


@overload
def record(stream: Iterable[Any], path: str | Path, *, append: bool = ...) -> Path: ...


@overload
def record(
    stream: AsyncIterable[Any], path: str | Path, *, append: bool = ...
) -> Awaitable[Path]: ...


def record(stream: Any, path: str | Path, *, append: bool = False) -> Any:
    """Runs a debug stream to its end and writes its events to a file, a line of JSON each.

    ``record(graph.stream(input, config, stream_mode="debug"), "run.jsonl")``; of an async stream
    the result is to be awaited. ``explore("run.jsonl")`` opens the file.

    Args:
        stream: what ``stream`` or ``astream`` of a graph of ours or of LangGraph's gave, with
            ``stream_mode="debug"``, alone or among others, with or without ``subgraphs=True``.
        path: the file; it is replaced, unless `append` adds this run to it.
        append: keep what the file holds.

    Returns:
        The path. An error of the run is written too, and raised again.
    """
    target = Path(path).expanduser()
    if hasattr(stream, "__aiter__"):
        return _arecord(stream, target, append)
    if not hasattr(stream, "__iter__") or isinstance(stream, str | bytes | dict):
        raise TypeError(
            f"Can't record {type(stream).__name__}: expected what "
            'graph.stream(…, stream_mode="debug") gives'
        )
    with _Log(target, append) as log:
        for thing in stream:
            log.write(thing)
    return target


async def _arecord(stream: AsyncIterable[Any], target: Path, append: bool) -> Path:
    with _Log(target, append) as log:
        async for thing in stream:
            log.write(thing)
    return target


class _Log:
    """A file that is being written. Its first line names the run, its last a failure."""

    def __init__(self, target: Path, append: bool) -> None:
        self._target, self._append = target, append
        self._file: IO[str] | None = None

    def __enter__(self) -> _Log:
        cut = self._append and _ends_within_a_line(self._target)
        self._file = self._target.open(
            "a" if self._append else "w", encoding="utf-8", errors="backslashreplace"
        )
        self._file.write("\n" if cut else "")
        self._line({"event": "metadata", "data": {"run_id": str(uuid4())}})
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None and not isinstance(error, GeneratorExit):
            told = {"error": type(error).__name__, "message": str(error)[:10_000]}
            self._line({"event": "error", "data": told})
        if self._file is not None:
            self._file.close()

    def write(self, thing: Any) -> None:
        """One thing that the stream gave; what is no debug event is passed over."""
        event = event_of(thing)
        if event is None or event.kind != "debug" or "type" not in event.data:
            return
        data = event.data
        if event.ns is not None:
            data = {"ns": event.ns.split("|") if event.ns else [], **data}
        self._line(data)

    def _line(self, data: Any) -> None:
        assert self._file is not None
        self._file.write(json.dumps(to_json(data), ensure_ascii=False, allow_nan=False) + "\n")
        self._file.flush()


def _ends_within_a_line(target: Path) -> bool:
    """Whether a file ends in the middle of a line, as one that was cut does."""
    if not target.is_file() or not target.stat().st_size:
        return False
    with target.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) != b"\n"
