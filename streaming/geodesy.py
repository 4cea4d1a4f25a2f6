"""Metres on WGS84: between points, and from points to edges that are straight in longitude and latitude."""

import numpy as np
from numpy.typing import NDArray
from pyproj import Geod

Floats = NDArray[np.float64]

WGS84 = Geod(ellps="WGS84")
_A_M, _E2 = 6_378_137.0, 6.694379990141e-3
_GOLDEN = (5**0.5 - 1) / 2
_STEPS = 44
# What the plane around a point can be wrong by; a test holds it against the ellipsoid.
PLANE_SHARE, PLANE_M, PLANE_REACH_M = 0.01, 0.5, 30_000.0


def distance_m(lat: Floats, lon: Floats, to_lat: Floats, to_lon: Floats) -> Floats:
    found: Floats = np.asarray(WGS84.inv(lon, lat, to_lon, to_lat)[2], dtype=np.float64)
    return found


def degree_m(lat: Floats) -> tuple[Floats, Floats]:
    """Metres of one degree of latitude and of longitude at this latitude."""
    sine = np.sin(np.radians(lat))
    w = np.sqrt(1 - _E2 * sine * sine)
    north_m = np.radians(1.0) * _A_M * (1 - _E2) / w**3
    east_m = np.radians(1.0) * _A_M / w * np.cos(np.radians(lat))
    return north_m, east_m


def shorter_way(degrees: Floats) -> Floats:
    """A difference of longitudes, in [-180, 180]."""
    return degrees - 360.0 * np.round(degrees / 360.0)


def plane_edge_m(lat: Floats, lon: Floats, start: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> Floats:
    """From a point to an edge (each end as lat, lon), in the plane around the point."""
    return _nearest_in_plane(lat, lon, start, end)[1]


def edge_m(lat: Floats, lon: Floats, start: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> Floats:
    """The same on the ellipsoid: looks for the nearest point of the edge around where the plane has it."""
    share, plane_m, length_m = _nearest_in_plane(lat, lon, start, end)
    reach = np.minimum(1.0, (0.05 * plane_m + 10.0) / np.maximum(length_m, 1e-9))
    low, high = np.maximum(0.0, share - reach), np.minimum(1.0, share + reach)
    by_lat, by_lon = end[0] - start[0], shorter_way(end[1] - start[1])

    def at(part: Floats) -> Floats:
        return distance_m(lat, lon, start[0] + part * by_lat, start[1] + part * by_lon)

    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = at(left), at(right)
    for _ in range(_STEPS):
        lower = at_left < at_right
        high, low = np.where(lower, right, high), np.where(lower, low, left)
        middle = np.where(lower, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_middle = at(middle)
        left, right = np.where(lower, middle, right), np.where(lower, left, middle)
        at_left, at_right = np.where(lower, at_middle, at_right), np.where(lower, at_left, at_middle)
    # The ends themselves, which the search only comes near to.
    return np.minimum(np.minimum(at_left, at_right), np.minimum(at(np.zeros_like(share)), at(np.ones_like(share))))


def _nearest_in_plane(
    lat: Floats, lon: Floats, start: tuple[Floats, Floats], end: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Where on the edge the nearest point is (0 to 1), how far away it is, and the edge's length."""
    north_m, east_m = degree_m(lat)
    start_x, start_y = shorter_way(start[1] - lon) * east_m, (start[0] - lat) * north_m
    by_x, by_y = shorter_way(end[1] - start[1]) * east_m, (end[0] - start[0]) * north_m
    squared = by_x * by_x + by_y * by_y
    share = np.clip(-(start_x * by_x + start_y * by_y) / np.where(squared == 0, 1.0, squared), 0.0, 1.0)
    return share, np.hypot(start_x + share * by_x, start_y + share * by_y), np.sqrt(squared)


def within_m(
    lat: Floats, lon: Floats, start: tuple[Floats, Floats], end: tuple[Floats, Floats], reach_m: Floats
) -> NDArray[np.bool_]:
    """Whether a point is at most `reach_m` from an edge: the plane answers unless it could be wrong."""
    plane_m = plane_edge_m(lat, lon, start, end)
    inside = plane_m <= reach_m
    unsure = np.abs(plane_m - reach_m) <= PLANE_SHARE * np.maximum(plane_m, reach_m) + PLANE_M
    unsure |= reach_m > PLANE_REACH_M
    if unsure.any():
        pick = tuple((each[0][unsure], each[1][unsure]) for each in (start, end))
        inside[unsure] = edge_m(lat[unsure], lon[unsure], *pick) <= reach_m[unsure]
    return inside
