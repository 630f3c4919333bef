"""One thread, one run at a time: who may go on from a thread's head now.

A run that executes and addressed no checkpoint holds the lease of its (saver, thread). Exempt:
reads, runs without a saver, runs of a checkpoint_id, and all whose context descends from the
holder, such as calls from inside its nodes. A stream that stands at a yield has laid its lease
down: a newcomer takes it, and the old iterator raises at its next step. Other processes are kept
out by the saver, which compares heads when it puts.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any, Protocol

from ckpt_viz.errors import ThreadBusyError

Key = tuple[Any, str]
"""What tells the saver (or its database), and the thread."""
TURNS = 8
"""Turns of an event loop that a stream, left by ``break``, is given to close before we refuse."""


class Holder(Protocol):
    """What the lease needs of a run. ``baton`` holds one item while the run stands at a yield."""

    addressed: bool
    baton: list[None]
    guarded: bool
    lease: Key | None
    leaving: bool
    owner: Any
    within: Any


class HalfReadError(ThreadBusyError):
    """Another call has gone on with the thread while this stream stood at a yield."""


class Turn:
    """Asks a driver to let everything else run once; a sync driver goes on at once."""

    __slots__ = ()


class Wait:
    """Asks a driver to wait until the lease is handed over. ``wake`` is set by the driver."""

    __slots__ = ("ready", "run", "wake")

    def __init__(self, run: Holder) -> None:
        self.run = run
        self.ready = False
        self.wake: Callable[[], None] = _nobody


def _nobody() -> None:
    """No driver waits yet; it will find ``ready``."""


_held: dict[Key, Holder] = {}
_beside: dict[Key, int] = {}
_waiting: dict[Key, deque[Wait]] = {}
_lock = threading.Lock()


def _forget() -> None:
    """A forked process runs none of its parent's runs."""
    global _lock  # a thread of the parent may have held the old one
    _lock = threading.Lock()
    for kept in (_held, _beside, _waiting):
        kept.clear()


os.register_at_fork(after_in_child=_forget)


def take(run: Holder) -> bool:
    """Take the lease that the run wants, if it is free or the run needs none."""
    key = run.lease
    if key is None:
        return True
    if run.addressed:
        _go_beside(key)
        return True
    other = _held.setdefault(key, run)
    if other is not run:
        if not _descends(run, other):
            return False
        run.lease = None
        run.guarded = other.guarded = False  # they write the same thread on purpose
    elif key in _beside:
        run.guarded = False
    return True


def _go_beside(key: Key) -> None:
    """A branch of its own may become the thread's head; whoever holds the lease need not mind."""
    with _lock:
        _beside[key] = _beside.get(key, 0) + 1
    other = _held.get(key)
    if other is not None:
        other.guarded = False


def _leave_side(key: Key) -> None:
    with _lock:
        left = _beside.get(key, 1) - 1
        if left:
            _beside[key] = left
        else:
            _beside.pop(key, None)


def _descends(run: Holder, other: Holder) -> bool:
    at = run.within
    while at is not None:
        if at.run is other:
            return True
        at = getattr(at.run, "within", None)
    return False


def take_steps(run: Holder, queue: bool) -> Generator[Any, Any, None]:
    """`take` where another run has it: take it over, wait for it or refuse.

    Raises:
        ThreadBusyError: the other run is executing, and ``queue`` is false.
    """
    for _ in range(TURNS):
        yield Turn()
        if take(run):
            return
    while not take(run) and not _oust(run, queue):
        other = _held.get(run.lease)  # type: ignore[arg-type]
        if other is None:
            continue
        if not (queue or other.leaving):
            raise busy(run)
        yield from _wait(run)
        return


def _oust(run: Holder, queue: bool) -> bool:
    """Take the lease from a stream that stands at a yield; a queue only from its own caller's."""
    key = run.lease
    assert key is not None
    other = _held.get(key)
    if other is None or (queue and other.owner != run.owner):
        return False
    try:
        other.baton.pop()
    except IndexError:
        return False
    other.lease = None
    other.guarded = False
    _held[key] = run
    return True


def _wait(run: Holder) -> Generator[Any, Any, None]:
    key = run.lease
    assert key is not None
    mine = Wait(run)
    with _lock:
        _waiting.setdefault(key, deque()).append(mine)
    _hand_over(key)
    try:
        yield mine
    except BaseException:
        with _lock:
            queue = _waiting.get(key)
            if queue and mine in queue:
                queue.remove(mine)
                if not queue:
                    del _waiting[key]
        raise


def _hand_over(key: Key) -> None:
    """Give a free lease to the run that has waited longest."""
    with _lock:
        queue = _waiting.get(key)
        if not queue or _held.setdefault(key, queue[0].run) is not queue[0].run:
            return
        first = queue.popleft()
        if not queue:
            del _waiting[key]
        first.ready = True
        first.wake()


def release(run: Holder) -> None:
    """The run has ended: whoever waits may go on."""
    key = run.lease
    if key is None:
        return
    run.lease = None
    if run.addressed:
        _leave_side(key)
    elif _held.get(key) is run:
        del _held[key]
    if _waiting:
        _hand_over(key)


def leave(run: Holder) -> None:
    """The stream is left for good: it holds the thread while it stores what is finished."""
    run.leaving = True
    with suppress(IndexError):  # it did not stand at a yield, or somebody else has gone on
        run.baton.pop()


def pick_up(run: Holder) -> None:
    """The stream is asked to go on.

    Raises:
        HalfReadError: somebody else has the lease.
    """
    try:
        run.baton.pop()
    except IndexError:
        raise HalfReadError(
            "Another call has gone on with this stream's thread while it was half read: it ends "
            "here, and what its nodes have finished is kept. Read a stream to its end, or close "
            "it, before the next call on its thread."
        ) from None


def busy(run: Holder) -> ThreadBusyError:
    """The refusal."""
    thread = run.lease[1] if run.lease else "?"
    return ThreadBusyError(
        f"Thread {thread!r} is busy: another run is executing on it, so this one was refused and "
        "nothing of it was saved. Await the other run, pass multitask='queue' to wait for it, or "
        "give the config a checkpoint_id to run on a branch of its own."
    )
