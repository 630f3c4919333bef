"""Names as databases can hold them: text without NUL and without halves of surrogate pairs.

`escape` is injective and keeps every plain name as it is, so that tables stay readable.
"""

from __future__ import annotations

import re
from typing import Any

_ODD = re.compile("[\x00\\\\\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")


def escape(text: str) -> str:
    """The name with NUL, backslash and lone surrogates written as ``\\uXXXX``.

    >>> escape("plain"), escape("a\\0b")
    ('plain', 'a\\\\u0000b')
    """
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """The name that `escape` was given.

    >>> unescape(escape("a\\0\\\\b")) == "a\\0\\\\b"
    True
    """
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\\" in text else text


def version_name(version: Any) -> str:
    """A channel's version as a name: text as it is, a number so that it is no text's name.

    >>> version_name("3.5"), version_name(3)
    ('3.5', '\\\\n00000000000000000003')
    """
    if isinstance(version, str):
        return escape(version)
    return f"\\n{version:020}" if isinstance(version, int) else f"\\f{version!r}"


def version_of(name: str) -> Any:
    """The version that `version_name` was given."""
    if name.startswith("\\n"):
        return int(name[2:])
    return float(name[2:]) if name.startswith("\\f") else unescape(name)
