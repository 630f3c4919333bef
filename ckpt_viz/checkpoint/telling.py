"""What damaged bytes raise, told with the place where they are stored. All savers read with it."""

from __future__ import annotations

from typing import Any

from ckpt_viz.errors import SerializationError

DAMAGE = (ValueError, LookupError, AttributeError, OverflowError, TypeError)
"""What reading bytes may raise that nobody packed; a `SerializationError` is a TypeError."""


def unreadable(
    error: BaseException, thread: str, ns: str, id_: str, what: str
) -> SerializationError:
    """The error of stored bytes that cannot be read, with their place; ``what`` they are."""
    made = _unreadable(error, thread, ns, id_, what)
    made.checkpoint_id = made.checkpoint_id or id_
    return made


def _unreadable(
    error: BaseException, thread: str, ns: str, id_: str, what: str
) -> SerializationError:
    place = f"Checkpoint {id_!r} of thread {thread!r} (namespace {ns!r}): "
    if not isinstance(error, SerializationError):
        return SerializationError(
            f"{place}the stored bytes of {what} are damaged ({error!r}). "
            "Restore them, or delete the thread."
        )
    if str(error).startswith("Checkpoint "):
        return error
    return SerializationError(
        f"{place}{what}: {error}",
        path=error.path,
        type_name=error.type_name,
        channel=error.channel,
    )


class telling:  # noqa: N801 - reads as what it is, a with statement
    """Names the place of the bytes that are read in its body, if they cannot be."""

    __slots__ = ("_place", "_what")

    def __init__(self, thread: str, ns: str, id_: str, *what: str) -> None:
        self._place = thread, ns, id_
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, DAMAGE):
            raise unreadable(error, *self._place, " ".join(self._what)) from error
