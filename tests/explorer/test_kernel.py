"""The Explorer in a real kernel: real comm messages, also while acts run."""

import time
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

TESTS = Path(__file__).parents[1] / "timeline"


class Kernel:
    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="python3", cwd=str(TESTS))
        self.count = 0
        self.model = None

    def run(self, code):
        number = self.client.execute(code)
        outputs = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            content = message["content"]
            if message["parent_header"].get("msg_id") != number:
                continue
            if message["msg_type"] == "comm_open" and "_esm" in str(content["data"])[: 10**7]:
                self.model = content["comm_id"]
            if message["msg_type"] in ("execute_result", "display_data", "stream", "error"):
                outputs.append(content)
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                return outputs

    def ask(self, kind, **body):
        self.count += 1
        data = {"method": "custom", "content": {"id": self.count, "kind": kind, **body}}
        content = {"comm_id": self.model, "data": data}
        message = self.client.session.msg("comm_msg", content)
        self.client.shell_channel.send(message)
        return self.wait(lambda m: m.get("re") == self.count)

    def wait(self, test, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.client.get_iopub_msg(timeout=seconds)
            if message["msg_type"] == "comm_msg":
                found = message["content"]["data"].get("content") or {}
                if test(found):
                    return found
        raise AssertionError("no answer")

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


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
