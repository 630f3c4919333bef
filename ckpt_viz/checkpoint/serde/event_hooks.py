"""Listeners that are told when a class of a stored value was not, or only just, allowed to load."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from threading import Lock
from typing import NotRequired, TypedDict


class SerdeEvent(TypedDict):
    """What happened: ``kind`` is ``msgpack_blocked`` for a value that came back as `Opaque`."""

    kind: str
    module: str
    name: str
    method: NotRequired[str]


SerdeEventListener = Callable[[SerdeEvent], None]

_listeners: list[SerdeEventListener] = []
_lock = Lock()


def register_serde_event_listener(listener: SerdeEventListener) -> Callable[[], None]:
    """Call ``listener`` at each event from now on; the returned function ends that."""
    with _lock:
        _listeners.append(listener)

    def unregister() -> None:
        with _lock:
            if listener in _listeners:
                _listeners.remove(listener)

    return unregister


def emit_serde_event(event: SerdeEvent) -> None:
    """Tell all listeners; one that fails is warned of and disturbs nobody."""
    for listener in tuple(_listeners):
        try:
            listener(event)
        except Exception as error:  # noqa: BLE001 - a listener's failure must not stop a load
            warnings.warn(
                f"A listener of serializer events failed: {error!r}.", RuntimeWarning, stacklevel=2
            )
