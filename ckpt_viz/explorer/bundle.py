"""The front end's built files, and what stands in when they have not been built."""

from __future__ import annotations

import base64
import functools
import gzip
from pathlib import Path

ASSETS = ("more", "tabs", "viz")
"""Modules that the page asks for when it first needs them."""
OFFLINE = "offline"
"""The module that answers in the kernel's place: of exported pages alone."""
STATIC = Path(__file__).parent / "static"
MISSING = """
function render({ el }) {
  el.textContent = "The Explorer's front end is not built. In the source tree run: " +
    "npm --prefix js ci && npm --prefix js run build. Then restart the kernel.";
}
const root = globalThis.document && document.getElementById("ckpt-viz-root");
if (root) render({ el: root });
export default { render };
"""


def script_text() -> str:
    """The ES module."""
    path = STATIC / "widget.js"
    return path.read_text(encoding="utf-8") if path.is_file() else MISSING


def style_text() -> str:
    """The style sheet."""
    path = STATIC / "widget.css"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@functools.cache
def packed_asset(name: str) -> str:
    """A lazy ES module, gzipped and in base64: half its size, and one message.

    Raises:
        LookupError: there is no such module.
        FileNotFoundError: the front end has not been built.
    """
    if name not in (*ASSETS, OFFLINE):
        raise LookupError(f"No module {name!r} of the page; there are {', '.join(ASSETS)}")
    path = STATIC / f"{name}.js"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} is not built. In the source tree run: npm --prefix js ci && "
            "npm --prefix js run build"
        )
    return base64.b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode("ascii")
