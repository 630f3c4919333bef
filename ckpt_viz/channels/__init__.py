"""The kinds of channel."""

from ckpt_viz.channels.any_value import AnyValue
from ckpt_viz.channels.base import MISSING, BaseChannel
from ckpt_viz.channels.binop import BinaryOperatorAggregate
from ckpt_viz.channels.delta import DeltaChannel
from ckpt_viz.channels.ephemeral_value import EphemeralValue
from ckpt_viz.channels.last_value import LastValue, LastValueAfterFinish
from ckpt_viz.channels.named_barrier_value import NamedBarrierValue, NamedBarrierValueAfterFinish
from ckpt_viz.channels.topic import Topic
from ckpt_viz.channels.untracked_value import UntrackedValue

__all__ = [
    "MISSING",
    "AnyValue",
    "BaseChannel",
    "BinaryOperatorAggregate",
    "DeltaChannel",
    "EphemeralValue",
    "LastValue",
    "LastValueAfterFinish",
    "NamedBarrierValue",
    "NamedBarrierValueAfterFinish",
    "Topic",
    "UntrackedValue",
]
