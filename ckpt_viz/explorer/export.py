"""Files that keep a history without a kernel: one HTML page, an SVG, or JSON.

The page holds the widget's own bundle, which finds the data inside the page and answers itself from
it: so it browses like the Explorer, offline; acting is refused with its reason.
"""

from __future__ import annotations

import contextlib
import html
import json
import re
from pathlib import Path
from typing import Any

from ckpt_viz.explorer.bundle import ASSETS, OFFLINE, packed_asset, script_text, style_text
from ckpt_viz.explorer.collected import collect
from ckpt_viz.explorer.dot import dot_tree
from ckpt_viz.explorer.panels import Json
from ckpt_viz.explorer.session import Session
from ckpt_viz.explorer.static import svg_tree
from ckpt_viz.timeline.history_file import history_json

FORMATS = ("html", "svg", "dot", "json")


def write_export(session: Session, path: str | Path) -> Path:
    """Writes the history to `path`; the form goes by its ending: .html, .svg, .dot or .json."""
    target = Path(path).expanduser()
    kind = target.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ValueError(f"Can't export to {str(target)!r}: end it with .html, .svg, .dot or .json")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"Can't export to {str(target)!r}: there is no folder {str(target.parent)!r}"
        )
    if kind == "svg":
        rows = session.timeline.rows()
        waits = session.timeline.unfinished()
        text = svg_tree(rows, session.title, waits, not session.redact, notes=session.notes())
    elif kind == "dot":
        waits = session.timeline.unfinished()
        text = dot_tree(session.timeline.rows(), session.title, waits, session.notes())
    elif kind == "json":
        data = session.hidden({**collect(session), "history": history(session)})
        text = json.dumps(data, allow_nan=False, indent=1)
    else:
        text = page(_with_assets(session.hidden(collect(session))), session.title)
    target.write_text(text, encoding="utf-8")
    return target.resolve()


def _with_assets(data: Json) -> Json:
    """The data with the modules that it loads; one that was not built is not there."""
    drawn = any(one["answers"]["graph"]["dot"] for one in (data, *data["spaces"].values()))
    found: Json = {}
    for name in (*ASSETS, OFFLINE):
        if name == "viz" and not drawn:
            continue
        with contextlib.suppress(FileNotFoundError):  # the page says what is missing
            found[f"asset {name}"] = {"gzip": packed_asset(name)}
    return {**data, "answers": {**data["answers"], **found}}


def history(session: Session) -> Json:
    """The states themselves, without what is redacted: what `explore("run.json")` opens again."""
    found = history_json(session.timeline, session.redact.without)
    for space in found["spaces"]:
        space["values"] = session.redact.scrubbed(space["values"], values=True)
    return found


def safe_json(data: Any) -> str:
    """JSON that can stand inside a `<script>` element: no tag can begin or end in it."""
    text = json.dumps(data, allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def inline_script(bundle: str) -> str:
    """The ES module as it can stand inside a `<script>` element."""
    return re.sub(r"</(script)", r"<\\/\1", bundle, flags=re.IGNORECASE)


def page(data: Json, title: str) -> str:
    """The one-file page."""
    policy = (
        "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
        "style-src 'unsafe-inline'; img-src data: blob:"
    )
    style = re.sub(r"</(style)", r"<\\/\1", style_text(), flags=re.IGNORECASE)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>body{{margin:8px}}{style}</style></head>"
        '<body><div id="ckpt-viz-root"></div>'
        f'<script type="application/json" id="ckpt-viz-data">{safe_json(data)}</script>'
        f'<script type="module">{inline_script(script_text())}</script></body></html>'
    )
