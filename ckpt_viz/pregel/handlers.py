"""Error handlers: the node that takes over when a node has failed for good.

A handler runs in the superstep of the failure, at once, with the failed task's input. The failed
task stays in the step: its triggers count as seen, its edges write nothing. What is saved are the
failure and the name of its node, so a resumed run goes on with the handler, never with the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.constants import ERROR_SOURCE, PUSH
from ckpt_viz.errors import NodeError
from ckpt_viz.ids import hash_uuid, id_bytes
from ckpt_viz.pregel.live import Live
from ckpt_viz.pregel.pending import PendingWrite, hand_back
from ckpt_viz.pregel.task import Task, path_text


class HandlerTask(Task):
    """A task that handles another's failure, which its node gets as ``error``."""

    __slots__ = ("failure", "source")

    failure: NodeError
    source: str

    @property
    def id(self) -> str:
        """Made of the failed task's, so it is the same for the same checkpoint."""
        if self._id is None:
            base = id_bytes(self.base or "")
            name = self.name
            self._id = hash_uuid(base + f"{name}{self.step}{name}{PUSH}{self.source}".encode())
        return self._id

    @property
    def path_text(self) -> str:
        """The form of the path that savers keep and order by."""
        return path_text(self.path)


def take_over(live: Live, failed: Task) -> HandlerTask | None:
    """The task that handles a failure; None where the node has no handler."""
    name = failed.node.handler
    node = live.program.nodes.get(name) if name is not None else None
    if node is None:
        return None
    path = (*failed.path[:2], "node_error_handler", False)
    task = HandlerTask(node, path, (PUSH,), failed.input, failed.step)
    task.base = failed.base
    task.source = failed.id
    task.failure = NodeError(failed.name, failed.error)
    failed.outcome = "handled"
    return task


def resume_handlers(live: Live, tasks: Sequence[Task], pending: Sequence[PendingWrite]) -> Any:
    """The handlers of the failures that an earlier attempt left, with what it left them."""
    sources = {t for t, channel, _ in pending if channel == ERROR_SOURCE}
    if not sources:
        return []
    failed = [t for t in tasks if t.outcome == "error" and t.id in sources]
    found = [h for t in failed if (h := take_over(live, t)) is not None]
    hand_back(found, pending)
    return found
