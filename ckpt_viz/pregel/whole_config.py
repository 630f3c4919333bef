"""Savers that people write may look for more in a config than where a checkpoint is."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ckpt_viz.checkpoint.base import newest_of


class WholeConfig:
    """A saver of somebody's own, to which each call's config is the caller's, placed.

    Ours read nothing but the place, so they are called as they are.
    """

    __slots__ = ("base", "saver")

    def __init__(self, saver: Any, config: Mapping[str, Any]) -> None:
        placing = ("checkpoint_id", "checkpoint_map", "checkpoint_ns")
        where = config.get("configurable") or {}
        kept = {k: v for k, v in where.items() if k not in placing and not k.startswith("__")}
        self.saver = saver
        self.base = {**config, "configurable": kept}

    def _whole(self, place: dict[str, Any]) -> dict[str, Any]:
        where = {**self.base["configurable"], **place["configurable"]}
        return place.__class__({**self.base, "configurable": where})

    def get_tuple(self, config: Any) -> Any:
        """As the saver's."""
        return self.saver.get_tuple(self._whole(config))

    def newest_id(self, config: Any) -> Any:
        """The newest checkpoint's id."""
        return newest_of(self.get_tuple(config))

    async def anewest_id(self, config: Any) -> Any:
        """The newest checkpoint's id."""
        return newest_of(await self.aget_tuple(config))

    def put(self, config: Any, *rest: Any) -> Any:
        """As the saver's."""
        return self.saver.put(self._whole(config), *rest)

    def put_writes(self, config: Any, writes: Any, task_id: str, path: str = "") -> Any:
        """As the saver's, with the path where it takes one."""
        put = self.saver.put_writes
        return put(self._whole(config), writes, task_id, *([path] if takes_path(put) else []))

    def list(self, config: Any, **options: Any) -> Any:
        """As the saver's."""
        return self.saver.list(self._whole(config), **options)

    def aget_tuple(self, config: Any) -> Any:
        """As the saver's."""
        return self.saver.aget_tuple(self._whole(config))

    def aput(self, config: Any, *rest: Any) -> Any:
        """As the saver's."""
        return self.saver.aput(self._whole(config), *rest)

    def aput_writes(self, config: Any, writes: Any, task_id: str, path: str = "") -> Any:
        """As the saver's, with the path where it takes one."""
        put = self.saver.aput_writes
        return put(self._whole(config), writes, task_id, *([path] if takes_path(put) else []))

    def alist(self, config: Any, **options: Any) -> Any:
        """As the saver's."""
        return self.saver.alist(self._whole(config), **options)


def takes_path(put_writes: Any) -> bool:
    """Whether a saver's method takes a task's path, which savers of older programs don't know.

    >>> takes_path(lambda config, writes, task_id: None)
    False
    """
    try:
        inspect.signature(put_writes).bind({}, [], "", "")
    except TypeError:
        return False
    except ValueError:  # a method that doesn't tell
        return True
    return True


def saver_of(run: Any) -> Any:
    """What a driver calls to save: the run's saver, or what gives it the caller's whole config."""
    saver = run.saver
    if saver is None or run.partial:
        return saver
    return WholeConfig(saver, run.settings.config)
