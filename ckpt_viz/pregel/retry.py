"""Attempts of a node that has policies: when to try again, and what the node knows of it.

A plain node never comes here. Each attempt starts with no writes and asks its questions anew, and
has the answers that were given so far. Interrupts, Commands to a parent and whatever is no
`Exception` are never tried again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ckpt_viz.errors import GraphBubbleUp, NodeCancelledError
from ckpt_viz.pregel.program import Node
from ckpt_viz.pregel.scope import Surroundings, TaskScope
from ckpt_viz.pregel.task import Task
from ckpt_viz.types import RetryPolicy

Call = Callable[[Any, Task, TaskScope], None]


class AttemptScope(TaskScope):
    """The scope of one attempt. ``beat`` is what `Runtime.heartbeat` calls.

    ``hears``: whatever happens inside counts as progress. ``silent``: its time is over, and what it
    writes reaches nobody.
    """

    __slots__ = ("attempt", "beat", "began", "hears", "silent")

    def __init__(self, task: Task, run: Surroundings, attempt: int, began: float) -> None:
        super().__init__(task, run)
        self.attempt = attempt
        self.began = began
        self.beat: Any = None
        self.hears = False
        self.silent = False

    def write(self, chunk: Any) -> None:
        """Put a chunk into the custom stream, which may count as progress."""
        if self.hears:
            self.beat()
        if not self.silent:
            super().writer(chunk)

    @property
    def writer(self) -> Any:
        """Puts a chunk into the custom stream."""
        return self.write


def policies_of(given: Any) -> tuple[RetryPolicy, ...]:
    """One policy, several or none, as a tuple."""
    if given is None:
        return ()
    return (given,) if isinstance(given, RetryPolicy) else tuple(given)


def matches(policy: RetryPolicy, error: Exception) -> bool:
    """Whether a policy is for this error.

    Raises:
        TypeError: its ``retry_on`` is no class, no classes and no predicate.
    """
    wanted: Any = policy.retry_on
    if isinstance(wanted, type) and issubclass(wanted, Exception):
        return isinstance(error, wanted)
    if isinstance(wanted, Sequence):
        return isinstance(error, tuple(wanted))
    if callable(wanted):
        return bool(wanted(error))
    raise TypeError(
        "retry_on must be an Exception class, a list or tuple of Exception classes, or a callable"
    )


def wait_of(policies: Sequence[RetryPolicy], error: Exception, attempt: int) -> float | None:
    """The seconds to wait before the next attempt; None when the error is final.

    The first policy that is for the error decides.

    >>> wait_of([RetryPolicy(jitter=False, max_attempts=9)], ConnectionError(), 3)
    2.0
    """
    if isinstance(error, GraphBubbleUp | NodeCancelledError):
        return None
    policy = next((p for p in policies if matches(p, error)), None)
    if policy is None or attempt >= policy.max_attempts:
        return None
    wait = policy.initial_interval * policy.backoff_factor ** (attempt - 1)
    return min(policy.max_interval, wait) + (random.uniform(0, 1) if policy.jitter else 0)


def tell(task: Task, error: Exception, wait: float, attempt: int) -> None:
    """Log that a node is tried again."""
    import logging  # noqa: PLC0415 - a tenth of this package's import, and few nodes are retried

    logging.getLogger(__name__).info(
        "Retrying task %s after %.2f seconds (attempt %d) after %s %s",
        task.name,
        wait,
        attempt,
        type(error).__name__,
        error,
        exc_info=error,
    )


def refuse_timeout(name: str, kind: str = "Node") -> ValueError:
    """The error of a timeout where nothing can be cancelled."""
    return ValueError(
        "Node timeouts are only supported for async nodes because sync Python execution cannot be "
        f"safely cancelled in-process. {kind} '{name}' is sync."
    )


def check_timeouts(nodes: Iterable[Node]) -> None:
    """Check that no node has a timeout that could not be kept.

    Raises:
        ValueError: names the sync node that has one.
    """
    for node in nodes:
        if node.timeout is not None and not (node.is_async or hasattr(node.func, "ainvoke")):
            raise refuse_timeout(node.name)


def attempts(call: Call, run: Any, task: Task) -> None:
    """Call a node until it succeeds or its error is final.

    Raises:
        ValueError: the node has a timeout, and runs where nobody can cancel it.
    """
    node, attempt, began = task.node, 1, time.time()
    if node.timeout is not None:
        raise refuse_timeout(node.name)
    while True:
        task.writes = []
        try:
            return call(run, task, AttemptScope(task, run, attempt, began))
        except Exception as error:
            wait = wait_of(node.retry, error, attempt)
            if wait is None:
                raise
            tell(task, error, wait, attempt)
        time.sleep(wait)
        attempt += 1
