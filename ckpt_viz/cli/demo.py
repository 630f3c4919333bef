"""`ckpt-viz demo`: a small graph is run, forked and run on, and its history shown; all offline."""

from __future__ import annotations

import argparse
import operator
import tempfile
from pathlib import Path
from typing import Annotated, Any, TypedDict

from ckpt_viz.checkpoint.memory import InMemorySaver
from ckpt_viz.cli.paper import Answer
from ckpt_viz.explorer.export import write_export
from ckpt_viz.explorer.session import Session, heading
from ckpt_viz.explorer.static import text_tree
from ckpt_viz.graph import END, START, StateGraph
from ckpt_viz.timeline.open import open_timeline


class Trip(TypedDict, total=False):
    """The demo's state."""

    city: str
    notes: Annotated[list[str], operator.add]


def demo(args: argparse.Namespace) -> Answer:
    """Runs the graph, forks it at its first step, and writes a page to browse."""
    timeline = open_timeline(_graph(), "demo")
    timeline.run({"city": "Paris", "notes": []})
    base = next(row.id for row in timeline.rows() if "plan" in row.nodes)
    timeline.go_on(timeline.update(base, {"city": "Rome"}, "plan"))
    tree = text_tree(timeline.rows(), heading(timeline), timeline.unfinished())
    target = Path(args.file or Path(tempfile.mkdtemp(prefix="ckpt-viz-")) / "demo.html")
    session = Session(timeline, lambda message: None, follow=False)
    try:
        path = write_export(session, target)
    finally:
        session.close()
    ends = f"The old branch went to Paris, the fork to {timeline.snapshot().values['city']}."
    lines = [tree, ends, f"Browse it: {path.as_uri()}", "Try: ckpt-viz history FILE.db"]
    return Answer({"path": str(path), "checkpoints": len(timeline.rows())}, lines)


def _graph() -> Any:
    builder = StateGraph(Trip)
    builder.add_node("plan", lambda s: {"notes": [f"go to {s['city']}"]})
    builder.add_node("hotel", lambda s: {"notes": [f"a hotel in {s['city']}"]})
    builder.add_node("train", lambda s: {"notes": [f"a train to {s['city']}"]})
    builder.add_node("book", lambda s: {"notes": [f"booked {len(s['notes'])} notes"]})
    builder.add_edge(START, "plan").add_edge("plan", "hotel").add_edge("plan", "train")
    builder.add_edge(["hotel", "train"], "book").add_edge("book", END)
    return builder.compile(checkpointer=InMemorySaver(), name="trip")
