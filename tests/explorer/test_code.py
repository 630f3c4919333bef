"""What is copied as Python or as pytest, run as it stands: in a real kernel, on both engines."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from graphs import CONFIG, chain_graph
from kernels import Kernel
from pages import Page

from ckpt_viz.explorer import explore
from ckpt_viz.explorer.origin import slice_of
from ckpt_viz.timeline.literal import NoSourceError, Writer

CELLS = (
    """
import dataclasses
import re
from operator import add
from typing import Annotated, TypedDict
from ROOT.checkpoint.memory import InMemorySaver
from ROOT.graph import END, START, StateGraph
from ROOT.types import interrupt

@dataclasses.dataclass
class Note:
    text: str
    marks: tuple = ()

class State(TypedDict, total=False):
    foo: str
    xs: Annotated[list, add]
    notes: list
    odd: object
""",
    """
def plan(state):
    return {'xs': ['plan'], 'notes': [Note('first', (1,))], 'odd': re.compile('x+')}
""",
    "print('nothing of the graph'); answer = 41 + 1",
    """
def shout(text):
    return text.upper()

MARK = '!'

def ask(state):
    said = interrupt('Which?')
    return {'foo': shout(said) + MARK, 'xs': [said]}

def end(state):
    if state['foo'] == 'BAD!':
        raise ValueError('no such tea')
    return {'xs': ['end']}

workflow = StateGraph(State)
workflow.add_node('plan', plan)
workflow.add_node('ask', ask).add_node('end', end)
""",
    """%%ckpt
workflow.add_edge(START, 'plan')
workflow.add_edge('plan', 'ask')
workflow.add_edge('ask', 'end')
graph = workflow.compile(checkpointer=InMemorySaver())
config = {'configurable': {'thread_id': '1'}}
graph.invoke({'xs': ['in'], 'foo': ''}, config)
""",
)


def run_tests(folder: Path) -> str:
    """pytest over the folder in a process of its own; its report."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    env = {**os.environ, "LANGSMITH_TRACING": "false"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, check=False)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    kernel.run("%load_ext ckpt_viz")
    yield kernel
    kernel.close()


def copied(kernel, what, form, **body):
    answer = kernel.ask("code", what=what, form=form, **body)
    assert answer["ok"], answer
    return answer["result"]["text"]


def ended(kernel):
    return kernel.wait(lambda m: m.get("event") == "run" and m["state"] != "running")


@pytest.mark.parametrize("root", ["ckpt_viz", "langgraph"])
def test_copied_tests_pass_as_they_stand(kernel, root, tmp_path):
    for cell in CELLS:
        outputs = kernel.run(cell.replace("ROOT", root).lstrip("\n"))
        assert not any("traceback" in out for out in outputs), outputs
    hello = kernel.ask("hello")["result"]
    rows = [row[0] for row in hello["rows"]["rows"]]
    head = hello["rows"]["head"]
    tests = {
        "selection": copied(kernel, "selection", "pytest", checkpoint=head),
        "diff": copied(kernel, "diff", "pytest", a=rows[0], checkpoint=head),
        "fork": copied(
            kernel,
            "fork",
            "pytest",
            checkpoint=head,
            values={"foo": "tea"},
            edits=[{"path": ["notes", 0, "text"], "json": '"second"'}],
            as_node="ask",
        ),
        "replay": copied(kernel, "replay", "pytest", checkpoint=rows[1]),
        "run": copied(kernel, "run", "pytest", input_json='{"xs": ["more"]}'),
    }
    task = kernel.ask("checkpoint", checkpoint=head)["result"]["writes"]["next"][0]
    question = task["interrupts"][0]["id"]
    for name, said in (("resumed", "tea"), ("differently", "bad")):
        assert kernel.ask("resume", checkpoint=head, answers={question: said}, act=name)["ok"]
        assert ended(kernel)["state"] == ("done" if said == "tea" else "error")
        tests[name] = copied(kernel, "last", "pytest")
    forked = kernel.ask(
        "fork", checkpoint=rows[1], values={"foo": "x"}, as_node="plan", run=True, act=root
    )
    assert forked["ok"]
    ended(kernel)
    tests["forked"] = copied(kernel, "last", "pytest")
    for name, text in tests.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    report = run_tests(tmp_path)
    assert f"{len(tests)} passed" in report, report
    assert "answer = 41" not in tests["fork"], "only what the graph needs"
    assert "MARK = '!'" in tests["fork"]
    assert "Note('first'" not in tests["replay"].split("SAVED")[1]
    lines = copied(kernel, "last", "python")
    assert "graph.update_state(config" in lines
    assert not any("traceback" in out for out in kernel.run(lines))
    for what, body in (
        ("diff", {"a": rows[0], "checkpoint": head}),
        ("selection", {"checkpoint": head}),
        ("replay", {"checkpoint": rows[1]}),
    ):
        outputs = kernel.run(copied(kernel, what, "python", **body))
        assert not any("traceback" in out for out in outputs), outputs


ASYNC = """
from typing import TypedDict
from ROOT.checkpoint.memory import InMemorySaver
from ROOT.graph import START, StateGraph

class State(TypedDict, total=False):
    foo: str

async def first(state):
    return {'foo': 'first'}

async def second(state):
    return {'foo': state['foo'] + ' second'}

builder = StateGraph(State).add_node(first).add_node(second)
builder.add_edge(START, 'first').add_edge('first', 'second')
graph = builder.compile(checkpointer=InMemorySaver())
_ = await graph.ainvoke({'foo': ''}, {'configurable': {'thread_id': '1'}})
"""


@pytest.mark.parametrize("root", ["ckpt_viz", "langgraph"])
def test_copied_tests_of_async_graphs_pass_too(kernel, root, tmp_path):
    outputs = kernel.run(ASYNC.replace("ROOT", root).lstrip("\n"))
    assert not any("traceback" in out for out in outputs), outputs
    kernel.run("%ckpt graph --thread 1")
    rows = [row[0] for row in kernel.ask("hello")["result"]["rows"]["rows"]]
    body = {"checkpoint": rows[2], "values": {"foo": "edited"}}
    tests = {
        "fork": copied(kernel, "fork", "pytest", **body),
        "replay": copied(kernel, "replay", "pytest", checkpoint=rows[1]),
        "run": copied(kernel, "run", "pytest", input_json='{"foo": "x"}'),
    }
    assert kernel.ask("fork", **body, run=True, act=f"async {root}")["ok"]
    assert ended(kernel)["state"] == "done"
    tests["forked"] = copied(kernel, "last", "pytest")
    assert "expected = {'foo': 'edited second'}" in tests["forked"]
    for name, text in tests.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    report = run_tests(tmp_path)
    assert f"{len(tests)} passed" in report, report
    outputs = kernel.run(copied(kernel, "last", "python"))
    assert not any("traceback" in out for out in outputs), outputs


def test_a_graph_that_nothing_holds_says_so(e):
    graph = chain_graph(e, {"a": lambda s: {"xs": [1], "odd": re.compile("x")}})
    graph.invoke({"xs": []}, CONFIG)
    page = Page(explore(graph, follow=False))
    head = page.get("hello")["rows"]["head"]
    first = explore(graph, follow=False).timeline.rows()[0].id
    reply = page.ask("code", what="replay", form="pytest", checkpoint=first)
    assert "no cell holds it in a variable" in reply["error"]["message"]
    text = page.get("code", what="selection", form="pytest", checkpoint=head)["text"]
    assert "'odd': unpack(" in text, "what has no source is packed, and not compared"
    assert "expected = {'xs': [1]}" in text
    assert page.get("code", what="selection", form="python", checkpoint=head)


def test_redacted_values_are_in_no_test(graph):
    page = Page(explore(graph, follow=False, redact=["foo"]))
    head = page.get("hello")["rows"]["head"]
    reply = page.ask("code", what="selection", form="pytest", checkpoint=head)
    assert "redacted" in reply["error"]["message"]


def test_a_slice_takes_the_last_definition_and_what_was_added():
    cells = [
        "b = []\nx = 1",
        "b.append(x)",
        "x = 2",
        "%broken",
        "await thing()\nunused = b",
        "@decorated\ndef f(y):\n    return helper(y) + len(b)",
        "def decorated(g): return g\ndef helper(y): return y",
        "b.sort()",
    ]
    text = slice_of(cells, {"f"})
    assert text.splitlines() == [
        "b = []",
        "b.append(x)",
        "x = 2",
        "@decorated",
        "def f(y):",
        "    return helper(y) + len(b)",
        "def decorated(g): return g",
        "def helper(y): return y",
    ]
    with pytest.raises(NoSourceError, match="No cell defines z"):
        slice_of(cells, {"z"})


def test_sources_give_equal_values(e):
    import datetime
    import decimal
    from collections import deque

    values = [
        {"a": [1, (2,), {3}, frozenset([4]), b"x", 1j, -0.0, 2**70, None, True]},
        deque([1], 3),
        datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC),
        decimal.Decimal("1.10"),
        Path("a/b"),
        e.Send("w", {"i": 1}),
        "\ud800\x00'\"",
        float("inf"),
    ]
    for value in values:
        writer = Writer()
        text = writer.source(value)
        space: dict = {}
        exec("\n".join(writer.imports), space)
        assert eval(text, space) == value
        ast.parse(text)
    with pytest.raises(NoSourceError, match=r"\[0\]\['k'\] is a object"):
        Writer().source([{"k": object()}])
