"""A fleet and its fences for measuring: straight drives over an area with fences of an even density."""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from confluent_kafka import Producer

# Two hours ago: Kafka forgets what is too old.
START_MS = round(time.time() * 1000) - 2 * 3600 * 1000
INTERVAL_MS = 20_000
# One fence in a square with sides of so many degrees; 2 to 3 km wide, so that trucks pass through many in a day.
SPACING_DEG, RADIUS_DEG = 0.3, 0.015


@dataclass
class Fleet:
    """Trucks at 90 km/h in all directions, turned back at the edges."""

    trucks: int
    fences: int
    seed: int = 1
    step: int = 0
    lat: np.ndarray = field(init=False)
    lon: np.ndarray = field(init=False)
    heading: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        chance = np.random.default_rng(self.seed)
        self.side = SPACING_DEG * max(1, math.isqrt(self.fences))
        self.lat = 30 + chance.uniform(0, min(self.side, 25), self.trucks)
        self.lon = -110 + chance.uniform(0, self.side, self.trucks)
        self.heading = chance.uniform(0, 2 * math.pi, self.trucks)

    def fence_records(self) -> list[tuple[bytes, bytes]]:
        per_row = max(1, math.isqrt(self.fences))
        records = []
        for number in range(self.fences):
            lat = 30 + SPACING_DEG * (number // per_row + 0.5) * min(1, 25 / self.side)
            lon = -110 + SPACING_DEG * (number % per_row + 0.5)
            fence = {
                "fence_id": f"F{number}",
                "version": 1,
                "effective_from": "2020-01-01T00:00:00Z",
                "name": f"F{number}",
            }
            records.append((fence["fence_id"].encode(), json.dumps(fence | _ground(number, lat, lon)).encode()))  # type: ignore[attr-defined]
        return records

    def fix_records(self, steps: int) -> Iterator[tuple[bytes, bytes, int]]:
        """(key, value, event time) of each truck's next fixes, in order of time."""
        for _ in range(steps):
            t = START_MS + self.step * INTERVAL_MS + np.arange(self.trucks) * INTERVAL_MS // self.trucks
            self._drive()
            names = np.datetime_as_string(t.astype("datetime64[ms]"), timezone="UTC").tolist()
            columns = zip(range(self.trucks), self.lat.tolist(), self.lon.tolist(), names, t.tolist(), strict=True)
            for number, lat, lon, name, moment in columns:
                value = f'{{"truck_id":"T{number}","lat":{lat:.6f},"lon":{lon:.6f},"event_time":"{name}",'
                value += f'"speed_kmh":90.1,"heading_deg":45.0,"accuracy_m":5.5,"seq":{self.step}}}'
                yield f"T{number}".encode(), value.encode(), moment
            self.step += 1

    def _drive(self) -> None:
        by_deg = 90 / 3.6 * INTERVAL_MS / 1000 / 111_000
        self.lat += by_deg * np.cos(self.heading)
        self.lon += by_deg * np.sin(self.heading)
        out = (self.lat < 30) | (self.lat > 30 + min(self.side, 25)) | (self.lon < -110) | (self.lon > -110 + self.side)
        self.heading[out] += math.pi


def _ground(number: int, lat: float, lon: float) -> dict[str, Any]:
    """Every third fence is a circle, the others have twelve corners."""
    if number % 3 == 0:
        return {"kind": "circle", "geometry": {"type": "Point", "coordinates": [lon, lat]}, "radius_m": 1500}
    corners = [
        (lon + RADIUS_DEG * math.cos(a), lat + RADIUS_DEG * math.sin(a)) for a in np.linspace(0, 2 * math.pi, 13)[:-1]
    ]
    ring = [[round(x, 6), round(y, 6)] for x, y in corners]
    return {"kind": "polygon", "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}}


def publish(bootstrap_servers: str, topic: str, records: Iterator[tuple[bytes, bytes, int]]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 50, "compression.type": "lz4"})
    for number, (key, value, moment) in enumerate(records):
        while True:
            try:
                producer.produce(topic, key=key, value=value, timestamp=moment)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    producer.flush()
