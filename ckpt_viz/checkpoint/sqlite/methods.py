"""Both colours of what the SQLite saver does with whole threads; the work is in `upkeep`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ckpt_viz.checkpoint.base import BaseCheckpointSaver, Config, Removal
from ckpt_viz.checkpoint.packing import Packing
from ckpt_viz.checkpoint.sqlite import upkeep
from ckpt_viz.checkpoint.sqlite.runner import Runner
from ckpt_viz.checkpoint.sqlite.writing import Writer


class Upkeep(BaseCheckpointSaver):
    """The part of the SQLite saver that deals with whole threads; see the base class."""

    _runner: Runner
    _writer: Writer

    def _packing(self) -> Packing:
        return self._writer.using(self.serde)

    def threads(self) -> list[dict[str, Any]]:
        return self._runner.run(upkeep.threads)

    async def athreads(self) -> Sequence[dict[str, Any]]:
        return await self._runner.arun(upkeep.threads)

    def thread_heads(self, query: str = "") -> Sequence[tuple[str, str]]:
        """``(thread, newest root checkpoint)`` where the id holds `query`, newest first."""
        wanted = query.casefold()
        found = self._runner.run(upkeep.thread_heads)
        return [one for one in found if wanted in one[0].casefold()]

    def count_checkpoints(self, threads: Sequence[str]) -> dict[str, int]:
        """How many root checkpoints each of these threads has."""
        return self._runner.run(partial(upkeep.count_checkpoints, threads=threads))

    def namespaces(self, thread_id: str) -> list[str]:
        return self._runner.run(partial(upkeep.namespaces, thread=thread_id))

    async def anamespaces(self, thread_id: str) -> Sequence[str]:
        return await self._runner.arun(partial(upkeep.namespaces, thread=thread_id))

    def delete_thread(self, thread_id: str) -> None:
        self._runner.run(upkeep.delete_thread(self._writer, thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._runner.arun(upkeep.delete_thread(self._writer, thread_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._runner.run(self._copy(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._runner.arun(self._copy(source_thread_id, target_thread_id))

    def _copy(self, source: str, target: str) -> Any:
        return upkeep.copy_thread(self._writer, self._packing(), source, target)

    def delete_for_runs(self, run_ids: Sequence[str], *, dry_run: bool = False) -> Removal:
        removed: Removal = self._runner.run(self._delete_runs(run_ids, dry_run))
        return removed

    async def adelete_for_runs(self, run_ids: Sequence[str], *, dry_run: bool = False) -> Removal:
        removed: Removal = await self._runner.arun(self._delete_runs(run_ids, dry_run))
        return removed

    def _delete_runs(self, run_ids: Sequence[str], dry_run: bool) -> Any:
        return upkeep.delete_for_runs(self._writer, self._packing(), run_ids, dry_run)

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        dry_run: bool = False,
        keep_labelled: bool = True,
    ) -> Removal:
        work = self._prune(thread_ids, strategy, dry_run, keep_labelled)
        removed: Removal = self._runner.run(work)
        return removed

    async def aprune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        dry_run: bool = False,
        keep_labelled: bool = True,
    ) -> Removal:
        work = self._prune(thread_ids, strategy, dry_run, keep_labelled)
        removed: Removal = await self._runner.arun(work)
        return removed

    def _prune(self, thread_ids: Sequence[str], *options: Any) -> Any:
        return upkeep.prune(self._writer, self._packing(), thread_ids, options)

    def compact(self, *, dry_run: bool = False) -> dict[str, int]:
        return self._runner.run(partial(upkeep.compact, dry_run=dry_run))

    async def acompact(self, *, dry_run: bool = False) -> dict[str, int]:
        return await self._runner.arun(partial(upkeep.compact, dry_run=dry_run))

    def storage_report(self) -> dict[str, Any]:
        return self._runner.run(partial(upkeep.storage_report, packing=self._packing()))

    async def astorage_report(self) -> dict[str, Any]:
        return await self._runner.arun(partial(upkeep.storage_report, packing=self._packing()))

    def set_label(self, config: Config, label: str | None) -> None:
        self._runner.run(upkeep.set_label(self._writer, config, label))

    async def aset_label(self, config: Config, label: str | None) -> None:
        await self._runner.arun(upkeep.set_label(self._writer, config, label))

    def labels(self, thread_id: str) -> list[dict[str, Any]]:
        return self._runner.run(partial(upkeep.labels, thread=thread_id))

    async def alabels(self, thread_id: str) -> Sequence[dict[str, Any]]:
        return await self._runner.arun(partial(upkeep.labels, thread=thread_id))
