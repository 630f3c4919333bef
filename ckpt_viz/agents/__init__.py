"""Agents that remember: sessions whose states are checkpoints, and memories of conversations."""

from ckpt_viz.agents.cached import MemoryCache, OptimizedStateManager
from ckpt_viz.agents.folding import FoldingPolicy
from ckpt_viz.agents.manager import StateManager
from ckpt_viz.agents.memory import ConversationBufferMemory, MemoryStrategy, SummaryMemory
from ckpt_viz.agents.migrator import Migration, StateMigrator
from ckpt_viz.agents.recovery import StateRecovery
from ckpt_viz.agents.state import AgentState
from ckpt_viz.agents.storage import PostgreSQLStorage, RedisStorage, SessionStorage
from ckpt_viz.agents.turns import MultiTurnAgent
from ckpt_viz.agents.vector import HybridMemory, VectorMemory

__all__ = [
    "AgentState",
    "ConversationBufferMemory",
    "FoldingPolicy",
    "HybridMemory",
    "MemoryCache",
    "MemoryStrategy",
    "Migration",
    "MultiTurnAgent",
    "OptimizedStateManager",
    "PostgreSQLStorage",
    "RedisStorage",
    "SessionStorage",
    "StateManager",
    "StateMigrator",
    "StateRecovery",
    "SummaryMemory",
    "VectorMemory",
]
