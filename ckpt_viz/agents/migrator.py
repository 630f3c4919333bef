"""`StateMigrator`: states of older versions, brought to newer ones by registered functions.

Versions are whole numbers that go up; a state that names none is of version 1. A migration gets a
copy: what it is given stays as it was, and so does what is stored.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from ckpt_viz.agents.state import Fields, fields_of, state_from, version_of
from ckpt_viz.errors import MigrationError

T = TypeVar("T")
_METHOD = re.compile(r"migrate_v(\d+)_to_v(\d+)")


class Both(dict[str, Any]):
    """A state's fields for a migration that names no class: by key, by attribute and by ``vars``.

    >>> both = Both(a=1); both.b = both.a + 1; both["b"], vars(both)
    (2, {'a': 1, 'b': 2})
    """

    def __init__(self, fields: Fields | None = None, **more: Any) -> None:
        super().__init__(fields or {}, **more)
        self.__dict__ = self


@dataclass(frozen=True, slots=True)
class Step:
    """One registered function, with the classes that its annotations name."""

    begin: int
    end: int
    function: Callable[[Any], Any]
    takes: type[Any] | None
    gives: type[Any] | None


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did, or in a dry run would do; ``after`` has not been saved then."""

    session_id: str
    found: int
    wanted: int
    before: Fields
    after: Fields
    dry_run: bool

    @property
    def changed(self) -> list[str]:
        """The fields that differ, new ones among them."""
        keys = self.before.keys() | self.after.keys()
        missing = object()
        return sorted(k for k in keys if self.before.get(k, missing) != self.after.get(k, missing))


class StateMigrator:
    """Functions from one version of a state to another.

    A function takes a state and gives the next version's: dictionaries of fields, or instances
    where it is annotated with the classes. It may be a coroutine function. A subclass may have
    them as methods called ``migrate_v1_to_v2``.
    """

    def __init__(self) -> None:
        self.steps: dict[tuple[int, int], Step] = {}
        self.classes: dict[int, type[Any]] = {}
        for name, _ in inspect.getmembers(type(self), callable):
            if found := _METHOD.fullmatch(name):
                self.register(int(found[1]), int(found[2]), getattr(self, name))

    def register(
        self,
        from_version: int,
        to_version: int | None = None,
        function: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Register a function, by a call or as a decorator; the function.

        ``to_version`` is the next one unless it is given.

        Raises:
            ValueError: the versions do not go up.
        """
        end = from_version + 1 if to_version is None else to_version
        if end <= from_version:
            raise ValueError(f"A migration goes up: from {from_version} to {end} does not.")
        if function is None:
            return lambda one: self.register(from_version, end, one)
        takes, gives = _classes(function)
        self.steps[from_version, end] = Step(from_version, end, function, takes, gives)
        for version, cls in ((from_version, takes), (end, gives)):
            if cls is not None:
                self.classes[version] = cls
        return function

    @property
    def newest(self) -> int:
        """The newest version that a migration leads to; 1 where there is none."""
        return max((end for _, end in self.steps), default=1)

    async def detect_version(self, state_dict: Fields) -> int:
        """The version that a state's fields name; 1 where they name none."""
        return detect(state_dict)

    def path(self, found: int, wanted: int) -> list[Step]:
        """The shortest way from a version to another.

        Raises:
            MigrationError: there is none, or the version is newer than what is wanted.
        """
        if found > wanted:
            raise MigrationError(
                f"The state is of version {found}, newer than {wanted}, the newest known here: "
                "nothing was read. Use the program that saved it, or register its versions.",
                found=found,
                wanted=wanted,
            )
        ways: dict[int, list[Step]] = {found: []}
        for begin, end in sorted(self.steps):
            if begin in ways:
                way = [*ways[begin], self.steps[begin, end]]
                if end not in ways or len(way) < len(ways[end]):
                    ways[end] = way
        if wanted not in ways:
            known = ", ".join(f"{a} → {b}" for a, b in sorted(self.steps)) or "none"
            raise MigrationError(
                f"No path leads from version {found} of the state to version {wanted}; "
                f"registered are: {known}.",
                found=found,
                wanted=wanted,
            )
        return ways[wanted]

    async def bring(self, fields: Fields, found: int, wanted: int) -> Fields:
        """Fields of one version as those of another; the given ones are not changed.

        Raises:
            MigrationError: no path, or a function gave no state.
        """
        at: Any = copy.deepcopy(fields)
        for step in self.path(found, wanted):
            at = step.function(_given(step, at))
            if inspect.isawaitable(at):
                at = await at
            if (made := _state_class(type(at))) is not None:
                self.classes.setdefault(step.end, made)
            at = _taken(step, at)
        return at  # type: ignore[no-any-return]

    async def migrate(self, state: Any, to_version: int | None = None) -> Any:
        """A state, or its fields, in the newest version or in the given one; a new object.

        Raises:
            MigrationError: no path leads there.
        """
        wanted = self.newest if to_version is None else to_version
        if isinstance(state, dict):
            return await self.bring(state, detect(state), wanted)
        found = getattr(state, "version", version_of(type(state)))
        fields = await self.bring(fields_of(state), found, wanted)
        return state_from(self.classes.get(wanted, type(state)), fields, None)

    async def dry_run(self, state: Any, to_version: int | None = None) -> Migration:
        """What `migrate` would make of a state or of its fields, and which of them it would change.

        Raises:
            MigrationError: no path leads there.
        """
        before = dict(state) if isinstance(state, dict) else fields_of(state)
        made = await self.migrate(state, to_version)
        after = made if isinstance(made, dict) else fields_of(made)
        found = detect(before) if isinstance(state, dict) else version_of(type(state))
        session = str(before.get("session_id", ""))
        return Migration(session, found, detect(after), before, after, dry_run=True)

    def __getattr__(self, name: str) -> Any:
        """``migrate_v1_to_v2`` and the like, where a path leads there."""
        found = _METHOD.fullmatch(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        self.path(int(found[1]), int(found[2]))
        return lambda state: self.migrate(state, int(found[2]))

    def bring_now(self, fields: Fields, found: int, wanted: int) -> Fields:
        """`bring` where nothing can be awaited, as in a graph that loads a checkpoint.

        Raises:
            MigrationError: also where a migration really waits for something.
        """
        return _now(self.bring(fields, found, wanted))


def detect(fields: Fields) -> int:
    """The version that a state's fields name.

    >>> detect({}), detect({"version": 3})
    (1, 3)
    """
    return int(fields.get("version") or 1)


def _classes(function: Callable[[Any], Any]) -> tuple[type[Any] | None, type[Any] | None]:
    """The state classes that a function's annotations name.

    An annotation that is text is looked up among the names that the function sees; it is not run.
    """
    target: Any = function if inspect.isroutine(function) else type(function).__call__
    target = inspect.unwrap(getattr(target, "__func__", target))
    hints = dict(getattr(target, "__annotations__", {}))
    names = dict(getattr(target, "__globals__", {}))
    if inspect.isfunction(target):
        names |= inspect.getclosurevars(target).nonlocals
    found = {
        key: names.get(h.strip("'\"")) if isinstance(h, str) else h for key, h in hints.items()
    }
    gives = found.pop("return", None)
    return _state_class(next(iter(found.values()), None)), _state_class(gives)


def _state_class(hint: Any) -> type[Any] | None:
    return hint if inspect.isclass(hint) and dataclasses.is_dataclass(hint) else None


def _given(step: Step, fields: Fields) -> Any:
    return Both(fields) if step.takes is None else state_from(step.takes, fields, None)


def _taken(step: Step, made: Any) -> Fields:
    if dataclasses.is_dataclass(made) and not isinstance(made, type):
        return {**fields_of(made), "version": step.end}
    if isinstance(made, dict):
        return {**made, "version": step.end}
    raise MigrationError(
        f"The migration from version {step.begin} to {step.end} gave {type(made).__name__}: it "
        "must give the new state, as an instance or as a dictionary of its fields.",
        found=step.begin,
        wanted=step.end,
    )


def _now(work: Coroutine[Any, Any, T]) -> T:
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    work.close()
    raise MigrationError(
        "A migration waits for something, and a graph that loads a checkpoint can't: let the "
        "function return without awaiting, or migrate the session by its manager first."
    )
