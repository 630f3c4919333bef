"""What one sees or did, as a test that stands alone.

Rules: the test holds the checkpoint that it starts from, runs on a saver of its own, and asserts
what was seen; it passes when it is run as it stands. A value that has no Python source is an error,
and so is a graph whose code can't be found.
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ckpt_viz.timeline.acts import DELTA, GraphTimeline
from ckpt_viz.timeline.code import Teller
from ckpt_viz.timeline.literal import NoSourceError
from ckpt_viz.timeline.records import Act

KEPT = ("source", "step", "parents")
PACKED_LIMIT = 200_000
UNPACK = '''
def unpack(tag, text):
    """A value that has no source of its own, as the saver kept it."""
    return InMemorySaver().serde.loads_typed((tag, base64.b64decode(text)))
'''
REBUILT = '''
def rebuilt():
    """A saver that holds what was saved, and the config of the first of it."""
    saver = InMemorySaver()
    first = {"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}}
    for space, checkpoint, metadata, writes in reversed(SAVED):
        config = {"configurable": {"thread_id": THREAD, "checkpoint_ns": space}}
        first = saver.put(config, checkpoint, metadata, checkpoint["channel_versions"])
        for task, pairs in writes.items():
            saver.put_writes(first, pairs, task)
    return saver, first
'''


class Origin(Protocol):
    """Where the graph's code comes from; `name` is what the code calls the graph."""

    name: str

    def code(self, graph: bool, names: Iterable[str]) -> str:
        """The code that defines the graph (if it is wanted) and the names of its notebook."""
        ...


class Tester(Teller):
    """Writes tests of one timeline."""

    def __init__(self, timeline: GraphTimeline, origin: Origin) -> None:
        """`origin` gives the code of the graph when a test needs it."""
        super().__init__(timeline)
        self.origin = origin
        self.packs = False

    def test_of_selection(self, checkpoint_id: str) -> str:
        """A test that a checkpoint, rebuilt from this text, has the values that are seen."""
        values = self._compared(dict(self._state(checkpoint_id)))
        body = [
            "saver, config = rebuilt()",
            "found = saver.get_tuple(config).checkpoint['channel_values']",
            f"expected = {values}",
            "assert {name: found.get(name) for name in expected} == expected",
        ]
        return self._test("selection", [checkpoint_id], body, graph=False)

    def test_of_diff(self, a: str | None, b: str) -> str:
        """A test that two checkpoints, rebuilt from this text, differ as it is seen."""
        before = dict(self._state(a)) if a is not None else {}
        after = dict(self._state(b))
        names = [n for n in after if n not in before or not _equal(before[n], after[n])]
        expected = self._compared({n: (before.get(n), after[n]) for n in names})
        first = (
            f"before = saver.get_tuple({self.config(a)}).checkpoint['channel_values']"
            if a is not None
            else "before = {}"
        )
        body = [
            "saver, _ = rebuilt()",
            first,
            f"after = saver.get_tuple({self.config(b)}).checkpoint['channel_values']",
            f"expected = {expected}",
            "changed = {n: (before.get(n), after.get(n)) for n in expected}",
            "assert changed == expected",
            f"for name in {self.writer.source([n for n in after if n not in names])}:",
            "    assert before.get(name) == after.get(name), name",
        ]
        return self._test("diff", [i for i in (a, b) if i is not None], body, graph=False)

    def _state(self, checkpoint_id: str) -> Any:
        values = self.timeline.snapshot(checkpoint_id).values
        stored = self.timeline.tuple(checkpoint_id).checkpoint["channel_values"]
        if not isinstance(values, dict):
            return {"__root__": values}
        return {n: v for n, v in values.items() if n in stored}

    def test_of_act(self, act: Act) -> str:
        """A test that does the act on the rebuilt checkpoint, and asserts what came of it."""
        if self.timeline.checkpoint_ns:
            raise NoSourceError("A test of an act starts at the root graph: leave this namespace")
        thread = self.config(None)
        body = ["saver, base = rebuilt()"]
        body += [f'tested = {self.origin.name}.copy(update={{"checkpointer": saver}})']
        steps = self._steps(act, "tested", "base", thread)
        if act.error is not None:
            self.writer.imports |= {"import re", "import pytest"}
            body += [f"with pytest.raises(Exception, match=re.escape({act.error!r})):"]
            body += [f"    {line}" for line in steps]
        elif act.end is None and (act.kind != "fork" or act.run):
            body += self._ran(steps)
        else:
            body += [*steps, *self._expected(act, thread)]
        return self._test(act.kind, [act.base] if act.base else [], body, graph=True)

    def _expected(self, act: Act, thread: str) -> list[str]:
        if act.end is not None:
            found = self.timeline.snapshot(act.end)
        else:
            found = self.timeline.preview(str(act.base), act.values, act.as_node, list(act.replace))
        return [
            f"snapshot = {self._get('tested', thread)}",
            *self._same_values(found.values),
            f"assert snapshot.next == {self.writer.source(tuple(found.next))}",
        ]

    def _same_values(self, values: Any) -> list[str]:
        if not isinstance(values, dict):
            return [f"assert snapshot.values == {self.writer.source(values)}"]
        return [
            f"expected = {self._compared(values)}",
            "assert {name: snapshot.values[name] for name in expected} == expected",
        ]

    def _compared(self, values: dict[str, Any]) -> str:
        """The source of the values by channel; a channel that has none is not compared."""
        parts = []
        for name, value in values.items():
            try:
                parts.append(f"{name!r}: {self.writer.source(value, name)}")
            except NoSourceError:
                continue
        return f"{{{', '.join(parts)}}}"

    def _kept(self, value: Any, path: str) -> str:
        """The source of a value to start from; packed as a saver keeps it, where it has none."""
        try:
            return self.writer.source(value, path)
        except NoSourceError:
            tag, data = self.timeline.memory().serde.dumps_typed(value)
            if len(data) > PACKED_LIMIT:
                raise
        self.packs = True
        self.writer.imports.add("import base64")
        return f"unpack({tag!r}, {base64.b64encode(data).decode()!r})"

    def _ran(self, steps: list[str]) -> list[str]:
        """The lines that do an act which was not done yet, and assert that nodes run."""
        *before, last = steps
        last = re.sub(r"\.a?invoke\(", self._stream, last.removeprefix("await "))
        each = "async for" if self.is_async else "for"
        return [
            *before,
            f"parts = [part {each} part in {last[:-1]}, stream_mode='updates')]",
            "ran = [name for part in parts for name in part]",
            "assert ran, 'no node ran'",
        ]

    @property
    def _stream(self) -> str:
        return f".{'a' if self.is_async else ''}stream("

    def _test(self, name: str, ids: Sequence[str], body: Sequence[str], *, graph: bool) -> str:
        saved = self._saved(ids, name == "resume")
        self.writer.imports.add(f"from {self.root}.checkpoint.memory import InMemorySaver")
        is_async = self.is_async and graph
        lines = [f"async def check_{name}():" if is_async else f"def test_{name}():"]
        lines += [f"    {line}" for line in body]
        if is_async:
            self.writer.imports.add("import asyncio")
            lines += ["", "", f"def test_{name}():", f"    asyncio.run(check_{name}())"]
        thread = self.timeline.thread_id
        code = self.origin.code(graph, self.writer.local)
        imports = sorted(self.writer.imports, key=lambda line: (line.startswith("from"), line))
        parts = [
            f'"""Rebuilds a {name} of thread {_plain(str(thread))}. Copied from the Explorer."""',
            "\n".join(imports),
            *([code.strip()] if code else []),
            *([UNPACK.strip()] if self.packs else []),
            saved,
            REBUILT.replace("THREAD", repr(thread)).strip(),
            "\n".join(lines),
        ]
        return "\n\n\n".join(parts).rstrip() + "\n"

    def _saved(self, ids: Sequence[str], with_writes: bool) -> str:
        """The source of the checkpoints that the test starts from, with the nested ones."""
        timeline = self.timeline
        for id_ in ids:
            self._refuse_delta(id_)
        tuples = [*(timeline.tuple(i) for i in ids), *timeline.below(ids)]
        rows = [textwrap.indent(self._saved_row(t, with_writes), "    ") for t in tuples]
        return "\n".join(
            ["# namespace, checkpoint, metadata, writes by task", "SAVED = [", *rows, "]"]
        )

    def _refuse_delta(self, checkpoint_id: str) -> None:
        """A channel whose value the checkpoint itself does not hold can't be rebuilt from it."""
        held = self.timeline.tuple(checkpoint_id).checkpoint["channel_values"]
        values = self.timeline.snapshot(checkpoint_id).values
        kinds = self.timeline.topology.channels
        deltas = [n for n, c in kinds.items() if c.kind == DELTA and n in values and n not in held]
        if deltas:
            raise NoSourceError(
                f"{', '.join(deltas)} is a {DELTA}: its value lies in the writes of earlier steps, "
                "which a test does not hold. Copy as Python instead"
            )

    def _saved_row(self, tup: Any, with_writes: bool) -> str:
        source = self.writer.source
        space = str(tup.config["configurable"].get("checkpoint_ns") or "")
        metadata = {k: v for k, v in (tup.metadata or {}).items() if k in KEPT}
        writes: dict[str, list[str]] = {}
        for task, channel, value in (tup.pending_writes or ()) if with_writes else ():
            if channel != "__error__":
                pair = f"({channel!r}, {self._kept(value, channel)})"
                writes.setdefault(task, []).append(pair)
        by_task = ", ".join(f"{task!r}: [{', '.join(pairs)}]" for task, pairs in writes.items())
        checkpoint = dict(tup.checkpoint)
        values = checkpoint.pop("channel_values", {})
        parts = [f"{k!r}: {source(v, k)}," for k, v in checkpoint.items()]
        shown = [f"    {k!r}: {self._kept(v, str(k))}," for k, v in values.items()]
        return "\n".join(
            [
                f"({space!r}, {{",
                *(f"    {part}" for part in parts),
                "    'channel_values': {",
                *(f"    {line}" for line in shown),
                "    },",
                f"}}, {source(metadata)}, {{{by_task}}}),",
            ]
        )


def _plain(text: str) -> str:
    return re.sub(r'[\\"\x00-\x1f\x7f-\x9f]', "?", text)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # noqa: BLE001 - arrays refuse a single truth value
        return False
