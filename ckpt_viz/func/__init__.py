"""The functional API: workflows as plain functions, their steps as tasks."""

from ckpt_viz.func.entry import entrypoint
from ckpt_viz.func.tasks import task

__all__ = ["entrypoint", "task"]
