"""Turning values into typed bytes and back, without importing anything on the way in."""

from ckpt_viz.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from ckpt_viz.checkpoint.serde.jsonplus import InvalidModuleError, JsonPlusSerializer
from ckpt_viz.checkpoint.serde.opaque import Opaque
from ckpt_viz.checkpoint.serde.registry import register

__all__ = [
    "CipherProtocol",
    "InvalidModuleError",
    "JsonPlusSerializer",
    "Opaque",
    "SerializerProtocol",
    "register",
]
