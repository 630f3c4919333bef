"""What a history takes: bytes by channel and version, who shares a value, what a prune would free.

Our savers tell it themselves (`storage_report`, `prune(dry_run=True)`). Of others is told what can
be known without touching their tables: which checkpoints name the same version of a channel, and
the bytes of a value where the saver shows its blobs. `how` always says which of these it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ckpt_viz.timeline.colour import Colour
from ckpt_viz.timeline.damage import DAMAGED
from ckpt_viz.timeline.keeping import method
from ckpt_viz.timeline.recorded import RecordedSaver
from ckpt_viz.timeline.records import Able, Topology
from ckpt_viz.timeline.rows import Light
from ckpt_viz.timeline.topology import is_routing

DRY_RUN_LIMIT = 20_000
"""Over more checkpoints a saver's dry run takes seconds, and clicks would wait for it."""
Known = Literal["report", "blobs", "versions"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One version of a channel: its bytes (None: not known), and the checkpoints that use it.

    `used_by` counts them; `first` and `last` are the oldest and the newest that are known.
    """

    channel: str
    version: Any
    bytes: int | None
    tag: str | None
    used_by: int
    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class ChannelUse:
    """A channel with its versions, the newest first, and their bytes: shared and unique."""

    channel: str
    routing: bool
    versions: tuple[Stored, ...]
    bytes: int | None
    shared: int | None


@dataclass(frozen=True, slots=True)
class Freed:
    """What pruning to the newest checkpoints would remove; `bytes` of values, where known."""

    checkpoints: int
    writes: int | None
    values: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Storage:
    """What one thread takes; `channels` are those of the namespace that is looked at.

    `all_bytes` is the whole saver's; `thread`, `checkpoints` (their rows), `writes`, `shared` and
    `unique` (values) are the thread's. None stands for what is not known. `prune` says whether
    `freed` is the saver's own dry run, or why it is only an estimate.
    """

    known: Known
    how: str
    channels: tuple[ChannelUse, ...]
    all_bytes: int | None = None
    thread: int | None = None
    checkpoints: int | None = None
    writes: int | None = None
    shared: int | None = None
    unique: int | None = None
    freed: Freed | None = None
    prune: Able = field(default_factory=lambda: Able(True))
    partly: bool = False


class Reader(Protocol):
    """What this module needs of a timeline."""

    saver: Any
    thread_id: str | None
    checkpoint_ns: str
    colour: Colour

    @property
    def topology(self) -> Topology:
        """The graph's shape."""
        ...

    @property
    def more(self) -> bool:
        """Whether there are older checkpoints that have not been read."""
        ...

    @property
    def head(self) -> str | None:
        """The newest checkpoint's id."""
        ...

    def known_lights(self) -> list[Light]:
        """The light records that have been read."""
        ...

    def blob_size(self, channel: str, version: Any) -> tuple[str | None, int | None]:
        """The tag and the bytes of a stored value, where the saver shows them."""
        ...

    def labels(self) -> dict[str, str]:
        """Checkpoint id -> label."""
        ...


def storage(reader: Reader) -> Storage:
    """What the thread takes, as far as its saver tells."""
    lights = sorted(reader.known_lights(), key=lambda light: light.id)
    trouble, report = "", None
    try:
        report = _asked(reader, "storage_report")
    except DAMAGED as error:  # what can be told without reading all is told
        trouble = f"The saver could not measure it: {error}"
    mine = _of_thread(report, reader.thread_id)
    sizes = _sizes(mine, reader.checkpoint_ns)
    channels = _channels(reader, lights, sizes)
    known, how = _how(reader, mine, channels)
    if trouble:
        known, how = "versions", trouble
    shared = unique = None
    if mine is None and known == "blobs":
        total = [c for c in channels if c.bytes is not None]
        shared = sum(c.shared or 0 for c in total)
        unique = sum(c.bytes or 0 for c in total) - shared
    told = mine or {}
    if trouble:
        freed, prune = None, Able(False, trouble)
    else:
        freed, prune = _freed(reader, lights, channels)
    return Storage(
        known=known,
        how=how,
        channels=channels,
        all_bytes=None if report is None else int(report["bytes"]),
        thread=told.get("bytes"),
        checkpoints=told.get("checkpoints"),
        writes=told.get("writes"),
        shared=told.get("shared", shared),
        unique=told.get("unique", unique),
        freed=freed,
        prune=prune,
        partly=reader.more,
    )


def _asked(reader: Reader, name: str, *values: Any, **options: Any) -> Any:
    """What the saver's method answers, in either colour; None where it has none."""
    ask = method(reader.saver, name)
    if ask is None:
        return None
    found = ask(*values, **options)
    return reader.colour.run(_awaited(found)) if inspect.isawaitable(found) else found


async def _awaited(found: Any) -> Any:
    return await found


def _of_thread(report: Any, thread_id: str | None) -> dict[str, Any] | None:
    threads = () if report is None else report["threads"]
    return next((one for one in threads if str(one["thread_id"]) == thread_id), None)


def _sizes(mine: dict[str, Any] | None, ns: str) -> dict[tuple[str, str], int]:
    return {
        (str(v["channel"]), str(v["version"])): int(v["bytes"])
        for v in (mine or {}).get("values", ())
        if (v.get("checkpoint_ns") or "") == ns
    }


def _how(
    reader: Reader, mine: dict[str, Any] | None, channels: Iterable[ChannelUse]
) -> tuple[Known, str]:
    name = type(reader.saver).__name__
    if isinstance(reader.saver, RecordedSaver):
        return "versions", (
            f"A {reader.saver.name} tells states, not what they take. A version stands here for a "
            "value that stayed equal."
        )
    if mine is not None:
        return "report", "Measured by the saver: what is stored, packed and shared as it is."
    if any(v.bytes is not None for c in channels for v in c.versions):
        return "blobs", f"{name} has no report; these are the bytes of the values it holds."
    return "versions", (
        f"{name} does not tell bytes. Known is which checkpoints name the same version of a "
        "channel; whether it is stored once is the saver's affair."
    )


# -- channels ------------------------------------------------------------------------------------


def _channels(
    reader: Reader, lights: list[Light], sizes: dict[tuple[str, str], int]
) -> tuple[ChannelUse, ...]:
    users: dict[str, dict[Any, list[str]]] = {}
    for light in lights:
        for channel, version in light.versions.items():
            users.setdefault(channel, {}).setdefault(version, []).append(light.id)
    names = [n for n in reader.topology.channels if n in users]
    names += sorted(set(users) - set(names))
    infos = reader.topology.channels
    out = [
        _channel(
            name,
            infos[name].routing if name in infos else is_routing(name),
            [_stored(reader, name, v, ids, sizes) for v, ids in users[name].items()],
        )
        for name in names
    ]
    return tuple(sorted(out, key=lambda c: (c.routing, -(c.bytes or 0))))


def _stored(
    reader: Reader, channel: str, version: Any, ids: list[str], sizes: dict[tuple[str, str], int]
) -> Stored:
    tag, size = reader.blob_size(channel, version)
    size = sizes.get((channel, str(version)), size)
    return Stored(channel, version, size, tag, len(ids), ids[0], ids[-1])


def _channel(name: str, routing: bool, versions: list[Stored]) -> ChannelUse:
    known = [v for v in versions if v.bytes is not None]
    return ChannelUse(
        name,
        routing,
        tuple(reversed(versions)),
        sum(v.bytes or 0 for v in known) if known else None,
        sum(v.bytes or 0 for v in known if v.used_by > 1) if known else None,
    )


# -- prune ---------------------------------------------------------------------------------------


def _freed(
    reader: Reader, lights: list[Light], channels: tuple[ChannelUse, ...]
) -> tuple[Freed | None, Able]:
    if not lights or reader.thread_id is None:
        return None, Able(False, "There is nothing to prune: the thread has no checkpoint")
    ask = method(reader.saver, "prune")
    name = type(reader.saver).__name__
    quick = len(lights) <= DRY_RUN_LIMIT
    if ask is not None and quick and "dry_run" in inspect.signature(ask).parameters:
        gone = _asked(reader, "prune", [reader.thread_id], dry_run=True)
        here = {
            str(c["configurable"]["checkpoint_id"])
            for c in gone.checkpoints
            if (c["configurable"].get("checkpoint_ns") or "") == reader.checkpoint_ns
        }
        _, size = _unused(lights, channels, {x.id for x in lights} - here)
        return Freed(len(gone.checkpoints), gone.writes, gone.values, size), Able(True)
    lacks = "has no prune" if ask is None else "has a prune without a dry run, which was not asked"
    if not quick:
        lacks = f"was not asked for a dry run over {len(lights)} checkpoints"
    why = f"{name} {lacks}: this is counted from the versions of this namespace"
    labelled = reader.labels()
    stay = {str(reader.head)} | {x.id for x in lights if x.id in labelled}
    values, size = _unused(lights, channels, stay)
    return Freed(sum(x.id not in stay for x in lights), None, values, size), Able(False, why)


def _unused(
    lights: list[Light], channels: tuple[ChannelUse, ...], stay: set[str]
) -> tuple[int, int | None]:
    """How many versions only checkpoints use that go, and their bytes where all are known."""
    needed = {(c, v) for x in lights if x.id in stay for c, v in x.versions.items()}
    free = [v for c in channels for v in c.versions if (c.channel, v.version) not in needed]
    sizes = [v.bytes for v in free]
    return len(free), None if None in sizes else sum(s or 0 for s in sizes)
