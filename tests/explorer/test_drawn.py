"""The DOT that the page gets: its own names only, whatever the graph's names say."""

import base64
import gzip
import json
import re

import pytest
from graphs import CONFIG, chain_graph

from ckpt_viz.explorer import explore
from ckpt_viz.explorer.bundle import packed_asset
from ckpt_viz.explorer.collected import collect
from ckpt_viz.explorer.drawn import NODE_LIMIT, shape_json
from ckpt_viz.explorer.messages import answer
from ckpt_viz.timeline import open_timeline
from ckpt_viz.timeline.shape import Shape, ShapeEdge, ShapeNode

HOSTILE = (
    "<b>bold</b>",
    'quo"te',
    "back\\N",
    "semi; n9 [label=x]",
    "line\nbreak",
    "x" * 300,
    "evil\u202egnp",
    "日本語",
)


def test_names_are_data_beside_plain_dot(e):
    graph = chain_graph(e, {name: lambda s: {} for name in HOSTILE})
    drawn = shape_json(open_timeline(graph, "1").shape())
    assert [n["name"] for n in drawn["nodes"].values() if n["kind"] == "node"] == list(HOSTILE)
    assert all(len(n["label"]) <= 26 + 5 for n in drawn["nodes"].values())
    assert "\u202e" not in drawn["dot"]
    lines = drawn["dot"].splitlines()
    node = re.compile(r'\tn\d+ \[label=("([^"\\]|\\.)*"|\w+) height=[\d.]+ width=[\d.]+\]')
    edge = re.compile(r"\tn\d+ -> n\d+ \[id=e\d+\]")
    assert sum(bool(node.fullmatch(line)) for line in lines) == len(HOSTILE) + 2
    assert sum(bool(edge.fullmatch(line)) for line in lines) == len(HOSTILE) + 1
    assert len(lines) == 2 * len(HOSTILE) + 3 + 5, "nothing else"


def test_too_many_nodes_are_not_drawn():
    shape = Shape(tuple(ShapeNode(str(i), str(i)) for i in range(NODE_LIMIT + 1)))
    assert shape_json(shape)["why"] == "401 nodes are more than can be drawn here (400)."


def test_an_edge_to_nowhere_is_left_out():
    shape = Shape((ShapeNode("a", "a"),), (ShapeEdge("a", "gone"),))
    assert shape_json(shape)["edges"] == {}


def test_the_page_s_module_crosses_packed(graph):
    text = gzip.decompress(base64.b64decode(packed_asset("viz"))).decode()
    assert "export{" in text
    assert len(packed_asset("viz")) < 1_000_000, "one message stays below 1 MB"
    with pytest.raises(LookupError, match=r"No module '\.\./secret'"):
        packed_asset("../secret")


def test_an_export_answers_what_the_tab_asks(graph, tmp_path):
    explorer = explore(graph, follow=False)
    data = collect(explorer._session)
    assert data["answers"]["graph"]["nodes"]
    assert not any(key.startswith("asset") for key in data["answers"]), "no module in the JSON"
    page = explorer.export(tmp_path / "run.html").read_text()
    assert '"asset viz"' in page
    explorer.close()


def test_the_answer_of_a_click_stays_small_in_a_graph_of_many_nodes(e):
    graph = chain_graph(e, {f"node_{k:03d}": lambda s: {} for k in range(300)})
    graph.invoke({"xs": []}, {**CONFIG, "recursion_limit": 400})
    explorer = explore(graph, follow=False)
    session = explorer._session
    session.timeline.rows()
    reply = answer(session, {"id": 1, "kind": "checkpoint", "checkpoint": session.timeline.head})
    matrix = reply["result"]["channels"]
    assert matrix["left_out"] > 200
    routing = {row["name"] for row in matrix["rows"] if row["routing"]}
    assert "branch:to:node_299" in routing, "what changed last is there"
    assert len(json.dumps(reply)) < 500_000
    explorer.close()
