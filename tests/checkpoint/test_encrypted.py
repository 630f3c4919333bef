"""Encryption: nothing readable is stored, rows stay where they are, keys can be changed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pydantic
import pytest
import redis
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer as PeerSerializer

from ckpt_viz.checkpoint.serde import JsonPlusSerializer
from ckpt_viz.checkpoint.serde.encrypted import EncryptedSerializer
from ckpt_viz.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from ckpt_viz.errors import SerializationError
from ckpt_viz.graph import START, StateGraph

from .conftest import FOUR, KEY, open_saver
from .test_savers import checkpoint, config, put
from .test_serde_safety import _foreign

OTHER = b"another key, of 32 bytes as well"
SECRET = "the whereabouts of the treasure"


def stored(kind: str, saver: Any, request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    """All bytes that a saver keeps."""
    if kind == "memory":
        return repr((saver.storage, saver.writes, saver.blobs)).encode()
    if kind.startswith("sqlite"):
        saver.close()
        return b"".join(path.read_bytes() for path in tmp_path.iterdir())
    if kind == "redis":
        with redis.Redis.from_url(request.getfixturevalue("redis_url")) as client:
            keys = list(client.scan_iter("*"))
            hashes = [client.hgetall(key) for key in keys if client.type(key) == b"hash"]
            orders = [client.zrange(k, 0, -1) for k in keys if client.type(k) == b"zset"]
            return b"".join(
                [
                    *(k + v for one in hashes for k, v in one.items()),
                    *(n for o in orders for n in o),
                ]
            )
    with psycopg.connect(request.getfixturevalue("postgres_url")) as conn:
        found = [
            conn.execute(f"SELECT string_agg(x::text, '') FROM ckpt_{table} x").fetchone()
            for table in ("threads", "checkpoints", "blobs", "writes")
        ]
        text = "".join(row[0] or "" for row in found if row)
        return text.encode()


@pytest.fixture(params=FOUR)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("encrypted", [True, False])
def test_nothing_of_a_value_or_of_metadata_is_readable(
    kind: str, encrypted: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    serde = EncryptedSerializer.from_key(KEY) if encrypted else None
    saver = open_saver(kind, request, tmp_path, serde)
    graph = StateGraph(dict).add_node("a", lambda s: {**s, "more": [SECRET] * 3})
    graph = graph.add_edge(START, "a").compile(checkpointer=saver)
    told = {**config(), "metadata": {"user": SECRET}}
    graph.invoke({"text": SECRET, "big": [f"{SECRET} {i}" for i in range(200)]}, told)
    graph.update_state(config(), {"text": SECRET}, as_node="a")
    everything = stored(kind, saver, request, tmp_path)
    forms = [SECRET.encode(), SECRET.encode().hex().encode()]
    assert any(form in everything for form in forms) is not encrypted


def test_filters_and_runs_work_on_what_is_encrypted(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    saver = open_saver(kind, request, tmp_path, EncryptedSerializer.from_key(KEY))
    cfg = put(saver, config(), 0, {"a": 1}, user="x", run_id="r1", n=1)
    cfg = put(saver, cfg, 1, {"a": 2}, user="y", run_id="r2", n=1.0)
    saver.serde = EncryptedSerializer.from_key([OTHER, KEY])
    put(saver, cfg, 2, {"a": 3}, user="x", run_id="r3", n=True)

    def found(**filter: Any) -> list[int]:
        return [t.metadata["step"] for t in saver.list(config(), filter=filter)]

    assert found(user="x") == [2, 0]
    assert found(user="x", step=0) == [0]
    assert found(n=1) == [2, 1, 0]
    assert found(user="'") == []
    assert len(saver.delete_for_runs(["r1", "r3"]).checkpoints) == 2
    assert found() == [1]


def test_a_row_that_was_moved_does_not_decrypt(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    serde = EncryptedSerializer.from_key(KEY)
    saver = open_saver(kind, request, tmp_path, serde)
    for thread in ("a", "b"):
        made = checkpoint(0, {"v": thread * 2000}, {"v": "1.0"})
        made["id"] = "1ef663ba-28fe-6528-8002-5a559208592c"
        saver.put(config(thread), made, {"step": 0}, {"v": "1.0"})
    if kind == "memory":
        saver.blobs["b", "", "v", "1.0"] = saver.blobs["a", "", "v", "1.0"]
    elif kind == "redis":
        with redis.Redis.from_url(request.getfixturevalue("redis_url")) as client:
            client.copy("ckpt:{a}:rows", "ckpt:{b}:rows", replace=True)
    elif kind == "postgres":
        with psycopg.connect(request.getfixturevalue("postgres_url")) as conn:
            conn.execute(
                "UPDATE ckpt_blobs b SET data = a.data FROM ckpt_blobs a WHERE a.k = 1 AND b.k = 2"
            )
    else:
        saver.close()
        with sqlite3.connect(tmp_path / "a.db") as conn:
            conn.execute(
                "UPDATE ckpt_big SET data = (SELECT data FROM ckpt_big ORDER BY at LIMIT 1)"
            )
            assert conn.total_changes == 2
    assert saver.get_tuple(config("a")).checkpoint["channel_values"] == {"v": "a" * 2000}
    with pytest.raises(SerializationError, match="moved here from another row"):
        saver.get_tuple(config("b"))


def test_keys_by_id() -> None:
    old = EncryptedSerializer.from_key(KEY)
    typed = old.dumps_typed({"a": (1,)}, b"row")
    for keys in ([OTHER, KEY], {"new": OTHER, "old": KEY}):
        both = EncryptedSerializer.from_key(keys)
        assert both.loads_typed(typed, b"row") == {"a": (1,)}
        assert both.dumps_typed(1)[0] != typed[0]
    with pytest.raises(SerializationError, match=r"the keys here are gcm\.new"):
        EncryptedSerializer.from_key({"new": OTHER}).loads_typed(typed, b"row")
    for row in (b"other row", b""):
        with pytest.raises(SerializationError, match="another row"):
            old.loads_typed(typed, row)
    with pytest.raises(SerializationError, match="was changed"):
        old.loads_typed((typed[0], typed[1][:-1] + b"?"), b"row")
    with pytest.raises(SerializationError, match="was changed"):
        old.loads_typed(("bytes" + typed[0].removeprefix("msgpack"), typed[1]), b"row")
    assert old.loads_typed(JsonPlusSerializer().dumps_typed([1])) == [1]


@pytest.mark.parametrize("keys", [b"short", [], {}, {"a+b": KEY}])
def test_keys_that_are_none(keys: Any) -> None:
    with pytest.raises(ValueError):
        EncryptedSerializer.from_key(keys)


@pytest.mark.parametrize("value", [None, b"x", {"a": (1, 2)}, "x" * 3000, [1] * 1000])
def test_the_peer_reads_ours_and_we_read_the_peers(
    value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY.decode())
    ours, peers = (
        EncryptedSerializer.from_pycryptodome_aes(),
        PeerSerializer.from_pycryptodome_aes(),
    )
    typed = ours.dumps_typed(value)
    assert typed[0].endswith("+aes")
    assert peers.loads_typed(typed) == value == ours.loads_typed(typed)
    back = ours.loads_typed(peers.dumps_typed(value))
    assert back == value or back == {"a": [1, 2]}


def test_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    for make in (EncryptedSerializer.from_pycryptodome_aes, EncryptedSerializer.from_key):
        with pytest.raises(ValueError, match="LANGGRAPH_AES_KEY environment variable is not set"):
            make()
    monkeypatch.setenv("LANGGRAPH_AES_KEY", "short")
    with pytest.raises(ValueError, match="must be 16, 24, or 32 bytes long"):
        EncryptedSerializer.from_pycryptodome_aes()
    wrong = EncryptedSerializer.from_pycryptodome_aes(key=KEY).dumps_typed(1)
    with pytest.raises(ValueError, match="MAC check failed"):
        EncryptedSerializer.from_pycryptodome_aes(key=OTHER).loads_typed(wrong)
    with pytest.raises(SerializationError, match="'aes' only"):
        EncryptedSerializer.from_pycryptodome_aes(key=KEY).loads_typed(("msgpack+foo", wrong[1]))


def test_secrets_are_saved_by_who_encrypts() -> None:
    state = {"s": pydantic.SecretStr(SECRET), "b": pydantic.SecretBytes(b"\0\xff")}
    with pytest.raises(SerializationError, match=r"\$\.s.*EncryptedSerializer"):
        JsonPlusSerializer().dumps_typed(state)
    serde = EncryptedSerializer.from_key(KEY).with_allowlist([])
    assert serde.loads_typed(serde.dumps_typed(state)) == state
    with pytest.raises(SerializationError):
        JsonPlusSerializer().dumps_typed(state)


def test_a_cipher_of_ones_own(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    class Reversed:
        def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
            return "backwards", plaintext[::-1]

        def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
            assert ciphername == "backwards"
            return ciphertext[::-1]

    saver = open_saver(kind, request, tmp_path, EncryptedSerializer(Reversed()))
    cfg = put(saver, config(), 0, {"v": "x" * 3000}, user="me")
    put(saver, cfg, 1, {"v": "x" * 3001}, user="you")
    assert [t.metadata["step"] for t in saver.list(config(), filter={"user": "me"})] == [0]
    assert len(saver.get_tuple(config()).checkpoint["channel_values"]["v"]) == 3001


def test_listeners_hear_of_what_was_not_loaded() -> None:
    heard: list[SerdeEvent] = []

    def broken(event: SerdeEvent) -> None:
        raise RuntimeError

    ends = [register_serde_event_listener(listener) for listener in (broken, heard.append)]
    with pytest.warns(RuntimeWarning, match="listener"):
        JsonPlusSerializer().loads_typed(_foreign(0, "nowhere", "X", 1))
    assert heard == [{"kind": "msgpack_blocked", "module": "nowhere", "name": "X"}]
    for end in ends:
        end()
        end()
    JsonPlusSerializer().loads_typed(_foreign(0, "nowhere", "X", 1))
    assert len(heard) == 1
