"""A page made of Python, for tests of the messages."""

import json
import time


class Page:
    """A page: sends requests through the widget's own handler, keeps what comes back."""

    def __init__(self, explorer):
        self.explorer = explorer
        self.heard = []
        explorer.send = lambda content, buffers=None: self.heard.append(
            json.loads(json.dumps(content, allow_nan=False))
        )
        self.count = 0

    def post(self, kind, **body):
        self.count += 1
        message = {"id": self.count, "kind": kind, **body}
        self.explorer._handle_custom_msg(message, [])
        return self.count

    def ask(self, kind, **body):
        number = self.post(kind, **body)
        return self.wait(lambda m: m.get("re") == number)

    def get(self, kind, **body):
        reply = self.ask(kind, **body)
        assert reply["ok"], reply
        return reply["result"]

    def wait(self, test, seconds=10):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [m for m in self.heard if test(m)]
            if found:
                return found[0]
            time.sleep(0.005)
        raise AssertionError(f"never came; heard {self.heard[-3:]}")

    def ended(self):
        found = self.wait(lambda m: m.get("event") == "run" and m["state"] != "running")
        self.heard.remove(found)
        return found
