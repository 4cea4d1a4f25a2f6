"""Runs the detectors over the next fixes of some trucks: fences, crossings, speed, standing. Pure."""

from dataclasses import dataclass

import numpy as np

from streaming.fencebook import FenceBook
from streaming.geodesy import degree_m, distance_m, shorter_way
from streaming.pace import overspeeds, standings
from streaming.rules import Rules
from streaming.schedule import is_open
from streaming.timeline import Fixes, Flags, Indices, is_last, starts
from streaming.visits import Hits, Timeline, visit_fences
from streaming.watch import NEVER, Crossing, Overspeed, Pairs, Spot, Standing, Stay, Watches


@dataclass(frozen=True)
class Found:
    """What is remembered afterwards, and what happened. Trucks are numbered as in the watches given."""

    watch: Watches
    pairs: Pairs
    stays: list[Stay]
    crossings: list[Crossing]
    overspeeds: list[Overspeed]
    standings: list[Standing]


def detect(watch: Watches, pairs: Pairs, fixes: Fixes, until: Indices, book: FenceBook, rules: Rules) -> Found:  # noqa: PLR0913, PLR0917
    """`fixes` are sorted by (truck, t), newer than the watch of their truck; time has come to the last of them, or to
    `until`. A fix of bad accuracy changes nothing here.
    """
    watch, since = watch.copy(), watch["t"].copy()
    rows = _rows(watch, fixes, until, rules)
    until = rows["until"]
    hits, near = _look_around(rows, book, rules)
    _limits(rows, hits, book, rules)
    pairs, stays, timeline = visit_fences(
        watch=watch, pairs=pairs, rows=rows, until=until, hits=hits.of_fences, book=book
    )
    found = Found(
        watch=watch,
        pairs=pairs,
        stays=stays,
        crossings=_crossings(rows, near, timeline, book, rules),
        overspeeds=overspeeds(watch, rows, until, book, rules),
        standings=standings(watch, rows, until, since, rules),
    )
    np.add.at(watch["flaps"], timeline.flaps(), 1)
    _remember_last(watch, rows)
    return found


def _rows(watch: Watches, fixes: Fixes, until: Indices, rules: Rules) -> dict[str, np.ndarray]:
    """The accurate fixes, column by column, each with the one before it."""
    fixes = fixes[~(fixes["accuracy_m"] > rules.accuracy_max_m)]
    rows: dict[str, np.ndarray] = {
        name: np.ascontiguousarray(fixes[name]) for name in ("t", "lat", "lon", "accuracy_m")
    }
    rows["who"], rows["kmh"], rows["until"] = fixes["truck"].astype(np.int64), fixes["speed_kmh"].copy(), until.copy()
    last = is_last(rows["who"])
    rows["until"][rows["who"][last]] = np.maximum(rows["until"][rows["who"][last]], rows["t"][last])
    first = starts(rows["who"])
    for name in ("t", "lat", "lon"):
        rows[f"prev_{name}"] = np.where(first, watch[name][rows["who"]], np.roll(rows[name], 1))
    return rows


@dataclass(frozen=True)
class Around:
    """Rows and versions: `row` is in `version`."""

    row: Indices
    version: Indices
    of_fences: Hits


@dataclass(frozen=True)
class Near:
    """Drives (row is the later fix) whose box touches a part of a fence that neither end is known to be in."""

    row: Indices
    part: Indices
    version: Indices
    shift: np.ndarray


def _look_around(rows: dict[str, np.ndarray], book: FenceBook, rules: Rules) -> tuple[Around, Near]:
    places, lat, lon = book.places, rows["lat"], rows["lon"]
    drives = _drives(rows, rules)
    from_lat = np.where(drives, rows["prev_lat"], lat)
    from_lon = np.where(drives, lon + shorter_way(rows["prev_lon"] - lon), lon)
    box = [np.minimum(lon, from_lon), np.minimum(lat, from_lat), np.maximum(lon, from_lon), np.maximum(lat, from_lat)]
    row, part = places.around(*box)
    shift = np.zeros(len(row))
    for over, by in ((box[2] >= 180, -360.0), (box[0] <= -180, 360.0)):
        # A drive over the antimeridian is seen from both of its sides.
        again = np.flatnonzero(over)
        more_row, more_part = places.around(*(side[again] + (by if i % 2 == 0 else 0) for i, side in enumerate(box)))
        row, part = np.concatenate([row, again[more_row]]), np.concatenate([part, more_part])
        shift = np.concatenate([shift, np.full(len(more_row), by)])
    version = places.version_of(part) if len(part) else part
    table = places.versions[version]
    counts = (table["from_t"] <= rows["t"][row]) & (rows["t"][row] < table["until_t"])
    row, part, version, shift = row[counts], part[counts], version[counts], shift[counts]
    inside = places.holds(part, lat[row], lon[row] + shift) if len(part) else np.zeros(0, bool)
    pairs = (
        np.unique(np.stack([row[inside], version[inside]], axis=1), axis=0)
        if inside.any()
        else np.zeros((0, 2), np.int64)
    )
    fence = places.versions["fence"][pairs[:, 1]].astype(np.int64)
    cut = ~inside & drives[row]
    near = Near(row[cut], part[cut], version[cut], shift[cut])
    return Around(pairs[:, 0], pairs[:, 1], Hits(pairs[:, 0], fence)), near


def _drives(rows: dict[str, np.ndarray], rules: Rules) -> Flags:
    """Rows that were driven to from the fix before: no long gap, and hardly an impossible speed."""
    took_ms = rows["t"] - rows["prev_t"]
    north_m, east_m = degree_m(rows["lat"])
    apart_m = np.hypot((rows["lat"] - rows["prev_lat"]) * north_m, shorter_way(rows["lon"] - rows["prev_lon"]) * east_m)
    slow = apart_m * 3600 <= 1.1 * rules.jump_kmh * took_ms
    driven: Flags = (rows["prev_t"] != NEVER) & (took_ms <= rules.gap_ms) & slow
    return driven


def _limits(rows: dict[str, np.ndarray], hits: Around, book: FenceBook, rules: Rules) -> None:
    """For each row the lowest limit of the fences it is in, else the fleet's, and whether it is in a depot."""
    count, table = len(rows["t"]), book.places.versions
    rows["limit_kmh"] = np.full(count, rules.speed_limit_kmh)
    rows["limit_fence"] = np.full(count, -1)
    rows["depot"] = np.zeros(count, dtype=bool)
    rows["depot"][hits.row[table["depot"][hits.version]]] = True
    limited = np.isfinite(table["limit_kmh"][hits.version])
    for i in np.flatnonzero(limited).tolist():
        row, fence = int(hits.row[i]), int(hits.of_fences.fence[i])
        limit = float(table["limit_kmh"][hits.version[i]])
        held = int(rows["limit_fence"][row])
        if held >= 0 and (rows["limit_kmh"][row], book.fence_ids[held]) <= (limit, book.fence_ids[fence]):
            continue
        if is_open(book.version(fence, int(rows["t"][row])), int(rows["t"][row])):
            rows["limit_kmh"][row], rows["limit_fence"][row] = limit, fence


def _crossings(
    rows: dict[str, np.ndarray], near: Near, timeline: Timeline, book: FenceBook, rules: Rules
) -> list[Crossing]:
    """Both ends outside, but the straight line between them cuts the fence."""
    places = book.places
    fence = places.versions["fence"][near.version].astype(np.int64)
    known = places.versions["from_t"][near.version] <= rows["prev_t"][near.row]
    picked = np.flatnonzero(known & ~timeline.is_involved(near.row, fence))
    row, part, shift = near.row[picked], near.part[picked], near.shift[picked]
    here = rows["lat"][row], rows["lon"][row] + shift
    there = rows["prev_lat"][row], rows["lon"][row] + shorter_way(rows["prev_lon"][row] - rows["lon"][row]) + shift
    cut = places.cut(part, there, here) if len(part) else np.zeros(0, bool)
    cut[cut] &= _possible(rows, row[cut], rules)
    found = sorted(set(zip(row[cut].tolist(), near.version[picked][cut].tolist(), strict=True)))
    return [_crossing(rows, at, version, book) for at, version in found]


def _possible(rows: dict[str, np.ndarray], row: Indices, rules: Rules) -> Flags:
    apart_m = distance_m(rows["lat"][row], rows["lon"][row], rows["prev_lat"][row], rows["prev_lon"][row])
    possible: Flags = apart_m * 3600 <= rules.jump_kmh * (rows["t"][row] - rows["prev_t"][row])
    return possible


def _crossing(rows: dict[str, np.ndarray], row: int, version: int, book: FenceBook) -> Crossing:
    fence, t = int(book.places.versions["fence"][version]), int(rows["t"][row])
    in_force = book.version(fence, t)
    assert in_force is not None  # The row was found by this version.
    before = Spot(*(rows[f"prev_{name}"][row].item() for name in ("t", "lat", "lon")))
    after = Spot(*(rows[name][row].item() for name in ("t", "lat", "lon")))
    return Crossing(int(rows["who"][row]), fence, in_force, before, after)


def _remember_last(watch: Watches, rows: dict[str, np.ndarray]) -> None:
    last = is_last(rows["who"])
    for name in ("t", "lat", "lon", "accuracy_m"):
        watch[name][rows["who"][last]] = rows[name][last]
