"""What may go and what must stay when threads are pruned: rules for all savers, over plain rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

STRATEGIES = ("keep_latest", "delete")


def check_strategy(strategy: str) -> None:
    """Refuse an unknown strategy.

    Raises:
        ValueError: it is none of `STRATEGIES`.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"Unknown strategy {strategy!r}: use one of {', '.join(STRATEGIES)}.")


def to_keep(
    parents: Mapping[str, str | None],
    labelled: Iterable[str],
    rebuilt: Callable[[str], str | None],
) -> set[str]:
    """The checkpoints of one namespace that ``keep_latest`` keeps.

    Args:
        parents: the parent of each checkpoint.
        labelled: checkpoints with a label, which stay.
        rebuilt: the farthest ancestor that a checkpoint's values are rebuilt from, if any: a
            channel of LangGraph's that stores no value has only its ancestors' writes.
    """
    if not parents:
        return set()
    keep = {max(parents), *(id_ for id_ in labelled if id_ in parents)}
    for id_ in list(keep):
        end = rebuilt(id_)
        for at in path_of(parents, id_) if end is not None else ():
            keep.add(at)
            if at == end:
                break
    return keep


def farthest_needed(
    path: Iterable[str],
    empty: set[str],
    writes: Callable[[str], set[str]],
    filled: Callable[[str], set[str]],
) -> str | None:
    """The farthest ancestor whose writes a checkpoint's valueless channels are rebuilt from.

    A channel that was emptied has no writes in the step that emptied it. One that is rebuilt has:
    its writes count back to the nearest ancestor that holds a value of it.

    Args:
        path: the checkpoint's ancestors, nearest first.
        empty: its channels that have a version and no value.
        writes: the channels that a checkpoint's pending writes are for.
        filled: the channels of a checkpoint that hold a value.
    """
    wanted, rebuilt = set(empty), set[str]()
    found = None
    for id_ in path:
        if not wanted:
            break
        wrote, full = writes(id_), filled(id_)
        rebuilt |= wanted & wrote
        if wanted & rebuilt & (wrote | full):
            found = id_
        wanted -= full
    return found


def path_of(parents: Mapping[str, str | None], id_: str) -> Iterator[str]:
    """The ancestors of a checkpoint that are there, nearest first."""
    at = parents.get(id_)
    while at is not None and at in parents:
        yield at
        at = parents[at]
