"""The rows of a saver on a server, and the scripts by which its kind of server handles them.

A script is a generator: it yields requests that the saver's connection answers, blocking or
awaited, and all of it is one transaction. Names in rows are as the user gave them; how a server
holds them is its saver's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ckpt_viz.checkpoint.keys import escape, unescape
from ckpt_viz.checkpoint.plans import Script
from ckpt_viz.checkpoint.serde.base import Typed

_SMALL = 64
"""A stored value of at most so many bytes is no base of another."""


class BaseGone(Exception):
    """What a change is told against was removed meanwhile, by somebody else."""


class HeadMoved(Exception):
    """The checkpoint to extend is no longer the newest; the argument is the newest one's id."""


class Conflict(Exception):
    """The thread was changed between being read and being written."""


class BlobKey(NamedTuple):
    """Where a value is stored; the version is a name (see `version_name`)."""

    ns: str
    channel: str
    version: str


Base = tuple[str, str] | None
"""The channel and version that a value is told against, if any."""


def escaped_base(base: Base) -> tuple[str | None, str | None]:
    """A base as a server holds it."""
    return (None, None) if base is None else (escape(base[0]), base[1])


def base_of(channel: str | None, version: str | None) -> Base:
    """The base that a server holds so."""
    return None if channel is None or version is None else (unescape(channel), version)


class Blob(NamedTuple):
    """A stored value; ``base`` is the channel and version that it is told against, if any."""

    typed: Typed
    base: Base = None


class Write(NamedTuple):
    """A stored pending write; ``base`` as in `Blob`.

    ``span`` tells when its task ran (see `checkpoint.times`): of a task's first write alone.
    """

    id: str
    task: str
    idx: int
    path: str
    channel: str
    typed: Typed
    base: Base = None
    span: bytes | None = None


class Row(NamedTuple):
    """A stored checkpoint; ``base`` is the checkpoint that its maps are told against, if any."""

    thread: str
    ns: str
    id: str
    parent: str | None
    base: str | None
    body: Typed
    meta: Typed
    source: Any = None
    step: Any = None
    tokens: tuple[int, ...] = ()
    key: Any = None
    """The saver's own handle of thread and namespace."""
    size: int = 0
    """Bytes that it takes, as the saver counts."""


class Size(NamedTuple):
    """What is known of a stored value or write without reading it."""

    bytes: int
    base: Base
    tag: str
    channel: str


@dataclass(slots=True)
class Query:
    """Which checkpoints are wanted, newest first."""

    thread: str | None = None
    ns: str | None = None
    id: str | None = None
    before: str | None = None
    tokens: list[list[int]] = field(default_factory=list)
    after: Row | None = None
    """The row after which the next page begins."""


class Survey(Protocol):
    """All of a thread but its values. What is not asked for need not be read."""

    @property
    def rows(self) -> list[Row]: ...

    @property
    def blobs(self) -> Mapping[BlobKey, Size]: ...

    @property
    def writes(self) -> Mapping[tuple[str, str, str, int], Size]:
        """By namespace, checkpoint, task and index."""

    @property
    def labels(self) -> Mapping[tuple[str, str], str]:
        """By namespace and checkpoint."""

    @property
    def mark(self) -> Any:
        """Tells whether the thread was changed since."""

    @property
    def rest(self) -> int:
        """Bytes that hold rows of values together."""

    @property
    def bases(self) -> Any:
        """What `Packer.body_of` needs to read the rows' bodies."""


@dataclass(slots=True)
class Surveyed:
    """A survey that was made at once."""

    rows: list[Row] = field(default_factory=list)
    blobs: dict[BlobKey, Size] = field(default_factory=dict)
    writes: dict[tuple[str, str, str, int], Size] = field(default_factory=dict)
    labels: dict[tuple[str, str], str] = field(default_factory=dict)
    mark: Any = None
    rest: int = 0

    @property
    def bases(self) -> Any:
        """The rows, by thread, namespace and id."""
        return {(row.thread, row.ns, row.id): row for row in self.rows}


@dataclass(slots=True)
class Edit:
    """What is to be changed in a thread, all or nothing.

    Values and writes that are there already stay as they are, unless ``replace`` is set, or the
    index of the write is negative. Checkpoints are replaced.
    """

    thread: str
    rows: list[Row] = field(default_factory=list)
    blobs: dict[BlobKey, Blob] = field(default_factory=dict)
    writes: list[tuple[str, Write]] = field(default_factory=list)
    labels: dict[tuple[str, str], str | None] = field(default_factory=dict)
    needs: set[BlobKey] = field(default_factory=set)
    """Values that must be there."""
    needs_row: tuple[str, str] | None = None
    """A checkpoint that must be there, by namespace and id."""
    extends: tuple[str, str | None] | None = None
    """The namespace whose newest checkpoint must still be this one, but for the one put here."""
    drop_rows: list[tuple[str, str]] = field(default_factory=list)
    """Checkpoints that go with their writes and labels, by namespace and id."""
    drop_blobs: list[BlobKey] = field(default_factory=list)
    replace: bool = False
    mark: Any = None

    def drops(self) -> dict[str, tuple[list[str], list[BlobKey]]]:
        """The checkpoints and values to drop, by namespace."""
        found: dict[str, tuple[list[str], list[BlobKey]]] = {}
        for ns, id_ in self.drop_rows:
            found.setdefault(ns, ([], []))[0].append(id_)
        for key in self.drop_blobs:
            found.setdefault(key.ns, ([], []))[1].append(key)
        return found

    @property
    def is_checked(self) -> bool:
        """Whether the answers of the server matter."""
        big = any(len(blob.typed[1]) > _SMALL for blob in self.blobs.values())
        asked = self.needs or self.needs_row or self.extends
        return big or bool(asked) or self.mark is not None


class ThreadRows(Protocol):
    """The scripts that any kind of database has for whole threads."""

    def edit(self, edit: Edit) -> Script[set[BlobKey]]:
        """Change a thread; returns which of the big values were there already.

        Raises:
            BaseGone: something that is needed is not there. HeadMoved: see `Edit.extends`.
            Conflict: the mark is an old one.
        """
        ...

    def remove_thread(self, thread: str) -> Script[None]:
        """Remove everything of a thread."""
        ...

    def survey(self, thread: str, hold: bool = True) -> Script[Survey]:
        """All of a thread but its values; to hold it means that nobody else writes meanwhile, or
        that the mark tells."""
        ...

    def threads(self, tokens: Sequence[int] | None) -> Script[list[str]]:
        """All threads; or at least those with a checkpoint that has one of the tokens."""
        ...

    def count(self) -> Script[list[tuple[str, int, Any, str, int]]]:
        """``(thread, checkpoints, last step, last id, bytes)`` of each thread."""
        ...

    def namespaces(self, thread: str) -> Script[list[str]]:
        """The namespaces that hold checkpoints."""
        ...

    def labels(self, thread: str) -> Script[dict[tuple[str, str], str]]:
        """Labels by namespace and checkpoint."""
        ...

    def compact(self, dry_run: bool) -> Script[dict[str, int]]:
        """Give room back; run outside of a transaction."""
        ...


class Rows(ThreadRows, Protocol):
    """The scripts that a kind of server has for rows."""

    def read_rows(self, query: Query, size: int) -> Script[list[Row]]:
        """A page of checkpoints, newest first."""
        ...

    def read_bases(self, rows: Sequence[Row]) -> Script[list[Row]]:
        """The checkpoints that these are told against, and those that they are, and so on."""
        ...

    def read_values(
        self, thread: str, keys: set[BlobKey], rows: Sequence[Row]
    ) -> Script[tuple[dict[BlobKey, Blob], dict[tuple[str, str], list[Write]]]]:
        """Values with all that they are told against; and the writes of rows.

        A row without an entry was removed since it was read.
        """
        ...

    def read_all(self, thread: str, ns: str) -> Script[tuple[dict[BlobKey, Blob], list[Write]]]:
        """All values and writes of a namespace."""
        ...

    def count_roots(self, threads: Sequence[str]) -> Script[dict[str, int]]:
        """How many checkpoints each of these threads has in its root namespace."""
        ...

    def set_up(self) -> Script[None]:
        """Make what the rows need."""
        ...
