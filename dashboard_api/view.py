"""What the dashboard knows: built from records alone, no I/O, bounded memory."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from dashboard_api.windows import Windows
from schemas.models import Counts, QueryProgress, Reason, Reject, Status, Truck, TruckState, Window
from schemas.topics import PIPELINE, TRUCKS, TRUCKS_REJECTS, TRUCKS_STATE, TRUCKS_WINDOWS

REJECTS_KEPT = 1000


@dataclass(frozen=True)
class Known:
    """A truck's newest state, with its registry entry where there is one."""

    state: TruckState
    truck: Truck | None


class View:
    """Records go in through `apply`; the rest are questions. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ids: list[str] = []
        self._states: dict[str, TruckState] = {}
        self._registry: dict[str, Truck] = {}
        self._windows = Windows()
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
        with self._lock:
            self._apply[topic](key, value)

    def _apply_state(self, key: str, value: bytes | None) -> None:
        if value is None:
            self._remove_state(key)
            return
        state = TruckState.model_validate_json(value)
        known = self._states.get(state.truck_id)
        if known is None:
            insort(self._ids, state.truck_id)
        elif _order(state) < _order(known):
            return
        self._states[state.truck_id] = state

    def _remove_state(self, truck_id: str) -> None:
        if self._states.pop(truck_id, None) is not None:
            del self._ids[bisect_left(self._ids, truck_id)]

    def _apply_truck(self, key: str, value: bytes | None) -> None:
        if value is None:
            self._registry.pop(key, None)
            return
        truck = Truck.model_validate_json(value)
        self._registry[truck.truck_id] = truck

    def _apply_window(self, key: str, value: bytes | None) -> None:
        if value is None:
            self._windows.remove(key)
        else:
            self._windows.put(key, value)

    def _apply_reject(self, _key: str, value: bytes | None) -> None:
        if value is None:
            return
        reject = Reject.model_validate_json(value)
        # The pipeline may write a reject again after a restart; its place in Kafka names it.
        self._rejects[(reject.topic, reject.partition, reject.offset)] = reject
        if len(self._rejects) > REJECTS_KEPT:
            del self._rejects[next(iter(self._rejects))]

    def _apply_pipeline(self, key: str, value: bytes | None) -> None:
        kind = key.partition("/")[0]
        if kind not in ("counts", "query"):
            raise ValueError(f"neither counts/<shard> nor query/<name>: {key!r}")
        if value is None:
            self._counts.pop(key, None)
            self._queries.pop(key, None)
        elif kind == "counts":
            self._counts[key] = Counts.model_validate_json(value)
        else:
            self._queries[key] = QueryProgress.model_validate_json(value)

    def truck(self, truck_id: str) -> Known | None:
        with self._lock:
            state = self._states.get(truck_id)
            return Known(state, self._registry.get(truck_id)) if state else None

    def trucks(self, *, status: Status | None, text: str, limit: int, offset: int) -> tuple[list[Known], int]:
        """A page of the matching trucks, ordered by id, and how many match."""
        with self._lock:
            known: Iterable[Known] = [Known(self._states[each], self._registry.get(each)) for each in self._ids]
        wanted = text.casefold()
        matching = [each for each in known if _matches(each, status, wanted)]
        return matching[offset : offset + limit], len(matching)

    def windows(
        self, *, scope: str, truck_id: str | None, length_s: int | None, limit: int
    ) -> tuple[list[Window], int]:
        with self._lock:
            return self._windows.newest(scope, truck_id, length_s, limit)

    def rejects(self, *, reason: Reason | None, limit: int) -> tuple[list[Reject], int]:
        with self._lock:
            kept = list(self._rejects.values())
        matching = [each for each in reversed(kept) if reason is None or each.reason == reason]
        return matching[:limit], len(matching)

    def counts(self) -> list[Counts]:
        with self._lock:
            return [self._counts[key] for key in sorted(self._counts)]

    def queries(self) -> list[QueryProgress]:
        with self._lock:
            return [self._queries[key] for key in sorted(self._queries)]


def _order(state: TruckState) -> tuple[datetime, int]:
    return state.event_time, -1 if state.seq is None else state.seq


def _matches(known: Known, status: Status | None, wanted: str) -> bool:
    if status is not None and known.state.status != status:
        return False
    truck = known.truck
    names = (known.state.truck_id, truck.name, truck.plate, truck.driver) if truck else (known.state.truck_id,)
    return not wanted or any(wanted in name.casefold() for name in names)
