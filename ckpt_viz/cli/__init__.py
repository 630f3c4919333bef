"""The command line: `ckpt-viz COMMAND SOURCE`. It reads; what writes asks for `--write`."""

from ckpt_viz.cli.main import main, program

__all__ = ["main", "program"]
