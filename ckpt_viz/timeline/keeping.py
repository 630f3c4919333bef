"""Labels, and the removal of threads and of old checkpoints, as far as a saver can do them.

Rule: what a saver has no method for is told by `able`, and is never done by hand behind its back.
Where the saver keeps no labels they live as long as the timeline does.
"""

from __future__ import annotations

from typing import Any

from ckpt_viz.timeline.records import Able

BASES = ("langgraph.checkpoint.base", "ckpt_viz.checkpoint.base")
"""Modules whose savers only declare a method: it raises NotImplementedError."""


def is_declared(kind: type, name: str) -> bool:
    """Whether a class of savers has a method by declaration alone: calling it would raise."""
    for cls in kind.__mro__:
        if name in vars(cls):
            return cls.__module__ in BASES
    return False


def method(saver: Any, name: str) -> Any:
    """A method of the saver that really does something, in its sync or async form; else None."""
    for form in (name, f"a{name}"):
        if not is_declared(type(saver), form):
            found = getattr(saver, form, None)
            if found is not None:
                return found
    return None


def spoken(saver: Any) -> str:
    """What a saver is, for people: a class of somebody's by its name, one of ours in words."""
    told = getattr(saver, "spoken", None)
    if isinstance(told, str):
        return told
    name = type(saver).__name__
    return f"LangGraph's {name}" if type(saver).__module__.startswith("langgraph.") else name


def no_way(saver: Any, act: str, form: str) -> str:
    """Why a saver cannot do something for which it has no method, and who can."""
    return (
        f"{spoken(saver)} has no way to {act} (no method {form}); the savers of this package have"
    )


def able(saver: Any) -> dict[str, Able]:
    """Whether the saver can label, delete and prune."""
    name = spoken(saver)

    def can(act: str, form: str) -> Able:
        if method(saver, form) is not None:
            return Able(True)
        return Able(False, no_way(saver, act, form))

    label = Able(True)
    if method(saver, "set_label") is None:
        label = Able(True, f"{name} keeps no labels: they last for this session")
    return {
        "label": label,
        "delete": can("delete a thread", "delete_thread"),
        "prune": can("prune a thread", "prune"),
    }


class Labels:
    """Names of checkpoints: the saver's, and those that only this session knows."""

    def __init__(self) -> None:
        self._own: dict[tuple[str, str, str], str | None] = {}

    def of(self, saver: Any, thread: str, ns: str) -> dict[str, str]:
        """Checkpoint id -> label, in one namespace of a thread."""
        kept = method(saver, "labels")
        found: dict[str, str | None] = {
            str(one["checkpoint_id"]): str(one["label"])
            for one in (kept(thread) if kept is not None else ())
            if (one.get("checkpoint_ns") or "") == ns
        }
        found |= {key[2]: text for key, text in self._own.items() if key[:2] == (thread, ns)}
        return {id_: text for id_, text in found.items() if text is not None}

    def set(self, saver: Any, config: Any, label: str | None, *, in_saver: bool) -> None:
        """Names a checkpoint; None takes the name away. `in_saver`: for longer than now."""
        keep = method(saver, "set_label") if in_saver else None
        if keep is not None:
            keep(config, label)
            return
        where = config["configurable"]
        self._own[where["thread_id"], where["checkpoint_ns"], where["checkpoint_id"]] = label
