"""What one sees or did, as a few lines of Python for the notebook at hand, which has the `graph`.

Rule: a value that has no Python source is an error, never left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.literal import Writer
from ckpt_viz.timeline.records import Act
from ckpt_viz.timeline.rows import read_news
from ckpt_viz.timeline.topology import is_async_graph

ROOTS = ("ckpt_viz", "langgraph")


def engine_root(graph: Any) -> str:
    """The package that a graph comes from, which its code imports from.

    >>> engine_root(object())
    'ckpt_viz'
    """
    tops = [cls.__module__.split(".", 1)[0] for cls in type(graph).__mro__]
    return next((top for top in tops if top in ROOTS), ROOTS[0])


class Teller:
    """Writes the code of one timeline."""

    def __init__(self, timeline: GraphTimeline) -> None:
        """Writes nothing yet."""
        self.timeline = timeline
        self.writer = Writer()
        self.root = engine_root(timeline.graph)
        self.is_async = is_async_graph(timeline.graph)

    # -- pieces ------------------------------------------------------------------------------

    def config(self, checkpoint_id: str | None) -> str:
        """The source of the config that addresses a checkpoint (None: the thread)."""
        return self.writer.source(self.timeline.config_of(checkpoint_id))

    def _values(self, act: Act) -> str:
        if act.values is None:
            return "None"
        reducers = {n for n, c in self.timeline.topology.channels.items() if c.reducer}
        pairs = []
        if not isinstance(act.values, dict):
            return self.writer.source(act.values)
        for name, value in act.values.items():
            text = self.writer.source(value, str(name))
            if name in act.replace and name in reducers:
                self.writer.imports.add(f"from {self.root}.types import Overwrite")
                text = f"Overwrite({text})"
            pairs.append(f"{name!r}: {text}")
        return f"{{{', '.join(pairs)}}}"

    def _update(self, graph: str, config: str, act: Act) -> str:
        node = f", as_node={act.as_node!r}" if act.as_node else ""
        update = self._method(graph, "update_state")
        return self._call(f"{update}({config}, {self._values(act)}{node})")

    def _call(self, text: str) -> str:
        return f"await {text}" if self.is_async else text

    def _invoke(self, graph: str, value: str, config: str) -> str:
        return self._call(f"{self._method(graph, 'invoke')}({value}, {config})")

    def _steps(self, act: Act, graph: str, base: str, thread: str) -> list[str]:
        """The lines that do an act again."""
        if act.kind == "fork":
            lines = [f"new = {self._update(graph, base, act)}"]
            return [*lines, self._invoke(graph, "None", thread)] if act.run else lines
        if act.kind == "replay":
            return [self._invoke(graph, "None", base)]
        if act.kind == "run":
            return [self._invoke(graph, self.writer.source(act.values), thread)]
        if act.kind == "resume":
            return self._resume(act, graph, base)
        raise ValueError(f"No code for {act.kind!r}")

    def _resume(self, act: Act, graph: str, base: str) -> list[str]:
        if act.values in (None, {}):
            return [self._invoke(graph, "None", base)]
        self.writer.imports.add(f"from {self.root}.types import Command")
        if act.base is None or self._is_open(act.base):
            answer = self.writer.source(act.values)
            return [self._invoke(graph, f"Command(resume={answer})", base)]
        one = act.values
        if isinstance(one, dict) and len(one) == 1:  # a copy asks with an id of its own
            one = next(iter(one.values()))
        copy = f'{self._method(graph, "update_state")}({base}, None, as_node="__copy__")'
        return [
            f"again = {self._call(copy)}  # it was answered: a copy beside it asks again",
            self._invoke(graph, "None", "again"),
            self._invoke(graph, f"Command(resume={self.writer.source(one)})", self.config(None)),
        ]

    def _is_open(self, checkpoint_id: str) -> bool:
        news = read_news(self.timeline.tuple(checkpoint_id).pending_writes).values()
        return any(n.state == "interrupt" for n in news)

    def _method(self, graph: str, name: str) -> str:
        return f"{graph}.{'a' if self.is_async else ''}{name}"

    # -- Python ------------------------------------------------------------------------------

    def python_of_selection(self, checkpoint_id: str) -> str:
        """The lines that read a checkpoint."""
        get = self._get("graph", "config")
        return self._with_imports([f"config = {self.config(checkpoint_id)}", f"snapshot = {get}"])

    def python_of_diff(self, a: str | None, b: str) -> str:
        """The lines that compare two checkpoints."""
        thread, space = self.timeline.thread_id, self.timeline.checkpoint_ns
        where = f", checkpoint_ns={space!r}" if space else ""
        return "\n".join(
            [
                "import ckpt_viz",
                "",
                f"explorer = ckpt_viz.explore(graph, thread_id={thread!r}{where})",
                f"diff = explorer.diff({a!r}, {b!r})",
                "print(diff.summary)",
                "for part in diff.parts:",
                "    print(part.op, part.path, part.before, part.after)",
            ]
        )

    def python_of_act(self, act: Act) -> str:
        """The lines that do an act in the notebook."""
        lines = [f"config = {self.config(None if act.kind == 'run' else act.base)}"]
        thread = "config" if act.kind == "run" else "new"
        return self._with_imports([*lines, *self._steps(act, "graph", "config", thread)])

    def _get(self, graph: str, config: str) -> str:
        return self._call(f"{self._method(graph, 'get_state')}({config})")

    def _with_imports(self, lines: Iterable[str]) -> str:
        body = "\n".join(lines)
        return "\n".join([*sorted(self.writer.imports), "", body]).strip()
