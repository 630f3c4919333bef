"""How a run begins: one table. Computed once, before the first superstep; nothing asks again."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ckpt_viz.constants import INTERRUPT, RESUME, START
from ckpt_viz.errors import EmptyInputError, NothingToResumeError
from ckpt_viz.pregel.pending import PendingWrite, open_interrupts
from ckpt_viz.types import Command

_INTERRUPT_ID = re.compile(r"[0-9a-f]{32}")


class Entry(NamedTuple):
    """What the first superstep starts from.

    ``resuming``: go on from the checkpoint instead of taking new input. ``replaying``: finished
    tasks of the first superstep run again. ``forking``: a fork checkpoint is saved first.
    ``travelling``: nested graphs begin from what they had then. ``dropped``: kinds of pending
    write that are forgotten.
    """

    resuming: bool
    replaying: bool
    forking: bool
    travelling: bool
    dropped: frozenset[str]


class Found(NamedTuple):
    """How the checkpoint to start from was found.

    ``addressed``: by its id, or as that of a time travel; ``newest``: it is the newest one.
    ``told``: the graph is nested in one that goes on, so it goes on too.
    """

    addressed: bool = False
    newest: bool = True
    told: bool = False


def entry_of(
    value: Any, found: Found, has_state: bool, source: str, *, wanted: Any = START
) -> Entry:
    """The entry for an input, and for what the loaded checkpoint is; ``wanted`` takes the input.

    >>> entry_of(None, Found(addressed=True, newest=False), True, "loop").forking
    True
    >>> entry_of({"x": 1}, Found(), True, "loop").resuming
    False

    Raises:
        EmptyInputError: no input, and no checkpoint to go on from.
    """
    command = isinstance(value, Command)
    answering = command and value.answers
    addressed, newest = found.addressed, found.newest
    resuming = has_state and (found.told or value is None or command)
    if not resuming and value is None:
        raise EmptyInputError(
            f"Received no input for {wanted}\nPass an input, or the config of a thread that has "
            "a checkpoint to go on from."
        )
    travelling = addressed and not answering
    replaying = travelling or (addressed and not newest)
    forking = resuming and travelling and (source not in ("update", "fork") or not newest)
    dropped = {RESUME} if travelling else set()
    if forking:
        dropped.add(INTERRUPT)
    return Entry(resuming, replaying, forking, travelling and resuming, frozenset(dropped))


def is_answer_map(resume: Any) -> bool:
    """Whether an answer is a map by interrupt ids: a dictionary with no other keys."""
    return (
        isinstance(resume, dict)
        and bool(resume)
        and all(isinstance(k, str) and _INTERRUPT_ID.fullmatch(k) for k in resume)
    )


def answers_of(resume: Any, pending: list[PendingWrite], has_next: bool) -> dict[str, Any] | None:
    """A map of answers by interrupt id, or None when ``resume`` is a single answer.

    Raises:
        NothingToResumeError: no question is open, and nothing is left to run.
        RuntimeError: one answer for several open questions, or a map with an unknown id.
    """
    asked = open_interrupts(pending)
    ids = {one.id for ones in asked.values() for one in ones}
    by_id = is_answer_map(resume)
    if not ids and not has_next:
        raise NothingToResumeError(
            "Command(resume=…) has nothing to answer: no interrupt is open and no node is next. "
            "Look at get_state(config).interrupts, or pass an input to start anew."
        )
    if by_id:
        unknown = sorted(set(resume) - ids)
        if unknown:
            raise RuntimeError(
                f"No open interrupt has the id {', '.join(unknown)}. "
                f"Open: {', '.join(sorted(ids)) or 'none'}."
            )
        return dict(resume)
    if len(ids) > 1:
        raise RuntimeError(
            "When there are multiple pending interrupts, you must specify the interrupt id when "
            f"resuming: Command(resume={{id: answer}}). Open: {', '.join(sorted(ids))}."
        )
    return None
