"""Distances, directions and small moves on WGS84, over columns. The only place that knows pyproj's (lon, lat) order."""

from typing import NamedTuple

import numpy as np
from pyproj import Geod

from simulator.columns import Floats

WGS84 = Geod(ellps="WGS84")
M_PER_DEG = 111_195.0


class Places(NamedTuple):
    """Points on WGS84, as two columns of one length."""

    lat: Floats
    lon: Floats


def lengths_m(line: Places) -> Floats:
    """From each point to the next."""
    return np.asarray(WGS84.inv(line.lon[:-1], line.lat[:-1], line.lon[1:], line.lat[1:])[2])


def headings_deg(line: Places) -> Floats:
    """In which direction each point's next lies, in [0, 360)."""
    return np.asarray(WGS84.inv(line.lon[:-1], line.lat[:-1], line.lon[1:], line.lat[1:])[0]) % 360.0


def distances_m(places: Places, *, lat: float, lon: float) -> Floats:
    """From one point to many, good to 0.5 %."""
    north = places.lat - lat
    east = (places.lon - lon) * np.cos(np.radians((places.lat + lat) / 2))
    return np.asarray(np.hypot(north, east) * M_PER_DEG)


def moved(places: Places, *, heading_deg: Floats | float, by_m: Floats | float) -> Places:
    """Displaced by less than a few kilometres: the Earth is flat there."""
    angle = np.radians(heading_deg)
    north_deg = np.cos(angle) * by_m / M_PER_DEG
    east_deg = np.sin(angle) * by_m / (M_PER_DEG * np.cos(np.radians(places.lat)))
    return Places(lat=places.lat + north_deg, lon=places.lon + east_deg)


def place(*, lat: float, lon: float) -> Places:
    """A column of one point."""
    return Places(lat=np.array([lat]), lon=np.array([lon]))


def joined(*parts: Places) -> Places:
    return Places(lat=np.concatenate([p.lat for p in parts]), lon=np.concatenate([p.lon for p in parts]))
