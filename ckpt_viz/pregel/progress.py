"""What counts as progress of an attempt whose idle timeout is refreshed by itself.

A chunk for the custom stream (see `ckpt_viz.pregel.retry`), a superstep of a graph that runs inside
the node, and whatever langchain_core tells its callbacks from there, where it is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4

Beat = Callable[[], None]


def progress_of(within: Any) -> Beat | None:
    """What a run tells of its supersteps, for ``within``, the scope of the task that it runs in."""
    if within is None:
        return None
    own: Beat | None = within.beat if getattr(within, "hears", False) else None
    above: Beat | None = getattr(getattr(within, "run", None), "progress", None)
    if own is None or above is None:
        return own or above
    return lambda: (own(), above())[0]


def hear_callbacks(own: Any) -> None:
    """Let the callbacks of an attempt's config beat for it."""
    core: Any = sys.modules.get("langchain_core.callbacks")
    if core is None:
        return
    config, base = own.config, core.BaseCallbackHandler
    manager = config.get("callbacks")
    if manager is None or isinstance(manager, list):
        manager = core.CallbackManager(list(manager or ()), parent_run_id=uuid4())
    else:
        manager = manager.copy()
    manager.add_handler(_handler(base, own.beat))
    config["callbacks"] = manager


def _handler(base: type[Any], beat: Beat) -> Any:
    """A handler that beats at every event."""

    def heard(self: Any, *args: Any, **kwargs: Any) -> None:
        beat()

    told = {name: heard for name in dir(base) if name.startswith("on_")}
    return type("Heartbeat", (base,), {**told, "run_inline": True})()
