import json
from dataclasses import dataclass

import numpy
import pytest

from ckpt_viz.timeline.diff import diff_values
from ckpt_viz.timeline.paths import follow
from ckpt_viz.timeline.preview import Previewer, clean, mark, same


@dataclass
class Point:
    x: int
    y: float


def entry(value, **options):
    out = Previewer(**options).entry("v", value, ())
    json.dumps(out, allow_nan=False)
    return out


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (float("nan"), "float", "nan"),
        (float("-inf"), "float", "-inf"),
        (2**80, "int", str(2**80)),
        (b"\x00\xff", "bytes", "2 bytes: 00 ff"),
        (None, "NoneType", "None"),
        ((1, 2), "tuple", "2 items"),
        ({1, 2}, "set", "2 items"),
        ({1: 2}, "dict", "{1 key}"),
        (Point(1, 2.0), "Point", "Point(2 fields)"),
        ("<img src=x onerror=alert(1)>", "str", "<img src=x onerror=alert(1)>"),
        ("a\u202eb\ud800", "str", "a\\u202eb\\ud800"),
    ],
)
def test_values_cross_as_typed_text(value, kind, text):
    out = entry(value)
    assert (out["t"], out["s"]) == (kind, text)


def test_huge_int_is_cut():
    assert "bits" in entry(1 << 50_000)["s"]


def test_odd_keys_have_positions_as_path():
    value = {"a": {3: "three", (1, 2): "pair"}}
    (a,) = entry(value)["c"]
    assert [c["k"] for c in a["c"]] == ["3", "(1, 2)"]
    assert [c["p"] for c in a["c"]] == [["a", 0], ["a", 1]]
    assert follow(value, ["a", 1]) == "pair"
    with pytest.raises(LookupError, match=r"a\.b"):
        follow(value, ["a", "b"])


def test_a_value_is_cut_and_the_rest_is_asked_for():
    value = {"text": "x" * 10_000, "many": list(range(500))}
    text, many = entry(value)["c"]
    assert text["more"]
    assert (len(text["s"]), text["n"]) == (2_000, 10_000)
    assert many["more"]
    assert len(many["c"]) == 50
    page, total = Previewer().page(value["many"], ("many",), 50)
    assert total == 500
    assert page[0]["p"] == ["many", 50]


def test_a_big_state_stays_below_a_megabyte():
    value = {f"k{i}": ["y" * 5_000] * 60 for i in range(40)}
    assert len(json.dumps(Previewer().entries(value))) < 1_000_000


def test_redaction():
    out = Previewer(["key", "a.b"]).entries({"key": "s3cret", "a": {"b": "s3cret", "c": 1}})
    assert "s3cret" not in json.dumps(out)
    assert out[0]["t"] == "redacted"


def test_repr_that_raises():
    class Bad:
        def __repr__(self):
            raise RuntimeError("x")

    assert "RuntimeError" in entry(Bad())["s"]


def test_marks():
    old, new = {"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}
    marks = [x["mark"] for x in mark(Previewer().entries(new), old, new)]
    assert marks == ["same", "changed", "added"]


def test_same_with_arrays_and_nan():
    assert same(numpy.array([1, 2]), numpy.array([1, 2]))
    assert not same(numpy.array([1, 2]), numpy.array([1, 3]))
    assert same(float("nan"), float("nan"))


def test_diff_by_id():
    a = {"m": [{"id": "1", "t": "x"}, {"id": "2", "t": "y"}]}
    b = {"m": [{"id": "0", "t": "n"}, {"id": "1", "t": "x"}, {"id": "2", "t": "z"}]}
    found = diff_values(a, b)
    ops = {(p.op, p.path) for p in found.parts}
    assert ("add", "m[id=0]") in ops
    assert ("change", "m[id=2].t") in ops
    assert found.summary == "1 added, 1 changed"


def test_diff_of_a_list_that_grew():
    found = diff_values({"xs": [1, 2]}, {"xs": [1, 2, 3]})
    assert [(p.op, p.path) for p in found.parts] == [("same", "xs"), ("add", "xs[2]")]
    assert diff_values([1], [1]).summary == "no difference"


def test_clean():
    assert clean("a\x1b[31m\n") == "a\\u001b[31m\n"
