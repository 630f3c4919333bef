"""The serializer refuses with a place, loads nothing that was not allowed, and fits the peer."""

from __future__ import annotations

import collections
import datetime as dt
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import ormsgpack
import pydantic
import pytest
from langgraph import types as lg
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer as PeerSerializer

from ckpt_viz.checkpoint.serde import (
    InvalidModuleError,
    JsonPlusSerializer,
    Opaque,
    SerializerProtocol,
    register,
    registry,
)
from ckpt_viz.errors import SerializationError
from ckpt_viz.types import Command, Interrupt, Send

from .test_serde import Frozen, Model, Nothing, Plain

serde = JsonPlusSerializer()


def _loop() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value, path",
    [
        (Nothing(), "$"),
        ({"foo": {"x": [1, Nothing()]}}, "$.foo.x[1]"),
        ({"a b": {2: Nothing()}}, "$['a b'][2]"),
        (Plain(x=[Nothing()]), "$.x[0]"),
        ([(1, {"a": {Nothing()}})], "$[0][1].a[0]"),
        (lambda: 1, "$"),
        ({"m": Model(more=Nothing())}, "$.m.more"),
        ({"s": pydantic.SecretStr("x")}, "$.s"),
        ({"o": np.array([Nothing()])}, "$.o"),
        ({"d": collections.defaultdict(lambda: 1)}, "$.d[0]"),
        (_loop(), "$"),
    ],
)
def test_a_refusal_names_the_place_and_the_type(value, path):
    with pytest.raises(SerializationError) as caught:
        serde.dumps_typed(value)
    assert caught.value.path == path
    assert path in str(caught.value) or "nested" in str(caught.value)
    assert caught.value.type_name


def _foreign(code: int, *parts: Any) -> tuple[str, bytes]:
    return "msgpack", ormsgpack.packb({"v": ormsgpack.Ext(code, ormsgpack.packb(list(parts)))})


@pytest.mark.parametrize(
    "parts",
    [
        (0, "os", "system", "touch pwned"),
        (1, "builtins", "eval", ["1"]),
        (0, "builtins", "exec", "1"),
        (3, "builtins", "dict", [["a", 1]], "fromkeys"),
        (3, "datetime", "datetime", 0, "fromtimestamp"),
        (2, "subprocess", "Popen", {"args": ["true"]}),
        (5, "colorsys", "Model", {"x": 1}, "model_validate_json"),
        (0, "no_such_module", "X", 1),
        (43, "os", "system"),
        (0, "numpy", "load", "file"),
        (0, "builtins", "bytearray", 10**12),
        (1, "builtins", "int", ["zz", 10]),
        (41, "builtins", "type", 1, {}),
        (99, 1, 2),
    ],
)
def test_nothing_is_imported_or_called_that_was_not_allowed(parts, monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    typed = _foreign(*parts)
    back = serde.loads_typed(typed)
    assert isinstance(back["v"], Opaque)
    assert "colorsys" not in sys.modules
    assert serde.dumps_typed(back) == typed


def test_a_class_of_another_process_is_opaque_until_it_is_allowed(monkeypatch):
    typed = serde.dumps_typed({"v": [Frozen((1,))]})
    monkeypatch.setattr(registry, "_known", {})
    back = serde.loads_typed(typed)["v"][0]
    assert (back.module, back.name) == (Frozen.__module__, "Frozen")
    assert back.data == {"x": (1,)}
    assert serde.dumps_typed({"v": [back]}) == typed
    assert serde.with_allowlist([Frozen]).loads_typed(typed) == {"v": [Frozen((1,))]}
    assert isinstance(serde.loads_typed(typed)["v"][0], Opaque)
    register(Frozen)
    assert serde.loads_typed(typed) == {"v": [Frozen((1,))]}


def test_names_on_the_allow_list():
    allowed = JsonPlusSerializer(allowed_msgpack_modules=[("collections", "UserList")])
    assert isinstance(allowed, SerializerProtocol)
    with pytest.raises(InvalidModuleError, match=r"nowhere\.X"):
        serde.with_allowlist([("nowhere", "X")])


def test_pickle_only_for_who_asked_for_it():
    loose = JsonPlusSerializer(pickle_fallback=True)
    assert loose.dumps_typed([1])[0] == "msgpack"
    typed = loose.dumps_typed(Nothing())
    assert typed[0] == "pickle"
    assert isinstance(loose.loads_typed(typed), Nothing)
    with pytest.raises(SerializationError, match="pickle_fallback"):
        serde.loads_typed(typed)
    code = "import sys, ckpt_viz.checkpoint.serde as s; s.JsonPlusSerializer().dumps_typed([1])"
    code += "; sys.exit('pickle' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_peer_reads_what_has_a_common_form(monkeypatch):
    peer = PeerSerializer()
    for value in [
        (1, 2),
        {1},
        2**80,
        1j,
        Decimal("1.5"),
        Fraction(1, 3),
        range(3),
        dt.datetime(2024, 1, 2, fold=1),
        collections.deque([1], maxlen=2),
        {frozenset({1}): 2},
    ]:
        assert peer.loads_typed(serde.dumps_typed(value)) == value
    for ours, theirs in [
        (Send("a", 1), lg.Send("a", 1)),
        (Interrupt(value=1, id="x"), lg.Interrupt(value=1, id="x")),
        (Command(goto="a"), lg.Command(goto="a")),
    ]:
        assert peer.loads_typed(serde.dumps_typed(ours)) == theirs
        assert serde.loads_typed(peer.dumps_typed(theirs)) == ours
