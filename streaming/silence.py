"""Silence, by the stream's clock: of one truck, and of the whole feed. Kafka's record times count, not the trucks'."""

import numpy as np

from schemas.models import AlertKind
from streaming.alerts import SEVERITY, moment, name_of
from streaming.shard import Shard
from streaming.timeline import Fixes, Indices, is_last
from streaming.told import Entry
from streaming.watch import NEVER

FLEET = -1


def clear_silent(shard: Shard, fixes: Fixes) -> list[Entry]:
    """Trucks that were silent and sent something again. Call it before the shard takes the fixes in."""
    silent = _silent_trucks(shard)
    if not silent:
        return []
    fixes = fixes[np.isin(fixes["truck"], silent)]
    fixes = fixes[np.lexsort((-fixes["received"], fixes["truck"]))]
    first = fixes[is_last(fixes["truck"])]
    changed = []
    for truck, received in zip(first["truck"].tolist(), first["received"].tolist(), strict=True):
        changed += [
            _ended(shard, entry, received) for entry in shard.told.of_truck(truck) if entry.kind == AlertKind.SILENT
        ]
    return changed


def _silent_trucks(shard: Shard) -> list[int]:
    trucks = (shard.told.entries[name].truck for name in shard.told.silent)
    return [truck for truck in trucks if truck != FLEET]


def hear(shard: Shard, clock_t: int, heard_t: int, *, speaks_for_fleet: bool) -> tuple[list[Entry], Indices]:
    """One tick of the stream's clock: what became silent, and which trucks."""
    feed, rules = shard.feed, shard.rules
    if heard_t - feed.heard_t > rules.feed_silent_ms and feed.heard_t != NEVER:
        # After a break every truck gets its time again, before anybody calls it silent.
        feed.resumed_t = heard_t
    changed = _feed_entries(shard, clock_t, heard_t) if speaks_for_fleet else []
    feed.clock_t, feed.heard_t = max(feed.clock_t, clock_t), max(feed.heard_t, heard_t)
    if clock_t - heard_t >= rules.feed_silent_ms:
        return changed, np.zeros(0, dtype=np.int64)
    start_t = np.maximum(shard.heard_t, feed.resumed_t) + rules.silent_ms
    quiet = (shard.heard_t != NEVER) & (start_t <= clock_t)
    quiet[_silent_trucks(shard)] = False
    trucks = np.flatnonzero(quiet)
    changed += [_silent(shard, truck, int(start_t[truck])) for truck in trucks.tolist()]
    return changed, trucks


def _feed_entries(shard: Shard, clock_t: int, heard_t: int) -> list[Entry]:
    changed = []
    if heard_t > shard.feed.heard_t:
        changed = [_ended(shard, entry, heard_t) for entry in shard.told.of_truck(FLEET)]
    start_t = heard_t + shard.rules.feed_silent_ms
    if start_t <= clock_t and not shard.told.of_truck(FLEET):
        explanation = {"last_record_time": moment(heard_t), "feed_silent_s": shard.rules.feed_silent_ms / 1000}
        changed.append(_raised(shard, AlertKind.FEED_SILENT, FLEET, start_t, explanation))
    return changed


def _silent(shard: Shard, truck: int, start_t: int) -> Entry:
    last = shard.newest[truck]
    explanation = {
        "last_record_time": moment(int(shard.heard_t[truck])),
        "fix_time": moment(int(last["t"])),
        "fix_lat": float(last["lat"]),
        "fix_lon": float(last["lon"]),
        "silent_s": shard.rules.silent_ms / 1000,
        "inferred": False,
    }
    return _raised(shard, AlertKind.SILENT, truck, start_t, explanation)


def _raised(shard: Shard, kind: AlertKind, truck: int, start_t: int, explanation: dict[str, object]) -> Entry:
    truck_id = None if truck == FLEET else shard.truck_ids[truck]
    place = (None, None) if truck == FLEET else (float(shard.newest["lat"][truck]), float(shard.newest["lon"][truck]))
    content = {
        "kind": kind,
        "severity": SEVERITY[kind],
        "truck_id": truck_id,
        "fence_id": None,
        "start_time": moment(start_t),
        "end_time": None,
        "lat": place[0],
        "lon": place[1],
        "cause": None,
        "explanation": explanation,
    }
    entry = Entry(name_of(kind, truck_id, None, start_t), kind, truck, None, start_t, NEVER, NEVER, content, None)
    shard.told.put(entry)
    return entry


def _ended(shard: Shard, entry: Entry, end_t: int) -> Entry:
    entry.closing, entry.revision = {"end_time": moment(end_t)}, entry.revision + 1
    shard.told.drop(entry.name)
    return entry
