"""`python -m ckpt_viz.cli`, where the command `ckpt-viz` is not on the path."""

import sys

from ckpt_viz.cli.main import program

sys.exit(program())
