"""What the dashboard knows of now: built from records alone, no I/O, bounded memory."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from threading import Lock
from typing import ClassVar, NamedTuple

import msgspec
import numpy as np

from dashboard_api import select
from dashboard_api.fleet import NO_STATE, STATUSES, Fleet, Slots
from dashboard_api.tracks import HOUR_S, Track, Tracks
from dashboard_api.windows import FleetWindows, TruckWindows
from schemas.models import Counts, QueryProgress, Reason, Reject, Truck, TruckState, Window
from schemas.topics import PIPELINE, TRUCKS, TRUCKS_JUDGED, TRUCKS_REJECTS, TRUCKS_STATE, TRUCKS_WINDOWS
from store.moments import as_ms

REJECTS_KEPT = 1000


class View:
    """Records go in through `apply`; the rest are questions. Safe to use from several threads."""

    def __init__(self, heard: Callable[[TruckState], None] = lambda _state: None) -> None:
        self.lock = Lock()
        self.fleet = Fleet()
        self.window_listeners: list[Callable[[Window], None]] = []
        self._heard = heard
        self.tracks = Tracks()
        self.truck_windows, self._fleet_windows = TruckWindows(), FleetWindows()
        self._rejects: dict[tuple[str, int, int], Reject] = {}
        self._counts: dict[str, Counts] = {}
        self._queries: dict[str, QueryProgress] = {}
        self._apply: dict[str, Callable[[str, bytes | None], None]] = {
            TRUCKS_STATE.name: self._apply_state,
            TRUCKS.name: self._apply_truck,
            TRUCKS_WINDOWS.name: self._apply_window,
            TRUCKS_REJECTS.name: self._apply_reject,
            PIPELINE.name: self._apply_pipeline,
        }

    @property
    def topics(self) -> list[str]:
        return list(self._apply)

    def apply(self, topic: str, key: str, value: bytes | None) -> None:
        """Take one record in; a value of None is a tombstone. A malformed one raises ValueError."""
        self._apply[topic](key, value)

    def _apply_state(self, key: str, value: bytes | None) -> None:
        state = None if value is None else TruckState.model_validate_json(value)
        with self.lock:
            if state is None:
                self.fleet.remove(key)
                return
            self.fleet.put(state)
        self._heard(state)

    def _apply_truck(self, key: str, value: bytes | None) -> None:
        truck = None if value is None else Truck.model_validate_json(value)
        with self.lock:
            if truck is None:
                self.fleet.unname(key)
            else:
                self.fleet.name(truck)

    def _apply_window(self, key: str, value: bytes | None) -> None:
        if value is None:
            self._remove_window(key)
            return
        window = Window.model_validate_json(value)
        with self.lock:
            if window.truck_id is None:
                self._fleet_windows.put(key, window)
            else:
                self.truck_windows.put(self.fleet.slot(window.truck_id), window)
        for listener in self.window_listeners:
            listener(window)

    def _remove_window(self, key: str) -> None:
        scope, _, rest = key.partition("/")
        with self.lock:
            if scope != "truck":
                self._fleet_windows.remove(key)
                return
            truck_id, length_s, start = rest.rsplit("/", 2)
            start_s = as_ms(datetime.fromisoformat(start)) // 1000
            self.truck_windows.remove(self.fleet.slot(truck_id), int(length_s), start_s)

    def _apply_reject(self, _key: str, value: bytes | None) -> None:
        if value is None:
            return
        reject = Reject.model_validate_json(value)
        with self.lock:
            # The pipeline may write a reject again after a restart; its place in Kafka names it.
            self._rejects[(reject.topic, reject.partition, reject.offset)] = reject
            if len(self._rejects) > REJECTS_KEPT:
                del self._rejects[next(iter(self._rejects))]

    def _apply_pipeline(self, key: str, value: bytes | None) -> None:
        kind = key.partition("/")[0]
        if kind not in ("counts", "query"):
            raise ValueError(f"neither counts/<shard> nor query/<name>: {key!r}")
        with self.lock:
            if value is None:
                self._counts.pop(key, None)
                self._queries.pop(key, None)
            elif kind == "counts":
                self._counts[key] = Counts.model_validate_json(value)
            else:
                self._queries[key] = QueryProgress.model_validate_json(value)

    def put_positions(self, positions: Iterable["Position"]) -> None:
        with self.lock:
            for each in positions:
                self.tracks.put(
                    self.fleet.slot(each.truck_id),
                    event_s=each.event_time_ms // 1000,
                    lat=each.lat,
                    lon=each.lon,
                    speed_kmh=each.speed_kmh,
                )

    def truck(self, truck_id: str, now_ms: int) -> bytes | None:
        """The truck as JSON."""
        with self.lock:
            slot = self.fleet.find(truck_id)
            return None if slot is None else self.told(np.array([slot]), now_ms)

    def trucks(  # noqa: PLR0913 (each is given by name)
        self,
        wanted: select.Wanted,
        *,
        limit: int,
        offset: int,
        now_ms: int,
        near: tuple[float, float] | None = None,
        sort: select.Order = "id",
    ) -> tuple[bytes, int]:
        """A page of the matching trucks, in order or by distance from (lat, lon), as `told`; and how many match."""
        with self.lock:
            slots = select.matching(self.fleet, wanted)
        if wanted.text:
            # Without the lock, as it takes long: ids and names are only ever added and replaced.
            slots = self.fleet.named(slots, wanted.text)
        with self.lock:
            slots = self.fleet.still_there(slots) if wanted.text else slots
            away_m: list[float] | None = None
            total = len(slots)
            if near is not None:
                lat, lon = near
                slots, metres = select.nearest(self.fleet, slots, lat=lat, lon=lon, count=offset + limit)
                away_m = metres[offset : offset + limit].tolist()
            elif sort != "id":
                slots = select.ordered(self.fleet, slots, sort)
            return self.told(slots[offset : offset + limit], now_ms, away_m), total

    def told(self, slots: Slots, now_ms: int, away_m: list[float] | None = None) -> bytes:
        """Trucks as JSON with commas between; the caller holds the lock."""
        if not len(slots):
            return b""
        ages = ((now_ms - self.fleet.columns["event_ms"][slots]) // 100).tolist()
        parts = [b""] * (2 * len(ages))
        parts[::2] = self.fleet.fragments_of(slots.tolist())
        # Without a loop of our own, and copied once: most of the time of an answer would go into it.
        parts[1::2] = map(ENDS.__getitem__, ages) if away_m is None else map(end, ages, away_m)
        parts[-1] = parts[-1][:-1]
        return b"".join(parts)

    def track(self, truck_id: str, now_ms: int) -> Track | None:
        with self.lock:
            slot = self.fleet.find(truck_id)
            return None if slot is None else self.tracks.of(slot, now_ms // 1000 - HOUR_S)

    def inside(self, fence_ids: Iterable[str]) -> dict[str, int]:
        """How many trucks are in each fence."""
        with self.lock:
            return {fence_id: len(self.fleet.inside.get(fence_id, ())) for fence_id in fence_ids}

    def by_status(self) -> dict[str, int]:
        with self.lock:
            statuses = self.fleet.columns["status"][: len(self.fleet)]
            counted = np.bincount(statuses[statuses != NO_STATE], minlength=len(STATUSES))
        return {str(status): int(count) for status, count in zip(STATUSES, counted, strict=True)}

    def windows(
        self, *, scope: str, truck_id: str | None, length_s: int | None, limit: int, offset: int = 0
    ) -> tuple[list[Window], int]:
        lengths = [60, 300] if length_s is None else [length_s]
        with self.lock:
            if scope == "fleet" or truck_id is None:
                found = [each for length in lengths for each in self._fleet_windows.of(length)]
            elif truck_id in self.fleet.ids_known:
                slot = self.fleet.slot(truck_id)
                found = [each for length in lengths for each in self.truck_windows.of(slot, truck_id, length)]
            else:
                found = []
        found.sort(key=lambda each: each.window_start, reverse=True)
        return found[offset : offset + limit], len(found)

    def rejects(self, *, reason: Reason | None, limit: int, offset: int = 0) -> tuple[list[Reject], int]:
        with self.lock:
            kept = list(self._rejects.values())
        matching = [each for each in reversed(kept) if reason is None or each.reason == reason]
        return matching[offset : offset + limit], len(matching)

    def counts(self) -> list[Counts]:
        with self.lock:
            return [self._counts[key] for key in sorted(self._counts)]

    def queries(self) -> list[QueryProgress]:
        with self.lock:
            return [self._queries[key] for key in sorted(self._queries)]


def end(age_ds: int, distance_m: float | None = None) -> bytes:
    """How a truck's JSON ends, and the comma behind it; the age is in tenths of a second."""
    away = b"null" if distance_m is None else b"%.1f" % distance_m
    return b'%.1f,"distance_m":%b},' % (age_ds / 10, away)


class Ends(dict[int, bytes]):
    """Age in tenths of a second → the end: those of the ages that are asked for all the time are kept."""

    def __missing__(self, age_ds: int) -> bytes:
        return end(age_ds)


ENDS = Ends({age_ds: end(age_ds) for age_ds in range(3000)})


class Position(NamedTuple):
    """Where a truck was."""

    truck_id: str
    event_time_ms: int
    lat: float
    lon: float
    speed_kmh: float | None


class Positions(msgspec.Struct, frozen=True):
    """What tracks need of a record of `trucks_judged`, column by column."""

    truck_id: list[str]
    event_time_ms: list[int]
    lat: list[float]
    lon: list[float]
    speed_kmh: list[float | None]
    correction: list[bool]

    def __iter__(self) -> Iterator[Position]:
        columns = (self.truck_id, self.event_time_ms, self.lat, self.lon, self.speed_kmh, self.correction)
        for *position, correction in zip(*columns, strict=True):
            if not correction:
                yield Position(*position)


class TrackView:
    """Feeds the tracks: every judged fix, where the state shows the newest alone."""

    topics: ClassVar[list[str]] = [TRUCKS_JUDGED.name]

    def __init__(self, view: View) -> None:
        self._view = view
        self._decode: Callable[[bytes], Positions] = msgspec.json.Decoder(Positions).decode

    def apply(self, _topic: str, _key: str, value: bytes | None) -> None:
        if value is None:
            return
        try:
            positions = list(self._decode(value))
        except msgspec.MsgspecError as error:
            raise ValueError(str(error)) from error
        self._view.put_positions(positions)
