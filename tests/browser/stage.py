"""A page with the built bundle and a real `Explorer` behind it, without a notebook server.

Every message is the Python side's own, made while the page waits; only the comm between the two is
played: the page hands its messages to this process, and fetches what came back. It starts in a
tenth of a second where a notebook and its kernel take five.
"""

from __future__ import annotations

import json
import queue
import re
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Locator, Page

from ckpt_viz.explorer import Explorer
from ckpt_viz.explorer.bundle import script_text, style_text

URL = "http://localhost/stage"
HTML = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">{head}<title>stage</title>'
    "<style>body{{margin:8px;background:{paper}}}{style}</style></head><body>"
    '<main id="here"></main></body></html>'
)
PAPER = {"light": "#fff", "dark": "#111", "auto": "#1e1e1e"}
START = """async ([source, traits]) => {
  const listeners = new Map();
  const emit = (name, ...args) => [...(listeners.get(name) ?? [])].forEach((fn) => fn(...args));
  const model = {
    get: (name) => traits[name],
    on: (name, fn) => listeners.set(name, new Set([...(listeners.get(name) ?? []), fn])),
    off: (name, fn) => listeners.get(name)?.delete(fn),
    send: (content) => {
      if (window.cut) throw new Error("the comm is closed");
      void window.toKernel(JSON.stringify(content));
    },
  };
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  void (async () => {
    for (;;) {
      for (const text of await window.fromKernel()) emit("msg:custom", JSON.parse(text), []);
      await wait(15);
    }
  })();
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const widget = (await import(url)).default();
  widget.initialize?.({ model });
  window.stage = {
    emit,
    listeners: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
    show() {
      const el = document.createElement("div");
      const stop = new AbortController();
      document.getElementById("here").append(el);
      const done = widget.render({ model, el, signal: stop.signal });
      return () => { stop.abort(); done(); el.remove(); };
    },
  };
  window.hide = window.stage.show();
}"""


class Stage:
    """One Explorer on a page of its own."""

    def __init__(self, page: Page, explorer: Explorer, *, head: str = "", theme: str = "light"):
        """Shows the Explorer; `head` goes into the page's head."""
        self.page, self.explorer = page, explorer
        self.errors: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.strangers: list[str] = []
        self._back: queue.SimpleQueue[str] = queue.SimpleQueue()
        explorer.send = self._send  # type: ignore[method-assign]
        explorer.theme = theme
        self._html = HTML.format(head=head, style=style_text(), paper=PAPER[theme])
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        page.route("**/*", self._serve)
        page.expose_function("toKernel", self._to_kernel)
        page.expose_function("fromKernel", self._from_kernel)
        page.goto(URL)
        page.evaluate(START, [script_text(), {"theme": theme, "height": explorer.height}])
        self.root.and_(page.locator("[aria-busy=false]")).wait_for()

    def _send(self, content: Any, buffers: Any = None) -> None:
        self._back.put(json.dumps(content, allow_nan=False))

    def _to_kernel(self, text: str) -> None:
        message = json.loads(text)
        self.asked.append(message)
        self.explorer._handle_custom_msg(message, [])

    def _from_kernel(self) -> list[str]:
        out: list[str] = []
        while not self._back.empty():
            out.append(self._back.get())
        return out

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _serve(self, route: Any) -> None:
        url = route.request.url
        if url == URL:
            route.fulfill(body=self._html, content_type="text/html; charset=utf-8")
        elif url.startswith(("blob:", "data:")):
            route.continue_()
        elif url.endswith("/favicon.ico"):
            route.fulfill(status=204)
        else:
            self.strangers.append(url)
            route.abort()

    @property
    def root(self) -> Locator:
        """The first view."""
        return self.page.locator(".ckpt-viz").first

    @property
    def rows(self) -> Locator:
        """The rows of checkpoints."""
        return self.root.locator("[role=row][data-checkpoint-id]")

    def settle(self) -> None:
        """Wait until nothing that was asked is open."""
        self.root.and_(self.page.locator("[aria-busy=false]")).wait_for()

    def select(self, node: str) -> None:
        """Click the newest row of this node, and wait for its panels."""
        if self.button("Back").is_visible():  # narrow: the tree is behind the panels
            self.button("Back").click()
        header = self.page.locator("[role=rowheader]", has_text=re.compile(rf"\b{node}\b"))
        self.root.locator("[role=row]").filter(has=header).first.click()
        self.settle()

    def tab(self, name: str) -> Locator:
        """Open a tab; its panel."""
        self.root.get_by_role("tab", name=name, exact=True).click()
        self.settle()
        return self.root.get_by_role("tabpanel", name=name)

    @property
    def tabs(self) -> Sequence[str]:
        """The names of all tabs."""
        return self.root.get_by_role("tab").all_text_contents()

    def button(self, name: str) -> Locator:
        """A button by its exact name."""
        return self.root.get_by_role("button", name=name, exact=True)

    def sheet(self, name: str) -> Locator:
        """Open the sheet behind a button of the toolbar."""
        self.button(name).click()
        dialog = self.root.get_by_role("dialog", name=name)
        dialog.wait_for()
        return dialog
