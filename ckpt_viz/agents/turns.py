"""`MultiTurnAgent`: one turn of a conversation after the other, each saved with its answer.

A turn is saved when there is an answer, and then wholly; a turn that fails leaves the session as it
was. Turns of one session wait for each other.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from ckpt_viz.agents.manager import StateManager
from ckpt_viz.agents.state import FOLDED
from ckpt_viz.errors import SessionExistsError

Message = dict[str, Any]
Model = Callable[[Sequence[Message]], Awaitable[Any]] | Callable[[Sequence[Message]], Any]


class MultiTurnAgent:
    """Answers a user's messages, with all that was said before.

    Args:
        state_manager: keeps the sessions.
        model: a callable, async or not, from messages (``role`` and ``content``) to the answer: a
            text, or what has it as its ``content``.
        agent_id: who answers, in the sessions that are begun here.
        user_id: whose they are, unless `handle_turn` is told.
    """

    def __init__(
        self,
        state_manager: StateManager,
        model: Model | None = None,
        *,
        agent_id: str = "multi-turn-agent",
        user_id: str = "anonymous",
    ) -> None:
        self.state_manager = state_manager
        self.model = model
        self.agent_id = agent_id
        self.user_id = user_id
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def graph(self) -> Any:
        """The sessions as a compiled graph."""
        return self.state_manager.graph

    async def handle_turn(
        self, session_id: str, user_message: str, *, user_id: str | None = None
    ) -> dict[str, Any]:
        """Answer a message; ``{response, session_id, turn_count, checkpoint_id}``.

        When it returns the turn is saved. A session that is not there is begun.

        Raises:
            StaleStateError: another process has gone on with the session; nothing was saved.
        """
        lock = self._turns.setdefault(session_id, asyncio.Lock())
        async with lock:
            state = await self._state(session_id, user_id or self.user_id)
            state.add_message("user", user_message)
            response = await self._process_with_context(state, user_message)
            state.add_message("assistant", response)
            checkpoint_id = await self.state_manager.checkpoint(state)
        return {
            "response": response,
            "session_id": session_id,
            "turn_count": state.turns,
            "checkpoint_id": checkpoint_id,
        }

    async def _state(self, session_id: str, user_id: str) -> Any:
        manager = self.state_manager
        state = await manager.get_state(session_id)
        if state is None:
            try:
                return await manager.create_state(session_id, self.agent_id, user_id)
            except SessionExistsError:  # another process has begun it in between
                state = await manager.get_state(session_id)
        return state

    async def _process_with_context(self, state: Any, user_message: str) -> str:
        """The answer to the last message of a state; a subclass may find it another way."""
        if self.model is None:
            raise TypeError(
                "This agent has no model: MultiTurnAgent(manager, model), where model is a "
                "callable from messages to the answer."
            )
        answer = self.model(self.messages(state))
        if inspect.isawaitable(answer):
            answer = await answer
        return str(getattr(answer, "content", answer))

    def messages(self, state: Any) -> list[Message]:
        """What the model is shown: the conversation, after the summary of what was folded."""
        shown = [{"role": m["role"], "content": m["content"]} for m in state.conversation_history]
        if state.metadata.get(FOLDED):
            shown.insert(0, {"role": "system", "content": state.get_context("history_summary")})
        return shown
