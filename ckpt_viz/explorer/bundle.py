"""The front end's built files, and what stands in when they have not been built."""

from __future__ import annotations

from pathlib import Path

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
