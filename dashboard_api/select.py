"""Which trucks are meant: filters over the columns of the fleet."""

from dataclasses import dataclass
from math import floor
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dashboard_api.fleet import E6, STATUSES, Fleet, Slots, cell_of
from schemas.models import Status

MOST_CELLS = 200
Order = Literal["id", "oldest", "fastest"]
EARTH_M = 6_371_008.8


@dataclass(frozen=True)
class Box:
    """Degrees; west of east, or across the antimeridian."""

    west: float
    south: float
    east: float
    north: float


@dataclass(frozen=True)
class Wanted:
    """Which trucks. `heard_before_ms`: only those whose newest fix is older; `near`: lat, lon to order by distance."""

    status: Status | None = None
    text: str = ""
    fence_id: str | None = None
    box: Box | None = None
    heard_before_ms: int | None = None
    heard_after_ms: int | None = None


def matching(fleet: Fleet, wanted: Wanted) -> Slots:
    """The slots that match all but the text, ordered by their trucks' ids."""
    slots = _by_columns(fleet, wanted)
    if wanted.fence_id is not None:
        inside = fleet.inside.get(wanted.fence_id, set())
        slots = slots[[slot in inside for slot in slots.tolist()]] if inside else slots[:0]
    return slots


def _by_columns(fleet: Fleet, wanted: Wanted) -> Slots:
    if wanted.box is not None and (cells := _cells(wanted.box)) is not None:
        return _in_cells(fleet, wanted, wanted.box, cells)
    mask: NDArray[np.bool_] | None = None
    count = len(fleet)
    if wanted.box is not None:
        mask = _in_box(fleet, wanted.box)
    if wanted.status is not None:
        mask = _and(mask, fleet.columns["status"][:count] == STATUSES.index(wanted.status))
    if wanted.heard_before_ms is not None:
        mask = _and(mask, fleet.columns["event_ms"][:count] < wanted.heard_before_ms)
    if wanted.heard_after_ms is not None:
        mask = _and(mask, fleet.columns["event_ms"][:count] >= wanted.heard_after_ms)
    if mask is None:
        return fleet.by_id()
    found = np.flatnonzero(mask)
    if 8 * len(found) > count:
        order = fleet.by_id()
        return order[mask[order]]
    return fleet.ordered(fleet.still_there(found))


def _cells(box: Box) -> list[int] | None:
    """The square degrees that a small box touches; None for a large one."""
    south, west, north, east = (floor(edge) for edge in (box.south, box.west, box.north, box.east))
    if box.west > box.east or (north - south + 1) * (east - west + 1) > MOST_CELLS:
        return None
    return [cell_of(lat, lon) for lat in range(south, north + 1) for lon in range(west, east + 1)]


def _in_cells(fleet: Fleet, wanted: Wanted, box: Box, cells: list[int]) -> Slots:
    near = fleet.in_cells(cells)
    lat, lon = fleet.columns["lat"][near], fleet.columns["lon"][near]
    mask = (lat >= box.south) & (lat <= box.north) & (lon >= box.west) & (lon <= box.east)
    if wanted.status is not None:
        mask &= fleet.columns["status"][near] == STATUSES.index(wanted.status)
    if wanted.heard_before_ms is not None:
        mask &= fleet.columns["event_ms"][near] < wanted.heard_before_ms
    if wanted.heard_after_ms is not None:
        mask &= fleet.columns["event_ms"][near] >= wanted.heard_after_ms
    return fleet.ordered(near[mask])


def _and(mask: NDArray[np.bool_] | None, other: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return other if mask is None else mask & other


def _in_box(fleet: Fleet, box: Box) -> NDArray[np.bool_]:
    count = len(fleet)
    lat, lon = fleet.columns["lat_e6"][:count], fleet.columns["lon_e6"][:count]
    rows = _within(lat, box.south, box.north)
    if box.west <= box.east:
        return rows & _within(lon, box.west, box.east)
    return rows & (_within(lon, box.west, 180.0) | _within(lon, -180.0, box.east))


def _within(column: NDArray[Any], low_deg: float, high_deg: float) -> NDArray[np.bool_]:
    """low <= column <= high by one comparison: below low, the difference wraps round to a large number."""
    low, high = round(low_deg * E6), round(high_deg * E6)
    if low > high:
        return np.zeros(len(column), dtype=bool)
    above = column.view(np.uint32) - np.uint32(low & 0xFFFFFFFF)
    return np.asarray(above <= np.uint32(high - low))


def ordered(fleet: Fleet, slots: Slots, by: Order) -> Slots:
    """Those that have not been heard for longest first, or the fastest; of equals, by id."""
    key = fleet.columns["event_ms"][slots] if by == "oldest" else -fleet.columns["speed_kmh"][slots]
    return slots[np.argsort(key, kind="stable")]


def distances_m(fleet: Fleet, slots: Slots, *, lat: float, lon: float) -> NDArray[np.float64]:
    """Along the great circle; good to half a percent."""
    lats, lons = np.radians(fleet.columns["lat"][slots]), np.radians(fleet.columns["lon"][slots])
    here_lat, here_lon = np.radians(lat), np.radians(lon)
    half = np.sin((lats - here_lat) / 2) ** 2 + np.cos(lats) * np.cos(here_lat) * np.sin((lons - here_lon) / 2) ** 2
    return np.asarray(2 * EARTH_M * np.arcsin(np.sqrt(np.clip(half, 0, 1))))


def nearest(fleet: Fleet, slots: Slots, *, lat: float, lon: float, count: int) -> tuple[Slots, NDArray[np.float64]]:
    """The `count` nearest of them, nearest first, with their distances."""
    away_m = distances_m(fleet, slots, lat=lat, lon=lon)
    if count < len(slots):
        first = np.argpartition(away_m, count)[:count]
        slots, away_m = slots[first], away_m[first]
    order = np.argsort(away_m, kind="stable")
    return slots[order], away_m[order]
