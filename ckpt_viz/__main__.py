"""`python -m ckpt_viz`: the command line, where `ckpt-viz` is not on the path."""

import sys

from ckpt_viz.cli import program

sys.exit(program())
