"""One client of the live stream: what it wants, and how far it has come."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from dashboard_api.hub import Hub, Told


@dataclass(frozen=True)
class Wanted:
    """Which news; an empty collection asks for nothing in particular."""

    events: Collection[str] = ("alerts", "states", "windows")
    truck_ids: Collection[str] = ()
    fence_ids: Collection[str] = ()
    kinds: Collection[str] = ()
    severities: Collection[str] = ()

    def takes(self, change: Told) -> bool:
        asked = (
            (self.truck_ids, change.truck_id),
            (self.fence_ids, change.fence_id),
            (self.kinds, change.kind),
            (self.severities, change.severity),
        )
        return all(not wanted or value in wanted for wanted, value in asked)


@dataclass
class Listener:
    """Counted by the hub while it listens."""

    hub: Hub
    wanted: Wanted
    seq: int
    window: int = 0
    tick: int = 0
    pending: frozenset[int] = field(default=frozenset())

    def __enter__(self) -> Self:
        self.hub.clients += 1
        self.hub.watched.update(self.wanted.truck_ids)
        self.window, self.tick = self.hub.window_number, self.hub.sequence
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.hub.clients -= 1
        self.hub.watched.subtract(self.wanted.truck_ids)
        self.hub.watched += type(self.hub.watched)()

    async def changes(self) -> AsyncIterator[Told | None]:
        """Everything new that it wants, page by page; None: it was away for too long, and starts anew."""
        while self.seq < self.hub.head:
            found = await self.hub.changes_after(self.seq)
            if not found:
                self.seq = self.hub.head
                if found is None:
                    yield None
                return
            for change in found:
                self.seq = change.seq
                if self.wanted.takes(change):
                    yield change

    def windows(self) -> list[bytes]:
        new = [each for each in self.hub.windows if each.number > self.window]
        self.window = self.hub.window_number
        return [each.json for each in new if each.truck_id is None or each.truck_id in self.wanted.truck_ids]

    def states(self) -> bytes:
        """The trucks that changed since it was last told; empty where there are none."""
        missed = self.hub.sequence - self.tick
        if missed == 0:
            return b""
        self.tick = self.hub.sequence
        if missed == 1 and not self.wanted.truck_ids and not self.wanted.fence_ids:
            return self.hub.shared_states() if self.hub.changed_slots else b""
        slots = self._slots(all_of_them=missed > 1)
        return self.hub.render_states(slots) if slots else b""

    def _slots(self, *, all_of_them: bool) -> list[int]:
        """A client that has missed a tick is told of every truck that it wants: which of them changed is forgotten."""
        fleet = self.hub.view.fleet
        with self.hub.view.lock:
            changed = fleet.by_id().tolist() if all_of_them else sorted(self.hub.changed_slots)
            trucks = {slot for each in self.wanted.truck_ids if (slot := fleet.find(each)) is not None}
            inside = {slot for each in self.wanted.fence_ids for slot in fleet.inside.get(each, ())}
            return [
                slot
                for slot in changed
                if (not self.wanted.truck_ids or slot in trucks) and (not self.wanted.fence_ids or slot in inside)
            ]
