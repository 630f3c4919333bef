"""The public face of the engine: a compiled graph. Each pair of methods is one script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from contextvars import copy_context
from functools import partial
from typing import Any, Self

from ckpt_viz.channels import BaseChannel
from ckpt_viz.constants import TASK
from ckpt_viz.debug import switch
from ckpt_viz.managed.base import ManagedValueSpec
from ckpt_viz.pregel.begin import shown_keys
from ckpt_viz.pregel.cached import namespace_of
from ckpt_viz.pregel.described import Described
from ckpt_viz.pregel.drivers import drive, finish
from ckpt_viz.pregel.edit import update_steps
from ckpt_viz.pregel.history import history_steps, state_steps
from ckpt_viz.pregel.langchain import trace_of
from ckpt_viz.pregel.lease import release
from ckpt_viz.pregel.loop import run_steps
from ckpt_viz.pregel.nesting import Nest, call_config, nest_in, recast, root_nest
from ckpt_viz.pregel.nodes import NodeBuilder, add_policies, check_program, program_of
from ckpt_viz.pregel.program import Node
from ckpt_viz.pregel.requests import History
from ckpt_viz.pregel.retry import check_timeouts, policies_of
from ckpt_viz.pregel.run import Run
from ckpt_viz.pregel.runnable import Composable, join_runnables
from ckpt_viz.pregel.settings import (
    Defaults,
    Settings,
    merge_config,
    settings_of,
    tell_idle_durability,
    thread_of,
)
from ckpt_viz.pregel.streams import result_of_run
from ckpt_viz.pregel.subgraphs import subgraphs_of
from ckpt_viz.pregel.watch import watched
from ckpt_viz.pregel.workers import Workers
from ckpt_viz.types import StateSnapshot, StateUpdate

EDIT = "update state"


class Pregel(Described, Composable):
    """A graph that runs in supersteps.

    ``checkpointer`` keeps its history, ``store`` what outlives a thread. ``config`` arguments are
    dictionaries with ``configurable`` (``thread_id``, ``checkpoint_id``), ``recursion_limit`` and
    ``metadata``.
    """

    def __init__(
        self,
        *,
        nodes: Mapping[str, Node | NodeBuilder],
        channels: Mapping[str, BaseChannel | ManagedValueSpec] | None,
        input_channels: str | Sequence[str],
        output_channels: str | Sequence[str],
        stream_channels: str | Sequence[str] | None = None,
        auto_validate: bool = True,
        stream_mode: Any = "values",
        stream_eager: bool = False,
        interrupt_before_nodes: Any = (),
        interrupt_after_nodes: Any = (),
        step_timeout: float | None = None,
        debug: bool | None = None,
        checkpointer: Any = None,
        store: Any = None,
        cache: Any = None,
        retry_policy: Any = (),
        cache_policy: Any = None,
        context_schema: Any = None,
        config: Mapping[str, Any] | None = None,
        name: str = "LangGraph",
        **more: Any,
    ) -> None:
        self.program = program_of(nodes, channels, input_channels, output_channels, stream_channels)
        check_timeouts(self.program.nodes.values())
        if retry_policy or cache_policy is not None:
            add_policies(self.program, retry_policy, cache_policy)
        self._stream_channels = stream_channels
        self.stream_mode = stream_mode
        self.stream_eager = stream_eager
        self.interrupt_before_nodes = interrupt_before_nodes
        self.interrupt_after_nodes = interrupt_after_nodes
        self.step_timeout = step_timeout
        self.debug = bool(debug)
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.executor: Any = None
        self.retry_policy = policies_of(retry_policy)
        self.cache_policy = cache_policy
        self.context_schema = context_schema
        self.config: dict[str, Any] = merge_config(config) if config else {}
        self.name = name
        self._runs: dict[str, list[Run]] = {}
        join_runnables()
        if auto_validate:
            self.validate()

    def validate(self) -> Self:
        """Check that channels and nodes fit together.

        Raises:
            ValueError: names what is missing.
        """
        check_program(self.program, [self.interrupt_before_nodes, self.interrupt_after_nodes])
        return self

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The nodes by name, the hidden ``__start__`` too."""
        return self.program.nodes

    @property
    def channels(self) -> Mapping[str, Any]:
        """The channels by name, empty; and the values that a run computes."""
        program = self.program
        return {**program.channels, **program.managed} if program.managed else program.channels

    @property
    def managed(self) -> Mapping[str, Any]:
        """The keys of the state that a run computes, by name."""
        return self.program.managed

    @property
    def input_channels(self) -> Any:
        """The channel or channels that take the input."""
        return shown_keys(self.program.input_channels)

    @property
    def output_channels(self) -> Any:
        """The channels that make the result."""
        return shown_keys(self.program.output_channels)

    @property
    def stream_channels(self) -> Any:
        """The channels that a snapshot's values show, as they were given."""
        return self._stream_channels

    @property
    def stream_channels_asis(self) -> Any:
        """The channels that a snapshot's values show: a name, or a list of names."""
        return shown_keys(self.program.stream_channels)

    @property
    def stream_channels_list(self) -> list[str]:
        """The channels that a snapshot's values show, as a list."""
        keys = self.stream_channels_asis
        return [keys] if isinstance(keys, str) else keys

    @property
    def trigger_to_nodes(self) -> Mapping[str, Sequence[str]]:
        """The nodes that each channel starts."""
        return {trigger: list(names) for trigger, names in self.program.triggered.items()}

    def copy(self, update: Mapping[str, Any] | None = None) -> Self:
        """The same graph with some attributes changed, such as ``checkpointer``."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._runs = {}
        for key, value in (update or {}).items():
            setattr(twin, key, value)
        return twin

    def with_config(self, config: Mapping[str, Any] | None = None, **more: Any) -> Self:
        """The same graph with a config that every call starts from."""
        return self.copy({"config": merge_config(self.config, config, more)})

    def stop(self, config: Mapping[str, Any]) -> int:
        """Ask the thread's runs to end before their next superstep; how many were asked."""
        runs = self._runs.get(thread_of(config, "stop a run"), [])
        for run in runs:
            run.stopping = True
        return len(runs)

    # running -----------------------------------------------------------------------------------

    def _run(self, config: Any, modes: Any, options: dict[str, Any]) -> Run:
        modes = self.stream_mode if modes is None else modes
        if self.debug:
            options = {**options, "debug": True}
        config = call_config(self.config, config)
        above = config["configurable"].get(TASK)
        nest = root_nest(config) if above is None else nest_in(above, self.checkpointer)
        if above is None:
            saver = self._saver(config)
        else:
            saver = None if self.checkpointer is False else above.run.saver
        if saver is None and options:
            tell_idle_durability(options)  # before those of the graph around are added
        settings = self._settings(config, modes, options, above)
        program = watched(self.program) if self.debug or switch.active else self.program
        store = self.store if above is None else above.store
        run = Run(program, saver, store, settings, nest)
        run.trace = trace_of(run, self.name)
        executor = settings.config.get("executor", self.executor)
        if executor is None and above is not None and above.run.remote is not None:
            executor = above.run.remote.executor
        if executor is not None:
            run.remote = _remote().Remote(run, executor)
        run.cache = self.cache or (above.run.cache if above is not None else None)
        run.announces = run.announces or run.cache is not None
        if self.step_timeout is not None:
            run.step_timeout = self.step_timeout
            run.beside = True
        return run

    def _settings(self, config: Any, modes: Any, options: dict[str, Any], above: Any) -> Settings:
        defaults = Defaults(
            self.interrupt_before_nodes,
            self.interrupt_after_nodes,
            self.context_schema,
            self.program.output_channels,
            self.channels,
        )
        if above is not None:
            around = above.run.settings
            for name in ("durability", "context", "control"):
                if options.get(name) is None:
                    options[name] = getattr(around, name)
        return settings_of(config, modes, options, defaults)

    def _saver(self, config: Mapping[str, Any]) -> Any:
        """The saver of a root run.

        Raises:
            RuntimeError: the graph was compiled to use that of the graph it is nested in.
        """
        saver = config["configurable"].get("__pregel_checkpointer", self.checkpointer)
        if saver is True:
            raise RuntimeError("checkpointer=True cannot be used for root graphs.")
        return saver or None

    def _begin(self, run: Run) -> None:
        thread = run.settings.config["configurable"].get("thread_id")
        if thread is not None:
            self._runs.setdefault(str(thread), []).append(run)

    def _end(self, run: Run) -> None:
        release(run)
        thread = str(run.settings.config["configurable"].get("thread_id"))
        runs = self._runs.get(thread)
        if runs is not None:
            if run in runs:
                runs.remove(run)
            if not runs:
                self._runs.pop(thread, None)

    def stream(
        self,
        input: Any,
        config: Any = None,
        *,
        stream_mode: Any = None,
        **options: Any,
    ) -> Iterator[Any]:
        """Run, yielding chunks: payloads of one mode, ``(mode, payload)`` of a list of modes.

        With ``version="v2"`` a chunk is a dictionary with ``type``, ``ns`` and ``data``. Other
        options: ``output_keys``, ``print_mode``, ``durability``, ``interrupt_before``,
        ``interrupt_after``, ``context``, ``subgraphs``, ``debug``; ``multitask="queue"`` waits
        where another run has the thread, ``replay="recorded"`` tells a branch without running it.

        Raises:
            ThreadBusyError: another run is executing on the thread, or took it meanwhile.
        """
        run = self._run(config, stream_mode, options)
        self._begin(run)
        try:
            yield from drive(run, run_steps(run, input))
        finally:
            self._end(run)

    async def astream(
        self,
        input: Any,
        config: Any = None,
        *,
        stream_mode: Any = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """Like `stream`, awaiting. Close it with ``aclosing`` when you leave it early."""
        run = self._run(config, stream_mode, options)
        self._begin(run)
        try:
            async with aclosing(_async().adrive(run, run_steps(run, input))) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            self._end(run)

    def invoke(
        self,
        input: Any,
        config: Any = None,
        *,
        stream_mode: Any = "values",
        **options: Any,
    ) -> Any:
        """Run to the end, to a question or to a break point; the final values.

        Open questions are in the result's ``__interrupt__``, or with ``version="v2"`` in the
        `GraphOutput`. With another ``stream_mode`` the result is the list of chunks.
        """
        if stream_mode != "values":
            options.setdefault("output_keys", self.output_channels)
            return list(self.stream(input, config, stream_mode=stream_mode, **options))
        run = self._run(config, (), options)
        self._begin(run)
        try:
            for _ in drive(run, run_steps(run, input)):
                pass
        finally:
            self._end(run)
        return _result(run)

    async def ainvoke(
        self,
        input: Any,
        config: Any = None,
        *,
        stream_mode: Any = "values",
        **options: Any,
    ) -> Any:
        """Like `invoke`, awaiting."""
        if stream_mode != "values":
            options.setdefault("output_keys", self.output_channels)
            chunks = self.astream(input, config, stream_mode=stream_mode, **options)
            return [chunk async for chunk in chunks]
        run = self._run(config, (), options)
        self._begin(run)
        try:
            async for _ in _async().adrive(run, run_steps(run, input)):
                pass
        finally:
            self._end(run)
        return _result(run)

    def batch(
        self,
        inputs: Sequence[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **options: Any,
    ) -> list[Any]:
        """Invoke on each input, side by side; the results in the inputs' order.

        The first failure is raised, or, with ``return_exceptions``, stands in its result's place.
        """
        configs = _spread(config, len(inputs))
        options.setdefault("multitask", "queue")
        results: list[Any] = [None] * len(inputs)
        failures: list[BaseException] = []

        def call(index: int) -> None:
            try:
                results[index] = self.invoke(inputs[index], configs[index], **options)
            except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                failures.append(error)
                results[index] = error

        workers = Workers()
        workers.start([partial(copy_context().run, call, index) for index in range(len(inputs))])
        workers.close(wait=True)
        if failures and not return_exceptions:
            raise failures[0]
        return results

    async def abatch(
        self,
        inputs: Sequence[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **options: Any,
    ) -> list[Any]:
        """Like `batch`, awaiting."""
        configs = _spread(config, len(inputs))
        options.setdefault("multitask", "queue")
        calls = [self.ainvoke(i, c, **options) for i, c in zip(inputs, configs, strict=True)]
        found: list[Any] = await _async().gather(calls, return_exceptions)
        return found

    def clear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """Forget the cached results of the named nodes, or of all.

        Raises:
            ValueError: the graph has no cache.
        """
        self._cache().clear(self._cached(nodes))

    async def aclear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """Like `clear_cache`, awaiting."""
        await self._cache().aclear(self._cached(nodes))

    def _cache(self) -> Any:
        if self.cache is None:
            raise ValueError("No cache is set for this graph. Cannot clear cache.")
        return self.cache

    def _cached(self, nodes: Sequence[str] | None) -> list[tuple[str, ...]]:
        known = self.program.nodes
        return [namespace_of(known[n]) for n in (known if nodes is None else nodes) if n in known]

    # reading -----------------------------------------------------------------------------------

    def _reader(self, config: Any, doing: str) -> Run:
        """A run that reads or edits: of this graph, or of the one inside that the config names.

        Raises:
            ValueError: no saver, no thread, or no graph at the config's namespace.
        """
        config = call_config(self.config, config)
        where = config["configurable"]
        inside, ns = where.get(TASK), where.get("checkpoint_ns") or ""
        saver = self._saver(config) if inside is None else inside.run.saver
        if saver is None:
            raise ValueError(
                f"No checkpointer set: cannot {doing}. "
                "Compile with compile(checkpointer=InMemorySaver())."
            )
        thread_of(config, doing)
        graph = self if inside is not None or not ns else self._inner(ns, doing)
        settings = graph._settings(config, (), {"durability": "sync"}, None)
        return Run(graph.program, saver, self.store, settings, Nest(ns))

    def _inner(self, ns: str, doing: str) -> Any:
        """The graph at a namespace. One that is not seen to be there is read as if it were this."""
        path = recast(ns)
        for _, graph in self.get_subgraphs(namespace=path, recurse=True):
            return graph
        if doing == EDIT:
            known = sorted(name for name, _ in self.get_subgraphs(recurse=True))
            raise ValueError(f"Subgraph {path} not found: {self.name} has {known or 'none'}.")
        return self

    def get_subgraphs(
        self, *, namespace: str | None = None, recurse: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """The graphs inside this one, each by its path (``node`` or ``node|node``).

        ``namespace`` leaves the one at a path; ``recurse`` adds those inside of them.
        """
        return subgraphs_of(self.nodes, namespace, recurse)

    async def aget_subgraphs(
        self, *, namespace: str | None = None, recurse: bool = False
    ) -> AsyncIterator[tuple[str, Any]]:
        """Like `get_subgraphs`, awaiting."""
        for found in self.get_subgraphs(namespace=namespace, recurse=recurse):
            yield found

    def _state(self, config: Any, deep: bool) -> tuple[Run, Any]:
        run = self._reader(config, "read state")
        wanted = run.settings.config["configurable"].get("checkpoint_id")
        return run, state_steps(run.program, run.where(wanted), deep=deep)

    def get_state(self, config: Any, *, subgraphs: bool = False) -> StateSnapshot:
        """The state at the config's checkpoint, or at the thread's newest one.

        A ``checkpoint_ns`` in the config addresses a graph inside this one. ``subgraphs``: tasks
        hold the snapshots of their graphs. An unknown thread or checkpoint gives an empty one.
        """
        found: StateSnapshot = finish(*self._state(config, subgraphs))
        return found._replace(config=config) if found.created_at is None else found

    async def aget_state(self, config: Any, *, subgraphs: bool = False) -> StateSnapshot:
        """Like `get_state`, awaiting."""
        found: StateSnapshot = await _async().afinish(*self._state(config, subgraphs))
        return found._replace(config=config) if found.created_at is None else found

    def _history(self, config: Any, filter: Any, before: Any, limit: int | None) -> tuple[Run, Any]:
        run = self._reader(config, "read history")
        wanted = run.settings.config["configurable"].get("checkpoint_id")
        request = History(run.where(wanted), filter, before, limit)
        return run, history_steps(run.program, request)

    def get_state_history(
        self,
        config: Any,
        *,
        filter: dict[str, Any] | None = None,
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """The thread's snapshots, newest first, across branches.

        ``filter`` is equality on metadata; ``before`` a config whose older checkpoints are wanted.
        """
        yield from finish(*self._history(config, filter, before, limit))

    async def aget_state_history(
        self,
        config: Any,
        *,
        filter: dict[str, Any] | None = None,
        before: Any = None,
        limit: int | None = None,
    ) -> AsyncIterator[StateSnapshot]:
        """Like `get_state_history`, awaiting."""
        for snapshot in await _async().afinish(*self._history(config, filter, before, limit)):
            yield snapshot

    # editing -----------------------------------------------------------------------------------

    def _update(self, config: Any, rounds: Sequence[Sequence[StateUpdate]]) -> tuple[Run, Any]:
        run = self._reader(config, EDIT)
        if not rounds:
            raise ValueError("No supersteps provided")
        if not all(rounds):
            raise ValueError("No updates provided")
        return run, update_steps(run, rounds)

    def update_state(
        self, config: Any, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> dict[str, Any]:
        """Write values as if a node had; the config of the new checkpoint.

        With a ``checkpoint_id`` in the config it is a fork. ``as_node``: a node, ``END`` (finish
        here), ``__input__`` (new input), ``__copy__`` (a sibling copy); inferred where unambiguous.
        """
        found: dict[str, Any] = finish(
            *self._update(config, [[StateUpdate(values, as_node, task_id)]])
        )
        return found

    async def aupdate_state(
        self, config: Any, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> dict[str, Any]:
        """Like `update_state`, awaiting."""
        found: dict[str, Any] = await _async().afinish(
            *self._update(config, [[StateUpdate(values, as_node, task_id)]])
        )
        return found

    def bulk_update_state(
        self, config: Any, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> dict[str, Any]:
        """Rounds of updates: one checkpoint a round; the config of the last one."""
        found: dict[str, Any] = finish(*self._update(config, supersteps))
        return found

    async def abulk_update_state(
        self, config: Any, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> dict[str, Any]:
        """Like `bulk_update_state`, awaiting."""
        found: dict[str, Any] = await _async().afinish(*self._update(config, supersteps))
        return found


def _async() -> Any:
    """The async driver; asyncio alone would be a third of this package's import."""
    from ckpt_viz.pregel import adrivers  # noqa: PLC0415 - see above

    return adrivers


def _remote() -> Any:
    """The way to an executor, which few runs take."""
    from ckpt_viz.pregel import remote  # noqa: PLC0415 - see above

    return remote


def _result(run: Run) -> Any:
    typed = run.settings.form.typed
    return result_of_run(typed, run.output, run.interrupts, run.coerce_output)


def _spread(config: Any, count: int) -> list[Any]:
    if isinstance(config, list):
        if len(config) != count:
            raise ValueError(
                f"config must be a list of the same length as inputs, but got {len(config)} "
                f"configs for {count} inputs"
            )
        return config
    return [config] * count
