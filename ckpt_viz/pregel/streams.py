"""The form in which a caller gets a stream's chunks, and what is only printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ckpt_viz.constants import INTERRUPT
from ckpt_viz.parts import GraphOutput

MODES = frozenset({"values", "updates", "checkpoints", "tasks", "debug", "custom", "messages"})

SILENT: Any = object()
"""Stands for a chunk that the caller does not get: it was printed."""

Mapper = Callable[[dict[str, Any]], Any] | None
"""Makes an instance of a schema's class from values; None where values stay a dictionary."""


class Form(NamedTuple):
    """What one caller asked for.

    ``many``: chunks name their mode; ``subgraphs``: and their namespace; ``typed``: they are
    dictionaries with ``type``, ``ns`` and ``data`` (version 2). ``shown`` are the modes that the
    caller gets, ``printed`` those that go to standard output.
    """

    many: bool = False
    subgraphs: bool = False
    typed: bool = False
    shown: frozenset[str] = frozenset()
    printed: frozenset[str] = frozenset()

    def chunk(
        self,
        ns: tuple[str, ...],
        mode: str,
        payload: Any,
        interrupts: Sequence[Any] = (),
    ) -> Any:
        """A payload as the caller gets it; ``interrupts`` are those of a ``values`` payload."""
        if self.typed:
            made: Any = {"type": mode, "ns": ns, "data": payload}
            if mode == "values":
                made["interrupts"] = tuple(interrupts)
        else:
            if interrupts:
                payload = with_interrupts(payload, tuple(interrupts))
            made = (mode, payload) if self.many else payload
            if self.subgraphs:
                made = (ns, *made) if self.many else (ns, made)
        if self.printed and mode in self.printed:
            _print(ns if self.subgraphs else (), mode, payload)
        return made if mode in self.shown else SILENT


_FORMING = frozenset({"print_mode", "debug", "subgraphs", "version"})
_RESULT = Form()
"""That of a caller who wants the result alone."""


def _print(ns: tuple[str, ...], mode: str, payload: Any) -> None:
    where = f"\033[1m[{mode}]\033[0m"
    if ns:
        where += f" \033[1;30;33m[graph={ns}]\033[0m"
    print(f"{where} {payload!r}")


def form_of(modes: Any, options: Any) -> Form:
    """The form that a call's ``stream_mode`` and keywords ask for.

    Raises:
        ValueError: a stream mode that does not exist.
    """
    if modes == () and options.keys().isdisjoint(_FORMING):
        return _RESULT
    printed = options.get("print_mode") or ()
    printed = {printed} if isinstance(printed, str) else set(printed)
    if options.get("debug"):
        printed |= {"updates", "values"}
    shown = {modes} if isinstance(modes, str) else set(modes)
    if wrong := sorted((shown | printed) - MODES):
        raise ValueError(f"Unknown stream mode {wrong}; the modes are {sorted(MODES)}.")
    return Form(
        isinstance(modes, list),
        bool(options.get("subgraphs")),
        options.get("version", "v1") == "v2",
        frozenset(shown),
        frozenset(printed),
    )


def with_interrupts(values: Any, interrupts: Sequence[Any]) -> Any:
    """Values that show the questions too, as far as they are a dictionary."""
    return {**(values if isinstance(values, dict) else {}), INTERRUPT: interrupts}


def result_of_run(typed: bool, values: Any, interrupts: Sequence[Any], mapper: Mapper) -> Any:
    """What ``invoke`` gives: the values, and the questions that wait."""
    if typed:
        shown = values if isinstance(values, dict) or not interrupts else {}
        return GraphOutput(mapped(shown, mapper), tuple(interrupts))
    return with_interrupts(values, list(interrupts)) if interrupts else values


def mapped(values: Any, mapper: Mapper) -> Any:
    """Values as an instance of the schema's class, where it is one."""
    return values if mapper is None or not isinstance(values, dict) else mapper(values)
