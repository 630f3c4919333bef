"""The table of threads as text and as a picture: what an Explorer without a thread leaves behind.

Rules: thread ids and states only, no values; the last used first, at most `THREADS` of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from xml.sax.saxutils import escape

from ckpt_viz.explorer.static import INK, LINE, WORDS
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.records import ThreadInfo

THREADS = 50
UNKNOWN = -2
"""The last step where none is known yet."""


def _told(info: ThreadInfo) -> str:
    words = [f"{info.checkpoints} checkpoints"]
    if info.last_step > UNKNOWN:
        words.append(f"last step {info.last_step}")
    if info.status in ("error", "interrupt"):
        words.append(WORDS[info.status])
    return clean(f"{info.id}  {', '.join(words)}")


def _heading(title: str, count: int) -> str:
    return clean(f"{title}: {count} threads")


def text_threads(threads: Sequence[ThreadInfo], title: str, count: int) -> str:
    """The threads as text, of `count` there are."""
    lines = [_heading(title, count), *map(_told, threads)]
    if count > len(threads):
        lines.append(f"… {count - len(threads)} more")
    if not threads:
        lines.append("no threads yet: run the graph with a thread_id")
    return "\n".join(lines)


def svg_threads(threads: Sequence[ThreadInfo], title: str, count: int) -> str:
    """As `text_threads`, drawn."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    head, *lines = text_threads(threads, title, count).split("\n")
    height = 34 + LINE * len(lines)
    words = "".join(
        f'<text x="8" y="{44 + LINE * at}" fill="{INK}">{escape(line[:110])}</text>'
        for at, line in enumerate(lines)
    )
    return (
        '<svg class="ckpt-viz-tree" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 720 {height}" width="720" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="12">'
        f"<title>{escape(head)}, {stamp}</title>"
        f'<text x="8" y="18" fill="{INK}" font-weight="600">{escape(head[:90])}, {stamp}</text>'
        f"{words}</svg>"
    )
