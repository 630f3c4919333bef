"""Taking task results from the node cache, and putting them there.

A result is what its task wrote, filed under the node's function and name and the key that its
policy makes of the input. A task whose result was found counts as finished before the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xxhash import xxh3_128_hexdigest

from ckpt_viz.pregel.program import Node
from ckpt_viz.pregel.requests import CacheGet, CacheSet
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.pregel.task import Task

WRITES = "__pregel_ns_writes"


def namespace_of(node: Node) -> tuple[str, ...]:
    """Where a node's results are: its function and its name."""
    func = node.func if hasattr(node.func, "__qualname__") else type(node.func)
    return (WRITES, f"{func.__module__}.{func.__qualname__}", node.name)


def key_of(task: Task) -> tuple[tuple[str, ...], str]:
    """The full key of a task's result."""
    assert task.node.cache is not None
    make = task.node.cache.key_func
    if task.caller is None:
        key = make(task.input)
    else:
        args, kwargs = task.input
        key = make(*args, **kwargs)
    return namespace_of(task.node), xxh3_128_hexdigest(
        key.encode() if isinstance(key, str) else key
    )


def take_results(run: Run, tasks: Sequence[Task]) -> Script:
    """Finish the tasks whose result is cached; their writes are saved like any others."""
    keys = {t: key_of(t) for t in tasks if t.node.cache is not None and t.outcome != "done"}
    run.cache_keys = keys
    if not keys:
        return
    found = yield CacheGet(list(keys.values()))
    for task, key in list(keys.items()):
        if key in found:
            del keys[task]
            task.writes = [(channel, value) for channel, value in found[key]]
            task.outcome = "done"
            task.cached = True
            if (request := run.ended(task)) is not None:
                yield request


def put_result(run: Run, task: Task) -> Script:
    """Cache what a finished task wrote, if its node says so."""
    key = run.cache_keys.pop(task, None)
    if key is not None and task.outcome == "done":
        policy: Any = task.node.cache
        yield CacheSet({key: ([tuple(w) for w in task.writes], policy.ttl)})
