"""Drawings of graphs: Mermaid, ASCII, DOT, SVG and JSON, all offline."""

from ckpt_viz.drawing.graph import Edge, Graph, Node

__all__ = ["Edge", "Graph", "Node"]
