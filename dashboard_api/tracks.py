"""The positions of the last hour of every truck, in rings of columns: 11 bytes a position."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard_api.fleet import E6, UNKNOWN

POSITIONS = 180
# Trucks report every 20 s; a truck that reports more often has its newest position replaced until so much has passed.
LEAST_S = 19
HOUR_S = 3600
BLOCK = 1024


@dataclass(frozen=True)
class Track:
    """Oldest first."""

    event_s: NDArray[np.int64]
    lat: NDArray[np.float64]
    lon: NDArray[np.float64]
    speed_kmh: list[int | None]


class _Block:
    """The rings of some trucks. Seconds are kept modulo 65,536: a track is an hour long."""

    def __init__(self) -> None:
        shape = (BLOCK, POSITIONS)
        self.lat, self.lon = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        self.second, self.speed = np.zeros(shape, np.uint16), np.zeros(shape, np.uint8)
        self.newest_s, self.before_s = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.int64)
        self.head, self.count = np.zeros(BLOCK, np.uint8), np.zeros(BLOCK, np.uint8)


class Tracks:
    """By slot. In blocks, so that growing copies nothing."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []

    def put(self, slot: int, *, event_s: int, lat: float, lon: float, speed_kmh: float | None) -> None:
        """Add a position at the end of the track; one that is not newer than the end is left out."""
        while slot >= BLOCK * len(self.blocks):
            self.blocks.append(_Block())
        block, row = self.blocks[slot // BLOCK], slot % BLOCK
        newest_s, count = int(block.newest_s[row]), int(block.count[row])
        if count and event_s <= newest_s:
            return
        if count and event_s - newest_s > HOUR_S:
            count = 0
        replaces = count > 1 and newest_s - int(block.before_s[row]) < LEAST_S
        place = int(block.head[row]) if replaces or count == 0 else (int(block.head[row]) + 1) % POSITIONS
        block.lat[row, place], block.lon[row, place] = round(lat * E6), round(lon * E6)
        block.second[row, place] = event_s & 0xFFFF
        block.speed[row, place] = UNKNOWN if speed_kmh is None else min(254, round(speed_kmh))
        block.head[row] = place
        block.count[row] = count if replaces else min(POSITIONS, count + 1)
        if not replaces:
            block.before_s[row] = newest_s
        block.newest_s[row] = event_s

    def of(self, slot: int, since_s: int) -> Track:
        """The positions at or after that moment."""
        if slot >= BLOCK * len(self.blocks):
            return Track(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), [])
        block, row = self.blocks[slot // BLOCK], slot % BLOCK
        count, head, newest_s = int(block.count[row]), int(block.head[row]), int(block.newest_s[row])
        places = (head - np.arange(count)[::-1]) % POSITIONS
        back = (np.uint16(newest_s & 0xFFFF) - block.second[row, places]).astype(np.int64)
        event_s = newest_s - back
        shown = event_s >= since_s
        speeds = [None if each == UNKNOWN else int(each) for each in block.speed[row, places][shown]]
        places = places[shown]
        return Track(event_s[shown], block.lat[row, places] / E6, block.lon[row, places] / E6, speeds)
