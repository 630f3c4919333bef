"""The IPython magics `%ckpt` and `%%ckpt`."""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from ckpt_viz.explorer.session import heading
from ckpt_viz.explorer.static import text_tree
from ckpt_viz.explorer.widget import Explorer, explore
from ckpt_viz.timeline.acts import GraphTimeline
from ckpt_viz.timeline.alignment import branch
from ckpt_viz.timeline.choosing import ChoiceError, choose_checkpoint, choose_thread
from ckpt_viz.timeline.langgraph import is_langgraph
from ckpt_viz.timeline.open import open_recorded, open_timeline
from ckpt_viz.timeline.source import NoHistoryError

# What each sub-command takes after its source; "" is the magic without one.
COMMANDS: dict[str, tuple[str, ...]] = {
    "": (),
    "threads": (),
    "history": (),
    "diff": ("A", "B"),
    "export": ("FILE",),
}
AT = ("", "history")
"""Commands that take a place in the history."""
PLACE = "[--thread T] [--ns N] [--graph G [--write]]"
NAMED = 50
FILE_ENDINGS = (".db", ".sqlite", ".sqlite3", ".json", ".jsonl", ".log", ".txt")
WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+""")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        usage = " ".join(self.format_usage().split()[1:])
        raise UsageError(f"{self.prog}: {message}. Usage: {usage}. See %ckpt -h for examples.")


def _parse(command: str, words: list[str]) -> argparse.Namespace:
    names = ("SOURCE", *COMMANDS[command])
    prog = f"%ckpt {command}".rstrip()
    options = "[--graph G [--write]]" if command == "threads" else PLACE
    if command in AT:
        options = f"[--at ID|STEP] {options}"
    if not command:
        options += " [--record]"
    parser = _Parser(prog=prog, usage=f"%(prog)s {' '.join(names)} {options}", add_help=False)
    for name in names:
        parser.add_argument(name.lower(), metavar=name)
    if command != "threads":
        parser.add_argument("--thread", "-t")
        parser.add_argument("--ns", default="")
    if command in AT:
        parser.add_argument("--at")
    parser.set_defaults(thread=None, ns="", at=None)
    parser.add_argument("--graph")
    parser.add_argument("--write", action="store_true")
    if not command:
        parser.add_argument("--record", action="store_true")
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

        %ckpt SOURCE [--thread T] [--ns N] [--at ID|STEP] [--graph G [--write]] [--record]
        %ckpt threads SOURCE            the threads that a saver holds
        %ckpt history SOURCE            the tree as text, newest first; --at: the branch up to there
        %ckpt diff SOURCE A B           what changed from A to B (ids or steps)
        %ckpt export SOURCE FILE        .html (browsable, offline), .svg, .dot or .json
        %%ckpt                          runs its cell, then explores each graph that ran in it;
                                        Explorers of a graph that the cell made anew go on with it

        --record shows a graph that has no checkpointer: what is run there is kept in memory.
        SOURCE is a Python expression for a compiled graph, a saver or a manager of sessions, the
        path of a SQLite file, of a log or of an exported .json, or the address of a database or a
        LangGraph server.
        A saver, file or address alone is read-only; --graph G gives it the graph to act with
        (a server has its own), and a file or address --write the leave to.

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
        if "://" in expression:
            return expression
        is_path = expression.endswith(FILE_ENDINGS)
        if (is_path or "/" in expression) and Path(expression).expanduser().is_file():
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
        if graph is not None and not hasattr(graph, "get_state_history"):
            kind = type(graph).__name__
            raise UsageError(f"%ckpt: --graph {args.graph} is no compiled graph but of type {kind}")
        try:
            source, write = self._value(args.source), args.write or None
            timeline = open_timeline(source, args.thread, args.ns, graph, write=write)
        except NoHistoryError as error:
            offer = f"Or record runs in memory, from here on: %ckpt {args.source} --record"
            raise UsageError(f"%ckpt: {error} {offer}") from error
        except (ValueError, TypeError, OSError) as error:
            raise UsageError(f"%ckpt: {error}") from error
        if timeline.thread_id is None:
            threads = timeline.threads(limit=2)
            if len(threads) == 1:
                return timeline.at(threads[0].id, args.ns)
        return timeline

    def _explore(self, args: argparse.Namespace) -> Explorer:
        timeline = self._record(args) if args.record else self._open(args)
        if args.ns or (args.at is not None and timeline.thread_id is None):
            timeline = _chosen(timeline, args)
        at = int(args.at) if args.at and args.at.lstrip("-").isdigit() else args.at
        try:
            explorer = explore(timeline, at=at)
        except (LookupError, ValueError) as error:
            raise UsageError(f"%ckpt: {error}") from error
        self._remember(args.source, explorer)
        return explorer

    def _record(self, args: argparse.Namespace) -> GraphTimeline:
        """A graph on a scratch saver, which keeps what is run from its Explorer."""
        graph = self._value(args.source)
        if not hasattr(graph, "get_state_history"):
            raise UsageError(f"%ckpt --record: {args.source} is no compiled graph")
        return open_recorded(graph, args.thread)

    # -- new code, old history -----------------------------------------------------------------

    @property
    def _opened(self) -> dict[str, WeakKeyDictionary[Explorer, Any]]:
        """Variable -> the Explorers that were opened for it, each with the graph it held then."""
        opened: dict[str, WeakKeyDictionary[Explorer, Any]]
        opened = self.__dict__.setdefault("_by_name", {})
        return opened

    def _remember(self, name: str, explorer: Explorer) -> None:
        if name in self._shell.user_ns:
            held = self._opened.setdefault(name, WeakKeyDictionary())
            held[explorer] = self._shell.user_ns[name]

    def _adopt(self) -> list[str]:
        """Gives graphs that were made anew to the Explorers of their names; what to say of it."""
        said: dict[str, None] = {}
        for name, explorers in self._opened.items():
            new = self._shell.user_ns.get(name)
            if not hasattr(new, "get_state_history"):
                continue
            for explorer, graph in list(explorers.items()):
                same = is_langgraph(new) == is_langgraph(graph)  # no engine takes over the other's
                if new is graph or not same or explorer.comm is None:
                    continue
                explorer.graph = explorers[explorer] = new
                news = f"the Explorer of {name} goes on with the new code{explorer.changes}"
                said[f"%%ckpt: {news}"] = None
        return list(said)

    def _one(self, args: argparse.Namespace) -> GraphTimeline:
        return _chosen(self._open(args), args)

    def _threads(self, words: list[str]) -> None:
        threads = self._open(_parse("threads", words)).threads()
        for info in threads:
            print(f"{info.id}  {info.checkpoints} checkpoints, last step {info.last_step}")
        if not threads:
            print("no threads yet: run the graph with a thread_id")

    def _history(self, words: list[str]) -> None:
        args = _parse("history", words)
        timeline = self._one(args)
        rows, waits, notes = timeline.rows(), timeline.unfinished(), timeline.labels()
        if args.at is not None:
            try:
                rows, waits = branch(rows, choose_checkpoint(timeline, args.at)), []
            except ChoiceError as error:
                raise UsageError(f"%ckpt: {error}") from error
        print(text_tree(rows, heading(timeline), waits, notes=notes))

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
            return choose_checkpoint(explorer.timeline, name)
        except ChoiceError as error:
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
        said = self._adopt()
        for line in said:
            print(line)
        ran = False
        for (key, thread), (name, head) in after.items():
            known = before.get((key, thread))
            if known is None or known[1] != head:
                ran = True
                explorer = explore(self._shell.user_ns[name], thread)
                self._remember(name, explorer)
                display(explorer)  # type: ignore[no-untyped-call]
        if result.error_in_exec is None and not ran and not said:
            print("%%ckpt: no graph with a checkpointer ran in this cell")


def _chosen(timeline: GraphTimeline, args: argparse.Namespace) -> GraphTimeline:
    """The thread and namespace that are meant."""
    try:
        return choose_thread(timeline, args.thread, args.ns)
    except ChoiceError as error:
        raise UsageError(f"%ckpt: {error}") from error


def _words(line: str) -> list[str]:
    """The words of a line without its comment; a `#` inside a word or in quotes is no comment."""
    comment = next((word for word in WORD.finditer(line) if word[0][0] == "#"), None)
    line = line if comment is None else line[: comment.start()]
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%ckpt: {error} in {line!r}") from error


def _heads(namespace: dict[str, Any]) -> dict[tuple[int, str], tuple[str, str]]:
    """(saver, thread) -> (variable, newest checkpoint id), for every graph in the notebook."""
    out: dict[tuple[int, str], tuple[str, str]] = {}
    for name, value in list(namespace.items()):
        if name.startswith("_") or not hasattr(value, "get_state_history"):
            continue
        try:
            timeline = open_timeline(value)
        except (NoHistoryError, TypeError):
            continue
        for info in timeline.threads(limit=NAMED):  # the last used first: a cell runs few
            out[id(timeline.saver), info.id] = (name, info.head)
    return out


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext ckpt_viz` calls."""
    ipython.register_magics(CkptMagics)
