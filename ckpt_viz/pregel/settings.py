"""What the caller said: one frozen record made from config and keywords, before a run begins."""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

from ckpt_viz.checkpoint.making import get_checkpoint_metadata
from ckpt_viz.errors import MissingThreadIdError
from ckpt_viz.pregel.streams import Form, form_of
from ckpt_viz.runtime import RunControl
from ckpt_viz.warnings import LangGraphDeprecatedSinceV10

DEFAULT_RECURSION_LIMIT = 10_007
_DURABILITY = ("sync", "async", "exit")
_OPTIONS = frozenset(
    {
        "durability",
        "interrupt_before",
        "interrupt_after",
        "context",
        "subgraphs",
        "output_keys",
        "version",
        "control",
        "print_mode",
        "debug",
        "checkpoint_during",
        "multitask",
        "replay",
    }
)
_TOLD = (f"langgraph_{part}" for part in ("step", "node", "triggers", "path", "checkpoint_ns"))
PLACED = frozenset(("thread_id", "checkpoint_ns", "checkpoint_id", *_TOLD))
"""What a node's config says of its place, and the graphs that it calls are not told of."""


class Settings(NamedTuple):
    """One run's settings. ``modes`` are the stream modes that somebody listens to."""

    config: dict[str, Any]
    modes: frozenset[str]
    form: Form
    durability: str
    before: tuple[str, ...] | str
    after: tuple[str, ...] | str
    limit: int
    context: Any = None
    keys: Any = None
    control: RunControl | None = None
    queue: bool = False
    recorded: bool = False


class Defaults(NamedTuple):
    """What the compiled graph says where the caller says nothing."""

    before: Any
    after: Any
    context_schema: Any
    output_channels: Any
    channels: Container[str]


def settings_of(
    config: dict[str, Any], modes: Any, options: Mapping[str, Any], defaults: Defaults
) -> Settings:
    """The settings of a call, checked.

    A keyword that means nothing here is told by a warning.

    Raises:
        ValueError: a value that is not allowed.
    """
    if not options.keys() <= _OPTIONS:
        unknown = sorted(options.keys() - _OPTIONS)
        text = f"Keyword {unknown} means nothing here; the keywords are {sorted(_OPTIONS)}."
        warnings.warn(text, stacklevel=4)
    form = form_of(modes, options)
    limit = config.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
    if limit < 1:
        raise ValueError("recursion_limit must be at least 1")
    return Settings(
        config,
        form.shown | form.printed,
        form,
        _durability(options),
        names(options.get("interrupt_before") or defaults.before),
        names(options.get("interrupt_after") or defaults.after),
        limit,
        _context(options.get("context"), defaults.context_schema),
        _keys(options.get("output_keys"), modes != (), defaults),
        options.get("control"),
        _second(options, "multitask", ("reject", "queue")),
        _second(options, "replay", ("live", "recorded")),
    )


def _second(options: Mapping[str, Any], name: str, choices: tuple[str, str]) -> bool:
    """Whether an option of two choices, the first by default, is the second."""
    chosen = options.get(name)
    if chosen is None:
        return False
    if chosen not in choices:
        raise ValueError(f"{name} is {choices[0]!r} or {choices[1]!r}, not {chosen!r}.")
    return bool(chosen == choices[1])


def tell_idle_durability(options: Mapping[str, Any]) -> None:
    """Warn of a durability that a run without a saver was asked for."""
    if options.get("durability") or options.get("checkpoint_during") is not None:
        text = "`durability` has no effect when no checkpointer is present."
        warnings.warn(text, stacklevel=4)


def _durability(options: Mapping[str, Any]) -> str:
    asked = options.get("durability")
    during = options.get("checkpoint_during")  # the older word for the same choice
    if during is not None:
        text = "`checkpoint_during` is deprecated and will be removed. "
        text += "Please use `durability` instead."
        warnings.warn(LangGraphDeprecatedSinceV10(text), stacklevel=6)
        if asked is not None:
            raise ValueError(
                "Cannot use both `checkpoint_during` and `durability` parameters. Please use "
                "`durability` instead."
            )
        asked = "async" if during else "exit"
    if asked is None:
        return "async"
    if asked not in _DURABILITY:
        raise ValueError(f"durability is one of {_DURABILITY}, not {asked!r}.")
    return str(asked)


def _context(given: Any, schema: Any) -> Any:
    """The run's context; a dictionary becomes an instance of the context schema's class."""
    structured = hasattr(schema, "__dataclass_fields__") or hasattr(schema, "model_fields")
    return schema(**given) if structured and isinstance(given, dict) else given or None


def _keys(asked: Any, streamed: bool, defaults: Defaults) -> Any:
    """The channels that values and updates show: all of them in a stream, else the output."""
    if asked is None:
        return None if streamed else defaults.output_channels
    listed = [asked] if isinstance(asked, str) else list(asked)
    if unknown := [k for k in listed if k not in defaults.channels]:
        raise ValueError(f"Key {unknown[0]} not in channels: output_keys names what to show.")
    return asked if isinstance(asked, str) else tuple(listed)


_CONFIG_KEYS = frozenset(
    [
        "tags",
        "metadata",
        "callbacks",
        "run_name",
        "run_id",
        "recursion_limit",
        "max_concurrency",
        "executor",
    ]
)


def merge_config(*configs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Configs laid over each other; dictionaries and lists in them are joined.

    A key that no config has is taken as one of ``configurable``.
    """
    merged: dict[str, Any] = {"configurable": {}}
    for config in configs:
        for key, value in (config or {}).items():
            if key in ("configurable", "metadata"):
                merged[key] = {**merged.get(key, {}), **(value or {})}
            elif key == "tags":
                merged[key] = [*merged.get(key, []), *(value or [])]
            elif key == "callbacks" and isinstance(value, list):
                known = merged.get(key)
                merged[key] = [*known, *value] if isinstance(known, list) else value
            elif value is not None and key in _CONFIG_KEYS:
                merged[key] = value
            elif value is not None:
                merged["configurable"] = {**merged["configurable"], key: value}
    return merged


def thread_of(config: Mapping[str, Any], doing: str) -> str:
    """The config's thread id.

    Raises:
        MissingThreadIdError: there is none.
    """
    thread = config.get("configurable", {}).get("thread_id")
    if thread is None:
        raise MissingThreadIdError(
            f"Cannot {doing}: the graph has a checkpointer, so the config needs "
            "configurable.thread_id; pass config={'configurable': {'thread_id': '1'}}. "
            "Checkpointer requires one or more of the following 'configurable' keys: "
            "thread_id, checkpoint_ns, checkpoint_id"
        )
    return str(thread)


def place(config: Mapping[str, Any], checkpoint_id: str | None) -> dict[str, Any]:
    """The bare config that addresses a checkpoint of the config's thread and namespace."""
    where = config.get("configurable", {})
    found = {
        "thread_id": str(where["thread_id"]),
        "checkpoint_ns": where.get("checkpoint_ns", ""),
    }
    if checkpoint_id is not None:
        found["checkpoint_id"] = checkpoint_id
    return {"configurable": found}


def with_parents(config: Any, metadata: Mapping[str, Any] | None) -> Any:
    """A checkpoint's config, which for a nested graph's also names the checkpoints above it."""
    parents = (metadata or {}).get("parents")
    if config is None or not parents:
        return config
    where = config["configurable"]
    ids = {**parents, where["checkpoint_ns"]: where["checkpoint_id"]}
    return {**config, "configurable": {**where, "checkpoint_map": ids}}


def user_metadata(config: Mapping[str, Any]) -> dict[str, Any]:
    """The scalar entries of ``metadata`` and ``configurable`` that go into checkpoints."""
    found = get_checkpoint_metadata(config, {})
    for key in ("source", "step", "parents"):
        found.pop(key, None)
    return found


_NAMING = ("thread_id", "checkpoint_id", "checkpoint_ns", "task_id", "run_id", "assistant_id")


def named(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config's metadata, with the ids of its ``configurable`` that belong there too."""
    found = dict(config.get("metadata") or {})
    where = config.get("configurable") or {}
    for key in (*_NAMING, "graph_id"):
        if (value := where.get(key)) and key not in found:
            found[key] = value
    return found


def names(value: Sequence[str] | str | None) -> tuple[str, ...] | str:
    """A break-point list in one form: a tuple of node names, or "*" for all."""
    if value is None:
        return ()
    if value == "*":
        return "*"
    return (value,) if isinstance(value, str) else tuple(value)
