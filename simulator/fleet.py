"""A fleet: its trucks by name, and where each truly is whenever it reports. Same arguments, same answers."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from faker import Faker

from schemas.models import Truck
from simulator.chance import Luck
from simulator.columns import Bools, Floats, Ints
from simulator.driving import advance, where
from simulator.legs import us_legs
from simulator.sites import us_map
from simulator.stops import put_to_rest
from simulator.trucks import starting
from simulator.world import World

GROUP_TRUCKS = 500
GROUPS_MAX = 20
NAMES = 1_000
GOLDEN_SHARE = (5**0.5 - 1) / 2


def truck_id(number: int) -> str:
    return f"truck-{number:05d}"


def registry(*, trucks: int, seed: int) -> Iterator[Truck]:
    """What people call the trucks. Drivers of large fleets have namesakes."""
    fake = Faker("en_US")
    fake.seed_instance(seed)
    known = [(fake.safe_color_name().title(), fake.lexify("???").upper(), fake.name()) for _ in range(NAMES)]
    for number in range(1, trucks + 1):
        color, letters, driver = known[number % NAMES]
        yield Truck(truck_id=truck_id(number), name=f"{color} {number}", plate=f"{letters} {number:05d}", driver=driver)


@dataclass(frozen=True)
class Positions:
    """Where trucks truly were at `time_ms`; one entry per report that is due."""

    number: Ints
    time_ms: Ints
    lat: Floats
    lon: Floats
    speed_kmh: Floats
    heading_deg: Floats
    trip: Ints
    since_departure_s: Floats

    def only(self, chosen: Bools) -> Self:
        return type(self)(**{each.name: getattr(self, each.name)[chosen] for each in fields(self)})


class Fleet:
    """Trucks that report once per interval, each at its own moment, so that the load is even.

    They are worked out group by group: a group is the trucks that report in one part of the interval.
    """

    def __init__(self, *, trucks: int, interval_s: float, seed: int, start_ms: int) -> None:
        self.interval_ms = max(1, round(interval_s * 1000))
        self.start_ms = start_ms
        numbers = np.arange(1, trucks + 1)
        # The golden ratio spreads fleets of every size evenly, and a larger fleet has the same trucks and more.
        phase_ms = (numbers * GOLDEN_SHARE % 1.0 * self.interval_ms).astype(np.int64)
        order = np.argsort(phase_ms, kind="stable")
        self._phase_ms = phase_ms[order]
        self._world = World(sites=us_map(), legs=us_legs(), luck=Luck(seed))
        self._trucks = starting(
            numbers[order],
            luck=self._world.luck,
            sites=self._world.sites,
            legs=self._world.legs,
            start_s=start_ms / 1000,
        )
        put_to_rest(self._trucks, self._world, start_ms / 1000)
        groups = min(GROUPS_MAX, self.interval_ms, 1 + trucks // GROUP_TRUCKS)
        self._ends_ms = [self.interval_ms * (group + 1) // groups for group in range(groups)]

    def positions(self) -> Iterator[tuple[int, Positions]]:
        """For ever: the moment until which reports are complete, in ms, and the reports since the last one."""
        turn = 0
        while True:
            first = 0
            for end_ms in self._ends_ms:
                last = int(np.searchsorted(self._phase_ms, end_ms))
                until_ms = self.start_ms + turn * self.interval_ms + end_ms
                yield until_ms, self._report(turn, slice(first, last))
                first = last
            turn += 1

    def _report(self, turn: int, part: slice) -> Positions:
        trucks = self._trucks.part(part)
        time_ms = self.start_ms + turn * self.interval_ms + self._phase_ms[part]
        if turn > 0:
            advance(trucks, self._world, until_s=time_ms / 1000, by_s=self.interval_ms / 1000)
        places, heading_deg = where(trucks, self._world)
        return Positions(
            number=trucks.number,
            time_ms=time_ms,
            lat=places.lat,
            lon=places.lon,
            speed_kmh=trucks.speed_kmh.copy(),
            heading_deg=heading_deg,
            trip=trucks.trip.copy(),
            since_departure_s=np.where(trucks.driving, time_ms / 1000 - trucks.departed_s, np.inf),
        )
