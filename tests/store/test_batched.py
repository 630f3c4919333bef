"""The base of stores that gather what is asked for in one turn of the loop."""

from __future__ import annotations

import asyncio

import pytest

from ckpt_viz.store.base import BaseStore, GetOp, InvalidNamespaceError, PutOp, SearchOp
from ckpt_viz.store.base.batch import AsyncBatchedBaseStore
from ckpt_viz.store.memory import InMemoryStore


class Counting(AsyncBatchedBaseStore):
    def __init__(self):
        super().__init__()
        self.calls = []
        self.kept = InMemoryStore()

    def batch(self, ops):
        return self.kept.batch(ops)

    async def abatch(self, ops):
        self.calls.append(ops)
        await asyncio.sleep(0)
        return await self.kept.abatch(ops)


async def test_what_is_asked_for_together_is_one_batch():
    store = Counting()
    results = await asyncio.gather(
        store.aget(("a",), "b"),
        store.aget(("a",), "b"),
        store.aput(("a",), "k", {"x": 1}),
        store.aput(("a",), "k", {"x": 2}),
        store.asearch(("a",), filter={"x": 1}),
        store.asearch(("a",), filter={"x": 1}),
        store.alist_namespaces(),
        store.adelete(("z",), "k"),
    )
    assert results == [None, None, None, None, [], [], [], None]
    assert [type(op).__name__ for op in store.calls[0]] == [
        "GetOp",
        "PutOp",
        "SearchOp",
        "ListNamespacesOp",
        "PutOp",
    ]
    assert len(store.calls) == 1
    assert (await store.aget(("a",), "k")).value == {"x": 2}


async def test_later_batches_follow_earlier_ones():
    store = Counting()
    first = asyncio.create_task(store.aput(("a",), "k", {"x": 1}))
    while not store.calls:
        await asyncio.sleep(0)
    assert not first.done()
    assert (await store.aget(("a",), "k")).value == {"x": 1}
    assert first.done()


async def test_an_error_reaches_everybody_and_the_store_goes_on():
    store = Counting()
    kept, store.kept = store.kept, None
    failed = await asyncio.gather(
        store.aget(("a",), "k"), store.aget(("b",), "k"), return_exceptions=True
    )
    assert [type(error) for error in failed] == [AttributeError, AttributeError]
    store.kept = kept
    assert await store.aget(("a",), "k") is None
    with pytest.raises(InvalidNamespaceError):
        await store.aput((), "k", {})


async def test_who_is_cancelled_is_not_waited_for():
    store = Counting()
    task = asyncio.create_task(store.aget(("a",), "k"))
    await asyncio.sleep(0)
    task.cancel()
    assert await store.aget(("c",), "d") is None
    assert task.cancelled()


async def test_sync_calls_serve_other_threads_only():
    store = Counting()
    await asyncio.to_thread(store.put, ("a",), "k", {"x": 1})
    assert (await asyncio.to_thread(store.get, ("a",), "k")).value == {"x": 1}
    assert store.calls == [[PutOp(("a",), "k", {"x": 1})], [GetOp(("a",), "k")]]
    for name, args in [("get", ("k",)), ("put", ("k", {})), ("delete", ("k",)), ("search", ())]:
        with pytest.raises(asyncio.InvalidStateError, match=rf"await store\.a{name}\("):
            getattr(store, name)(("a",), *args)
    with pytest.raises(asyncio.InvalidStateError):
        store.list_namespaces()


async def test_another_loop_may_ask():
    store = Counting()

    def other():
        return asyncio.run(store.asearch(("a",)))

    assert await asyncio.to_thread(other) == []
    assert isinstance(store.calls[0][0], SearchOp)


def test_it_needs_a_loop_and_a_store_needs_its_two_methods():
    with pytest.raises(RuntimeError, match="no running event loop"):
        Counting()
    with pytest.raises(TypeError, match="abatch"):
        BaseStore()
