"""What older programs import to read and to make configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ckpt_viz.config import get_config, get_store
from ckpt_viz.pregel.settings import DEFAULT_RECURSION_LIMIT, merge_config, named

__all__ = ["ensure_config", "get_config", "get_store", "patch_configurable"]


def ensure_config(*configs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Configs laid over each other, with every usual key there.

    >>> ensure_config({"tags": ["a"]}, {"tags": ["b"]})["tags"]
    ['a', 'b']
    """
    found = merge_config(*configs)
    usual: dict[str, Any] = {"tags": [], "callbacks": None}
    usual["recursion_limit"] = DEFAULT_RECURSION_LIMIT
    return {**usual, **found, "metadata": named(found)}


def patch_configurable(config: Mapping[str, Any] | None, patch: dict[str, Any]) -> dict[str, Any]:
    """The config with more in its ``configurable``.

    >>> patch_configurable({"configurable": {"a": 1}}, {"b": 2})
    {'configurable': {'a': 1, 'b': 2}}
    """
    found = dict(config or {})
    return {**found, "configurable": {**found.get("configurable", {}), **patch}}
