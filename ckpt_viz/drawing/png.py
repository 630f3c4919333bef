"""A drawing as a PNG, made here: no browser, no service, no imaging library.

Letters are of the common 5x7 dot matrix, at twice their size; other letters show as a box.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from typing import Any

from ckpt_viz.drawing.layout import layout_of
from ckpt_viz.drawing.picture import columns_of

# Five columns a letter, from the space on; the lowest bit is the highest dot.
_FONT = bytes.fromhex(
    "000000000000005f00000007000700147f147f14242a7f2a12231308646236495620500008070300001c224100"
    "0041221c002a1c7f1c2a08083e080800807030000808080808000060600020100804023e5149453e00427f4000"
    "724949494621414"
    "94d331814127f1027454545393c4a49493141211109073649494936464949291e0000140000"
    "00403400000008142241141414141400412214080201590906"
    "3e415d594e7c1211127c7f494949363e41414122"
    "7f4141413e7f494949417f090909013e414151737f0808087f00417f41002040413f017f081422417f40404040"
    "7f021c027f7f0408107f3e4141413e7f090909063e4151215e7f09192946264949493203017f01033f4040403f"
    "1f2040201f3f4038403f631408146303047804036159494d43007f4141410204081020004141417f0402010204"
    "404040404000030708002054547840"
    "7f284444383844444428384444287f385454541800087e090218a4a49c78"
    "7f0804047800447d4000204040"
    "3d007f1028440000417f40007c047804787c080404783844444438fc18242418"
    "18242418fc7c08040408485454542404043f44243c4040207c1c2040201c3c4030403c44281028444c9090907c"
    "4464544c44000836410000007700000041360800"
    "0201020402"
)
_SCALE, _ROW, _BOX = 2, 92, 36
_INK, _EDGE, _FILL, _PAPER = 0, 96, 236, 255


class Canvas:
    """A grey picture, a byte a dot."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.rows = [bytearray([_PAPER]) * width for _ in range(height)]

    def dot(self, x: int, y: int, shade: int) -> None:
        """One dot, if it is on the canvas."""
        if 0 <= x < self.width and 0 <= y < self.height:
            self.rows[y][x] = shade

    def box(self, left: int, top: int, right: int, bottom: int, shade: int) -> None:
        """A filled box with an edge."""
        for y in range(top, bottom + 1):
            for x in range(left, right + 1):
                edge = x in (left, right) or y in (top, bottom)
                self.dot(x, y, _EDGE if edge else shade)

    def line(self, start: tuple[int, int], stop: tuple[int, int], dashed: bool) -> None:
        """A line, two dots wide."""
        steps = max(abs(stop[0] - start[0]), abs(stop[1] - start[1]), 1)
        for i in range(steps + 1):
            if dashed and i % 10 > 5:
                continue
            x = round(start[0] + (stop[0] - start[0]) * i / steps)
            y = round(start[1] + (stop[1] - start[1]) * i / steps)
            self.dot(x, y, _EDGE)
            self.dot(x + 1, y, _EDGE)

    def tip(self, x: int, y: int) -> None:
        """The tip of an arrow that points down."""
        for i in range(8):
            for across in range(-(i // 2), i // 2 + 2):
                self.dot(x + across, y - i, _EDGE)

    def text(self, x: int, y: int, text: str) -> None:
        """A text with its middle at a place."""
        x -= len(text) * 6 * _SCALE // 2
        y -= 4 * _SCALE
        for index, letter in enumerate(text):
            at = (ord(letter) - 32) * 5
            columns = _FONT[at : at + 5] if 0 <= at < len(_FONT) else b"\x7f\x41\x41\x41\x7f"
            for column, dots in enumerate(columns):
                for row in range(8):
                    if dots >> row & 1:
                        left = x + (index * 6 + column) * _SCALE
                        for dy in range(_SCALE):
                            for dx in range(_SCALE):
                                self.dot(left + dx, y + row * _SCALE + dy, _INK)

    def png(self) -> bytes:
        """The picture in the PNG format."""

        def chunk(kind: bytes, data: bytes) -> bytes:
            end = struct.pack(">I", zlib.crc32(kind + data))
            return struct.pack(">I", len(data)) + kind + data + end

        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 0, 0, 0, 0)
        body = zlib.compress(b"".join(b"\0" + bytes(row) for row in self.rows))
        parts = chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + parts


def png_of(graph: Any) -> bytes:
    """Boxes from top to bottom with their ids; dashed lines are conditional."""
    layout = layout_of(list(graph.nodes), [(e.source, e.target) for e in graph.edges])
    places = [place for row in layout.rows for place in row]
    widths = {p: len(p) * 6 * _SCALE + 24 if isinstance(p, str) else 12 for p in places}
    middles, width = columns_of(layout, widths, 28)
    spot = {
        place: (middles[place] + 20, 20 + rank * _ROW + _BOX // 2)
        for rank, row in enumerate(layout.rows)
        for place in row
    }
    margin = 60 if layout.loops else 20
    canvas = Canvas(width + 20 + margin, 40 + (len(layout.rows) - 1) * _ROW + _BOX)
    for i, chain in layout.chains.items():
        _draw_edge(canvas, graph.edges[i], [spot[place] for place in chain])
    for i in layout.loops:
        edge = graph.edges[i]
        (x, y), (to_x, to_y) = spot[edge.source], spot[edge.target]
        turns = [(x, y), (width + 50, y), (width + 50, to_y), (to_x, to_y)]
        for start, stop in itertools.pairwise(turns):
            canvas.line(start, stop, edge.conditional)
    for id_ in graph.nodes:
        (x, y), half = spot[id_], widths[id_] // 2
        canvas.box(x - half, y - _BOX // 2, x + half, y + _BOX // 2, _FILL)
        canvas.text(x, y, id_)
    return canvas.png()


def _draw_edge(canvas: Canvas, edge: Any, points: list[tuple[int, int]]) -> None:
    (x, y), (to_x, to_y) = points[0], points[-1]
    ends = [(x, y + _BOX // 2), *points[1:-1], (to_x, to_y - _BOX // 2)]
    for start, stop in itertools.pairwise(ends):
        canvas.line(start, stop, edge.conditional)
    canvas.tip(*ends[-1])
    if edge.data:
        (x, y), (to_x, to_y) = ends[:2]
        canvas.text(x + (to_x - x) * 2 // 3, y + (to_y - y) * 2 // 3, str(edge.data))
