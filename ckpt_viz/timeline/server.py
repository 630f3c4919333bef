"""A LangGraph server by its address: the threads and histories that it tells, by requests.

`langgraph-sdk` speaks to it and is imported when an address is opened. What the server tells is
kept as recorded checkpoints; the newest are asked for anew at each look.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urldefrag, urlsplit

from ckpt_viz.checkpoint.base import CheckpointTuple
from ckpt_viz.errors import SourceError
from ckpt_viz.timeline.event_log import recorded_task
from ckpt_viz.timeline.recorded import Recorded, RecordedSaver, RecordedTask
from ckpt_viz.timeline.records import ChannelInfo, Topology
from ckpt_viz.types import StateSnapshot

T = TypeVar("T")
PAGE = 500
CONNECT, READ = 3.0, 300.0
"""Seconds to wait for a connection, and for an answer or the next event of a run."""


class ServerSaver(RecordedSaver):
    """The threads of a LangGraph server, asked for when they are looked at."""

    spoken = "A LangGraph server"

    def __init__(self, url: str) -> None:
        """Raises `SourceError` where no server answers, or langgraph-sdk is not installed."""
        super().__init__()
        address, self.assistant = urldefrag(url)
        parts = urlsplit(address)
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
        self.client, self._errors = _connect(address, self.url)
        self.name = parts.netloc.rpartition("@")[2]
        self.ask(lambda: self.client.http.get("/info"))

    def ask(self, question: Callable[[], T], default: Any = None) -> T:
        """The answer to a request.

        Raises:
            SourceError: the server is not there, or refuses; unless what was asked for does not
                exist and `default` is given.
        """
        missing, failed = self._errors
        try:
            return question()
        except missing as error:
            if default is None:
                raise SourceError(f"The server at {self.url} says: {error}") from error
            found: T = default
            return found
        except failed as error:
            text = str(error) or type(error).__name__
            raise SourceError(f"The LangGraph server at {self.url}: {text}") from error

    # -- what is asked of a saver ------------------------------------------------------------

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        """Each thread, the last used first; its newest checkpoint is not told here."""
        found: list[str] = []
        wanted = query.casefold()
        while True:
            order = {"sort_by": "updated_at", "sort_order": "desc"}
            search = self.client.threads.search
            page = self.ask(partial(search, limit=PAGE, offset=len(found), **order))
            found += [str(thread["thread_id"]) for thread in page]
            if len(page) < PAGE:
                break
        return [(thread, "") for thread in found if wanted in thread.casefold()]

    def count_checkpoints(self, threads: Iterable[str]) -> dict[str, int]:
        """How long the branch of each thread's newest checkpoint is: more is not told cheaply."""
        heads = {thread: self._fetch(thread, "", 1) for thread in threads}
        return {t: int(h[0].metadata.get("step", -2)) + 2 if h else 0 for t, h in heads.items()}

    def namespaces(self, thread: str) -> Sequence[str]:
        """The namespaces in which a thread has checkpoints."""
        known, todo = {""}, [""]
        while todo:
            for record in self._fetch(thread, todo.pop(), None):
                told = [_dict(task.state).get("configurable") for task in record.tasks]
                inner = {str(where["checkpoint_ns"]) for where in told if where}
                fresh = [ns for ns in inner - known if self._fetch(thread, ns, 1)]
                known |= set(fresh)
                todo += fresh
        return sorted(known)

    def get_tuple(self, config: dict[str, Any]) -> CheckpointTuple | None:
        """The checkpoint that a config addresses, or the newest of its thread and namespace."""
        where = config["configurable"]
        thread, ns = str(where["thread_id"]), str(where.get("checkpoint_ns") or "")
        id_ = where.get("checkpoint_id")
        if not id_:
            return next(iter(self.list(config, limit=1)), None)
        found = self.record(thread, ns, id_)
        if found is None:
            told = self._state(thread, ns, id_)
            found = None if told is None else self._kept(told)
        return None if found is None else self._tuple(found)

    def head_snapshot(self, thread: str, ns: str) -> StateSnapshot | None:
        """The newest state as the server has it now."""
        found = self._state(thread, ns, None)
        return None if found is None else self.snapshot(found)

    def list(
        self,
        config: dict[str, Any] | None,
        *,
        filter: dict[str, Any] | None = None,
        before: dict[str, Any] | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of one thread and namespace, the newest first."""
        where = (config or {}).get("configurable") or {}
        if "thread_id" in where:
            ns = str(where.get("checkpoint_ns") or "")
            until = (before or {}).get("configurable", {}).get("checkpoint_id")
            more = None if limit is None else limit + 1  # the last one's parent tells what changed
            for record in self._fetch(str(where["thread_id"]), ns, more, until)[:limit]:
                yield self._tuple(record)

    def delete_thread(self, thread_id: str) -> None:
        """Removes a thread from the server."""
        self.ask(lambda: self.client.threads.delete(thread_id))

    # -- requests ----------------------------------------------------------------------------

    def _state(self, thread: str, ns: str, id_: str | None) -> Recorded | None:
        point = {"checkpoint_ns": ns, **({"checkpoint_id": id_} if id_ else {})}
        told = self.ask(
            lambda: self.client.threads.get_state(thread, checkpoint=point if ns or id_ else None),
            default={},
        )
        return recorded_state(thread, told) if told.get("metadata") else None

    def _fetch(
        self, thread: str, ns: str, limit: int | None, before: str | None = None
    ) -> Sequence[Recorded]:
        options: dict[str, Any] = {"checkpoint": {"checkpoint_ns": ns}} if ns else {}
        out: list[Recorded] = []
        while limit is None or len(out) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(out))
            if before is not None:
                point = {"checkpoint_ns": ns, "checkpoint_id": before}
                options["before"] = {"configurable": point}  # a bare checkpoint is an error there
            history = self.client.threads.get_history
            page = self.ask(partial(history, thread, limit=size, **options), default=[])
            out += [recorded_state(thread, told) for told in page]
            if len(page) < size:
                break
            before = out[-1].id
        self._fill(thread, ns, out)
        return [self._kept(record) for record in out]

    def _fill(self, thread: str, ns: str, records: Sequence[Recorded]) -> None:
        """Names the tasks of a barrier, of which servers tell nothing: a step came after, and the
        nodes before have edges to them alone.
        """
        if ns or not any(r.source == "loop" for r in records):
            return
        self.learn_shape(thread)
        known = {record.id: record for record in records}
        followed = {r.parent_id for r in records if r.source == "loop"}
        for record in records:
            before = known.get(record.parent_id or "") or self.record(
                thread, ns, record.parent_id or ""
            )
            if record.tasks or record.id not in followed or before is None:
                continue
            ran = {task.name for task in before.tasks}
            names = sorted({b for a, b in self.shapes[""].edges if a in ran and b != "__end__"})
            record.tasks = [RecordedTask(f"?{n}", n, ("__pregel_pull", n)) for n in names]
            record.next = tuple(names)

    def _kept(self, record: Recorded) -> Recorded:
        self.put(record)
        return record

    def learn_shape(self, thread: str) -> None:
        """Asks for the graph of a thread, once."""
        if "" in self.shapes:
            return
        name = self.assistant_of(thread)
        drawn = self.ask(lambda: self.client.assistants.get_graph(name), default={"nodes": []})
        schemas = self.ask(lambda: self.client.assistants.get_schemas(name), default={})
        self.shapes[""] = _shape(drawn, _dict(schemas.get("state_schema")))

    def assistant_of(self, thread: str) -> str:
        """The assistant that runs a thread: the address's, the thread's own, or the only one.

        Raises:
            SourceError: it could be any of several.
        """
        if self.assistant:
            return self._assistant_named(self.assistant)
        told = self.ask(lambda: self.client.threads.get(thread), default={"metadata": {}})
        name = _dict(told.get("metadata")).get("assistant_id")
        if name:
            return str(name)
        found = self.ask(lambda: self.client.assistants.search(limit=20))
        if len(found) == 1:
            return str(found[0]["assistant_id"])
        names = ", ".join(str(each.get("name")) for each in found) or "none"
        raise SourceError(f"Which assistant? Write it behind the address, {self.url}#NAME: {names}")

    def _assistant_named(self, name: str) -> str:
        found = self.ask(lambda: self.client.assistants.search(limit=PAGE))
        for key in ("assistant_id", "name", "graph_id"):
            for each in found:
                if each.get(key) == name:
                    return str(each["assistant_id"])
        names = ", ".join(sorted({str(each.get("graph_id")) for each in found})) or "none"
        raise SourceError(f"The server at {self.url} has no assistant {name!r}; there are: {names}")


def _reach(address: str, shown: str) -> None:
    """Raises `SourceError` soon where nobody listens: the client would try for long."""
    parts = urlsplit(address)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), CONNECT).close()
    except (OSError, ValueError) as error:
        raise SourceError(f"No LangGraph server answers at {shown}: {error}") from error


def _connect(address: str, shown: str) -> tuple[Any, tuple[Any, Any]]:
    try:
        import httpx  # noqa: PLC0415 - comes with langgraph-sdk, which is optional
        from langgraph_sdk import errors, get_sync_client  # noqa: PLC0415 - optional
    except ImportError as error:
        raise SourceError(
            f"{shown} needs langgraph-sdk. Type:  pip install 'ckpt-viz[server]'"
        ) from error
    client = get_sync_client(url=address, timeout=(CONNECT, READ, READ, CONNECT))
    _reach(address, shown)
    missing = (errors.NotFoundError, errors.UnprocessableEntityError)
    return client, (missing, (errors.LangGraphError, httpx.HTTPError, httpx.InvalidURL))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def recorded_state(thread: str, told: dict[str, Any]) -> Recorded:
    """A thread state as the server tells it."""
    here, parent = _dict(told.get("checkpoint")), _dict(told.get("parent_checkpoint"))
    tasks = []
    for each in told.get("tasks") or ():
        task = recorded_task(each)
        if task is not None:
            inner = each.get("checkpoint")
            task.state = {"configurable": inner} if isinstance(inner, dict) else None
            tasks.append(task)
    return Recorded(
        id=str(here.get("checkpoint_id") or told.get("checkpoint_id")),
        parent_id=parent.get("checkpoint_id") or told.get("parent_checkpoint_id"),
        thread=thread,
        ns=str(here.get("checkpoint_ns") or ""),
        values=told.get("values") or {},
        metadata=_dict(told.get("metadata")),
        next=tuple(str(name) for name in told.get("next") or ()),
        tasks=tasks,
        created_at=told.get("created_at"),
        config={"configurable": here},
    )


def _shape(drawn: dict[str, Any], schema: dict[str, Any]) -> Topology:
    names = [str(n["id"]) for n in drawn.get("nodes") or () if n.get("id") != "__end__"]
    edges: set[tuple[str, str]] = set()
    choices: dict[str, list[str]] = {}
    for edge in drawn.get("edges") or ():
        start, end = str(edge.get("source")), str(edge.get("target"))
        if edge.get("conditional"):
            choices.setdefault(start, []).append(end)
        else:
            edges.add((start, end))
    properties = _dict(schema.get("properties"))
    return Topology(
        {n: (n if n == "__start__" else f"branch:to:{n}",) for n in names},
        frozenset(edges),
        (),
        {start: {"router": tuple(ends)} for start, ends in choices.items()},
        {str(c): ChannelInfo(str(c), "served", None, False) for c in properties},
    )
