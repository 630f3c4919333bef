"""Interface elements as state: which components a front end shows, with their properties."""

from __future__ import annotations

from typing import Any, Literal
from uuid import uuid4

from typing_extensions import TypedDict

from ckpt_viz.config import get_config, get_stream_writer
from ckpt_viz.types import scope

__all__ = [
    "AnyUIMessage",
    "RemoveUIMessage",
    "UIMessage",
    "delete_ui_message",
    "push_ui_message",
    "ui_message_reducer",
]


class UIMessage(TypedDict):
    """A component to show, by its name."""

    type: Literal["ui"]
    id: str
    name: str
    props: dict[str, Any]
    metadata: dict[str, Any]


class RemoveUIMessage(TypedDict):
    """A component to take away."""

    type: Literal["remove-ui"]
    id: str


AnyUIMessage = UIMessage | RemoveUIMessage


def push_ui_message(
    name: str,
    props: dict[str, Any],
    *,
    id: str | None = None,
    metadata: dict[str, Any] | None = None,
    message: Any = None,
    state_key: str | None = "ui",
    merge: bool = False,
) -> UIMessage:
    """Show a component from within a node: in the custom stream now, in the state after the step.

    ``merge`` adds the properties to those of the component with this ``id``; else they replace
    them. ``message`` is the message that the component belongs to.

    Raises:
        RuntimeError: no node is running here.
    """
    config = get_config()
    about = {
        "merge": merge,
        "run_id": config.get("run_id"),
        "tags": config.get("tags"),
        "name": config.get("run_name"),
        **(metadata or {}),
    }
    if message is not None:
        about["message_id"] = message["id"] if isinstance(message, dict) else message.id
    made: UIMessage = {
        "type": "ui",
        "id": id or str(uuid4()),
        "name": name,
        "props": props,
        "metadata": about,
    }
    _send(made, state_key)
    return made


def delete_ui_message(id: str, *, state_key: str = "ui") -> RemoveUIMessage:
    """Take a component away, from within a node.

    Raises:
        RuntimeError: no node is running here.
    """
    made: RemoveUIMessage = {"type": "remove-ui", "id": id}
    get_config()
    _send(made, state_key)
    return made


def _send(message: AnyUIMessage, state_key: str | None) -> None:
    get_stream_writer()(message)
    if state_key:
        scope.get().push(state_key, message)


def ui_message_reducer(left: Any, right: Any) -> list[Any]:
    """The components of both: one with a known id takes the other's place, a removal removes it.

    >>> shown = {"type": "ui", "id": "1", "name": "Chat", "props": {}}
    >>> ui_message_reducer([shown], {"type": "remove-ui", "id": "1"})
    []

    Raises:
        ValueError: a removal of an id that is not there.
    """
    merged = list(left) if isinstance(left, list) else [left]
    places = {one["id"]: place for place, one in enumerate(merged)}
    removed: set[str] = set()
    for one in right if isinstance(right, list) else [right]:
        id_ = one["id"]
        place = places.get(id_)
        if one["type"] == "remove-ui":
            if place is None:
                raise ValueError(
                    f"Attempting to delete an UI message with an ID that doesn't exist ('{id_}')"
                )
            removed.add(id_)
        elif place is None:
            places[id_] = len(merged)
            merged.append(one)
        else:
            removed.discard(id_)
            merged[place] = _replaced(merged[place], one)
    return [one for one in merged if one["id"] not in removed]


def _replaced(old: Any, new: Any) -> Any:
    if not new.get("metadata", {}).get("merge"):
        return new
    return {**new, "props": {**old["props"], **new["props"]}}
