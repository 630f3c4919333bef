"""Records of known kinds as plain fields: what a history shows where the real class is not loaded.

A `View` of a LangChain message has the message's fields and name, and none of its code.
"""

from __future__ import annotations

from typing import Any

from ckpt_viz.checkpoint.serde.registry import Name

_MESSAGES = {
    "AIMessage": "ai",
    "AIMessageChunk": "AIMessageChunk",
    "ChatMessage": "chat",
    "ChatMessageChunk": "ChatMessageChunk",
    "FunctionMessage": "function",
    "FunctionMessageChunk": "FunctionMessageChunk",
    "HumanMessage": "human",
    "HumanMessageChunk": "HumanMessageChunk",
    "RemoveMessage": "remove",
    "SystemMessage": "system",
    "SystemMessageChunk": "SystemMessageChunk",
    "ToolMessage": "tool",
    "ToolMessageChunk": "ToolMessageChunk",
}
"""Names of message classes, and the ``type`` that each has."""

_PLACES = (
    "langchain_core.messages",
    "langchain_core.documents",
    "langchain_core.prompt_values",
    "langchain_core.agents",
    "langchain.schema",
    "langchain.prompts",
    "langgraph.store.base",
)


class View:
    """A stored record of a known kind, as plain fields.

    ``module`` and ``name`` tell which class it was; each field is an attribute as well.
    """

    __slots__ = ("fields", "module", "name")

    def __init__(self, module: str, name: str, fields: dict[str, Any]) -> None:
        self.module = module
        self.name = name
        self.fields = fields

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__") or key in View.__slots__:
            raise AttributeError(key)
        try:
            return self.fields[key]
        except KeyError:
            raise AttributeError(
                f"this {self.name} has no field {key!r}; it has {', '.join(self.fields) or 'none'}"
            ) from None

    def __repr__(self) -> str:
        told = ", ".join(f"{key}={value!r}" for key, value in self.fields.items())
        return f"{self.name}({told})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return NotImplemented
        return (self.name, self.fields) == (other.name, other.fields)

    __hash__ = None  # type: ignore[assignment]  # fields may be anything, and may change


def is_known(name: Name) -> bool:
    """Whether a stored name is of a kind that is shown as a `View`."""
    module, cls = name
    return cls.split(".")[0].isidentifier() and any(
        module == place or module.startswith(place + ".") for place in _PLACES
    )


def view(name: Name, fields: Any) -> View:
    """The view of a record. A message gets its ``type`` where the stored fields lack it.

    >>> view(("langchain_core.messages.human", "HumanMessage"), {"content": "hi"}).type
    'human'
    """
    told = dict(fields) if isinstance(fields, dict) else {"value": fields}
    kind = _MESSAGES.get(name[1])
    if kind is not None:
        told.setdefault("type", kind)
    return View(name[0], name[1], told)
