"""Frames, series and indexes of pandas and polars, as plain arrays and lists.

Neither package is imported: who has such a value has loaded it, and a process that has not gets
an `Opaque`. A column is told by its kind: ``numpy`` an array, ``list`` its items and dtype,
``category`` categories and codes, ``zone`` instants and their dtype.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

from ckpt_viz.checkpoint.serde.registry import FRAME

Parts = tuple[int, list[Any]]
_PANDAS, _POLARS = ("DataFrame", "Series", "Index"), ("DataFrame", "Series")


def frame_reducer(cls: type) -> Callable[[Any], Parts] | None:
    """The reducer of a class of pandas or polars, or None for anything else of theirs."""
    package = cls.__module__.partition(".")[0]
    names = {base.__name__ for base in cls.__mro__}
    if package == "pandas":
        for name in _PANDAS:
            if name in names:
                return lambda obj, n=name: (FRAME, ["pandas", n, _REDUCE[n](obj)])  # type: ignore[misc]
    if package == "polars" and cls.__name__ in _POLARS:
        return lambda obj: (FRAME, ["polars", type(obj).__name__, _ipc(obj)])
    return None


def build_frame(module: str, name: str, parts: Any) -> Any:
    """The frame that a reducer told.

    Raises:
        LookupError: the package is not loaded in this process.
    """
    package: Any = sys.modules.get(module)
    if package is None or module not in ("pandas", "polars"):
        raise LookupError(f"{module} is not loaded")
    if module == "polars":
        frame = package.read_ipc(io.BytesIO(parts))
        return frame if name == "DataFrame" else frame.to_series(0)
    return _BUILD[name](package, parts)


def _ipc(obj: Any) -> bytes:
    out = io.BytesIO()
    frame = obj.to_frame() if type(obj).__name__ == "Series" else obj
    frame.write_ipc(out)
    return out.getvalue()


def _column(values: Any) -> list[Any]:
    dtype = values.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        codes = values.codes if hasattr(values, "codes") else values.cat.codes
        return ["category", _column(dtype.categories), codes.__array__(), bool(dtype.ordered)]
    if kind == "DatetimeTZDtype":
        return ["zone", values.astype("int64").__array__(), str(dtype)]
    if hasattr(dtype, "hasobject") and not dtype.hasobject:
        return ["numpy", values.to_numpy()]
    if hasattr(dtype, "hasobject"):
        return ["list", "object", list(values)]
    return [
        "list",
        str(dtype),
        [None if gone else v for v, gone in zip(values, values.isna(), strict=True)],
    ]


def _values(pd: Any, parts: list[Any]) -> Any:
    kind, *rest = parts
    if kind == "numpy":
        return rest[0]
    if kind == "list":
        dtype, items = rest
        return pd.Series(items, dtype=dtype, index=range(len(items))).array
    if kind == "category":
        categories, codes, ordered = rest
        return pd.Categorical.from_codes(codes, _values(pd, categories), ordered=ordered)
    instants, dtype = rest
    return pd.Series(instants, index=range(len(instants))).astype(dtype).array


def _index(obj: Any) -> list[Any]:
    if type(obj).__name__ == "RangeIndex":
        return ["range", obj.start, obj.stop, obj.step, obj.name]
    if type(obj).__name__ == "MultiIndex":
        levels = [obj.get_level_values(at) for at in range(obj.nlevels)]
        return ["levels", [_column(level) for level in levels], list(obj.names)]
    return ["one", _column(obj), obj.name, getattr(obj, "freqstr", None)]


def _build_index(pd: Any, parts: list[Any]) -> Any:
    kind, *rest = parts
    if kind == "range":
        start, stop, step, name = rest
        return pd.RangeIndex(start, stop, step, name=name)
    if kind == "levels":
        levels, names = rest
        return pd.MultiIndex.from_arrays([_values(pd, level) for level in levels], names=names)
    column, name, freq = rest
    index = pd.Index(_values(pd, column), name=name)
    if freq is not None and isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex):
        index.freq = freq
    return index


def _series(obj: Any) -> list[Any]:
    return [_column(obj), _index(obj.index), obj.name]


def _build_series(pd: Any, parts: list[Any]) -> Any:
    column, index, name = parts
    return pd.Series(_values(pd, column), index=_build_index(pd, index), name=name)


def _frame(obj: Any) -> list[Any]:
    columns = [_column(obj.iloc[:, at]) for at in range(obj.shape[1])]
    return [_index(obj.columns), _index(obj.index), columns, dict(obj.attrs)]


def _build_frame(pd: Any, parts: list[Any]) -> Any:
    columns, index, values, attrs = parts
    frame = pd.DataFrame(
        {at: _values(pd, column) for at, column in enumerate(values)}, index=_build_index(pd, index)
    )
    frame.columns = _build_index(pd, columns)
    frame.attrs = attrs
    return frame


_REDUCE = {"DataFrame": _frame, "Series": _series, "Index": _index}
_BUILD = {"DataFrame": _build_frame, "Series": _build_series, "Index": _build_index}
