"""What two readings of one history have in common: values as JSON, and a timeline's records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from ckpt_viz.checkpoint.serde.views import View

DATABASES = Path(__file__).parent / "databases"
KEY = "0123456789abcdef"


def fixtures(kind: str) -> list[str]:
    """The names of the databases of a kind ("db" or "sql") that older versions wrote."""
    return sorted(p.name.removesuffix(f".{kind}.gz") for p in DATABASES.glob(f"*.{kind}.gz"))


def unpacked(name: str, folder: Path) -> Path:
    """A fresh copy of a SQLite database."""
    path = folder / f"{name}.db"
    path.write_bytes(gzip.decompress((DATABASES / f"{name}.db.gz").read_bytes()))
    return path


def truth(name: str) -> dict[str, Any]:
    """What the version that wrote a database read in it."""
    found: dict[str, Any] = json.loads(
        gzip.decompress((DATABASES / f"{name}.json.gz").read_bytes())
    )
    return found


def plain(value: Any) -> Any:
    """A value as JSON; a message by its kind and fields, whatever stands for it."""
    if hasattr(value, "content") and hasattr(value, "type"):
        kept = {"type": value.type, "content": value.content, "id": getattr(value, "id", None)}
        if getattr(value, "tool_calls", None):
            calls = value.tool_calls
            kept["tool_calls"] = [{k: c[k] for k in ("name", "args", "id")} for c in calls]
        return kept
    if isinstance(value, View):
        return {"class": value.name, **plain(value.fields)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(v) for v in value)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
