"""Finds the code that makes a graph, so that a copied test stands alone.

A graph that a module holds is imported. One that was made in a notebook (or a script) is made
again by the statements that define it: the last definition of each name that it needs, and what
was added to those names since. Nothing is executed to find this; the cells are read as text.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckpt_viz.timeline.literal import NoSourceError

ADDS = ("add", "set_", "append", "extend", "update", "insert", "register", "bind", "setup")
OURS = ("ckpt_viz", "langgraph", "IPython", "_pytest")


def _shell() -> Any:
    """The notebook's shell; None where none is: then IPython need not be loaded to find out."""
    loaded = sys.modules.get("IPython.core.getipython")
    return None if loaded is None else loaded.get_ipython()


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a cell: what it binds, what it reads, and the names that it adds to."""

    source: str
    binds: frozenset[str]
    reads: frozenset[str]
    adds: frozenset[str]


class GraphOrigin:
    """The code of one graph."""

    def __init__(self, graph: Any) -> None:
        """Looks for the graph among the names of modules and of the notebook."""
        self.graph = graph
        self.module, found = _holder(graph)
        self.name = found or "graph"

    def code(self, graph: bool, names: Iterable[str]) -> str:
        """See `Origin`.

        Raises:
            NoSourceError: the code can't be found; says what to do.
        """
        wanted = set(names)
        lines = []
        if graph and self.module is None:
            raise NoSourceError(
                "The code of this graph can't be found: no module and no cell holds it in a "
                "variable. Give it a name at the top of a module or of a cell."
            )
        if graph and self.module != "__main__":
            lines.append(f"from {self.module} import {self.name}")
        elif graph:
            wanted.add(self.name)
        if wanted:
            lines.append(slice_of(list(_cells()), wanted))
        return "\n\n".join(lines)


def _same(a: Any, b: Any) -> bool:
    """True for the graph itself and for copies of it with another saver."""
    builder = getattr(b, "builder", None)
    return a is b or (builder is not None and getattr(a, "builder", None) is builder)


def _holder(graph: Any) -> tuple[str | None, str | None]:
    """The module that holds the graph in a variable, and the variable; the notebook comes first."""
    modules = {name: module for name, module in sys.modules.items() if module is not None}
    order = ["__main__", *(n for n in modules if n != "__main__")]
    shell = _shell()
    for module in order:
        if module.split(".", 1)[0] in OURS or module not in modules:
            continue
        space = dict(getattr(modules[module], "__dict__", None) or {})
        if module == "__main__" and shell is not None:
            space |= shell.user_ns
        held = [n for n, v in space.items() if not n.startswith("_") and _is_held(v, graph)]
        if held:
            return module, held[-1]
    return None, None


def _is_held(value: Any, graph: Any) -> bool:
    return type(value) is type(graph) and _same(value, graph)


# -- slices of a notebook ----------------------------------------------------------------------


def _cells() -> Iterator[str]:
    """The cells that ran, in order; of a script its text."""
    shell = _shell()
    if shell is not None:
        yield from shell.user_ns.get("In", ())
        return
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path and Path(path).is_file():
        yield Path(path).read_text()


def slice_of(cells: Sequence[str], wanted: Iterable[str]) -> str:
    """The statements of the cells that define the wanted names, in order.

    Raises:
        NoSourceError: a wanted name is defined nowhere.

    >>> print(slice_of(["import math", "x = 1; y = math.pi", "y", "z = y + 1"], {"z"}))
    import math
    y = math.pi
    z = y + 1
    """
    statements = [s for cell in cells for s in _statements(cell)]
    last: dict[str, int] = {}
    for number, statement in enumerate(statements):
        for name in statement.binds:
            last[name] = number
    kept: set[int] = set()
    todo, seen, roots = list(wanted), set(), set(wanted)
    missing = [name for name in todo if name not in last]
    if missing:
        raise NoSourceError(f"No cell defines {', '.join(missing)}: run the cell that does again")
    while todo:
        name = todo.pop()
        if name in seen or name not in last:
            continue
        seen.add(name)
        numbers = {last[name]}
        if name not in roots:
            numbers |= {n for n in range(last[name], len(statements)) if name in statements[n].adds}
        for number in numbers - kept:
            kept.add(number)
            todo += statements[number].reads
    return "\n".join(statements[n].source for n in sorted(kept))


def _statements(cell: str) -> Iterator[Statement]:
    try:
        body = ast.parse(cell).body
    except SyntaxError:  # a cell of another language, or one that never ran
        return
    for node in body:
        inner = _magic_body(node)
        if inner is not None:
            yield from _statements(inner)
        elif not any(isinstance(n, ast.Await) for n in _outside(node)):
            yield _statement(cell, node)


def _magic_body(node: ast.stmt) -> str | None:
    """The cell below a cell magic such as %%ckpt, which IPython keeps as a call."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr == "run_cell_magic" and isinstance(call.args[-1], ast.Constant):
        return str(call.args[-1].value)
    return "" if call.func.attr in ("run_line_magic", "system", "getoutput") else None


def _statement(cell: str, node: ast.stmt) -> Statement:
    binds: set[str] = set()
    reads: set[str] = set()
    adds: set[str] = set()
    for one in _outside(node):
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            binds.add(one.id)
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            binds.add(one.name)
        elif isinstance(one, ast.alias):
            binds.add((one.asname or one.name).split(".", 1)[0])
        elif isinstance(one, ast.Attribute | ast.Subscript) and isinstance(one.ctx, ast.Store):
            adds |= _root(one)
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            reads.add(one.id)
    if isinstance(node, ast.AugAssign):
        adds |= binds
        binds = set()
    if isinstance(node, ast.Expr):
        adds |= _added(node.value)
    return Statement(_text(cell, node), frozenset(binds), frozenset(reads), frozenset(adds))


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, without those within functions and classes."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside(child)


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _added(node: ast.expr) -> set[str]:
    """The name that a chain of calls adds to: `builder.add_node(…).add_edge(…)`."""
    first = node
    while isinstance(first, ast.Call | ast.Attribute):
        inner = first.func if isinstance(first, ast.Call) else first.value
        if isinstance(first, ast.Attribute) and isinstance(inner, ast.Name):
            return {inner.id} if first.attr.startswith(ADDS) else set()
        first = inner
    return set()


def _text(cell: str, node: ast.stmt) -> str:
    start = min((d.lineno for d in getattr(node, "decorator_list", ())), default=node.lineno)
    if start != node.lineno:
        return "\n".join(cell.splitlines()[start - 1 : node.end_lineno])
    return ast.get_source_segment(cell, node) or ast.unparse(node)
