"""Checkpoint ids: UUIDs that sort by time, made of the same moment as the time beside them."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from uuid import UUID

import pytest

from ckpt_viz import ids
from ckpt_viz.ids import stamp, tick_of

SECOND = 1_000_000_000


@pytest.fixture(autouse=True)
def clock():
    """Another clock's ticks do not reach the tests that come after."""
    yield
    ids._clock.reset()


@pytest.mark.parametrize("step", [-2, -1, 0, 1, 15, 16, 255, 4095, 4096, 0x3FFF, 0x4000, 70_000])
def test_an_id_is_a_uuid_of_version_6_that_carries_the_step(step):
    id_, _ = stamp(step)
    assert UUID(id_).version == 6
    assert UUID(id_).clock_seq == step & 0x3FFF


@pytest.mark.parametrize(
    "now", [0, 1, 99, 100, SECOND - 1, SECOND, 1_700_000_000 * SECOND + 123_456_789, 2**62]
)
def test_an_id_and_its_time_are_of_one_moment(monkeypatch, now):
    ids._clock.reset()
    monkeypatch.setattr(ids.time, "time_ns", lambda: now)
    id_, told = stamp(3)
    assert tick_of(id_) == now // 100 + 0x01B21DD213814000
    past = datetime.fromisoformat(told) - datetime.fromisoformat("1970-01-01T00:00:00Z")
    assert (past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds == now // 1000


def test_ids_rise_over_seconds_and_over_a_clock_that_jumps(monkeypatch):
    moments = [t * SECOND // 3 for t in range(1, 40)]
    moments += [m - 7 * SECOND for m in moments] + [m + 100 * SECOND for m in moments]
    times = iter([1_700_000_000 * SECOND + m for m in moments])
    monkeypatch.setattr(ids.time, "time_ns", lambda: next(times))
    made = [stamp(step)[0] for step in range(len(moments))]
    assert all(one < other for one, other in pairwise(made))
    assert len({tick_of(id_) for id_ in made}) == len(made)


def test_a_child_comes_after_a_parent_of_a_clock_that_is_ahead():
    parent = "2ef663ba-28fe-6528-8002-5a559208592c"
    child, _ = stamp(1, parent)
    grandchild, _ = stamp(2, child)
    assert [tick_of(id_) - tick_of(parent) for id_ in (child, grandchild)] == [1, 2]
