"""The rows that the judge writes to Kafka: topic, key and JSON value, named and shaped as `schemas` says."""

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from schemas.models import Reason, Status
from schemas.topics import (
    FENCES,
    PIPELINE,
    TRUCKS_ALERTS,
    TRUCKS_GPS,
    TRUCKS_JUDGED,
    TRUCKS_REJECTS,
    TRUCKS_STATE,
    TRUCKS_VISITS,
    Topic,
)
from streaming.alerts import VISIT
from streaming.decode import WHY
from streaming.engine import Batch, fences_of
from streaming.shard import Shard
from streaming.timeline import MOVING, UNKNOWN, Fixes, Floats, Indices, Segments, is_last, phases, segments, starts
from streaming.verdict import Judged

RAW_BYTES = 4096
# Fixes in one record of `trucks_judged`: some 100 kB.
JUDGED_ROWS = 1000
MILLISECONDS = [f".{ms:03d}Z" for ms in range(1000)]
_encode = msgspec.json.Encoder().encode


@dataclass
class Rows:
    """What goes to Kafka, column by column: Spark takes columns at a tenth of the cost of rows."""

    topics: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)

    def add(self, topic: Topic, keys: Sequence[str | None], values: Sequence[bytes]) -> None:
        self.topics += [topic.name] * len(keys)
        self.keys += keys
        self.values += values


def rows_of(number: int, shard: Shard, batch: Batch, fences: pd.DataFrame, gps: pd.DataFrame) -> pd.DataFrame:
    """Everything that one batch of a shard has to say."""
    rows = Rows()
    if batch.judged is not None:
        _add_judged(rows, number, _judged_columns(shard, batch.judged))
        _add_judged(rows, number, _correction_columns(shard, batch.judged))
        _add_rejects(rows, TRUCKS_GPS, gps, {i: (why, WHY[why]) for i, why in batch.judged.rejected.items()})
        counts = {"shard": number, **msgspec.structs.asdict(shard.totals)}
        rows.add(PIPELINE, [f"counts/{number}"], [_encode(counts)])
    _add_states(rows, shard, batch)
    for entry in batch.entries:
        topic = TRUCKS_VISITS if entry.kind == VISIT else TRUCKS_ALERTS
        rows.add(topic, [entry.content["truck_id"] or "fleet"], [_encode(entry.as_record())])
    if number == 0:
        # Every shard reads every fence; one of them speaks.
        _add_rejects(rows, FENCES, fences, {i: (Reason.BAD_FENCE, why) for i, why in batch.bad_fences})
    return pd.DataFrame({"topic": rows.topics, "key": rows.keys, "value": rows.values}, dtype=object)


@lru_cache
def _row_type(names: tuple[str, ...]) -> Callable[..., msgspec.Struct]:
    """A struct is made and encoded in a third of the time of a dict."""
    return msgspec.defstruct("Row", names, gc=False)


def _moments(t: Indices) -> list[str]:
    """RFC 3339; fixes of a batch share their seconds, so each second is written once."""
    seconds, where = np.unique(t // 1000, return_inverse=True)
    texts = np.datetime_as_string(seconds.astype("datetime64[s]")).tolist()
    return [texts[i] + MILLISECONDS[ms] for i, ms in zip(where.tolist(), (t % 1000).tolist(), strict=True)]


def _optional(values: Floats, digits: int) -> list[float | None]:
    return [None if value != value else value for value in np.round(values, digits).tolist()]  # noqa: PLR0124


def _add_judged(rows: Rows, number: int, columns: dict[str, list[Any]]) -> None:
    """All of a shard has one key, so that the fixes of a truck stay in order."""
    for start in range(0, len(columns["truck_id"]), JUDGED_ROWS):
        part = {name: column[start : start + JUDGED_ROWS] for name, column in columns.items()}
        rows.add(TRUCKS_JUDGED, [f"shard/{number}"], [_encode(part)])


def _judged_columns(shard: Shard, judged: Judged) -> dict[str, list[Any]]:
    fixes, derived = judged.fixes, judged.segments
    speed = np.round(derived.speed_kmh, 2)
    known = ~np.isnan(speed)
    before_ms = zip(judged.before["t"].tolist(), judged.has_before.tolist(), strict=True)
    return {
        "truck_id": [shard.truck_ids[truck] for truck in fixes["truck"].tolist()],
        "event_time_ms": fixes["t"].tolist(),
        "prev_event_time_ms": [t if has else None for t, has in before_ms],
        "correction": [False] * len(fixes),
        "late": judged.late.tolist(),
        "jump": derived.jump.tolist(),
        "lat": fixes["lat"].tolist(),
        "lon": fixes["lon"].tolist(),
        "speed_kmh": _optional(speed, 2),
        "heading_deg": _optional(derived.heading_deg, 1),
        "fixes": [1] * len(fixes),
        "speed_fixes": known.astype(int).tolist(),
        "speed_sum_kmh": np.where(known, speed, 0.0).tolist(),
        "distance_m": derived.distance_m.tolist(),
        "moving_s": derived.moving_s.tolist(),
        "idle_s": derived.idle_s.tolist(),
        "active_trucks": derived.active.tolist(),
    }


def _correction_columns(shard: Shard, judged: Judged) -> dict[str, list[Any]]:
    """What a late fix changes at its successor: the segment that now ends there, less the one that did."""
    fixes, now, was = judged.corrected, judged.now, judged.was
    speed_now, speed_was = np.round(now.speed_kmh, 2), np.round(was.speed_kmh, 2)
    known_now, known_was = ~np.isnan(speed_now), ~np.isnan(speed_was)
    return {
        "truck_id": [shard.truck_ids[truck] for truck in fixes["truck"].tolist()],
        "event_time_ms": fixes["t"].tolist(),
        "prev_event_time_ms": judged.corrected_before["t"].tolist(),
        "correction": [True] * len(fixes),
        "late": [False] * len(fixes),
        "jump": now.jump.tolist(),
        "lat": fixes["lat"].tolist(),
        "lon": fixes["lon"].tolist(),
        "speed_kmh": _optional(now.speed_kmh, 2),
        "heading_deg": _optional(now.heading_deg, 1),
        "fixes": [0] * len(fixes),
        "speed_fixes": (known_now.astype(int) - known_was.astype(int)).tolist(),
        "speed_sum_kmh": (np.where(known_now, speed_now, 0) - np.where(known_was, speed_was, 0)).round(2).tolist(),
        "distance_m": (now.distance_m - was.distance_m).round(3).tolist(),
        "moving_s": (now.moving_s - was.moving_s).round(3).tolist(),
        "idle_s": (now.idle_s - was.idle_s).round(3).tolist(),
        "active_trucks": (now.active - was.active).tolist(),
    }


def _add_states(rows: Rows, shard: Shard, batch: Batch) -> None:
    fixes, derived = _newest(shard, batch)
    trucks = fixes["truck"].astype(np.int64)
    keys = [shard.truck_ids[truck] for truck in trucks.tolist()]
    columns: dict[str, list[Any]] = {
        "truck_id": keys,
        "event_time": _moments(fixes["t"]),
        "received_time": _moments(fixes["received"]),
        "lat": fixes["lat"].tolist(),
        "lon": fixes["lon"].tolist(),
        "seq": [None if seq < 0 else seq for seq in fixes["seq"].tolist()],
        "accuracy_m": _optional(fixes["accuracy_m"], 2),
        "speed_kmh": _optional(fixes["speed_kmh"], 2),
        "heading_deg": _optional(derived.heading_deg, 1),
        "segment_m": _optional(derived.length_m, 3),
        "jump": derived.jump.tolist(),
        "status": _statuses(shard, fixes),
        "status_since": _moments(fixes["since"]),
        "fences": fences_of(shard, trucks),
    }
    row_type = _row_type(tuple(columns))
    rows.add(TRUCKS_STATE, keys, [_encode(row_type(*row)) for row in zip(*columns.values(), strict=True)])


def _newest(shard: Shard, batch: Batch) -> tuple[Fixes, Segments]:
    """The newest fix of each truck to be shown, and the segment that ends there."""
    if batch.judged is not None and len(batch.judged.newest) == len(batch.shown):
        return batch.judged.newest, batch.judged.newest_segments
    past = shard.past_of(batch.shown)
    last = np.flatnonzero(is_last(past["truck"]))
    before, has_before = past[last - 1], ~starts(past["truck"])[last]
    return past[last], segments(before, has_before, past[last], shard.rules)


def _statuses(shard: Shard, fixes: Fixes) -> list[Status]:
    standing = np.where(fixes["t"] - fixes["since"] >= shard.rules.idle_ms, Status.IDLE, Status.STOPPED)
    phase = phases(fixes["speed_kmh"], shard.rules)
    silent = np.isin(fixes["truck"], [shard.told.entries[name].truck for name in shard.told.silent])
    statuses = np.select(
        [silent, phase == MOVING, phase == UNKNOWN], [Status.SILENT, Status.MOVING, Status.UNKNOWN], standing
    )
    return statuses.tolist()  # type: ignore[no-any-return]


def _add_rejects(rows: Rows, topic: Topic, records: pd.DataFrame, rejected: dict[int, tuple[Reason, str]]) -> None:
    if not rejected:
        return
    at = sorted(rejected)
    received = _moments(records["received_ms"].to_numpy()[at])
    found: Iterable[Any] = records.iloc[at].itertuples()
    for moment, i, record in zip(received, at, found, strict=True):
        key = None if record.key is None else record.key.decode(errors="replace")
        raw = record.value or b""
        reject = {
            "reason": rejected[i][0],
            "detail": rejected[i][1],
            "truck_id": key,
            "topic": topic.name,
            "partition": record.partition,
            "offset": record.offset,
            "received_time": moment,
            "size_bytes": len(raw),
            "raw_base64": base64.b64encode(raw[:RAW_BYTES]).decode(),
        }
        rows.add(TRUCKS_REJECTS, [key], [_encode(reject)])
