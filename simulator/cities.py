"""The cities that trucks drive between, and which of them are a day's drive apart."""

import random
from dataclasses import dataclass

from faker import Faker

from simulator.geodesy import Position, distance_m

DRAWS = 1_000
"""Enough to see nearly all of Faker's 160 US cities."""
NEAREST_M = 40_000
FARTHEST_M = 800_000


@dataclass(frozen=True)
class City:
    """A place where routes begin and end."""

    name: str
    position: Position


class Atlas:
    """The cities of one seed. Neighbours are worked out once per city, as 10,000 trucks ask for them."""

    def __init__(self, cities: tuple[City, ...]) -> None:
        self.cities = cities
        self._neighbours: dict[City, tuple[City, ...]] = {}

    def neighbours(self, origin: City) -> tuple[City, ...]:
        """The cities within a day's drive, or all others where there is none."""
        if origin not in self._neighbours:
            others = tuple(city for city in self.cities if city != origin)
            near = tuple(
                city for city in others if NEAREST_M <= distance_m(origin.position, city.position) <= FARTHEST_M
            )
            self._neighbours[origin] = near or others
        return self._neighbours[origin]

    def destination(self, origin: City, chance: random.Random) -> City:
        return chance.choice(self.neighbours(origin))


def is_contiguous(position: Position) -> bool:
    """Whether trucks can drive there from the other states: not Alaska, Hawaii or an island."""
    return 24.5 <= position.lat <= 49.5 and -125.0 <= position.lon <= -66.5


def us_cities(seed: int) -> Atlas:
    fake = Faker("en_US")
    fake.seed_instance(seed)
    drawn = (fake.local_latlng("US") for _ in range(DRAWS))
    cities = (City(name=row[2], position=Position(lat=float(row[0]), lon=float(row[1]))) for row in drawn if row)
    return Atlas(tuple(dict.fromkeys(city for city in cities if is_contiguous(city.position))))
