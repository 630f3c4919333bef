"""The forms of questions and answers that agent inboxes know."""

from typing import Literal, TypedDict


class HumanInterruptConfig(TypedDict):
    """Which answers a question allows."""

    allow_ignore: bool
    allow_respond: bool
    allow_edit: bool
    allow_accept: bool


class ActionRequest(TypedDict):
    """An action that a person is asked about."""

    action: str
    args: dict  # type: ignore[type-arg]


class HumanInterrupt(TypedDict):
    """A question: the value of an `interrupt`."""

    action_request: ActionRequest
    config: HumanInterruptConfig
    description: str | None


class HumanResponse(TypedDict):
    """An answer to it."""

    type: Literal["accept", "ignore", "response", "edit"]
    args: str | ActionRequest | None
