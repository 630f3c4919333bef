"""The executor envelope: a call as bytes on its way out, its outcome as bytes on its way back.

Pickle is named here and in the opted-in serializer, nowhere else. Bytes are opened only on the two
ends of an executor that the caller has given; nothing that was stored is read here. cloudpickle is
taken where it is installed, for it also carries lambdas and functions of a notebook.
"""

from __future__ import annotations

from typing import Any


def pack(value: Any) -> bytes:
    """A value as bytes, for a comparison or for another process that runs the same code."""
    import pickle  # noqa: PLC0415 - only those who asked for it load it

    return pickle.dumps(value, protocol=5)
