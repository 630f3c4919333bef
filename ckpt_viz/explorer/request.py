"""What a request of the page is: an object with a kind; fields are checked where they are read."""

from __future__ import annotations

from collections.abc import Callable

from ckpt_viz.explorer.panels import Json
from ckpt_viz.explorer.session import Session

Handler = Callable[[Session, Json], Json]


class BadRequestError(ValueError):
    """A request of the page lacks a field or names an unknown kind."""


def need(request: Json, name: str) -> str:
    """A field of the request that must be text.

    Raises:
        BadRequestError: it is not there, or not text.
    """
    value = request.get(name)
    if not isinstance(value, str):
        raise BadRequestError(f"{request.get('kind')} needs {name!r} (text), got {value!r}")
    return value


def names(request: Json, name: str) -> list[str]:
    """A field that is a list of names; nothing gives none."""
    return [str(one) for one in request.get(name) or ()]
