"""Makes a file as this version of the package writes it, and what is to be read from it.

Run it before the form of the tables changes: ``python -m tests.checkpoint.databases.make NAME``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from ckpt_viz.checkpoint.serde.encrypted import EncryptedSerializer
from ckpt_viz.checkpoint.sqlite import SqliteSaver

from ..conftest import KEY
from ..test_savers import checkpoint, config, put
from ..test_upkeep import tree

HERE = Path(__file__).parent


def fill(saver: Any) -> None:
    """A tree, a nested graph's, a list that grew for long, and a graph of many channels."""
    tree(saver, 1)
    tree(saver, 2, "t", "sub:1", 12)
    cfg, grown = config("grown"), []
    for step in range(150):
        grown = [*grown, {"step": step, "text": "word " * 8}]
        cfg = put(saver, cfg, step, {"list": grown})
    cfg, values = config("wide"), {f"channel {i}": i for i in range(40)}
    versions: dict[str, Any] = {}
    for step in range(30):
        new = dict.fromkeys(values if not step else [f"channel {step}"], f"{step + 1:032}.0.7")
        versions = {**versions, **new}
        values[f"channel {step}"] = -step
        made = checkpoint(step, dict(values), dict(versions))
        cfg = saver.put(cfg, made, {"source": "loop", "step": step, "parents": {}}, new)
    saver.set_label(cfg, "the last")


def told(saver: Any) -> dict[str, Any]:
    """All that a saver has: a hash of each checkpoint with its values and writes, and labels."""
    made: dict[str, Any] = {"labels": saver.labels("wide")}
    for found in saver.list(None):
        text = json.dumps([*found], sort_keys=True)
        place = " ".join(found.config["configurable"].values())
        made[place] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return made


def main(name: str) -> None:
    """Write both files, plain and encrypted."""
    for kind, serde in (("", None), ("-encrypted", EncryptedSerializer.from_key(KEY))):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.db"
            with SqliteSaver.from_conn_string(path, serde=serde) as saver:
                fill(saver)
                expected = told(saver)
                saver.compact()
            data = gzip.compress(path.read_bytes(), mtime=0)
        (HERE / f"{name}{kind}.db.gz").write_bytes(data)
        (HERE / f"{name}{kind}.json").write_text(json.dumps(expected, indent=0) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
