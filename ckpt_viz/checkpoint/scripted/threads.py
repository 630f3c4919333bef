"""What a saver does with whole threads, said once for all of them: each is one plan.

Names are compared as text whatever they are: those of a damaged file may be none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.checkpoint.base import (
    BaseCheckpointSaver,
    Config,
    Removal,
    address,
    no_checkpoint,
    time_of,
)
from ckpt_viz.checkpoint.plans import BARE, READ, Plan, Plans, Transaction, both
from ckpt_viz.checkpoint.scripted.rows import BaseGone, Conflict, Edit
from ckpt_viz.checkpoint.scripted.upkeep import (
    NOTHING,
    Choose,
    Upkeep,
    all_but_latest,
    everything,
)
from ckpt_viz.checkpoint.searching import wanted
from ckpt_viz.checkpoint.upkeep import check_strategy

_TRIES = 20
_COUNTED = ("thread_id", "checkpoints", "last_step", "last_time", "bytes")


class WholeThreads(BaseCheckpointSaver):
    """The part of a saver that deals with whole threads."""

    _colours: Plans

    @property
    def _upkeep(self) -> Upkeep:
        raise NotImplementedError

    def _threads(self) -> Plan[list[dict[str, Any]]]:
        """One ``{thread_id, checkpoints, last_step, last_time, bytes}`` a thread."""
        rows = yield Transaction(self._upkeep.rows.count, READ)
        return [
            dict(zip(_COUNTED, (thread, count, step, time_of(id_), size), strict=True))
            for id_, thread, count, step, size in sorted(
                ((row[3], *row[:3], row[4]) for row in rows),
                key=lambda r: (str(r[0]), str(r[1])),
                reverse=True,
            )
        ]

    threads, athreads = both(_threads)

    def _namespaces(self, thread_id: str) -> Plan[list[str]]:
        """The namespaces in which a thread has checkpoints, sorted."""
        rows = self._upkeep.rows
        found = yield Transaction(lambda: rows.namespaces(str(thread_id)), READ)
        return sorted(found, key=str)

    namespaces, anamespaces = both(_namespaces)

    def _delete_thread(self, thread_id: str) -> Plan[None]:
        """Remove everything of a thread."""
        yield Transaction(lambda: self._upkeep.rows.remove_thread(str(thread_id)))
        self._upkeep.values.kept.drop(str(thread_id))

    delete_thread, adelete_thread = both(_delete_thread)

    def _copy_thread(self, source_thread_id: str, target_thread_id: str) -> Plan[None]:
        """Give another thread all checkpoints, writes and labels of a thread, ids unchanged."""
        source, target = str(source_thread_id), str(target_thread_id)
        if source != target:
            yield Transaction(lambda: self._upkeep.copy(source, target))

    copy_thread, acopy_thread = both(_copy_thread)

    def _delete_for_runs(self, run_ids: Sequence[str], *, dry_run: bool = False) -> Plan[Removal]:
        """Remove the checkpoints whose metadata names one of these runs, and their writes."""
        upkeep, runs = self._upkeep, {str(run) for run in run_ids}
        marks = [
            mark for run in runs for one in wanted(self.serde, {"run_id": run}) for mark in one
        ]
        threads = yield Transaction(lambda: upkeep.rows.threads(marks or None), READ)
        return (yield from self._remove(threads, upkeep.of_runs(runs), dry_run))

    delete_for_runs, adelete_for_runs = both(_delete_for_runs)

    def _prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        dry_run: bool = False,
        keep_labelled: bool = True,
    ) -> Plan[Removal]:
        """Remove old checkpoints; every one that remains keeps its state.

        Raises:
            ValueError: the strategy is unknown.
        """
        check_strategy(strategy)
        if strategy == "keep_latest":
            return (yield from self._remove(thread_ids, all_but_latest(keep_labelled), dry_run))
        gone = yield from self._remove(thread_ids, everything, True)
        for thread in () if dry_run else thread_ids:
            yield from self._delete_thread(thread)
        return gone

    prune, aprune = both(_prune)

    def _remove(self, threads: Sequence[str], choose: Choose, dry_run: bool) -> Plan[Removal]:
        upkeep, gone = self._upkeep, NOTHING
        for thread in threads:
            for left in reversed(range(_TRIES)):
                try:
                    one = yield Transaction(lambda t=str(thread): upkeep.remove(t, choose, dry_run))  # type: ignore[misc]
                    gone = Removal(
                        gone.checkpoints + one.checkpoints,
                        gone.writes + one.writes,
                        gone.values + one.values,
                    )
                    break
                except Conflict:
                    if not left:
                        raise
        return gone

    def _compact(self, *, dry_run: bool = False) -> Plan[dict[str, int]]:
        """Give back the room of what was removed; ``{before, after}`` in bytes."""
        return (yield Transaction(lambda: self._upkeep.rows.compact(dry_run), BARE))  # type: ignore[no-any-return]

    compact, acompact = both(_compact)

    def _storage_report(self) -> Plan[dict[str, Any]]:
        """What takes how many bytes; see the base class."""
        upkeep, made = self._upkeep, []
        for thread in (yield Transaction(lambda: upkeep.rows.threads(None), READ)):
            made.append((yield Transaction(lambda t=thread: upkeep.report(t), READ)))  # type: ignore[misc]
        return {"bytes": sum(one["bytes"] for one in made), "threads": made}

    storage_report, astorage_report = both(_storage_report)

    def _set_label(self, config: Config, label: str | None) -> Plan[None]:
        """Name a checkpoint; None takes the name away.

        Raises:
            CheckpointNotFoundError: there is no such checkpoint.
        """
        thread, ns, id_ = address(config)
        edit = Edit(thread, labels={(ns, id_ or ""): label}, needs_row=(ns, id_ or ""))
        try:
            yield Transaction(lambda: self._upkeep.rows.edit(edit))
        except BaseGone:
            raise no_checkpoint(config) from None

    set_label, aset_label = both(_set_label)

    def _labels(self, thread_id: str) -> Plan[list[dict[str, Any]]]:
        """One ``{checkpoint_ns, checkpoint_id, label}`` a named checkpoint, newest first."""
        found = yield Transaction(lambda: self._upkeep.rows.labels(str(thread_id)), READ)
        return [
            {"checkpoint_ns": ns, "checkpoint_id": id_, "label": found[ns, id_]}
            for ns, id_ in sorted(found, key=lambda key: (str(key[1]), str(key[0])), reverse=True)
        ]

    labels, alabels = both(_labels)
