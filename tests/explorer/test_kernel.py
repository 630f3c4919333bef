"""The Explorer in a real kernel: real comm messages, also while acts run."""

import pytest
from kernels import Kernel


@pytest.fixture
def kernel():
    kernel = Kernel()
    yield kernel
    kernel.close()


def test_in_a_kernel(kernel, e):
    kernel.run(
        "%load_ext ckpt_viz\nfrom graphs import *\n"
        f"graph = plan_graph(engine({e.name!r}))\n_ = graph.invoke({{'xs': []}}, CONFIG)"
    )
    widget, static = kernel.run("%ckpt graph --thread 1")
    assert set(widget["data"]) == {"application/vnd.jupyter.widget-view+json"}
    assert set(static["data"]) == {"image/svg+xml", "text/plain"}
    hello = kernel.ask("hello")["result"]
    head = hello["rows"]["head"]
    found = kernel.ask("checkpoint", checkpoint=head)["result"]
    question = found["writes"]["next"][0]["interrupts"][0]
    answered = kernel.ask("resume", checkpoint=head, answers={question["id"]: "yes"}, act="1")
    assert answered["ok"], answered
    ended = kernel.wait(lambda m: m.get("event") == "run" and m["state"] != "running")
    assert ended["state"] == "done"
    (output,) = kernel.run("print(graph.get_state(CONFIG).values['xs'][:2])")
    assert output["text"] == "['a', 'yes']\n"


def test_async_graph_in_a_kernel(kernel, e):
    kernel.run(
        "%load_ext ckpt_viz\nfrom graphs import *\nimport asyncio\n"
        "loops = []\n"
        "async def a(state):\n"
        "    loops.append(asyncio.get_running_loop())\n    return {'xs': ['a']}\n"
        f"graph = chain_graph(engine({e.name!r}), {{'a': a}})\n"
        "_ = await graph.ainvoke({'xs': []}, CONFIG)"
    )
    kernel.run("%ckpt graph --thread 1")
    kernel.ask("hello")
    assert kernel.ask("run", input={"xs": ["again"]}, act="1")["ok"]
    ended = kernel.wait(lambda m: m.get("event") == "run" and m["state"] != "running")
    assert ended["state"] == "done", ended
    (output,) = kernel.run("print(len(loops), len(set(map(id, loops))))")
    assert output["text"] == "2 1\n"
