"""One checkpoint made from another by whoever looks at that one first.

`update_state` takes values that are known beforehand. Here they are found from the checkpoint that
they change, in one script and under the thread's lease: nothing can come between. What is saved is
the checkpoint alone, in one call of the saver, and no pending writes beside it: it is there wholly,
or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ckpt_viz.errors import CheckpointNotFoundError, ThreadBusyError
from ckpt_viz.ids import checkpoint_id
from ckpt_viz.pregel.edit import inherited, round_steps
from ckpt_viz.pregel.lease import release, take, take_steps
from ckpt_viz.pregel.requests import Load, Newest
from ckpt_viz.pregel.run import Run, Script
from ckpt_viz.types import StateUpdate


class Revision(NamedTuple):
    """What a new checkpoint changes: values by channel, as which node, and its own metadata."""

    values: dict[str, Any]
    as_node: str
    metadata: dict[str, Any]


Revise = Callable[[Any], Revision]
"""Gets the checkpoint tuple that is to be changed, or None for a new thread."""


def revise_steps(run: Run, base: str | None, revise: Revise) -> Script:
    """Save what ``revise`` makes of a checkpoint, as its child; the config of the new one.

    A run that addresses no checkpoint extends the head, which ``base`` must then be (None: whatever
    it is). One that addresses ``base`` makes a branch of its own, which becomes the head.

    Raises:
        CheckpointNotFoundError: there is no such checkpoint.
        ThreadBusyError: ``base`` is to be extended, and is not the head. Nothing was saved.
    """
    if not take(run):
        yield from take_steps(run, True)  # a revision is short: it waits for its turn
    try:
        saved = yield Load(run.where(base))
        if saved is None and base is not None:
            thread = run.settings.config["configurable"]["thread_id"]
            raise CheckpointNotFoundError(
                f"Thread {thread!r} has no checkpoint {base!r}: nothing was saved."
            )
        if run.addressed:
            yield from _come_after(run)
        elif base is not None and not run.guarded:
            yield from _check_head(run, base)
        run.open(saved)
        run.parents = run.metadata.get("parents") or {}
        made = revise(saved)
        run.user = {**inherited(run.metadata), **run.user, **made.metadata}
        update = StateUpdate(made.values, made.as_node)
        return (yield from round_steps(run, [update], saved, False))
    finally:
        release(run)


def _come_after(run: Run) -> Script:
    """Let the branch's id be later than the head's, which a clock ahead of ours may have given."""
    head = yield Newest(run.where(None))
    if head is not None:
        checkpoint_id(0, head)  # the next id of this process is later than this


def _check_head(run: Run, base: str) -> Script:
    """For savers that do not compare heads themselves."""
    head = yield Newest(run.where(None))
    if head not in (None, base):
        raise ThreadBusyError(
            f"Thread {run.settings.config['configurable']['thread_id']!r} has a newer checkpoint, "
            f"{head}, than {base}, which was to be extended. Nothing was saved."
        )
