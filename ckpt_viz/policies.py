"""What a node can be given beside its function: when to retry, when to give up, what to cache.

Re-exported by `ckpt_viz.types`. All times are in seconds. The rules, and the errors that the
default predicate does not retry, are LangGraph's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ckpt_viz.envelope import pack

F = TypeVar("F", bound=Callable[..., str | bytes])

_PROGRAMMING = (
    ValueError,
    TypeError,
    ArithmeticError,
    ImportError,
    LookupError,
    NameError,
    SyntaxError,
    RuntimeError,
    ReferenceError,
    StopIteration,
    StopAsyncIteration,
    OSError,
)


def default_retry_on(exc: Exception) -> bool:
    """Whether an error may pass by itself: connections and server errors, not mistakes in code.

    >>> default_retry_on(ConnectionError()), default_retry_on(ValueError())
    (True, False)
    """
    if isinstance(exc, ConnectionError):
        return True
    httpx: Any = sys.modules.get("httpx")
    if httpx is not None and isinstance(exc, httpx.HTTPStatusError):
        return bool(exc.response.status_code >= 500)
    requests: Any = sys.modules.get("requests")
    if requests is not None and isinstance(exc, requests.HTTPError):
        # A response is false in a boolean context when it tells of an error.
        return bool(500 <= exc.response.status_code < 600) if exc.response else True
    return not isinstance(exc, _PROGRAMMING)


class RetryPolicy(NamedTuple):
    """When and how often a failed node runs again.

    The n-th wait is ``initial_interval * backoff_factor ** (n - 1)``, at most ``max_interval``,
    plus up to a second where ``jitter`` is on. ``max_attempts`` counts the first one.
    ``retry_on`` is an exception class, several, or a predicate of the exception.
    """

    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool] = (
        default_retry_on
    )


def _seconds(name: str, value: float | timedelta | None) -> float | None:
    if value is None:
        return None
    found = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if found <= 0:
        raise ValueError(f"{name} must be greater than 0")
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeoutPolicy:
    """How long one attempt of an async node may take.

    ``run_timeout`` bounds the whole attempt, ``idle_timeout`` the time without progress. Progress
    is `Runtime.heartbeat`; with ``refresh_on="auto"`` also a chunk for the custom stream.
    """

    run_timeout: float | timedelta | None = None
    idle_timeout: float | timedelta | None = None
    refresh_on: Literal["auto", "heartbeat"] = "auto"

    @classmethod
    def coerce(cls, value: float | timedelta | TimeoutPolicy | None) -> TimeoutPolicy | None:
        """A timeout in its full form, in seconds: a bare number is a ``run_timeout``.

        Raises:
            ValueError: not a number, or not greater than 0.
        """
        if value is None:
            return None
        if not isinstance(value, cls):
            return cls(run_timeout=_seconds("run_timeout", value))  # type: ignore[arg-type]
        if value.refresh_on not in ("auto", "heartbeat"):
            raise ValueError(f"refresh_on must be 'auto' or 'heartbeat', not {value.refresh_on!r}")
        return cls(
            run_timeout=_seconds("run_timeout", value.run_timeout),
            idle_timeout=_seconds("idle_timeout", value.idle_timeout),
            refresh_on=value.refresh_on,
        )


def default_cache_key(*args: Any, **kwargs: Any) -> str | bytes:
    """The key of a call's arguments: their pickled form."""
    return pack((args, tuple(sorted(kwargs.items()))))


@dataclass(frozen=True, kw_only=True, slots=True)
class CachePolicy(Generic[F]):
    """That a node's result may be taken from the cache.

    ``key_func`` turns the node's input into a key; ``ttl`` is how long an entry lives (None: for
    ever).
    """

    key_func: F = default_cache_key  # type: ignore[assignment]
    ttl: int | None = None


class CacheKey(NamedTuple):
    """Where a task's result is cached."""

    ns: tuple[str, ...]
    key: str
    ttl: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TracePolicy:
    """What a trace shows of a node's input and output, for programs that name it; unused here."""

    process_inputs: Callable[[Any], Any] | None = None
    process_outputs: Callable[[Any], Any] | None = None


def omit_payload(_value: Any) -> dict[str, Any]:
    """For a `TracePolicy`: show nothing."""
    return {}
