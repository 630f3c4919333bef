"""What the memory saver does with whole threads: count, copy, prune, name.

Before something goes, whatever of the rest is told as a change of it is stored whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ckpt_viz.checkpoint.base import (
    BaseCheckpointSaver,
    Config,
    Removal,
    address,
    config_of,
    no_checkpoint,
    time_of,
)
from ckpt_viz.checkpoint.memory_values import Values
from ckpt_viz.checkpoint.upkeep import check_strategy, farthest_needed, path_of, to_keep


class Upkeep(BaseCheckpointSaver):
    """The part of the memory saver that deals with whole threads."""

    storage: Any
    writes: Any
    blobs: Any
    _labels: dict[tuple[str, str, str], str]
    _packed: Values

    def delete_thread(self, thread_id: str) -> None:
        """Remove everything of a thread."""
        self.storage.pop(thread_id, None)
        for kept in (self.writes, self.blobs, self._labels):
            for key in [key for key in list(kept) if key[0] == thread_id]:
                kept.pop(key, None)
        self._packed.kept.drop(thread_id)

    def threads(self) -> list[dict[str, Any]]:
        """One ``{thread_id, checkpoints, last_step, last_time, bytes}`` a thread."""
        sizes = self._sizes()
        found: dict[tuple[str, str], dict[str, Any]] = {}  # by what is newest, exactly
        for thread in list(self.storage):
            rows = {
                (id_, ns): row
                for ns in self.namespaces(thread)
                for id_, row in self._of(thread, ns)
            }
            if not rows:
                continue
            last, ns = max([key for key in rows if not key[1]] or rows)
            step = self._metadata(thread, ns, last, rows[last, ns]).get("step")
            found[last, thread] = {
                "thread_id": thread,
                "checkpoints": len(rows),
                "last_step": step,
                "last_time": time_of(last),
                "bytes": sizes.get(thread, 0),
            }
        return [found[key] for key in sorted(found, reverse=True)]

    def _metadata(self, thread: str, ns: str, id_: str, row: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _of(self, thread: str, ns: str) -> list[tuple[str, Any]]:
        return list(self.storage.get(thread, {}).get(ns, {}).items())

    def _sizes(self) -> dict[str, int]:
        """Packed bytes by thread."""
        sizes = dict.fromkeys(list(self.storage), 0)
        for thread in sizes:
            for ns in self.namespaces(thread):
                for _, (body, meta, _) in self._of(thread, ns):
                    sizes[thread] += len(body[1]) + len(meta[1])
        for (thread, *_), rows in list(self.writes.items()):
            size = sum(len(row[2][1]) for row in list(rows.values()))
            sizes[thread] = sizes.get(thread, 0) + size
        for (thread, *_), typed in list(self.blobs.items()):
            sizes[thread] = sizes.get(thread, 0) + len(typed[1])
        return sizes

    def namespaces(self, thread_id: str) -> list[str]:
        """The namespaces in which a thread has checkpoints, sorted."""
        spaces = self.storage.get(thread_id)
        return sorted(ns for ns in list(spaces) if spaces[ns]) if spaces else []

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Give another thread all checkpoints, writes and labels of a thread, ids unchanged."""
        source, target = source_thread_id, target_thread_id
        packed = self._packed.using(self.serde)
        if source == target:
            return
        for ns in self.namespaces(source):
            for id_, (body, meta, parent) in self._of(source, ns):
                self.storage[target][ns][id_] = (
                    packed.moved(body, source, target, ns, id_),
                    packed.moved(meta, source, target, ns, id_, "metadata"),
                    parent,
                )
        for (thread, ns, id_), rows in list(self.writes.items()):
            for key, (task, channel, typed, path) in list(rows.items()) if thread == source else ():
                moved = packed.moved(typed, source, target, ns, id_, *key)
                self.writes[target, ns, id_][key] = (task, channel, moved, path)
        for (thread, *place), typed in list(self.blobs.items()):
            if thread == source:
                moved = packed.moved(typed, source, target, *place)
                self.blobs.setdefault((target, *place), moved)
        for (thread, ns, id_), label in list(self._labels.items()):
            if thread == source:
                self._labels[target, ns, id_] = label

    def delete_for_runs(self, run_ids: Sequence[str], *, dry_run: bool = False) -> Removal:
        """Remove the checkpoints whose metadata names one of these runs, and their writes."""
        wanted = {str(run) for run in run_ids}
        gone = Removal([], 0, 0)
        for thread in list(self.storage):
            for ns in self.namespaces(thread):
                drop = {
                    id_
                    for id_, row in self._of(thread, ns)
                    if str(self._metadata(thread, ns, id_, row).get("run_id")) in wanted
                }
                gone = self._drop(gone, thread, ns, drop, dry_run)
        return gone

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        dry_run: bool = False,
        keep_labelled: bool = True,
    ) -> Removal:
        """Remove old checkpoints; every one that remains keeps its state.

        Raises:
            ValueError: the strategy is unknown.
        """
        check_strategy(strategy)
        gone = Removal([], 0, 0)
        for thread in thread_ids:
            for ns in self.namespaces(thread):
                parents = {id_: row[2] for id_, row in self._of(thread, ns)}
                keep: set[str] = set()
                if strategy == "keep_latest":
                    named = [k[2] for k in self._labels if k[:2] == (thread, ns)]
                    keep = to_keep(
                        parents,
                        named if keep_labelled else (),
                        lambda id_, t=thread, n=ns, p=parents: self._rebuilt_from(t, n, id_, p),  # type: ignore[misc]
                    )
                gone = self._drop(gone, thread, ns, set(parents) - keep, dry_run)
            if strategy == "delete" and not dry_run:
                self.delete_thread(thread)
        return gone

    def _rebuilt_from(self, thread: str, ns: str, id_: str, parents: Any) -> str | None:
        def filled(id_: str) -> set[str]:
            return {
                c
                for c, v in self._places(thread, ns, [id_])
                if not self._is_empty(thread, ns, c, v)
            }

        def wrote(id_: str) -> set[str]:
            return {row[1] for row in self.writes.get((thread, ns, id_), {}).values()}

        empty = {c for c, _ in self._places(thread, ns, [id_])} - filled(id_)
        return farthest_needed(path_of(parents, id_), empty, wrote, filled)

    def _is_empty(self, thread: str, ns: str, channel: str, version: Any) -> bool:
        typed = self.blobs.get((thread, ns, channel, version))
        return typed is None or typed[0].partition("+")[0] == "empty"

    def _places(self, thread: str, ns: str, ids: Iterable[str]) -> set[tuple[str, Any]]:
        """``(channel, version)`` of all values that these checkpoints use."""
        rows = self.storage[thread][ns]
        read = self._packed.using(self.serde).checkpoint
        return {
            place
            for id_ in ids
            for place in read(thread, ns, id_, rows[id_])["channel_versions"].items()
        }

    def _drop(self, gone: Removal, thread: str, ns: str, drop: set[str], dry_run: bool) -> Removal:
        """Remove checkpoints with their writes, and the values that no other one uses."""
        if not drop:
            return gone
        rows = self.storage[thread][ns]
        keep = [id_ for id_ in list(rows) if id_ not in drop]
        used = self._places(thread, ns, keep)
        own = [key for key in list(self.blobs) if key[:2] == (thread, ns)]
        values = [key for key in own if key[2:] not in used]
        writes = sum(len(self.writes.get((thread, ns, id_), ())) for id_ in drop)
        if not dry_run:
            self._packed.using(self.serde).stand_alone(thread, ns, keep, used)
            for id_ in drop:
                rows.pop(id_, None)
                self.writes.pop((thread, ns, id_), None)
                self._labels.pop((thread, ns, id_), None)
            for key in values:
                self.blobs.pop(key, None)
            self._packed.kept.drop(thread)
        configs = [config_of(thread, ns, id_) for id_ in sorted(drop, reverse=True)]
        return Removal(
            [*gone.checkpoints, *configs], gone.writes + writes, gone.values + len(values)
        )

    def compact(self, *, dry_run: bool = False) -> dict[str, int]:
        """Nothing to give back: what was removed is gone already."""
        size = sum(self._sizes().values())
        return {"before": size, "after": size}

    def storage_report(self) -> dict[str, Any]:
        """What takes how many bytes; see the base class."""
        sizes = self._sizes()
        return {
            "bytes": sum(sizes.values()),
            "threads": [self._report(thread, size) for thread, size in sizes.items()],
        }

    def _report(self, thread: str, size: int) -> dict[str, Any]:
        used: dict[tuple[str, str, Any], int] = {}
        bodies = 0
        for ns in self.namespaces(thread):
            for id_, (body, meta, _) in self._of(thread, ns):
                bodies += len(body[1]) + len(meta[1])
                for channel, version in self._places(thread, ns, [id_]):
                    used[ns, channel, version] = used.get((ns, channel, version), 0) + 1
        values = [
            {
                "checkpoint_ns": key[1],
                "channel": key[2],
                "version": key[3],
                "bytes": len(typed[1]),
                "used_by": used.get(key[1:], 0),
            }
            for key, typed in list(self.blobs.items())
            if key[0] == thread
        ]
        in_values = sum(value["bytes"] for value in values)
        shared = sum(value["bytes"] for value in values if value["used_by"] > 1)
        return {
            "thread_id": thread,
            "bytes": size,
            "checkpoints": bodies,
            "writes": size - bodies - in_values,
            "shared": shared,
            "unique": in_values - shared,
            "values": values,
        }

    def set_label(self, config: Config, label: str | None) -> None:
        """Name a checkpoint; None takes the name away.

        Raises:
            CheckpointNotFoundError: there is no such checkpoint.
        """
        thread, ns, id_ = address(config)
        if id_ is None or id_ not in self.storage.get(thread, {}).get(ns, {}):
            raise no_checkpoint(config)
        if label is None:
            self._labels.pop((thread, ns, id_), None)
        else:
            self._labels[thread, ns, id_] = label

    def labels(self, thread_id: str) -> list[dict[str, Any]]:
        """One ``{checkpoint_ns, checkpoint_id, label}`` a named checkpoint, newest first."""
        found = [(id_, ns, label) for (t, ns, id_), label in self._labels.items() if t == thread_id]
        return [
            {"checkpoint_ns": ns, "checkpoint_id": id_, "label": label}
            for id_, ns, label in sorted(found, reverse=True)
        ]
