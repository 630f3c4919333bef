"""Frames of pandas and polars come back equal, with types, index and names."""

from __future__ import annotations

import datetime as dt
import sys
from typing import Any

import pandas as pd
import polars as pl
import pytest

from ckpt_viz.checkpoint.serde import JsonPlusSerializer, Opaque

serde = JsonPlusSerializer()


def pandas_values() -> dict[str, Any]:
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [1.5, float("nan"), 2.0],
            "t": ["a", None, "c"],
            "o": [(1,), {2}, {"k": 1}],
            "c": pd.Categorical(["x", "y", "x"], ordered=True),
            "i": pd.array([1, None, 3], dtype="Int64"),
            "b": pd.array([True, None, False], dtype="boolean"),
            "s": pd.array(["a", None, "b"], dtype="string"),
            "d": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
            "z": pd.date_range("2024-01-01", periods=3, tz="Europe/Berlin"),
            "td": pd.to_timedelta([1, 2, 3], unit="h"),
        }
    )
    return {
        "frame": frame,
        "indexed": frame.set_index("t"),
        "levels": frame.set_index(["n", "c"]),
        "same names": pd.DataFrame([[1, "a"]], columns=["x", "x"]),
        "number names": pd.DataFrame({1: [1], 2: [2]}),
        "empty": pd.DataFrame(),
        "no rows": frame.iloc[:0],
        "series": frame["x"].rename("other"),
        "dates": frame.set_index(pd.date_range("2024-01-01", periods=3, freq="D")),
        "an index": pd.Index(["a", "b"], name="i"),
        "a range": pd.RangeIndex(0, 10, 2),
    }


NAMES = "frame, indexed, levels, same names, number names, empty, no rows, series, dates"


@pytest.mark.parametrize("name", [*NAMES.split(", "), "an index", "a range"])
def test_pandas(name: str) -> None:
    value = pandas_values()[name]
    testing = sys.modules["pandas"].testing
    same = {
        "DataFrame": testing.assert_frame_equal,
        "Series": testing.assert_series_equal,
    }.get(type(value).__name__, testing.assert_index_equal)
    back = serde.loads_typed(serde.dumps_typed({"v": [value]}))["v"][0]
    assert type(back) is type(value)
    same(back, value)


def test_polars() -> None:
    frame = pl.DataFrame(
        {"n": [1, None], "t": ["a", "b"], "l": [[1], [2, 3]], "d": [dt.date(2024, 1, 2)] * 2}
    )
    for value in (frame, frame["l"], frame.clear()):
        back = serde.loads_typed(serde.dumps_typed({"v": value}))["v"]
        assert type(back) is type(value)
        assert back.equals(value)


def test_who_has_not_loaded_the_package_gets_an_opaque(monkeypatch: pytest.MonkeyPatch) -> None:
    import ormsgpack

    for module in ("pandas", "polars"):
        monkeypatch.delitem(sys.modules, module, raising=False)
        raw = ormsgpack.packb([module, "DataFrame", b"ARROW1"])
        typed = "msgpack", ormsgpack.packb({"v": ormsgpack.Ext(46, raw)})
        found = serde.loads_typed(typed)
        assert isinstance(found["v"], Opaque)
        assert (found["v"].module, found["v"].name) == (module, "DataFrame")
        assert module not in sys.modules
        assert serde.dumps_typed(found) == typed
