"""Small programs as people type them, from text files: both packages must show the same.

A file in ``snippets/`` is a preamble and programs, each under a line ``### name``. A program calls
``show(value)``, ``err(call, …)`` to show what a call raises or gives, and ``arun(coroutine)``. It
is run as it stands, and once more with the import root changed.
"""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .harness import HEX, TIME, UUID, reconcile

FOLDER = Path(__file__).parent / "snippets"
ROOT = re.compile(r"\blanggraph\b(?!_)")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def programs() -> dict[str, str]:
    """The programs of all files by ``file: name``, each with its file's preamble."""
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        preamble, *parts = re.split(r"^### (.*)$", path.read_text(), flags=re.M)
        for name, source in zip(parts[::2], parts[1::2], strict=True):
            found[f"{path.stem}: {name}"] = preamble + source
    return found


PROGRAMS = programs()


class Plain:
    """Turns values into plain data, with labels for ids, and one word for both packages."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}

    def text(self, value: str) -> str:
        for pattern in (UUID, HEX):
            value = pattern.sub(
                lambda m: self.labels.setdefault(m[0], f"ID{len(self.labels)}"), value
            )
        value = ADDRESS.sub("0x", TIME.sub("TIME", value))
        return re.sub("langgraph|ckpt_viz", "PACKAGE", value)

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, BaseException):
            return f"{type(value).__name__}: {self.text(str(value))}"
        if isinstance(value, dict):
            return {self(k) if isinstance(k, str) else k: self(v) for k, v in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return {n: self(getattr(value, n)) for n in value._fields}
        if isinstance(value, list | tuple):
            return [self(item) for item in value]
        if isinstance(value, set | frozenset):
            return ["set", *sorted((self(item) for item in value), key=str)]
        if value is None or isinstance(value, int | float | bytes):
            return value
        return self.text(repr(value))


def shown(source: str, root: str) -> list[Any]:
    """What a program shows with one package; an error that ends it is shown last."""
    log: list[Any] = []
    plain = Plain()

    def show(*values: Any) -> None:
        log.append(plain(values[0] if len(values) == 1 else values))

    def err(call: Callable[..., Any], *args: Any, **options: Any) -> None:
        try:
            show("no error", call(*args, **options))
        except Exception as error:  # noqa: BLE001 - any error is what is shown
            show(error)

    names = {"show": show, "err": err, "arun": asyncio.run, "__name__": f"program_{root}"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(ROOT.sub(root, source), "<program>", "exec", dont_inherit=True), names)
        except Exception as error:  # noqa: BLE001 - any error is what is shown
            log.append(f"ended by {plain(error)}")
    return log


@pytest.mark.parametrize("name", PROGRAMS)
def test_snippet(name: str) -> None:
    """Both packages show the same; an error of ours may say more."""
    theirs = shown(PROGRAMS[name], "langgraph")
    ours = shown(PROGRAMS[name], "ckpt_viz")
    assert reconcile(theirs, ours) == theirs
    assert theirs, "the program shows nothing"


def test_a_difference_is_seen() -> None:
    """The comparison is not of empty logs: a package's own name shows in a class's module."""
    source = "from langgraph.graph import StateGraph\nshow(len(StateGraph.__module__))"
    assert shown(source, "langgraph") != shown(source, "ckpt_viz")
