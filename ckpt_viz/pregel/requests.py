"""What the engine's scripts ask of a driver. Small records, dispatched by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ckpt_viz.pregel.task import Task


class Load:
    """Read a checkpoint tuple (None when there is none)."""

    __slots__ = ("config",)

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config


class Newest:
    """The id of a thread's newest checkpoint (None when there is none)."""

    __slots__ = ("config",)

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config


class Save:
    """Store a checkpoint, and at once with it the writes of the only task that led to it.

    ``arguments`` are those of a saver's ``put``: config, checkpoint, metadata, new versions.
    """

    __slots__ = ("arguments", "writes")

    def __init__(self, arguments: tuple[Any, ...], writes: SaveWrites | None) -> None:
        self.arguments = arguments
        self.writes = writes


class SaveWrites:
    """Store pending writes under the checkpoint that their task started from.

    ``arguments`` are those of a saver's ``put_writes``: config, writes, task id, path.
    """

    __slots__ = ("arguments",)

    def __init__(self, config: Any, writes: Sequence[Any], task_id: str, path: str) -> None:
        self.arguments = config, writes, task_id, path


class RunOne:
    """Run one task here; the answer comes when it has ended."""

    __slots__ = ("task",)

    def __init__(self, task: Task) -> None:
        self.task = task


class Together:
    """Run several tasks side by side and store what each leaves as it ends.

    For tasks of which nothing is told. The answer is the task that failed first, or None.
    """

    __slots__ = ("tasks",)

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks


class Start:
    """Start several tasks side by side."""

    __slots__ = ("tasks",)

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks


class Next:
    """Wait for the next started task to end; None when all have. ``cancel`` stops the rest."""

    __slots__ = ("cancel",)

    def __init__(self, cancel: bool = False) -> None:
        self.cancel = cancel


class Told:
    """No request, but an answer to `Next`: a task that a node called has begun or ended.

    ``quiet``: it had ended at an earlier attempt.
    """

    __slots__ = ("ended", "quiet", "task")

    def __init__(self, task: Task, ended: bool, quiet: bool = False) -> None:
        self.task = task
        self.ended = ended
        self.quiet = quiet


class Emit:
    """Hand one stream chunk to the caller."""

    __slots__ = ("chunk",)

    def __init__(self, chunk: Any) -> None:
        self.chunk = chunk


class CacheGet:
    """Look results up in the node cache; answers a dictionary of those that are there."""

    __slots__ = ("keys",)

    def __init__(self, keys: Sequence[Any]) -> None:
        self.keys = keys


class CacheSet:
    """Put results into the node cache, each with its time to live in seconds."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: dict[Any, tuple[Any, int | None]]) -> None:
        self.pairs = pairs


class History:
    """List checkpoint tuples, newest first."""

    __slots__ = ("before", "config", "filter", "limit")

    def __init__(self, config: Any, filter: Any, before: Any, limit: int | None) -> None:
        self.config = config
        self.filter = filter
        self.before = before
        self.limit = limit


class Ask:
    """Call something of the outside in the driver's colour; ``call(awaited)`` may be awaited."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[bool], Any]) -> None:
        self.call = call
