"""The executor envelope: a call as bytes on its way out, its outcome as bytes on its way back.

Pickle is named here and in the opted-in serializer, nowhere else. Bytes are opened only on the two
ends of an executor that the caller has given; nothing that was stored is read here. cloudpickle is
taken where it is installed, for it also carries lambdas and functions of a notebook.
"""

from __future__ import annotations

from typing import Any


def pack(value: Any) -> bytes:
    """A value as bytes, for a comparison."""
    import pickle  # noqa: PLC0415 - only those who asked for it load it

    return pickle.dumps(value, protocol=5)


def seal(value: Any) -> bytes:
    """A value as bytes that another process with the same code can open.

    Raises:
        TypeError: it cannot be sent.
    """
    import pickle  # noqa: PLC0415 - only those who asked for it load it

    kind, more = _cloudpickle() or pickle, ""
    if kind is pickle:
        more = (
            ". Define functions at the top of a module, or install cloudpickle, which also carries "
            "lambdas and functions of a notebook"
        )
    try:
        return bytes(kind.dumps(value))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        raise TypeError(f"{error}{more}.") from error


def _cloudpickle() -> Any:
    try:
        import cloudpickle  # type: ignore # noqa: PLC0415 - an optional dependency
    except ImportError:
        return None
    return cloudpickle


def unseal(data: bytes) -> Any:
    """What was sealed at the other end."""
    import pickle  # noqa: PLC0415 - only those who asked for it load it

    return pickle.loads(data)
