"""What a history takes, as it crosses: every channel, and its newest versions."""

from __future__ import annotations

from ckpt_viz.explorer.panels import Json
from ckpt_viz.timeline.preview import clean
from ckpt_viz.timeline.storage import ChannelUse, Storage
from ckpt_viz.timeline.why import version_number

VERSION_LIMIT = 1_500


def storage_json(found: Storage, place: str, steps: dict[str, int]) -> Json:
    """The answer of the Storage tab; `steps` are those of the checkpoints."""
    share = max(20, VERSION_LIMIT // max(1, len(found.channels)))
    freed = found.freed
    return {
        "place": clean(place),
        "known": found.known,
        "how": clean(found.how),
        "partly": found.partly,
        "all": found.all_bytes,
        "thread": found.thread,
        "checkpoints": found.checkpoints,
        "writes": found.writes,
        "shared": found.shared,
        "unique": found.unique,
        "channels": [_channel(c, share, steps) for c in found.channels],
        "freed": None
        if freed is None
        else {
            "checkpoints": freed.checkpoints,
            "writes": freed.writes,
            "values": freed.values,
            "bytes": freed.bytes,
        },
        "prune": {"ok": found.prune.ok, "why": clean(found.prune.why)},
    }


def _channel(one: ChannelUse, limit: int, steps: dict[str, int]) -> Json:
    return {
        "name": one.channel,
        "routing": one.routing,
        "bytes": one.bytes,
        "shared": one.shared,
        "count": len(one.versions),
        "versions": [
            [
                version_number(v.version),
                str(v.version),
                v.bytes,
                v.tag,
                v.used_by,
                [v.first, steps.get(v.first or "")],
                [v.last, steps.get(v.last or "")],
            ]
            for v in one.versions[:limit]
        ],
    }
