"""The newest windows: of the fleet as they came, of each truck in columns, in bounded memory."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard_api.fleet import E6
from schemas.models import Window
from store.moments import as_ms, from_ms

FLEET_HISTORY = timedelta(hours=2)
TRUCK_HISTORY = {60: 9, 300: 3}
BLOCK = 1024
NOWHERE = 2**31 - 1
PLACES = ("first_lat", "first_lon", "last_lat", "last_lon")
# Kept in tenths; the distance in metres is too large for that.
TENTHS = ("speed_avg_kmh", "speed_top_kmh", "moving_s", "idle_s")
UNKNOWN_TENTHS = 2**16 - 1
ROW = np.dtype(
    [("start_s", np.uint32), ("fixes", np.uint16), ("final", np.uint8), ("distance_m", np.float32)]
    + [(name, np.uint16) for name in TENTHS]
    + [(name, np.int32) for name in PLACES]
)


class TruckWindows:
    """By slot and length, 35 bytes a window; a row that starts at 0 is free."""

    def __init__(self) -> None:
        self.blocks: dict[int, list[NDArray[Any]]] = {length_s: [] for length_s in TRUCK_HISTORY}

    def put(self, slot: int, window: Window) -> None:
        rows, start_s = self._rows(slot, window.length_s), as_ms(window.window_start) // 1000
        known = np.flatnonzero(rows["start_s"] == start_s)
        place = int(known[0]) if len(known) else int(rows["start_s"].argmin())
        if rows["start_s"][place] > start_s or (len(known) and rows["final"][place] and not window.final):
            return
        tenths = [_tenths(getattr(window, name)) for name in TENTHS]
        places = [NOWHERE if (value := getattr(window, name)) is None else round(value * E6) for name in PLACES]
        rows[place] = (start_s, min(window.fixes, 65_535), window.final, window.distance_m, *tenths, *places)

    def remove(self, slot: int, length_s: int, start_s: int) -> None:
        rows = self._rows(slot, length_s)
        rows["start_s"][rows["start_s"] == start_s] = 0

    def of(self, slot: int, truck_id: str, length_s: int) -> list[Window]:
        rows = self._rows(slot, length_s)
        return [_window(row, truck_id, length_s) for row in rows[rows["start_s"] > 0]]

    def _rows(self, slot: int, length_s: int) -> NDArray[Any]:
        blocks = self.blocks[length_s]
        while slot >= BLOCK * len(blocks):
            blocks.append(np.zeros((BLOCK, TRUCK_HISTORY[length_s]), ROW))
        rows: NDArray[Any] = blocks[slot // BLOCK][slot % BLOCK]
        return rows


def _tenths(value: float | None) -> int:
    return UNKNOWN_TENTHS if value is None else min(UNKNOWN_TENTHS - 1, round(10 * value))


def _window(row: np.void, truck_id: str, length_s: int) -> Window:
    start_ms = int(row["start_s"]) * 1000
    told: dict[str, Any] = {"distance_m": round(float(row["distance_m"]), 3)}
    told |= {name: None if row[name] == UNKNOWN_TENTHS else int(row[name]) / 10 for name in TENTHS}
    told |= {name: None if row[name] == NOWHERE else int(row[name]) / E6 for name in PLACES}
    return Window(
        scope="truck",
        truck_id=truck_id,
        window_start=from_ms(start_ms),
        window_end=from_ms(start_ms + length_s * 1000),
        length_s=length_s,  # type: ignore[arg-type]
        fixes=int(row["fixes"]),
        final=bool(row["final"]),
        active_trucks=None,
        **told,
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """A window of the fleet as its record holds it."""

    start: datetime
    final: bool
    window: Window


class FleetWindows:
    """By length; within one, by record key.

    A later record replaces an earlier one, but nothing replaces a final one except a final one: a Spark job that was
    killed writes its last batch again.
    """

    def __init__(self) -> None:
        self._groups: dict[int, dict[str, Kept]] = {}

    def put(self, key: str, window: Window) -> None:
        group = self._groups.setdefault(window.length_s, {})
        if key in group and group[key].final and not window.final:
            return
        group[key] = Kept(window.window_start, window.final, window)
        oldest = max(kept.start for kept in group.values()) - FLEET_HISTORY
        for each in [each for each, kept in group.items() if kept.start <= oldest]:
            del group[each]

    def remove(self, key: str) -> None:
        for group in self._groups.values():
            group.pop(key, None)

    def of(self, length_s: int) -> list[Window]:
        return [kept.window for kept in self._groups.get(length_s, {}).values()]
