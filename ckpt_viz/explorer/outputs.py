"""Which cell's output shows which Explorers: those that a cell's next run replaced are retired.

A notebook clears a cell's output before it runs again, and nobody tells the widget in it. Rules: an
Explorer that another cell shows too stays; one that is retired can be shown again.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol

from IPython.core.getipython import get_ipython


class Shown(Protocol):
    """What this module needs of an Explorer."""

    cells: set[str]

    def retire(self) -> None:
        """Ends what follows the history, and takes the view away."""
        ...


_RUNS: dict[str, tuple[str, weakref.WeakSet[Any]]] = {}
"""By cell: the message that ran it last, and what it showed."""


def note_output(explorer: Shown) -> None:
    """An Explorer is shown by the cell that runs now."""
    cell, run = _running()
    if cell is None:
        return
    last, shown = _RUNS.get(cell, ("", weakref.WeakSet()))
    if last != run:
        for old in list(shown):
            old.cells.discard(cell)
            if old is not explorer and not old.cells:
                old.retire()
        shown = weakref.WeakSet()
        _RUNS[cell] = run, shown
    shown.add(explorer)
    explorer.cells.add(cell)


def _running() -> tuple[str | None, str]:
    shell: Any = get_ipython()
    parent: Any = getattr(shell, "get_parent", dict)() or {}
    cell = (parent.get("metadata") or {}).get("cellId")
    return cell, str((parent.get("header") or {}).get("msg_id"))
