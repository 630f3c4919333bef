"""The serializer: the same type comes back, nothing is imported, errors tell the place."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime as dt
import enum
import math
import re
import uuid
import zoneinfo
from decimal import Decimal
from fractions import Fraction
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import SimpleNamespace
from typing import Any, NamedTuple

import attrs
import numpy as np
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_viz.checkpoint.serde import (
    JsonPlusSerializer,
)
from ckpt_viz.errors import SerializationError
from ckpt_viz.types import Command, Interrupt, Overwrite, Send

serde = JsonPlusSerializer()


class Color(enum.Enum):
    RED = 1
    PAIR = (1, 2)


class Word(enum.StrEnum):
    HI = "hi"


class Flag(enum.Flag):
    A = 1
    B = 2


class Pair(NamedTuple):
    a: Any
    b: Any = 0


@dataclasses.dataclass
class Plain:
    x: Any = 1
    y: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: Any


@dataclasses.dataclass
class Derived:
    x: int
    double: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.double = self.x * 2


@attrs.define
class Attrs:
    x: int
    _hidden: int = 5


class Inner(pydantic.BaseModel):
    n: int = 0


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    x: int = 1
    inner: Inner | None = None
    when: dt.date | None = None
    _secret: int = pydantic.PrivateAttr(default=7)


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Items(list):
    pass


class Table(dict):
    pass


class Counting(collections.Counter):
    pass


class Oops(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class Nothing:
    pass


ITEMS = Items([1])
ITEMS.note = "kept"
PLUS_ONE = dt.timezone(dt.timedelta(hours=1), "plus one")
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")

EXACT: list[Any] = [
    None,
    True,
    0,
    -5,
    2**63,
    2**64,
    -(2**70),
    7 ** (10**4),
    1.5,
    math.inf,
    -0.0,
    "",
    "é\U0001f600",
    "lone \ud800",
    b"",
    b"x",
    bytearray(b"x"),
    [],
    [1, [2, ["x"]]],
    (),
    (1, (2, [3, (4,)])),
    {1, "a", (2, 3)},
    frozenset({1, frozenset({2})}),
    [b"x", bytearray(b"y"), {"k": (bytearray(b"z"),)}],
    1 + 2j,
    Decimal("1.50"),
    Fraction(1, 3),
    range(1, 10, 3),
    dt.datetime(2024, 1, 2, 3, 4, 5, 6),
    dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
    dt.datetime(2024, 1, 2, tzinfo=PLUS_ONE),
    dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=BERLIN),
    BERLIN,
    dt.date(2024, 1, 2),
    dt.time(1, 2, 3, 4, fold=1, tzinfo=dt.UTC),
    dt.timedelta(-1, 2, 3),
    dt.UTC,
    PLUS_ONE,
    uuid.UUID(int=5),
    Path("/a/b"),
    PurePosixPath("a"),
    PureWindowsPath("C:/a"),
    re.compile("a+", re.I),
    re.compile(b"a"),
    ip_address("1.2.3.4"),
    ip_address("::1"),
    ip_network("1.2.3.0/24"),
    ip_interface("1.2.3.4/24"),
    Color.RED,
    Color.PAIR,
    Word.HI,
    Flag.A | Flag.B,
    collections.deque([1, 2]),
    collections.deque([1, 2], maxlen=3),
    collections.OrderedDict([("b", 1), ("a", 2)]),
    collections.defaultdict(list, {"a": [1]}),
    collections.defaultdict(None, {1: 2}),
    collections.Counter("aab"),
    collections.ChainMap({"a": (1,)}, {"b": 2}),
    collections.UserDict(a=1),
    collections.UserList([1]),
    collections.UserString("x"),
    SimpleNamespace(a=(1,)),
    slice(1, None, 2),
    array.array("d", [1.5]),
    Pair(1, (2,)),
    Plain((1,), [{2}]),
    Frozen({"a": (1,)}),
    Derived(4),
    Attrs(1, 2),
    Model(x=2, inner=Inner(n=3), when=dt.date(2024, 1, 2), more=(1,)),
    Text("text"),
    Number(5),
    ITEMS,
    Table(a=(1,)),
    Counting("aab"),
    [int, Plain],
    {2: "a", None: "b", True: "c", 1.5: "d", b"x": "e", (1, "a"): "f"},
    {Color.RED: 1, Text("x"): 2, uuid.UUID(int=1): 3, frozenset({1}): 4, 2**80: 5, Pair(1): 6},
    {"lone \ud800": 1},
    Send("node", {"x": (1,)}),
    Command(update={"a": 1}, goto=["x", Send("y", 1)], resume={"a": None}),
    Command(graph=Command.PARENT, goto="up"),
    Interrupt(value={"q": (1,)}, id="abc"),
    Overwrite([1]),
    np.float64(1.5),
    np.float32(1.1),
    np.int16(-3),
    np.bool_(True),
    np.complex64(1 + 2j),
    np.datetime64("2024-01-02"),
    np.str_("x"),
]


@pytest.mark.parametrize("value", EXACT, ids=lambda v: type(v).__name__)
def test_the_same_value_of_the_same_type_comes_back(value):
    typed = serde.dumps_typed(value)
    assert isinstance(typed[1], bytes)
    back = serde.loads_typed(typed)
    assert type(back) is type(value)
    assert back == value
    if not isinstance(value, int | set | frozenset):
        assert repr(back) == repr(value)
    again = serde.loads_typed(serde.dumps_typed({"in": [value]}))["in"][0]
    assert type(again) is type(value)
    assert again == value


def test_the_small_forms_are_the_documented_bytes():
    assert serde.dumps_typed(None) == ("null", b"")
    assert serde.dumps_typed(b"a") == ("bytes", b"a")
    assert serde.dumps_typed(bytearray(b"a")) == ("bytearray", b"a")
    assert serde.dumps_typed({}) == ("msgpack", b"\x80")
    assert serde.dumps_typed({"a"}) == ("msgpack", b"\xc7\x11\x00\x93\xa8builtins\xa3set\x91\xa1a")
    assert serde.loads_typed(("json", b'{"a": [1]}')) == {"a": [1]}


def test_state_beside_the_value_is_kept():
    back = serde.loads_typed(serde.dumps_typed([ITEMS, Model(), Derived(2)]))
    assert back[0].note == "kept"
    assert back[1]._secret == 7
    assert back[1].model_fields_set == set()
    assert back[2].double == 4


class Mixed(enum.Enum):
    PAIR = (1, 2)
    ITEMS = [1]


@pytest.mark.parametrize("member", list(Mixed))
def test_an_enum_may_have_tuples_and_lists_as_values(member):
    assert serde.loads_typed(serde.dumps_typed([member])) == [member]


def test_an_interrupt_keeps_all_its_fields():
    asked = Interrupt("q", "1" * 32, {"type": "string"})
    assert serde.loads_typed(serde.dumps_typed(asked)) == asked


def test_nan_stays_nan():
    assert math.isnan(serde.loads_typed(serde.dumps_typed([math.nan]))[0])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(10)[::2],
        np.array(5),
        np.zeros((0, 3)),
        np.array(["a", "bc"]),
        np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8", (1,))]),
        np.array(["2024-01-02"], dtype="datetime64[D]"),
    ],
    ids=lambda a: f"{a.dtype}-{a.shape}",
)
def test_arrays_keep_type_shape_order_and_can_be_written_to(array):
    back = serde.loads_typed(serde.dumps_typed({"a": array}))["a"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert (back == array).all()
    assert back.flags.writeable
    if not array.flags.c_contiguous and array.flags.f_contiguous:
        assert back.flags.f_contiguous


@pytest.mark.parametrize(
    "error", [ValueError("a", 1), KeyError("k"), Oops(5), FileNotFoundError(2, "no", "file")]
)
def test_errors_come_back_as_errors(error):
    back = serde.loads_typed(serde.dumps_typed(error))
    assert type(back) is type(error)
    assert back.args == error.args
    assert back.__dict__ == error.__dict__
    assert str(back) == str(error)


def test_an_error_that_holds_something_unsaveable_is_saved_all_the_same():
    error = ValueError(Nothing(), 1)
    error.thing = Nothing()
    back = serde.loads_typed(serde.dumps_typed([error]))[0]
    assert type(back) is ValueError
    assert "Nothing object" in back.args[0]
    assert back.args[1] == 1


_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=5)
    | st.binary(max_size=3)
    | st.binary(max_size=3).map(bytearray)
    | st.decimals(allow_nan=False)
    | st.datetimes()
    | st.uuids()
    | st.sampled_from(Color)
)
_keys = st.none() | st.integers() | st.text(max_size=3) | st.binary(max_size=2) | st.uuids()
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(_keys, inner, max_size=3)
        | st.builds(Plain, inner)
        | st.sets(_keys, max_size=3)
    ),
    max_leaves=12,
)


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b) or a != b:
        return False
    if isinstance(a, list | tuple):
        return all(map(_same, a, b))
    if isinstance(a, dict):
        return all(map(_same, a, b)) and all(map(_same, a.values(), b.values()))
    return True


@settings(max_examples=300, deadline=None)
@given(_values)
def test_any_mixture_comes_back_the_same(value):
    assert _same(serde.loads_typed(serde.dumps_typed(value)), value)


def test_messages_of_langchain_both_ways():
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer as PeerSerializer

    call = {"name": "f", "args": {"a": [1]}, "id": "1", "type": "tool_call"}
    peer = PeerSerializer()
    for value in [
        HumanMessage("hi", id="1", name="me"),
        AIMessage("x", tool_calls=[call], response_metadata={"k": {"deep": 1}}),
        ToolMessage("r", tool_call_id="1", artifact={"a": 1}),
        RemoveMessage(id="1"),
        Document("text", metadata={"a": 1}),
    ]:
        back = serde.loads_typed(serde.dumps_typed([value]))[0]
        assert (type(back), back) == (type(value), value)
        assert peer.loads_typed(serde.dumps_typed([value])) == [value]
        assert serde.loads_typed(peer.dumps_typed([value])) == [value]


def test_models_of_the_first_pydantic():
    from pydantic.v1 import BaseModel, SecretStr

    class Old(BaseModel):
        x: int
        inner: Any = None

    value = Old(x=1, inner=(1, {2}))
    back = serde.loads_typed(serde.dumps_typed({"v": value}))["v"]
    assert (type(back), back, back.__fields_set__) == (Old, value, {"x", "inner"})
    with pytest.raises(SerializationError, match="secrets"):
        serde.dumps_typed(Old(x=1, inner=SecretStr("s")))
