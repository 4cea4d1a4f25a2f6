"""One truck on the road: where it is at a moment, how fast, and what it does next."""

import random
from datetime import datetime, timedelta

from schemas.models import Fix
from simulator.cities import Atlas, City
from simulator.geodesy import Position, bearing_deg, distance_m, moved

CRUISE_KMH = (70.0, 105.0)
SPEED_SPREAD_KMH = 3.0
STOP_S = (120.0, 600.0)
ACCURACY_M = (3.0, 12.0)
M_PER_S_PER_KMH = 1 / 3.6


class Journey:
    """Drives from city to city for ever. Moves only when it is asked for a fix, so time comes from outside."""

    def __init__(self, truck_id: str, *, atlas: Atlas, chance: random.Random, start_time: datetime) -> None:
        self.truck_id = truck_id
        self._atlas = atlas
        self._chance = chance
        self._time = start_time
        self._seq = 0
        self._departure_time: datetime | None = None
        self._position: Position
        self._leave(chance.choice(atlas.cities))
        # Somewhere on the way, so that the first fixes already move.
        done_m = chance.uniform(0.05, 0.9) * distance_m(self._position, self._destination.position)
        self._position = moved(self._position, heading_deg=self._heading_deg, by_m=done_m)

    def fix_at(self, event_time: datetime) -> Fix:
        """Drive on until `event_time` and report; times must not go back."""
        speed_kmh = self._advance(event_time)
        fix = Fix(
            truck_id=self.truck_id,
            lat=round(self._position.lat, 6),
            lon=round(self._position.lon, 6),
            event_time=event_time,
            speed_kmh=round(speed_kmh, 1),
            # 359.96 rounds to 360.0, which is north as well.
            heading_deg=round(self._heading_deg, 1) % 360,
            accuracy_m=round(self._chance.uniform(*ACCURACY_M), 1),
            seq=self._seq,
        )
        self._seq += 1
        return fix

    def _advance(self, until: datetime) -> float:
        """Move to where the truck is at `until`; return its speed there."""
        since, self._time = self._time, until
        if self._departure_time is not None:
            if until < self._departure_time:
                return 0.0
            since, self._departure_time = self._departure_time, None
            self._leave(self._destination)
        return self._drive(until - since)

    def _leave(self, origin: City) -> None:
        self._position = origin.position
        self._destination: City = self._atlas.destination(origin, self._chance)
        self._heading_deg: float = bearing_deg(origin.position, self._destination.position)
        self._cruise_kmh = self._chance.uniform(*CRUISE_KMH)

    def _drive(self, duration: timedelta) -> float:
        """Go on towards the destination; a truck that reaches it stops there."""
        slowest_kmh, fastest_kmh = CRUISE_KMH
        speed_kmh = min(fastest_kmh, max(slowest_kmh, self._chance.gauss(self._cruise_kmh, SPEED_SPREAD_KMH)))
        by_m = speed_kmh * M_PER_S_PER_KMH * duration.total_seconds()
        if by_m >= distance_m(self._position, self._destination.position):
            self._position = self._destination.position
            self._departure_time = self._time + timedelta(seconds=self._chance.uniform(*STOP_S))
            return 0.0
        self._heading_deg = bearing_deg(self._position, self._destination.position)
        self._position = moved(self._position, heading_deg=self._heading_deg, by_m=by_m)
        return speed_kmh
