"""Whole threads: counted, copied, pruned, named.

Before something goes, what is told against it is told anew: against what stays, or in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, cast

from ckpt_viz.checkpoint import delta
from ckpt_viz.checkpoint.base import Removal, config_of
from ckpt_viz.checkpoint.packing import Packer
from ckpt_viz.checkpoint.plans import Script
from ckpt_viz.checkpoint.scripted.reading import meta_of
from ckpt_viz.checkpoint.scripted.rows import (
    Blob,
    BlobKey,
    Edit,
    Row,
    Rows,
    Survey,
    ThreadRows,
    Write,
)
from ckpt_viz.checkpoint.scripted.values import Values, count_of, merge
from ckpt_viz.checkpoint.serde.base import Typed
from ckpt_viz.checkpoint.telling import telling
from ckpt_viz.checkpoint.upkeep import farthest_needed, path_of, to_keep

NOTHING = Removal([], 0, 0)
Choose = Callable[["Thread", str], set[str]]
"""Tells which checkpoints of a namespace are to go."""


class Thread:
    """A thread as a survey shows it."""

    def __init__(self, name: str, survey: Survey, values: Packer) -> None:
        self.name = name
        self.survey = survey
        self.values = values
        self._bases = survey.bases
        self._rows = _by(survey.rows, lambda row: row.ns)

    @cached_property
    def _blobs(self) -> dict[str, list[BlobKey]]:
        return _by(self.survey.blobs, lambda key: key.ns)

    @cached_property
    def _writes(self) -> dict[str, dict[str, list[Any]]]:
        by_ns = _by(self.survey.writes, lambda key: key[0])
        return {ns: _by(own, lambda key: key[1]) for ns, own in by_ns.items()}

    def namespaces(self) -> list[str]:
        """The namespaces that hold checkpoints."""
        return sorted(self._rows, key=str)

    def rows(self, ns: str) -> dict[str, Row]:
        """The checkpoints of a namespace."""
        return {row.id: row for row in self._rows.get(ns, ())}

    def blobs(self, ns: str) -> list[BlobKey]:
        """Where the values of a namespace are."""
        return self._blobs.get(ns, [])

    def writes(self, ns: str) -> dict[str, list[tuple[str, str, str, int]]]:
        """Where the writes of each checkpoint are: namespace, checkpoint, task and index."""
        return self._writes.get(ns, {})

    def body(self, row: Row) -> dict[str, Any]:
        """A checkpoint without its values."""
        with telling(row.thread, row.ns, row.id, "its body"):
            return self.values.body_of(row, self._bases)

    def places(self, rows: Iterable[Row]) -> set[BlobKey]:
        """Where the values of checkpoints are."""
        return {key for row in rows for key in self.places_of(row)}

    def places_of(self, row: Row) -> list[BlobKey]:
        """Where the values of a checkpoint are."""
        versions, named = self.body(row)["channel_versions"].items(), self.values.name_of
        return [BlobKey(row.ns, channel, named(version)) for channel, version in versions]

    def kept_latest(self, ns: str, keep_labelled: bool) -> set[str]:
        """The checkpoints that ``keep_latest`` keeps."""
        rows, wrote = self.rows(ns), self.writes(ns)
        parents = {id_: row.parent for id_, row in rows.items()}
        labelled = [id_ for space, id_ in self.survey.labels if space == ns]

        def rebuilt(id_: str) -> str | None:
            empty = {key.channel for key in self.places_of(rows[id_])} - self._filled(rows[id_])
            return farthest_needed(
                path_of(parents, id_),
                empty,
                lambda at: {self.survey.writes[key].channel for key in wrote.get(at, ())},
                lambda at: self._filled(rows[at]),
            )

        return to_keep(parents, labelled if keep_labelled else (), rebuilt)

    def _filled(self, row: Row) -> set[str]:
        return {
            key.channel
            for key in self.places_of(row)
            if (size := self.survey.blobs.get(key)) and size.tag.partition("+")[0] != "empty"
        }


def _by(items: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


class Upkeep:
    """The scripts over whole threads of one saver.

    Rows that tell what their values are told against belong to `Values`; others tell anew by
    themselves what stays, when they are edited.
    """

    def __init__(self, rows: ThreadRows, values: Packer) -> None:
        self.rows = rows
        self.values = values

    def remove(self, thread: str, choose: Choose, dry_run: bool) -> Script[Removal]:
        """Remove the chosen checkpoints of a thread; what remains keeps its state.

        Raises:
            Conflict: somebody wrote to the thread meanwhile.
        """
        survey = yield from self.rows.survey(thread)
        seen, gone = Thread(thread, survey, self.values), NOTHING
        edit = Edit(thread, replace=True, mark=survey.mark)
        for ns in seen.namespaces():
            drop = choose(seen, ns)
            if not drop:
                continue
            keep = [row for row in seen.rows(ns).values() if row.id not in drop]
            used = seen.places(keep)
            values = [key for key in seen.blobs(ns) if key not in used]
            writes = sum(len(seen.writes(ns).get(id_, ())) for id_ in drop)
            ids = sorted(drop, reverse=True)
            gone = Removal(
                [*gone.checkpoints, *(config_of(thread, ns, id_) for id_ in ids)],
                gone.writes + writes,
                gone.values + len(values),
            )
            edit.drop_rows += [(ns, id_) for id_ in ids]
            edit.drop_blobs += values
            if not dry_run:
                yield from self._tell_anew(seen, ns, drop, used, edit)
        if not dry_run and edit.drop_rows:
            yield from self.rows.edit(edit)
            self.values.kept.drop(thread)
        return gone

    def _tell_anew(
        self, seen: Thread, ns: str, drop: set[str], used: set[BlobKey], edit: Edit
    ) -> Script[None]:
        values, survey = cast("Values", self.values), seen.survey
        for row in seen.rows(ns).values():
            if row.base in drop and row.id not in drop:
                body = values.close(values.whole_body(seen.body(row)), row.thread, ns, row.id)
                edit.rows.append(row._replace(base=None, body=body))
        blobs = [
            key
            for key in used
            if (size := survey.blobs.get(key)) and size.base and BlobKey(ns, *size.base) not in used
        ]
        writes = {
            at[1:]: BlobKey(ns, *base)
            for id_, own in seen.writes(ns).items()
            for at in own
            if id_ not in drop and (base := survey.writes[at].base)
            if BlobKey(ns, *base) not in used
        }
        for key in blobs:
            read, _ = yield from cast("Rows", self.rows).read_values(seen.name, {key}, ())
            told = self._anew(seen.name, key, read, used)
            edit.blobs[key] = Blob(values.close(told.typed, seen.name, *key), told.base)
        if writes:
            yield from self._whole_writes(seen.name, ns, writes, edit)

    def _anew(
        self, thread: str, key: BlobKey, blobs: Mapping[BlobKey, Blob], used: set[BlobKey]
    ) -> Blob:
        """A value told against the nearest version below it that stays, or in full."""
        values, memo = cast("Values", self.values), dict[BlobKey, Typed]()
        whole, _ = values.whole(thread, key, blobs, memo)
        changes: list[delta.Change] = []
        at = key
        while at not in used or at == key:
            typed, base = values.open(blobs[at].typed, thread, *at), blobs[at].base
            if typed[0] != "delta" or base is None:
                return Blob(whole)
            found = delta.read(typed[1])
            if found[0] == delta.PART:
                return Blob(whole)
            changes.append(delta.change_of(found))
            at = BlobKey(key.ns, *base)
        below, _ = values.whole(thread, at, blobs, memo)
        merged = merge(changes[::-1], count_of(below[1]))
        if merged is None:
            return Blob(whole)
        record = delta.record(None, merged)
        if 2 * len(record) > len(whole[1]):
            return Blob(whole)
        return Blob(("delta", record), (at.channel, at.version))

    def _whole_writes(
        self, thread: str, ns: str, wanted: Mapping[tuple[str, str, int], BlobKey], edit: Edit
    ) -> Script[None]:
        _, own = yield from cast("Rows", self.rows).read_all(thread, ns)
        blobs, _ = yield from cast("Rows", self.rows).read_values(thread, set(wanted.values()), ())
        values, memo = cast("Values", self.values), dict[BlobKey, Typed]()
        for write in own:
            if (write.id, write.task, write.idx) in wanted:
                place = (thread, ns, write.id, write.task, write.idx)
                typed = values.write(write.typed, write.base, place, blobs, memo)
                closed = values.close(typed, *place)
                edit.writes.append((ns, write._replace(typed=closed, base=None)))

    def copy(self, source: str, target: str) -> Script[None]:
        """Give another thread all that one has; what is encrypted is bound to the new one."""
        survey = yield from self.rows.survey(source)
        edit = Edit(target, labels=dict(survey.labels))
        for row in survey.rows:
            place = (row.ns, row.id)
            body = self.values.moved(row.body, source, target, *place)
            meta = self.values.moved(row.meta, source, target, *place, "metadata")
            edit.rows.append(row._replace(thread=target, body=body, meta=meta))
        spaces = {key.ns for key in survey.blobs} | {at[0] for at in survey.writes}
        for ns in sorted(spaces):
            blobs, writes = yield from cast("Rows", self.rows).read_all(source, ns)
            for key, blob in blobs.items():
                edit.blobs[key] = blob._replace(
                    typed=self.values.moved(blob.typed, source, target, *key)
                )
            for w in writes:
                typed = self.values.moved(w.typed, source, target, ns, w.id, w.task, w.idx)
                edit.writes.append((ns, w._replace(typed=typed)))
        yield from self.rows.edit(edit)

    def report(self, thread: str) -> Script[dict[str, Any]]:
        """What of a thread takes how many bytes."""
        survey = yield from self.rows.survey(thread, hold=False)
        seen, used = Thread(thread, survey, self.values), dict[BlobKey, int]()
        for row in survey.rows:
            for key in seen.places_of(row):
                used[key] = used.get(key, 0) + 1
        values = [
            {
                "checkpoint_ns": key.ns,
                "channel": key.channel,
                "version": self.values.version_of(key.version),
                "bytes": size.bytes,
                "used_by": used.get(key, 0),
            }
            for key, size in survey.blobs.items()
        ]
        bodies = sum(row.size for row in survey.rows) + survey.rest
        writes = sum(size.bytes for size in survey.writes.values())
        in_values = sum(size.bytes for size in survey.blobs.values())
        shared = sum(size.bytes for key, size in survey.blobs.items() if used.get(key, 0) > 1)
        return {
            "thread_id": thread,
            "bytes": bodies + writes + in_values,
            "checkpoints": bodies,
            "writes": writes,
            "shared": shared,
            "unique": in_values - shared,
            "values": values,
        }

    def of_runs(self, run_ids: set[str]) -> Choose:
        """Chooses the checkpoints whose metadata names one of these runs."""
        return lambda seen, ns: {
            id_
            for id_, row in seen.rows(ns).items()
            if str(meta_of(self.values, row).get("run_id")) in run_ids
        }


def all_but_latest(keep_labelled: bool) -> Choose:
    """Chooses what ``keep_latest`` does not keep."""
    return lambda seen, ns: seen.rows(ns).keys() - seen.kept_latest(ns, keep_labelled)


def everything(seen: Thread, ns: str) -> set[str]:
    """Chooses all checkpoints."""
    return set(seen.rows(ns))


__all__ = ["NOTHING", "Thread", "Upkeep", "Write", "all_but_latest", "everything"]
