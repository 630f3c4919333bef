"""The graphs that the LangGraph server of these tests serves: the programs, and a slow one."""

from __future__ import annotations

import time
from typing import Any

from graphs import engine
from programs import PROGRAMS, State, built

E = engine("langgraph")
BUILT = {name: make(E, None)[0] for name, make in PROGRAMS.items() if name != "odd_values"}
globals().update(BUILT)


def nap(s: Any) -> Any:
    time.sleep(0.4)
    return {"xs": ["nap"]}


def more(s: State) -> str:
    return "nap" if len(s["xs"]) < 40 else E.END


slow = built(E, {"nap": nap}, [(E.START, "nap"), ("nap", more)]).compile()
