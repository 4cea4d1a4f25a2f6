"""A fleet: its trucks by name, and their fixes in the order of time. Pure: same arguments, same fixes."""

import itertools
import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from faker import Faker

from schemas.models import Fix, Truck
from simulator.cities import us_cities
from simulator.journey import Journey


def truck_id(number: int) -> str:
    return f"truck-{number:05d}"


def registry(*, trucks: int, seed: int) -> Iterator[Truck]:
    """What people call the trucks."""
    fake = Faker("en_US")
    fake.seed_instance(seed)
    for number in range(1, trucks + 1):
        yield Truck(
            truck_id=truck_id(number),
            name=f"{fake.safe_color_name().title()} {number}",
            plate=fake.license_plate(),
            driver=fake.name(),
        )


def fixes(*, trucks: int, interval_s: float, seed: int, start_time: datetime) -> Iterator[Fix]:
    """Every truck's fix of the first interval, then of the next, for ever.

    Each truck has its own phase: the fixes of a fleet are spread evenly over the interval.
    """
    atlas = us_cities(seed)
    journeys = [
        # A truck's luck depends on its id only: a larger fleet has the same trucks and more.
        Journey(name, atlas=atlas, chance=random.Random(f"{seed}/{name}"), start_time=start_time)  # noqa: S311
        for name in map(truck_id, range(1, trucks + 1))
    ]
    for round_number in itertools.count():
        for index, journey in enumerate(journeys):
            after_s = interval_s * (round_number + index / trucks)
            yield journey.fix_at(start_time + timedelta(milliseconds=round(after_s * 1000)))
