"""Drawings: what LangGraph has not is held to its exact form here, the rest is compared with it."""

from __future__ import annotations

import itertools
import socket
import struct
import xml.etree.ElementTree as Xml
import zlib
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import TypedDict

from ckpt_viz.drawing import Edge, Graph, Node
from ckpt_viz.drawing.picture import ascii_of
from ckpt_viz.graph import END, START, StateGraph


class State(TypedDict):
    x: int


def same(state: State) -> dict[str, Any]:
    return {}


def small() -> Any:
    builder = StateGraph(State).add_node("a", same).add_node("b", same).add_edge(START, "a")
    builder.add_conditional_edges("a", lambda s: END, {"more": "b", "stop": END})
    return builder.add_edge("b", "a").compile()


def nested() -> Any:
    return StateGraph(State).add_node("sub", small()).add_edge(START, "sub").compile()


def test_text() -> None:
    drawn = ascii_of(small().get_graph())
    assert drawn.splitlines() == [
        "   +-----------+",
        "   | __start__ |",
        "   +-----------+",
        "         |",
        "         |",
        "         v",
        "       +---+",
        "       | a |",
        "       +---+",
        "         :",
        "  +......+...+",
        "  v          v",
        "+---+   +---------+",
        "| b |   | __end__ |",
        "+---+   +---------+",
        "b --> a (back)",
    ]


def test_dot() -> None:
    drawn = nested().get_graph(xray=True).to_dot()
    assert 'subgraph "cluster_sub" {' in drawn
    assert '"sub:a" -> "sub:b" [label="more" style=dashed];' in drawn
    assert drawn.count("{") == drawn.count("}")


def test_dot_keeps_quotes() -> None:
    graph = Graph({'a"b': Node('a"b', 'a"b')}, [Edge('a"b', 'a"b')])
    assert '"a\\"b" -> "a\\"b";' in graph.to_dot()


def test_svg_shows_each_node_once() -> None:
    root = Xml.fromstring(nested().get_graph(xray=True).to_svg())
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    ends = ["__end__", "__start__"]
    shown = sorted(t for t in texts if t in ("a", "b", *ends))
    assert shown == ["__end__", "__end__", "__start__", "__start__", "a", "b"]  # and both inside
    assert "sub" in texts
    assert "more" in texts


def test_svg_keeps_signs() -> None:
    graph = Graph({"a": Node("a", '<a&"b">')}, [])
    root = Xml.fromstring(graph.to_svg())
    assert root.find(".//{http://www.w3.org/2000/svg}text").text == '<a&"b">'  # type: ignore[union-attr]


def dots(png: bytes) -> int:
    """How many dark dots a grey PNG has; its parts are checked on the way."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, parts = 8, {}
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            kind + data
        )
        parts[kind] = data
        at += 12 + size
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    rows = zlib.decompress(parts[b"IDAT"])
    assert len(rows) == height * (width + 1)
    return sum(shade < 200 for shade in rows) - height


def test_png(tmp_path: Path) -> None:
    """It is drawn in place, with every letter of the graph, and written where it is asked."""
    file = tmp_path / "graph.png"
    drawn = small().get_graph().draw_mermaid_png(output_file_path=str(file))
    assert file.read_bytes() == drawn
    more = Graph({"a": Node("a", "a"), "Übung": Node("Übung", "Übung")}, [])
    less = Graph({"a": Node("a", "a")}, [])
    assert dots(more.draw_png()) > dots(less.draw_png()) > 50


def test_a_notebook_shows_a_graph_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise AssertionError("a drawing asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    shown = nested()._repr_mimebundle_()
    assert ">a</text>" in shown["image/svg+xml"]
    assert shown["text/plain"].startswith("<")
    assert dots(nested().get_graph().draw_mermaid_png()) > 1000


def test_a_large_graph_is_drawn() -> None:
    builder = StateGraph(State)
    names = [f"n{i}" for i in range(300)]
    for name in names:
        builder.add_node(name, same)
    builder.add_edge(START, names[0])
    for one, other in itertools.pairwise(names):
        builder.add_edge(one, other)
    graph = builder.compile().get_graph()
    assert len(graph.edges) >= len(names)
    assert "n299" in graph.to_svg()
