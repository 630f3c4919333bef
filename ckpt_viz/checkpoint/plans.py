"""Plans and scripts: what a saver does, said once for both colours.

A script is a generator that yields requests and receives the answers; one script is one
transaction. A *plan* is a generator above it, which yields transactions and receives what their
scripts return, or what they raise. How a transaction is run, a kind of database tells (`Plans`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S")
Script = Generator[Any, Any, T]


class Transaction(NamedTuple):
    """A script to run: it may only read, write, or must stand outside of any transaction."""

    script: Callable[[], Script[Any]]
    mode: str = "write"


READ, WRITE, BARE = "read", "write", "bare"
Plan = Generator[Transaction, Any, T]


class Finished:
    """What a sync call that was awaited all the same, as programs of one colour do, gives back."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


class Plans:
    """Runs plans in either colour; how a transaction is run, a kind of database tells."""

    def run(self, plan: Plan[T]) -> T:
        """Run a plan and wait."""
        step = plan.__next__
        while True:
            try:
                wanted = step()
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            try:
                step = partial(plan.send, self._one(wanted))
            except BaseException as error:  # noqa: BLE001 - the plan decides what follows
                step = partial(plan.throw, error)

    async def arun(self, plan: Plan[T]) -> T:
        """Run a plan without stopping the loop."""
        step = plan.__next__
        while True:
            try:
                wanted = step()
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            try:
                step = partial(plan.send, await self._aone(wanted))
            except BaseException as error:  # noqa: BLE001 - the plan decides what follows
                step = partial(plan.throw, error)

    def _one(self, wanted: Transaction) -> Any:
        raise NotImplementedError

    async def _aone(self, wanted: Transaction) -> Any:
        raise NotImplementedError

    def is_awaited(self) -> bool:
        """Whether the running loop is one that waiting would stop for ever."""
        return False

    async def enter(self) -> None:
        """Open what async calls of the running loop use; `aclose` must follow in that loop."""

    def close(self) -> None:
        """Close what was opened here for sync calls; it opens again when used."""

    async def aclose(self) -> None:
        """Close what was opened here, in either colour."""
        self.close()


def both(
    plan: Callable[Concatenate[S, P], Plan[T]],
) -> tuple[
    Callable[Concatenate[S, P], T],
    Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
]:
    """The pair of methods of a plan, which are named as it is but for the underscore.

    Of a saver that never blocks the async one calls the other, which a subclass may have replaced.
    """
    name = plan.__name__.lstrip("_")

    def run(self: Any, *args: Any, **options: Any) -> Any:
        return self._colours.run(plan(self, *args, **options))

    async def arun(self: Any, *args: Any, **options: Any) -> Any:
        if self.never_blocks:
            return getattr(self, name)(*args, **options)
        return await self._colours.arun(plan(self, *args, **options))

    return named((run, arun), name, plan)  # type: ignore[no-any-return]


def named(pair: Any, name: str, like: Callable[..., Any]) -> Any:
    """A pair of methods with a name and what is told of another one."""
    for made, its_name in zip(pair, (name, f"a{name}"), strict=True):
        wraps(like)(made)
        made.__name__ = its_name
        made.__qualname__ = like.__qualname__.replace(like.__name__, its_name)
    return pair


def on_connection(
    work: Callable[Concatenate[S, Any, P], T],
) -> Callable[Concatenate[S, P], Script[T]]:
    """A method that works on a connection, made a script, which asks for it and for no more."""

    @wraps(work)
    def script(self: S, *args: P.args, **options: P.kwargs) -> Script[T]:
        return work(self, (yield), *args, **options)

    return script  # type: ignore[return-value]


def answer(
    conn: Any,
    script: Script[T],
    ask: Callable[[Any, Any], Any] = lambda conn, request: request(conn),
) -> T:
    """Run a script on a connection; ``ask`` answers what is more than a request for it."""
    asked = script.__next__
    while True:
        try:
            request = asked()
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        asked = partial(script.send, conn if ask is None or request is None else ask(conn, request))


class AtOnce(Plans):
    """Runs plans whose connection is an object of this process."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def _one(self, wanted: Transaction) -> Any:
        return answer(self._conn, wanted.script())


class Opened:
    """What is opened at first use and closed in either colour, or by a ``with``."""

    _colours: Plans

    def close(self) -> None:
        """Close what was opened here; it opens again when used."""
        self._colours.close()

    async def aclose(self) -> None:
        """As `close`."""
        await self._colours.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await self._colours.enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
