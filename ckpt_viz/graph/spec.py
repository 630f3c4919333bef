"""What a builder keeps of a node: its function, its schemas, its policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.types import CachePolicy, TimeoutPolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """What a node was given beside its function; None where nothing was said."""

    retry: Any = None
    cache: CachePolicy[Any] | None = None
    timeout: Any = None

    @classmethod
    def of(cls, retry: Any, cache: Any, timeout: Any) -> Policies:
        """The policies, the timeout checked and in its full form."""
        return cls(retry, cache, TimeoutPolicy.coerce(timeout))

    def over(self, default: Policies) -> Policies:
        """These policies, and the others where these say nothing."""
        retry, cache, timeout = self.retry, self.cache, self.timeout
        return Policies(
            default.retry if retry is None else retry,
            default.cache if cache is None else cache,
            default.timeout if timeout is None else timeout,
        )


@dataclass(slots=True, eq=False)
class NodeSpec:
    """A node as it was added."""

    func: Any
    call: Callable[..., Any]
    wants: tuple[str, ...]
    is_async: bool
    input_schema: Any
    defer: bool
    metadata: dict[str, Any] | None
    ends: tuple[str, ...] | dict[str, str]
    policies: Policies = field(default_factory=Policies)
    error_handler_node: str | None = None
    is_error_handler: bool = False
    acall: Callable[..., Any] | None = None

    @property
    def retry_policy(self) -> Any:
        """When the node runs again, as it was given."""
        return self.policies.retry

    @property
    def cache_policy(self) -> Any:
        """Whether the node's result may come from the cache."""
        return self.policies.cache

    @property
    def timeout(self) -> Any:
        """How long an attempt may take."""
        return self.policies.timeout
