"""The newest state of every truck in columns: a truck is a slot, and a slot is a row of every column."""

from collections import OrderedDict
from collections.abc import Collection, Iterable
from math import floor
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from schemas.models import Status, Truck, TruckState
from store.moments import as_ms

STATUSES = list(Status)
# A slot without a state: its truck was removed, or is known by a track or a window alone.
NO_STATE = 255
NO_CELL = 2**31 - 1
UNKNOWN = 255
FIRST_SLOTS = 1024
FRAGMENTS_KEPT = 10_000
E6 = 1_000_000
COLUMNS: dict[str, type] = {
    **dict.fromkeys(("event_ms", "received_ms", "since_ms", "seq"), np.int64),
    **dict.fromkeys(("lat", "lon", "accuracy_m", "speed_kmh", "heading_deg", "segment_m"), np.float64),
    # What a frame of the live stream carries, ready to be sent.
    **dict.fromkeys(("lat_e6", "lon_e6", "cell"), np.int32),
    # The tick of the live stream in which the state changed.
    "tick": np.uint32,
    **dict.fromkeys(("status", "speed_u8", "heading_u8", "jump"), np.uint8),
}
Slots = NDArray[np.intp]


class Fleet:
    """Not safe for several threads by itself: the view has the lock."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.columns: dict[str, NDArray[Any]] = {name: np.zeros(FIRST_SLOTS, dtype) for name, dtype in COLUMNS.items()}
        self.fences: list[tuple[str, ...]] = []
        self.inside: dict[str, set[int]] = {}
        # Slots whose state changed since somebody took note.
        self.changed: set[int] = set()
        self._slot_of: dict[str, int] = {}
        self._names: list[str | None] = []
        self._order: Slots | None = None
        self._rank: Slots | None = None
        # Which slots are in a square degree, as far as anybody has asked: a small box asks few trucks.
        self._cell_slots: dict[int, Slots] = {}
        self.fragments: OrderedDict[int, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self.ids)

    def slot(self, truck_id: str) -> int:
        """The truck's slot, made where it has none."""
        found = self._slot_of.get(truck_id)
        if found is not None:
            return found
        slot = len(self.ids)
        if slot == len(self.columns["status"]):
            self.columns = {name: _grown(column) for name, column in self.columns.items()}
        self.columns["status"][slot] = NO_STATE
        self.ids.append(truck_id)
        self.fences.append(())
        self._names.append(None)
        self.columns["cell"][slot] = NO_CELL
        self._slot_of[truck_id] = slot
        return slot

    @property
    def ids_known(self) -> Collection[str]:
        return self._slot_of.keys()

    def find(self, truck_id: str) -> int | None:
        """The slot of a truck that has a state."""
        slot = self._slot_of.get(truck_id)
        return None if slot is None or self.columns["status"][slot] == NO_STATE else slot

    def put(self, state: TruckState) -> bool:
        """Take a state in; False where a newer one is known."""
        slot = self.slot(state.truck_id)
        event_ms, seq = as_ms(state.event_time), -1 if state.seq is None else state.seq
        columns = self.columns
        is_new = columns["status"][slot] == NO_STATE
        if not is_new and (event_ms, seq) < (columns["event_ms"][slot], columns["seq"][slot]):
            return False
        for name, value in _row(state, event_ms, seq).items():
            columns[name][slot] = value
        self._move(slot, tuple(state.fences))
        self._place(slot, cell_of(floor(state.lat), floor(state.lon)))
        self.fragments.pop(slot, None)
        self.changed.add(slot)
        if is_new:
            self._order = self._rank = None
        return True

    def remove(self, truck_id: str) -> None:
        slot = self.find(truck_id)
        if slot is None:
            return
        self.columns["status"][slot] = NO_STATE
        self._move(slot, ())
        self._place(slot, NO_CELL)
        self.fragments.pop(slot, None)
        self.changed.discard(slot)
        self._order = self._rank = None

    def name(self, truck: Truck) -> None:
        slot = self.slot(truck.truck_id)
        self._names[slot] = f"{truck.name}\0{truck.plate}\0{truck.driver}"
        self.fragments.pop(slot, None)

    def unname(self, truck_id: str) -> None:
        if truck_id in self._slot_of:
            self._names[self._slot_of[truck_id]] = None
            self.fragments.pop(self._slot_of[truck_id], None)

    def by_id(self) -> Slots:
        """The slots that have a state, in the order of their trucks' ids."""
        if self._order is None:
            known = np.flatnonzero(self.columns["status"][: len(self)] != NO_STATE)
            self._order = np.array(sorted(known.tolist(), key=self.ids.__getitem__), dtype=np.intp)
        return self._order

    def ordered(self, slots: Slots) -> Slots:
        """Slots that have a state, put in the order of their trucks' ids."""
        order = self.by_id()
        if self._rank is None:
            self._rank = np.zeros(len(self), dtype=np.intp)
            self._rank[order] = np.arange(len(order))
        return slots[np.argsort(self._rank[slots])]

    def changed_after(self, tick: int, slot: int, only: Iterable[Collection[int]] = ()) -> Slots:
        """The slots from that one on whose state changed after that tick, and that are in each of the collections."""
        found: Slots = np.flatnonzero(self.columns["tick"][slot : len(self)] > tick) + slot
        found = self.still_there(found)
        for wanted in only:
            found = found[np.isin(found, np.fromiter(wanted, np.intp, len(wanted)))]
        return found

    def in_cells(self, cells: Iterable[int]) -> Slots:
        """The slots in these square degrees."""
        found = [each for cell in cells if len(each := self._in_cell(cell))]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)

    def _in_cell(self, cell: int) -> Slots:
        found = self._cell_slots.get(cell)
        if found is None:
            found = self._cell_slots[cell] = np.flatnonzero(self.columns["cell"][: len(self)] == cell)
        return found

    def named(self, slots: Slots, text: str) -> Slots:
        """Those of them whose id, name, plate or driver has this text in it."""
        wanted, names, ids = text.casefold(), self._names, self.ids
        of = slots.tolist()
        found = [slot for slot in of if wanted in ids[slot].casefold() or wanted in (names[slot] or "").casefold()]
        return np.array(found, dtype=np.intp)

    def still_there(self, slots: Slots) -> Slots:
        """Those of them that have a state."""
        there: Slots = slots[self.columns["status"][slots] != NO_STATE]
        return there

    def fragment(self, slot: int) -> bytes:
        """The truck as JSON, but for its age and the brace behind it. The ones asked for last are kept."""
        found = self.fragments.get(slot)
        if found is None:
            found = self.fragments[slot] = msgspec.json.encode(self._told(slot))[:-1] + b',"age_s":'
            if len(self.fragments) > FRAGMENTS_KEPT:
                self.fragments.popitem(last=False)
        return found

    def fragments_of(self, slots: list[int]) -> list[bytes]:
        try:
            return list(map(self.fragments.__getitem__, slots))
        except KeyError:
            return list(map(self.fragment, slots))

    def _told(self, slot: int) -> dict[str, object]:
        column = self.columns
        known = self._names[slot] is not None
        name, plate, driver = (self._names[slot] or "\0\0").split("\0", 2)
        seq = int(column["seq"][slot])
        return {
            "truck_id": self.ids[slot],
            "event_time": rfc3339(column["event_ms"][slot]),
            "received_time": rfc3339(column["received_ms"][slot]),
            **{each: _number(column[each][slot]) for each in ("lat", "lon")},
            "seq": None if seq < 0 else seq,
            **{each: _number(column[each][slot]) for each in ("accuracy_m", "speed_kmh", "heading_deg", "segment_m")},
            "jump": bool(column["jump"][slot]),
            "status": STATUSES[column["status"][slot]],
            "status_since": rfc3339(column["since_ms"][slot]),
            "fences": self.fences[slot],
            "name": name if known else None,
            "plate": plate if known else None,
            "driver": driver if known else None,
        }

    def _place(self, slot: int, cell: int) -> None:
        before = int(self.columns["cell"][slot])
        if before == cell:
            return
        self._cell_slots.pop(before, None)
        self._cell_slots.pop(cell, None)
        self.columns["cell"][slot] = cell

    def _move(self, slot: int, fences: tuple[str, ...]) -> None:
        before = self.fences[slot]
        if before == fences:
            return
        for fence_id in before:
            self.inside[fence_id].discard(slot)
            if not self.inside[fence_id]:
                del self.inside[fence_id]
        for fence_id in fences:
            self.inside.setdefault(fence_id, set()).add(slot)
        self.fences[slot] = fences


def cell_of(lat_deg: int, lon_deg: int) -> int:
    """The number of a square degree, by its south-western corner."""
    return 400 * lat_deg + lon_deg


def _grown(column: NDArray[Any]) -> NDArray[Any]:
    """Twice as long. What is not written yet takes no memory."""
    longer = np.zeros(2 * len(column), column.dtype)
    longer[: len(column)] = column
    return longer


def _row(state: TruckState, event_ms: int, seq: int) -> dict[str, float]:
    speed, heading = state.speed_kmh, state.heading_deg
    return {
        "event_ms": event_ms,
        "received_ms": as_ms(state.received_time),
        "since_ms": as_ms(state.status_since),
        "seq": seq,
        "lat": state.lat,
        "lon": state.lon,
        "accuracy_m": _or_nan(state.accuracy_m),
        "speed_kmh": _or_nan(speed),
        "heading_deg": _or_nan(heading),
        "segment_m": _or_nan(state.segment_m),
        "lat_e6": round(state.lat * E6),
        "lon_e6": round(state.lon * E6),
        "status": STATUSES.index(state.status),
        "speed_u8": UNKNOWN if speed is None else min(254, round(speed)),
        "heading_u8": UNKNOWN if heading is None else int(heading % 360 / 2),
        "jump": state.jump,
    }


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def rfc3339(ms: Any) -> str:
    return f"{np.datetime64(int(ms), 'ms')}Z"
