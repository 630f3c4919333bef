"""A real kernel with the Explorer's comm, for tests of what happens in one."""

import time
from pathlib import Path

from jupyter_client.manager import start_new_kernel

TESTS = Path(__file__).parents[1] / "timeline"


class Kernel:
    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="python3", cwd=str(TESTS))
        self.count = 0
        self.model = None
        self.heard = []

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
        """The first message that fits; those that don't are kept for who waits for them later."""
        for found in self.heard:
            if test(found):
                self.heard.remove(found)
                return found
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.client.get_iopub_msg(timeout=seconds)
            if message["msg_type"] == "comm_msg":
                found = message["content"]["data"].get("content") or {}
                if test(found):
                    return found
                self.heard.append(found)
        raise AssertionError("no answer")

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
