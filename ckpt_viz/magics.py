"""The IPython magics `%ckpt` and `%%ckpt`."""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from ckpt_viz.explorer.session import heading
from ckpt_viz.explorer.static import text_tree
from ckpt_viz.explorer.widget import Explorer, explore
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.open import open_timeline
from ckpt_viz.timeline.source import NoHistoryError

# What each sub-command takes after its source; "" is the magic without one.
COMMANDS: dict[str, tuple[str, ...]] = {
    "": (),
    "threads": (),
    "history": (),
    "diff": ("A", "B"),
    "export": ("FILE",),
}
FILE_ENDINGS = (".db", ".sqlite", ".sqlite3")
WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+""")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        usage = " ".join(self.format_usage().split()[1:])
        raise UsageError(f"{self.prog}: {message}. Usage: {usage}. See %ckpt -h for examples.")


def _parse(command: str, words: list[str]) -> argparse.Namespace:
    names = ("SOURCE", *COMMANDS[command])
    prog = f"%ckpt {command}".rstrip()
    options = "[--thread T] [--ns N] [--at ID|STEP] [--graph G]"
    parser = _Parser(prog=prog, usage=f"%(prog)s {' '.join(names)} {options}", add_help=False)
    for name in names:
        parser.add_argument(name.lower(), metavar=name)
    parser.add_argument("--thread", "-t")
    parser.add_argument("--ns", default="")
    parser.add_argument("--at")
    parser.add_argument("--graph")
    return parser.parse_args(words)


@magics_class
class CkptMagics(Magics):
    """The magics of ckpt_viz."""

    @property
    def _shell(self) -> Any:
        return self.shell

    @line_cell_magic
    def ckpt(self, line: str, cell: str | None = None) -> Any:
        """Shows the checkpoints of a graph run, to browse, fork and replay.

        %ckpt SOURCE [--thread T] [--ns N] [--at ID|STEP] [--graph G]
        %ckpt threads SOURCE            the threads that a saver holds
        %ckpt history SOURCE            the tree as text, newest first
        %ckpt diff SOURCE A B           what changed from A to B (ids or steps)
        %ckpt export SOURCE FILE        .html (browsable, offline), .svg or .json
        %%ckpt                          runs its cell, then explores each graph that ran in it

        SOURCE is a Python expression for a compiled graph or a saver, or the path of a SQLite
        file. A saver or file alone is read-only; --graph G gives it the graph to act with.

        Examples::

            %ckpt graph --thread 1
            %ckpt graph --thread 1 --at 3
            %ckpt diff graph 2 5 --thread 1
            %ckpt export graph run.html --thread 1
        """
        words = _words(line)
        if cell is not None and words:
            raise UsageError(
                f"%%ckpt takes no words on its line, and got {' '.join(words)!r}: it runs its cell "
                "and explores each graph that ran in it."
            )
        if cell is not None:
            return self._cell(cell)
        if "-h" in words or "--help" in words:
            return print(inspect.getdoc(CkptMagics.ckpt))
        if not words:
            raise UsageError("%ckpt needs a graph: %ckpt graph --thread 1. See %ckpt -h")
        if words[0] in COMMANDS:
            return getattr(self, f"_{words[0]}")(words[1:])
        return self._explore(_parse("", words))

    def _value(self, expression: str) -> Any:
        is_path = expression.endswith(FILE_ENDINGS)
        if is_path and Path(expression).expanduser().is_file():
            return expression
        try:
            if is_path and "/" in expression:
                raise NameError(expression)
            return self._shell.ev(expression)
        except (NameError, SyntaxError, AttributeError) as error:
            if is_path:
                raise UsageError(
                    f"%ckpt: there is no file {expression!r}; nothing was created."
                ) from error
            raise UsageError(
                f"%ckpt: {expression!r} is not a graph in this notebook ({error}). "
                "Run the cell that makes it first."
            ) from error

    def _open(self, args: argparse.Namespace) -> GraphTimeline:
        graph = None if args.graph is None else self._value(args.graph)
        try:
            timeline = open_timeline(self._value(args.source), args.thread, args.ns, graph)
        except (NoHistoryError, TypeError, OSError) as error:
            raise UsageError(f"%ckpt: {error}") from error
        if timeline.thread_id is None:
            threads = timeline.threads()
            if len(threads) == 1:
                return timeline.at(threads[0].id, args.ns)
        return timeline

    def _explore(self, args: argparse.Namespace) -> Explorer:
        timeline = self._open(args)
        at = int(args.at) if args.at and args.at.lstrip("-").isdigit() else args.at
        try:
            return explore(timeline, at=at)
        except (LookupError, ValueError) as error:
            raise UsageError(f"%ckpt: {error}") from error

    def _one(self, args: argparse.Namespace) -> GraphTimeline:
        timeline = self._open(args)
        if timeline.thread_id is None:
            names = ", ".join(t.id for t in timeline.threads()) or "none yet"
            raise UsageError(f"%ckpt: which thread? Give --thread; there are: {names}")
        return timeline

    def _threads(self, words: list[str]) -> None:
        threads = self._open(_parse("threads", words)).threads()
        for info in threads:
            print(f"{info.id}  {info.checkpoints} checkpoints, last step {info.last_step}")
        if not threads:
            print("no threads yet: run the graph with a thread_id")

    def _history(self, words: list[str]) -> None:
        timeline = self._one(_parse("history", words))
        print(text_tree(timeline.rows(), heading(timeline), timeline.unfinished()))

    def _diff(self, words: list[str]) -> None:
        args = _parse("diff", words)
        explorer = Explorer(self._one(args), follow=False)
        found = explorer.diff(*(self._id(explorer, name) for name in (args.a, args.b)))
        print(found.summary)
        signs = {"add": "+", "del": "-", "change": "~"}
        for part in (p for p in found.parts if p.op in signs):
            sides = [side for side in (part.before, part.after) if side is not None]
            print(f"{signs[part.op]} {part.path}: {' -> '.join(sides)}")

    def _id(self, explorer: Explorer, name: str) -> str:
        try:
            if name.lstrip("-").isdigit():
                return explorer.select(step=int(name)).id
            return explorer.select(name).id
        except (LookupError, ValueError) as error:
            raise UsageError(f"%ckpt: {error}") from error

    def _export(self, words: list[str]) -> None:
        args = _parse("export", words)
        explorer = Explorer(self._one(args), follow=False)
        try:
            print(explorer.export(args.file))
        except (ValueError, OSError) as error:
            raise UsageError(f"%ckpt: nothing was exported: {error}") from error

    def _cell(self, cell: str) -> None:
        before = _heads(self._shell.user_ns)
        result = self._shell.run_cell(cell)
        after = _heads(self._shell.user_ns)
        for (key, thread), (graph, head) in after.items():
            known = before.get((key, thread))
            if known is None or known[1] != head:
                display(explore(graph, thread))  # type: ignore[no-untyped-call]
        if result.error_in_exec is None and before == after:
            print("%%ckpt: no graph with a checkpointer ran in this cell")


def _words(line: str) -> list[str]:
    """The words of a line without its comment; a `#` inside a word or in quotes is no comment."""
    comment = next((word for word in WORD.finditer(line) if word[0][0] == "#"), None)
    line = line if comment is None else line[: comment.start()]
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%ckpt: {error}") from error


def _heads(namespace: dict[str, Any]) -> dict[tuple[int, str], tuple[Any, str]]:
    """(saver, thread) -> (graph, newest checkpoint id), for every graph in the notebook."""
    out: dict[tuple[int, str], tuple[Any, str]] = {}
    for name, value in list(namespace.items()):
        if name.startswith("_") or not hasattr(value, "get_state_history"):
            continue
        try:
            timeline = open_timeline(value)
        except (NoHistoryError, TypeError):
            continue
        for info in timeline.threads():
            out[id(timeline.saver), info.id] = (value, info.head)
    return out


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext ckpt_viz` calls."""
    ipython.register_magics(CkptMagics)
