"""Categories of warnings, under the names that programs filter by."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = [
    "LangGraphDeprecatedSinceV05",
    "LangGraphDeprecatedSinceV10",
    "LangGraphDeprecatedSinceV11",
    "LangGraphDeprecationWarning",
]


class LangGraphDeprecationWarning(DeprecationWarning):
    """A way of using LangGraph's interface that will go. Versions are LangGraph's."""

    def __init__(
        self,
        message: str,
        *args: object,
        since: tuple[int, int],
        expected_removal: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message, *args)
        self.message = message.rstrip(".")
        self.since = since
        self.expected_removal = expected_removal or (since[0] + 1, 0)

    def __str__(self) -> str:
        since, gone = ("{}.{}".format(*v) for v in (self.since, self.expected_removal))
        return f"{self.message}. Deprecated in LangGraph V{since} to be removed in V{gone}."


class LangGraphDeprecatedSinceV05(LangGraphDeprecationWarning):
    """Deprecated since 0.5."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(0, 5), expected_removal=(2, 0))


class LangGraphDeprecatedSinceV10(LangGraphDeprecationWarning):
    """Deprecated since 1.0."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(1, 0), expected_removal=(2, 0))


class LangGraphDeprecatedSinceV11(LangGraphDeprecationWarning):
    """Deprecated since 1.1."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(1, 1), expected_removal=(3, 0))


def older_word(
    given: dict[str, Any], old: str, new: str, value: Any, since: dict[str, Any] | None = None
) -> Any:
    """The value of an argument, which may have come under its older name: then that is told."""
    if old not in given:
        return value
    text = f"`{old}` is deprecated and will be removed. Please use `{new}` instead."
    kind = (since or {}).get(old, LangGraphDeprecatedSinceV05)
    warnings.warn(kind(text), stacklevel=3)
    found = given.pop(old)
    return found if value is None else value
