"""The second version of a session's state, and the way to it, as a program would write them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ckpt_viz.agents import AgentState, StateMigrator


@dataclass
class AgentStateV2(AgentState):
    """With fields that the first version does not have."""

    version: int = 2
    tags: list[str] = field(default_factory=list)
    sentiment_history: list[str] = field(default_factory=list)


class Migrator(StateMigrator):
    """Its methods are migrations by their names."""

    async def migrate_v1_to_v2(self, state_v1: AgentState) -> AgentStateV2:
        return AgentStateV2(
            state_id=state_v1.state_id,
            session_id=state_v1.session_id,
            agent_id=state_v1.agent_id,
            user_id=state_v1.user_id,
            created_at=state_v1.created_at,
            conversation_history=state_v1.conversation_history,
            context=state_v1.context,
            tool_results=state_v1.tool_results,
            metadata=state_v1.metadata,
            tags=["migrated"],
        )


def newest_migrator() -> Migrator:
    return Migrator()
