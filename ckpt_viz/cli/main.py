"""The words of the command line, and what its exit codes mean.

0: done. 1: `diff` found a difference, `search` found nothing. 2: it could not be done, and standard
error says why. 130: interrupted. 141: whoever read the output went away. A path or an address is
all that is taken as a source: nothing that it names is imported.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence

from ckpt_viz.cli import changes, commands
from ckpt_viz.cli.demo import demo
from ckpt_viz.cli.paper import Answer, write
from ckpt_viz.cli.sources import CommandError
from ckpt_viz.errors import CkptVizError
from ckpt_viz.timeline.preview import clean
from ckpt_viz.version import __version__

FAILED, INTERRUPTED, NO_READER = 2, 130, 141
REFUSALS = (CommandError, CkptVizError, ValueError, LookupError, OSError, ImportError, TypeError,
            sqlite3.Error)  # fmt: skip
Command = Callable[[argparse.Namespace], Answer]

ABOUT = "See the checkpoints of graph runs: who wrote what, when, and why."
EPILOG = """\
SOURCE is the path of a SQLite file, of a log of debug events or of an exported .json file; the
address of a database or of a LangGraph server; or - for a log on standard input. AT is a step, an
id, the beginning or end of an id, or head (the default).

examples:
  ckpt-viz threads runs.db
  ckpt-viz history runs.db --thread 7
  ckpt-viz show runs.db 3 --path 'messages[-1].content'
  ckpt-viz diff yesterday.db today.jsonl --ignore id
  ckpt-viz search runs.db 'node:tool messages~"refund"' --json | jq '.[].id'
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(
        "ckpt-viz", description=ABOUT, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"ckpt-viz {__version__}")
    made = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    common, source, thread = _bases()

    def add(
        name: str, run: Command, base: argparse.ArgumentParser = thread
    ) -> argparse.ArgumentParser:
        words = (run.__doc__ or "").splitlines()[0]
        found = made.add_parser(name, parents=[base], help=words, description=words)
        found.set_defaults(run=run)
        return found

    _paged(add("threads", commands.threads, source))
    told = add("history", commands.history)
    told.add_argument("--limit", type=_count, help="only the newest")
    told.add_argument("--at", metavar="AT", help="only the branch that ends here")
    shown = add("show", commands.show)
    shown.add_argument("at", nargs="?", metavar="AT")
    shown.add_argument("--path", help="only this value, such as messages[-1].content")
    _sided(add("diff", commands.diff))
    blamed = add("blame", commands.blame)
    blamed.add_argument("path", metavar="PATH", help="such as messages[-1].content")
    blamed.add_argument("--at", metavar="AT")
    add("search", commands.search).add_argument("query", nargs="+", metavar="QUERY")
    exported = add("export", commands.export)
    exported.add_argument("file", metavar="FILE", help="ends with .html, .svg or .json")
    exported.add_argument("--force", action="store_true", help="replace the file")
    add("report", commands.report, source)
    _changing(add("prune", changes.prune))
    copied = add("copy", changes.copy)
    _changing(copied)
    copied.add_argument("target", metavar="TARGET", help="the new thread")
    add("demo", demo, common).add_argument("file", nargs="?", metavar="FILE.html")
    return top


def _bases() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser, argparse.ArgumentParser]:
    """What all commands take, what those with a source take, and those that mean a thread."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON")
    source = argparse.ArgumentParser(add_help=False, parents=[common])
    source.add_argument("source", metavar="SOURCE")
    source.add_argument("--ns", default="", metavar="NS", help="the namespace of a nested graph")
    source.add_argument("--redact", action="append", default=[], metavar="NAME",
                        help="never print this channel or dotted path")  # fmt: skip
    thread = argparse.ArgumentParser(add_help=False, parents=[source])
    thread.add_argument("--thread", "-t", metavar="T", help="else the only thread")
    return common, source, thread


def _paged(found: argparse.ArgumentParser) -> None:
    found.add_argument("--query", default="", help="only ids that hold this")
    found.add_argument("--limit", type=_count)
    found.add_argument("--offset", type=_count, default=0)


def _count(text: str) -> int:
    """A number of rows: none or more.

    >>> _count("3")
    3
    """
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is less than 0")
    return number


def _changing(found: argparse.ArgumentParser) -> None:
    found.add_argument("--write", action="store_true", help="really do it")
    found.add_argument("--dry-run", action="store_true", help="only tell what it would do")


def _sided(found: argparse.ArgumentParser) -> None:
    found.usage = "ckpt-viz diff [options] SOURCE A [B]  |  SOURCE_A SOURCE_B"
    found.add_argument("a", metavar="A", help="a checkpoint, or another source")
    found.add_argument("b", nargs="?", metavar="B", help="a checkpoint (default: the head)")
    found.add_argument("--other-thread", metavar="T", help="the thread of the other source")
    found.add_argument("--at", metavar="AT", help="the tip of this side (two sources)")
    found.add_argument("--other-at", metavar="AT", help="the tip of the other side")
    found.add_argument("--ignore", action="append", default=[], metavar="NAME",
                       help="a channel, key or field that does not count, such as id")  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; gives the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        args = parser().parse_args(argv)
        answer: Answer = args.run(args)
        write(answer, as_json=args.json)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush
        return NO_READER
    except KeyboardInterrupt:
        return INTERRUPTED
    except REFUSALS as error:
        text = error.args[0] if isinstance(error, LookupError) and error.args else error
        print(f"ckpt-viz: {clean(str(text)) or type(error).__name__}", file=sys.stderr)
        return FAILED
    return answer.code


def program() -> int:
    """The program `ckpt-viz`: as `main`, and it ends as others do when its reader goes away."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return main()
