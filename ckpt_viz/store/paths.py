"""Which texts of a value are searched by meaning: paths such as ``$``, ``a.b``, ``m[*]``."""

from __future__ import annotations

import json
from typing import Any


def tokenize_path(path: str) -> list[str]:
    """The steps of a path; brackets and braces are steps of their own.

    >>> tokenize_path("a.c[*].{b,d}")
    ['a', 'c', '[*]', '{b,d}']
    """
    tokens: list[str] = []
    word = ""
    closing = ""
    for char in path:
        if closing:
            word += char
            if char == closing:
                tokens.append(word)
                word = closing = ""
        elif char in "[{":
            if word:
                tokens.append(word)
            word, closing = char, "]" if char == "[" else "}"
        elif char == ".":
            if word:
                tokens.append(word)
            word = ""
        else:
            word += char
    return [*tokens, word] if word else tokens


def get_text_at_path(value: Any, path: str | list[str]) -> list[str]:
    """The texts at a path; containers as JSON with sorted keys, nothing where there is nothing.

    >>> get_text_at_path({"a": {"b": "x", "c": [1, 2]}}, "a.c[*]")
    ['1', '2']
    """
    if not path or path == "$":
        return [json.dumps(value, sort_keys=True, ensure_ascii=False)]
    return _texts(value, tokenize_path(path) if isinstance(path, str) else path)


def _texts(value: Any, tokens: list[str]) -> list[str]:
    if not tokens:
        return _leaf(value)
    token, rest = tokens[0], tokens[1:]
    if token[0] == "[" and isinstance(value, list):
        return [text for item in _picked(value, token[1:-1]) for text in _texts(item, rest)]
    if not isinstance(value, dict):
        return []
    if token[0] == "{":
        found = []
        for name in token[1:-1].split(","):
            found += _texts(value, [*tokenize_path(name.strip()), *rest])
        return found
    if token == "*":
        return [text for item in value.values() for text in _texts(item, rest)]
    return _texts(value[token], rest) if token in value else []


def _picked(items: list[Any], index: str) -> list[Any]:
    if index == "*":
        return items
    try:
        return [items[int(index)]]
    except (ValueError, IndexError):
        return []


def _leaf(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str | int | float | bool):
        return [str(value)]
    return [json.dumps(value, sort_keys=True, ensure_ascii=False)]
