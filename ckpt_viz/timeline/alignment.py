"""Two histories side by side: which step of one is which step of the other, and where they part.

Works on rows (and on states, where both can be read): two branches of one thread, two threads, a
file and a run of today. Steps are paired by the nodes that ran, in order; where other nodes ran at
the same place the two steps face each other. Nothing here changes a history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ckpt_viz.timeline.alike import alike
from ckpt_viz.timeline.records import Row

CELL_LIMIT = 1_000_000
"""Above so many pairs of candidates (rows times rows) steps are paired by number alone."""

GAP = 2
FACING = 3  # other nodes at the same place: dearer than one gap, cheaper than two
Kind = Literal["", "nodes", "values", "end"]
Label = tuple[str, ...]
Differ = Callable[[Row, Row], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two steps that belong together; None where one side has no such step.

    `nodes` tells whether the same nodes ran; `differs` names the channels with other values.
    """

    a: Row | None
    b: Row | None
    nodes: bool
    differs: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """The same nodes ran, and left the same values (as far as states were compared)."""
        return self.nodes and not self.differs


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two branches step by step, oldest first.

    `first` is the index in `pairs` of the first divergence (None: there is none) and `kind` what
    it is: other nodes ran, the same nodes left other values, or one side ended. `ancestor` is the
    newest checkpoint that both branches share, for two branches of one thread.
    """

    pairs: tuple[Pair, ...]
    first: int | None
    kind: Kind
    ancestor: str | None
    text: str


class Reader(Protocol):
    """What `compare` needs of a timeline."""

    def newest_first(self) -> Iterator[Row]:
        """All rows, the newest first."""
        ...

    def snapshot(self, checkpoint_id: str | None = None) -> Any:
        """The state snapshot."""
        ...


def branch(rows: Sequence[Row], tip: str | None = None) -> list[Row]:
    """The rows from the root to `tip` (None: to the newest), oldest first.

    Raises:
        LookupError: no row has this id.
    """
    known = {row.id: row for row in rows}
    if tip is None:
        tip = rows[-1].id if rows else None
    elif tip not in known:
        raise LookupError(f"No checkpoint {tip!r} among the {len(rows)} rows")
    out: dict[str, Row] = {}
    while tip is not None and tip in known and tip not in out:
        out[tip] = known[tip]
        tip = known[tip].parent_id
    return list(reversed(out.values()))


def align(a: Sequence[Row], b: Sequence[Row], differ: Differ | None = None) -> Alignment:
    """Pairs the rows of two branches (each oldest first, as `branch` gives them).

    `differ` names the channels whose values differ between two rows; without it only the nodes
    count. Rows with equal ids are the same checkpoint and are not compared.
    """
    shared = _shared(a, b)
    labels_a, labels_b = [_label(r) for r in a[shared:]], [_label(r) for r in b[shared:]]
    places = [(i, i) for i in range(shared)]
    for i, j in _places(labels_a, labels_b, a[shared:], b[shared:]):
        places.append((-1 if i < 0 else i + shared, -1 if j < 0 else j + shared))
    pairs = [_pair(a[i] if i >= 0 else None, b[j] if j >= 0 else None, differ) for i, j in places]
    first = next((k for k, pair in enumerate(pairs) if not pair.same), None)
    kind = "" if first is None else _kind(pairs[first])
    ancestor = a[shared - 1].id if shared else None
    text = "no difference" if first is None else _told(pairs[first])
    return Alignment(tuple(pairs), first, kind, ancestor, text)


def compare(
    a: Reader,
    b: Reader,
    tip_a: str | None = None,
    tip_b: str | None = None,
    ignore: Sequence[str] = (),
) -> Alignment:
    """Aligns two branches and compares their states; the tips default to the newest checkpoints.

    `a` and `b` may be the same timeline. `ignore` names channels, keys and fields that do not
    count, such as the random ids of messages.

    Raises:
        LookupError: a tip is no checkpoint of its history.
    """

    def differ(left: Row, right: Row) -> Sequence[str]:
        return differing(a.snapshot(left.id).values, b.snapshot(right.id).values, ignore)

    left, right = ([*reversed([*reader.newest_first()])] for reader in (a, b))
    return align(branch(left, tip_a), branch(right, tip_b), differ)


def differing(before: Any, after: Any, ignore: Sequence[str] = ()) -> list[str]:
    """The channels whose values differ; a state that is no dict is one channel, "__root__".

    >>> differing({"a": 1, "b": [2]}, {"a": 1, "b": (3,), "c": 0})
    ['b', 'c']
    """
    if not isinstance(before, dict) or not isinstance(after, dict):
        return [] if alike(before, after, ignore) else ["__root__"]
    names = {**before, **after}
    return [
        str(name) for name in names if name not in ignore and _parts(before, after, name, ignore)
    ]


def _parts(before: Any, after: Any, name: Any, ignore: Sequence[str]) -> bool:
    """Whether a channel differs. An empty container counts as none: some sources tell only what
    was written, others what a reducer starts with as well.
    """
    if (name in before) != (name in after):
        there = before[name] if name in before else after[name]
        return not (isinstance(there, list | tuple | dict | set) and not there)
    return not alike(before[name], after[name], ignore)


def _shared(a: Sequence[Row], b: Sequence[Row]) -> int:
    """How many rows at the start are the very same checkpoints."""
    k = 0
    while k < min(len(a), len(b)) and a[k].id == b[k].id:
        k += 1
    return k


def _label(row: Row) -> Label:
    return tuple(sorted(row.nodes)) or (f":{row.source}",)


def _pair(a: Row | None, b: Row | None, differ: Differ | None) -> Pair:
    if a is None or b is None:
        return Pair(a, b, False)
    if a.id == b.id:
        return Pair(a, b, True)
    return Pair(a, b, _label(a) == _label(b), tuple(differ(a, b)) if differ else ())


def _kind(pair: Pair) -> Kind:
    if pair.a is None or pair.b is None:
        return "end"
    return "values" if pair.nodes else "nodes"


def _told(pair: Pair) -> str:
    if pair.a is None or pair.b is None:
        row = pair.a or pair.b
        assert row is not None
        side = "A" if pair.b is None else "B"
        return f"only {side} has {_what(row)} at step {row.step}"
    if not pair.nodes:
        return f"step {pair.a.step}: {_what(pair.a)} in A, {_what(pair.b)} in B"
    channels = ", ".join(pair.differs)
    return f"step {pair.a.step}: {_what(pair.a)} left other values in {channels}"


def _what(row: Row) -> str:
    names = [n for n in dict.fromkeys(row.nodes) if n != "__start__"]
    return ", ".join(names) or {"loop": "the start", "fork": "a copy"}.get(row.source, row.source)


def _places(
    a: Sequence[Label], b: Sequence[Label], rows_a: Sequence[Row], rows_b: Sequence[Row]
) -> list[tuple[int, int]]:
    """Pairs of indexes, -1 for none. Equal ends are paired first: the rest is a small table."""
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    n, m = len(a) - head - tail, len(b) - head - tail
    if n * m > CELL_LIMIT:
        middle = _by_step(rows_a[head : head + n], rows_b[head : head + m])
    else:
        middle = _by_nodes(a[head : head + n], b[head : head + m])
    out = [(i, i) for i in range(head)]
    out += [(i if i < 0 else i + head, j if j < 0 else j + head) for i, j in middle]
    return out + [(head + n + k, head + m + k) for k in range(tail)]


def _by_step(a: Sequence[Row], b: Sequence[Row]) -> list[tuple[int, int]]:
    out, i, j = [], 0, 0
    while i < len(a) or j < len(b):
        left = i < len(a) and (j == len(b) or a[i].step <= b[j].step)
        right = j < len(b) and (i == len(a) or b[j].step <= a[i].step)
        out.append((i if left else -1, j if right else -1))
        i, j = i + left, j + right
    return out


def _by_nodes(a: Sequence[Label], b: Sequence[Label]) -> list[tuple[int, int]]:
    """The cheapest way to turn one list of labels into the other."""
    n, m = len(a), len(b)
    cost = [[GAP * j for j in range(m + 1)]]
    for i in range(1, n + 1):
        above, line = cost[-1], [GAP * i]
        for j in range(1, m + 1):
            facing = above[j - 1] + (0 if a[i - 1] == b[j - 1] else FACING)
            line.append(min(facing, above[j] + GAP, line[j - 1] + GAP))
        cost.append(line)
    out, i, j = [], n, m
    while i or j:
        step = 0 if i and j and a[i - 1] == b[j - 1] else FACING
        if i and j and cost[i][j] == cost[i - 1][j - 1] + step:
            i, j = i - 1, j - 1
            out.append((i, j))
        elif i and cost[i][j] == cost[i - 1][j] + GAP:
            i -= 1
            out.append((i, -1))
        else:
            j -= 1
            out.append((-1, j))
    return out[::-1]
