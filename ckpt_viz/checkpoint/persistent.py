"""A dictionary that is written to a file when it is closed: the memory saver's ``factory``."""

from __future__ import annotations

import os
from collections import defaultdict
from types import TracebackType
from typing import Any, Self

from ckpt_viz.checkpoint.serde.jsonplus import JsonPlusSerializer


class PersistentDict(defaultdict[Any, Any]):
    """A defaultdict with a file: `load` reads it, `close` and the end of a ``with`` write it.

    The file holds packed data, no code. Written anew beside the old one, so a crash leaves that.
    """

    def __init__(self, *args: Any, filename: str, **entries: Any) -> None:
        super().__init__(*args, **entries)
        self.filename = filename

    def sync(self) -> None:
        """Write the file."""
        beside = f"{self.filename}.tmp"
        with open(beside, "wb") as file:
            file.write(JsonPlusSerializer().dumps_typed(_plain(self))[1])
        os.replace(beside, self.filename)

    def load(self) -> None:
        """Take up what the file holds.

        Raises:
            FileNotFoundError: it was never written.
        """
        with open(self.filename, "rb") as file:
            found = JsonPlusSerializer().loads_typed(("msgpack", file.read()))
        for key, value in found.items():
            if self.default_factory is not None and isinstance(value, dict):
                self[key].update(value)
            else:
                self[key] = value

    def close(self) -> None:
        """As `sync`."""
        self.sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _plain(value: Any) -> Any:
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value
