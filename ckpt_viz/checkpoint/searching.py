"""Numbers that stand for entries of metadata, so that a database can search what it cannot read.

In clear they are plain hashes. Under encryption they are keyed ones, which tell nothing without
the key; after a change of keys a search asks for the hash under each. A hit is always compared
with the metadata itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xxhash import xxh3_64_intdigest

from ckpt_viz.checkpoint.keys import escape
from ckpt_viz.checkpoint.serde.base import SerializerProtocol

Hash: TypeAlias = Callable[[bytes], bytes] | None
_SCALARS = (str, int, float, bool)


def tokens(serde: SerializerProtocol, metadata: Mapping[str, Any]) -> list[int]:
    """A number for each plain entry of metadata; none if the cipher has no key to give."""
    hashes = _hashes(serde)[:1]
    return sorted(
        {
            _token(hash_, name, value)
            for name, value in metadata.items()
            if isinstance(value, _SCALARS)
            for hash_ in hashes
        }
    )


def wanted(serde: SerializerProtocol, filter: Mapping[str, Any]) -> list[list[int]]:
    """For each plain entry of a filter the tokens of which a row must have one."""
    hashes = _hashes(serde)
    entries = [(n, v) for n, v in filter.items() if isinstance(v, _SCALARS)]
    return [[_token(h, *entry) for h in hashes] for entry in entries] if hashes else []


def _hashes(serde: Any) -> Sequence[Hash]:
    """None stands for "no key": the rows are in clear."""
    if not hasattr(serde, "unseal"):
        return (None,)
    return tuple(getattr(serde, "index_hashes", ()))


def _token(hash_: Hash, name: str, value: Any) -> int:
    """63 bits that stand for an entry; numbers that are equal have equal tokens."""
    if isinstance(value, str):
        text = f"{name}\0s{escape(str.__str__(value))}"
    elif isinstance(value, int) or value.is_integer():
        text = f"{name}\0n{int(value)}"
    else:
        text = f"{name}\0n{float(value)!r}"
    data = text.encode("utf-8", "surrogatepass")
    if hash_ is None:
        return xxh3_64_intdigest(data) >> 1
    return int.from_bytes(hash_(data)[:8]) >> 1
