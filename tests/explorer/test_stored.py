"""The Storage tab's answer stays bounded, and is in an export."""

import json

from graphs import CONFIG, chain_graph

from ckpt_viz.explorer import explore
from ckpt_viz.explorer.collected import collect
from ckpt_viz.explorer.messages import answer
from ckpt_viz.explorer.stored import VERSION_LIMIT


def test_many_versions_are_counted_and_cut(e):
    graph = chain_graph(e, {"a": lambda s: {"xs": [1], "foo": "x"}})
    for _ in range(300):
        graph.invoke({"xs": [0]}, CONFIG)
    explorer = explore(graph, follow=False)
    reply = answer(explorer._session, {"id": 1, "kind": "storage"})
    assert reply["ok"], reply
    found = reply["result"]
    xs = next(c for c in found["channels"] if c["name"] == "xs")
    assert xs["count"] == 600
    assert sum(len(c["versions"]) for c in found["channels"]) <= VERSION_LIMIT
    assert len(json.dumps(reply)) < 400_000
    number, _full, _bytes, _tag, used_by, first, last = xs["versions"][0]
    assert used_by == 1
    assert first == last
    assert int(number) > 600
    explorer.close()


def test_an_export_has_it(graph):
    explorer = explore(graph, follow=False)
    kept = collect(explorer._session)["answers"]
    assert kept["storage"]["channels"]
    assert any(key.startswith("phases ") for key in kept)
    explorer.close()
