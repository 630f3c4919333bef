"""Builds the page's bundle when the package is built or installed.

Owns one rule: the files in `ckpt_viz/explorer/static/` are never older than the sources they were
made from. `SKIP_JS_BUILD=1` leaves whatever is there. npm's output goes to stderr, because a build
front end reads stdout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASSETS = ("widget.js", "widget.css", "more.js", "tabs.js", "offline.js", "viz.js")


class FrontEndBuildHook(BuildHookInterface[Any]):
    """Runs `npm ci` and `npm run build` in `js/` when a source is newer than a built file."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Bring the assets up to date; `version` is "standard" or "editable"."""
        build_front_end(Path(self.root))


def build_front_end(root: Path) -> None:
    """Build `root/js` into `root/ckpt_viz/explorer/static`, if that is needed and allowed."""
    js, static = root / "js", root / "ckpt_viz" / "explorer" / "static"
    if os.environ.get("SKIP_JS_BUILD") == "1":
        say("SKIP_JS_BUILD=1: the front end is left as it is")
    elif not (js / "package.json").is_file():
        missing = [name for name in ASSETS if not (static / name).is_file()]
        say(f"no js/package.json: nothing to build; missing assets: {missing or 'none'}")
    elif is_stale(js, static):
        run_npm(js)
        missing = [name for name in ASSETS if not (static / name).is_file()]
        if missing:
            raise RuntimeError(
                f"`npm run build` in {js} ended well but left no {missing} in {static}"
            )


def is_stale(js: Path, static: Path) -> bool:
    """Whether an asset is missing, or older than the newest file that it is made from."""
    assets = [static / name for name in ASSETS]
    if not all(asset.is_file() for asset in assets):
        return True
    sources = [path for path in (js / "src").rglob("*") if path.is_file()]
    sources += [path for path in js.iterdir() if path.suffix in {".json", ".mjs", ".js", ".ts"}]
    oldest_asset = min(asset.stat().st_mtime for asset in assets)
    return any(source.stat().st_mtime > oldest_asset for source in sources)


def run_npm(js: Path) -> None:
    """Install what the lock file names, unless that is done, and build."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            f"npm is not on PATH, and the front end in {js} must be built: install Node 20 or "
            "newer, or set SKIP_JS_BUILD=1 to install without the Explorer's page"
        )
    lock, installed = js / "package-lock.json", js / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        call([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], js)
        installed.touch()
    call([npm, "run", "build"], js)


def call(command: list[str], cwd: Path) -> None:
    """Run one command with its output on stderr; a failure names the command and the folder."""
    say(" ".join(command[1:]))
    done = subprocess.run(command, cwd=cwd, stdout=sys.stderr.fileno(), check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` in {cwd} ended with code {done.returncode}")


def say(text: str) -> None:
    """One line on stderr."""
    print(f"ckpt-viz front end: {text}", file=sys.stderr, flush=True)
