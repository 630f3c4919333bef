"""Copies what one sees or did as code: a checkpoint, a difference, or an act."""

from __future__ import annotations

from ckpt_viz.explorer.origin import GraphOrigin
from ckpt_viz.explorer.session import Session
from ckpt_viz.timeline.code import Teller
from ckpt_viz.timeline.literal import NoSourceError
from ckpt_viz.timeline.rebuild import Tester
from ckpt_viz.timeline.records import Act

Meant = Act | tuple[str | None, str] | str


def code_of(session: Session, as_test: bool, meant: Meant) -> str:
    """The code of a checkpoint (its id), a difference (two ids) or an act.

    Raises:
        NoSourceError: a value or the graph has no source; or values are redacted, and would show.
    """
    if session.redact and as_test:
        raise NoSourceError(
            "Values are redacted here, and a test would show them: copy as Python instead"
        )
    if isinstance(meant, Act) and session.redact.within(meant.values):
        raise NoSourceError("The values of this act are redacted, or a part of them is")
    timeline = session.timeline
    if as_test:
        tester = Tester(timeline, GraphOrigin(timeline.graph))
        if isinstance(meant, Act):
            return tester.test_of_act(meant)
        return (
            tester.test_of_diff(*meant)
            if isinstance(meant, tuple)
            else tester.test_of_selection(meant)
        )
    teller = Teller(timeline)
    if isinstance(meant, Act):
        return teller.python_of_act(meant)
    if isinstance(meant, tuple):
        return teller.python_of_diff(*meant)
    return teller.python_of_selection(meant)
