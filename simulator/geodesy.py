"""Positions on the Earth. The only place that knows geopy's (lat, lon) order."""

import math
from dataclasses import dataclass
from typing import Any

from geopy.distance import geodesic

# geopy has no types.
GEODESIC: Any = geodesic


@dataclass(frozen=True)
class Position:
    """A point on WGS84."""

    lat: float
    lon: float


def distance_m(start: Position, end: Position) -> float:
    return float(GEODESIC((start.lat, start.lon), (end.lat, end.lon)).m)


def bearing_deg(start: Position, end: Position) -> float:
    """Direction in which the great circle to `end` leaves `start`, in [0, 360)."""
    start_lat, end_lat = math.radians(start.lat), math.radians(end.lat)
    east = math.radians(end.lon - start.lon)
    y = math.sin(east) * math.cos(end_lat)
    x = math.cos(start_lat) * math.sin(end_lat) - math.sin(start_lat) * math.cos(end_lat) * math.cos(east)
    return math.degrees(math.atan2(y, x)) % 360.0


def moved(start: Position, *, heading_deg: float, by_m: float) -> Position:
    end = GEODESIC(meters=by_m).destination((start.lat, start.lon), bearing=heading_deg)
    return Position(lat=end.latitude, lon=end.longitude)
