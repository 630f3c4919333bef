"""The structural difference of two values, aware of ids: one message added is one part added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ckpt_viz.timeline.children import items
from ckpt_viz.timeline.preview import same, short, type_name

PART_LIMIT = 400
TEXT_LIMIT = 600


@dataclass(frozen=True, slots=True)
class Part:
    """One difference. `n` counts equal children for the op `same`."""

    op: Literal["add", "del", "change", "same"]
    path: str
    before: str | None = None
    after: str | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """All differences of two values, with a summary in words."""

    summary: str
    parts: tuple[Part, ...]


def diff_values(before: Any, after: Any) -> Diff:
    """Compares two values, part by part.

    >>> diff_values({"a": 1, "b": 2}, {"a": 1, "b": 3}).summary
    '1 changed'
    """
    parts: list[Part] = []
    _walk(before, after, "", parts, 0)
    return Diff(_summary(parts), tuple(parts[:PART_LIMIT]))


def _summary(parts: list[Part]) -> str:
    words = {"add": "added", "del": "removed", "change": "changed"}
    counts = {op: sum(p.op == op for p in parts) for op in words}
    told = [f"{counts[op]} {word}" for op, word in words.items() if counts[op]]
    if len(parts) > PART_LIMIT:
        told.append(f"the first {PART_LIMIT} shown")
    return ", ".join(told) or "no difference"


def _text(value: Any) -> str:
    shown = items(value)
    if shown is None or not shown:
        return short(value)[0][:TEXT_LIMIT]
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        inner = ", ".join(_named(value, key, child) for key, _, child in shown[:12])
        return (f"{type_name(value)}: {inner}" + (", …" if len(shown) > 12 else ""))[:TEXT_LIMIT]
    return f"{type_name(value)}: {short(value)[0]}"[:TEXT_LIMIT]


def _named(value: Any, key: str, child: Any) -> str:
    text = short(child)[0][:120]
    return f"{key}: {text}" if isinstance(value, Mapping) else text


def _walk(a: Any, b: Any, path: str, parts: list[Part], depth: int) -> None:
    if same(a, b):
        return
    if isinstance(a, list | tuple) and isinstance(b, list | tuple) and type(a) is type(b):
        _walk_list(a, b, path, parts, depth)
        return
    left, right = items(a), items(b)
    if left is None or right is None or type(a) is not type(b) or depth > 12:
        parts.append(Part("change", path, _text(a), _text(b)))
        return
    olds = {step: child for _, step, child in left}
    news = {step: child for _, step, child in right}
    names = {step: key for key, step, _ in [*left, *right]}
    equal = 0
    for step, key in names.items():
        where = f"{path}.{key}" if path else key
        if step not in news:
            parts.append(Part("del", where, before=_text(olds[step])))
        elif step not in olds:
            parts.append(Part("add", where, after=_text(news[step])))
        elif same(olds[step], news[step]):
            equal += 1
        else:
            _walk(olds[step], news[step], where, parts, depth + 1)
    if equal:
        parts.append(Part("same", path, n=equal))


def identity(value: Any) -> str | None:
    """The id of a list's member: a str or int `id` key or attribute."""
    found = value.get("id") if isinstance(value, Mapping) else getattr(value, "id", None)
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def _walk_list(a: Any, b: Any, path: str, parts: list[Part], depth: int) -> None:
    ids_a, ids_b = [identity(v) for v in a], [identity(v) for v in b]
    by_id = None not in ids_a and None not in ids_b
    if by_id and len(set(ids_a)) == len(a) and len(set(ids_b)) == len(b):
        _walk_ids(dict(zip(ids_a, a, strict=True)), list(zip(ids_b, b, strict=True)), path, parts)
        return
    head = 0
    while head < min(len(a), len(b)) and same(a[head], b[head]):
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and same(a[-1 - tail], b[-1 - tail]):
        tail += 1
    if head + tail:
        parts.append(Part("same", path, n=head + tail))
    mid_a, mid_b = a[head : len(a) - tail], b[head : len(b) - tail]
    for i in range(min(len(mid_a), len(mid_b))):
        _walk(mid_a[i], mid_b[i], f"{path}[{head + i}]", parts, depth + 1)
    for i in range(len(mid_a), len(mid_b)):
        parts.append(Part("add", f"{path}[{head + i}]", after=_text(mid_b[i])))
    for i in range(len(mid_b), len(mid_a)):
        parts.append(Part("del", f"{path}[{head + i}]", before=_text(mid_a[i])))


def _walk_ids(
    olds: dict[Any, Any], news: list[tuple[Any, Any]], path: str, parts: list[Part]
) -> None:
    equal = 0
    kept = {key for key, _ in news}
    for key, value in olds.items():
        if key not in kept:
            parts.append(Part("del", f"{path}[id={key}]", before=_text(value)))
    for key, value in news:
        if key not in olds:
            parts.append(Part("add", f"{path}[id={key}]", after=_text(value)))
        elif same(olds[key], value):
            equal += 1
        else:
            _walk(olds[key], value, f"{path}[id={key}]", parts, 1)
    if equal:
        parts.append(Part("same", path, n=equal))
