"""Pure rules over columns: which fix is late, twice or in conflict, and what lies between two fixes."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyproj import Geod

from streaming.rules import Rules

# One judged fix. `truck` numbers a truck within its shard; `since` is the first fix of the same phase in a row.
FIX = np.dtype(
    [
        ("truck", np.int32),
        ("t", np.int64),
        ("lat", np.float64),
        ("lon", np.float64),
        ("reported_kmh", np.float64),
        ("reported_deg", np.float64),
        ("accuracy_m", np.float64),
        ("seq", np.int64),
        ("received", np.int64),
        ("speed_kmh", np.float64),
        ("since", np.int64),
    ]
)
Fixes = NDArray[np.void]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MINUTE_MS = 60_000
UNKNOWN, STANDING, MOVING = 0, 1, 2
_WGS84 = Geod(ellps="WGS84")


@dataclass(frozen=True)
class Segments:
    """What lies between a fix and the one before it; where there is none before, `length_m` is NaN."""

    length_m: Floats
    heading_deg: Floats
    jump: Flags
    speed_kmh: Floats
    distance_m: Floats
    moving_s: Floats
    idle_s: Floats
    active: Indices

    def at(self, rows: Indices) -> "Segments":
        return Segments(*(getattr(self, each.name)[rows] for each in fields(self)))

    def followed_by(self, other: "Segments") -> "Segments":
        return Segments(
            *(np.concatenate([getattr(self, each.name), getattr(other, each.name)]) for each in fields(self))
        )


def segments(before: Fixes, has_before: Flags, fixes: Fixes, rules: Rules) -> Segments:
    """Derive speed, heading, distance and time of each fix from the fix before it, on WGS84."""
    azimuth, _, length_m = _WGS84.inv(before["lon"], before["lat"], fixes["lon"], fixes["lat"])
    length_m = np.where(has_before, length_m, np.nan)
    took_ms = np.where(has_before, fixes["t"] - before["t"], 1)
    implied_kmh = length_m / took_ms * 3600
    jump = has_before & (implied_kmh > rules.jump_kmh)
    known = has_before & ~jump
    seconds = np.where(has_before & (took_ms <= rules.gap_ms), took_ms / 1000, 0.0)
    moving = implied_kmh >= rules.moving_kmh
    reported_deg = np.where(fixes["reported_deg"] == 360, 0.0, fixes["reported_deg"])
    derived_deg = np.where(known & (length_m >= 5), azimuth % 360, np.nan)
    same_minute = has_before & (before["t"] // MINUTE_MS == fixes["t"] // MINUTE_MS)
    return Segments(
        length_m=length_m,
        heading_deg=np.where(np.isnan(reported_deg), derived_deg, reported_deg),
        jump=jump,
        speed_kmh=np.where(
            np.isnan(fixes["reported_kmh"]), np.where(known, implied_kmh, np.nan), fixes["reported_kmh"]
        ),
        distance_m=np.where(known, np.round(length_m, 3), 0.0),
        moving_s=np.where(moving & known, seconds, 0.0),
        idle_s=np.where(~moving & known, seconds, 0.0),
        active=(~same_minute).astype(np.int64),
    )


def phases(speed_kmh: Floats, rules: Rules) -> Indices:
    """Standing or moving, by speed."""
    known = np.where(speed_kmh >= rules.moving_kmh, MOVING, STANDING)
    return np.where(np.isnan(speed_kmh), UNKNOWN, known)


def newest_before(fixes: Fixes, newest_t: Indices) -> Indices:
    """For fixes in order of arrival: the newest event time of the same truck when each of them came."""
    order = np.argsort(fixes["truck"], kind="stable")
    truck, t = fixes["truck"][order], fixes["t"][order]
    first = starts(truck)
    carried = pd.Series(np.where(first, newest_t[truck], np.roll(t, 1)))
    result = np.empty(len(fixes), dtype=np.int64)
    result[order] = carried.groupby(np.cumsum(first)).cummax()
    return result


def starts(truck: NDArray[np.signedinteger[Any]]) -> Flags:
    """Which rows of a table sorted by truck are the first of their truck."""
    first = np.ones(len(truck), dtype=bool)
    first[1:] = truck[1:] != truck[:-1]
    return first


def is_last(truck: NDArray[np.signedinteger[Any]]) -> Flags:
    """Which rows of a table sorted by truck are the last of their truck."""
    return starts(truck[::-1])[::-1]


def repeats(past: Fixes, fixes: Fixes) -> tuple[Indices, Fixes]:
    """Fixes (rows in order of arrival) whose moment another one holds that came first; and that one."""
    both = np.concatenate([past, fixes])
    arrival = np.concatenate([np.full(len(past), -1, dtype=np.int64), np.arange(len(fixes))])
    order = np.lexsort((arrival, both["t"], both["truck"]))
    truck, t = both["truck"][order], both["t"][order]
    first = starts(truck)
    first[1:] |= t[1:] != t[:-1]
    holder = order[np.flatnonzero(first)[np.cumsum(first) - 1]] if len(order) else order
    holder_of = np.empty(len(both), dtype=np.int64)
    holder_of[order] = holder
    mine = holder_of[len(past) :]
    repeated = np.flatnonzero(mine != np.arange(len(fixes)) + len(past))
    return repeated, both[mine[repeated]]


def runs(phase: Indices, t: Indices, first: Flags, since_of_first: Indices) -> Indices:
    """For rows sorted by (truck, t): when the run of equal phases that each row ends began."""
    begins = first.copy()
    begins[1:] |= phase[1:] != phase[:-1]
    began = np.where(first, since_of_first, t)
    at: Indices = began[np.flatnonzero(begins)[np.cumsum(begins) - 1]] if len(t) else t
    return at
