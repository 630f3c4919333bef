"""``python -m tests.fuzz [seconds]``: a coverage-guided fuzzer on the serializer, offline.

Needs ``atheris``. What it finds stops it, with the bytes in a file of the temporary directory.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ckpt_viz.checkpoint"]):
    from tests.fuzz.blobs import check, corpus


def main() -> None:
    """Run for as long as the first argument says, ten minutes without it."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    home = Path(tempfile.mkdtemp(prefix="ckpt-viz-fuzz-"))
    seeds = home / "seeds"
    seeds.mkdir()
    for number, data in enumerate(corpus()):
        (seeds / str(number)).write_bytes(data)
    print(f"corpus and findings: {home}")
    options = ["-timeout=5", "-rss_limit_mb=4096", "-max_len=4096", "-print_final_stats=1"]
    limits = [f"-max_total_time={seconds}", f"-artifact_prefix={home}/"]
    atheris.Setup([sys.argv[0], *options, *limits, str(seeds)], check)
    atheris.Fuzz()


main()
