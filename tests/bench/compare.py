"""What LangGraph needs divided by what we need, for the same programs in the same run.

Each case runs in a fresh process for one package at a time; packages alternate, so that a slow
spell of the machine hits both. A ratio of 12 means that LangGraph used twelve times as much.

    python -m tests.bench.compare [--rounds 3] [--steps 500] [CASE ...]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.bench.programs import BYTES, TIMES, Names, cpu_of

PACKAGES = ("langgraph", "ckpt_viz")
CASES = (*TIMES, "import", *BYTES)
_ROOT = Path(__file__).parents[2]


def measure(case: str, root: str, steps: int) -> float:
    """CPU milliseconds, or bytes, of `case` in `root`; a time after a small warm-up."""
    if case == "import":
        return cpu_of(lambda: Names(root).saver("memory", ExitStack()))
    names = Names(root)
    with ExitStack() as stack:
        if case in BYTES:
            return BYTES[case](names, steps, stack)
        TIMES[case](names, 10, stack)
        return TIMES[case](names, steps, stack)


def in_fresh_process(case: str, root: str, steps: int) -> float:
    """Measure in a process that has imported nothing of the other package."""
    command = [sys.executable, "-m", "tests.bench.compare"]
    command += ["--one", case, root, "--steps", str(steps)]
    env = {**os.environ, "LANGSMITH_TRACING": "false"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=_ROOT)
    if done.returncode:
        raise SystemExit(f"{case} in {root} failed:\n{done.stderr}")
    return float(done.stdout)


def main() -> None:
    """Print one line a case: what both need, and peer/ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--one", nargs=2, metavar=("CASE", "PACKAGE"), help="measure in here")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=500)
    args = parser.parse_args()
    if args.one:
        print(measure(*args.one, args.steps))
        return
    if unknown := set(args.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    print(f"{'case':22} {'peer':>12} {'ours':>12} {'peer/ours':>10}   (CPU ms or bytes, median)")
    for case in args.cases or CASES:
        found: dict[str, list[float]] = {root: [] for root in PACKAGES}
        for _ in range(1 if case in BYTES else args.rounds):
            for root in PACKAGES:
                found[root].append(in_fresh_process(case, root, args.steps))
        peer, ours = (statistics.median(found[root]) for root in PACKAGES)
        digits = 0 if case in BYTES else 1
        print(
            f"{case:22} {peer:12,.{digits}f} {ours:12,.{digits}f} {peer / ours:10.1f}", flush=True
        )


if __name__ == "__main__":
    main()
