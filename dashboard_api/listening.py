"""One client of the live stream: what it wants, and how far it has come."""

from collections import Counter
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from dashboard_api.access import FILE_KEY_ID
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
    key_id: str = FILE_KEY_ID
    window: int = 0
    # Told of all that changed up to this tick, and of some up to `until`: of the slots below `slot`.
    tick: int = 0
    until: int = 0
    slot: int = 0

    def __enter__(self) -> Self:
        self.hub.clients += 1
        self.hub.watched.update(self.wanted.truck_ids)
        self.hub.listening[self.key_id] += 1
        self.window, self.tick = self.hub.window_number, self.hub.sequence
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.hub.clients -= 1
        self.hub.watched.subtract(self.wanted.truck_ids)
        self.hub.listening[self.key_id] -= 1
        # Without those that nobody wants any more.
        self.hub.watched += Counter()
        self.hub.listening += Counter()

    @property
    def event_id(self) -> str:
        """Where it has come to, as clients say it when they come back."""
        return f"{self.hub.store.store_id}-{self.seq}"

    @property
    def goes_on(self) -> bool:
        return not self.hub.closed and self.key_id not in self.hub.ended_keys

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

    @property
    def behind(self) -> bool:
        """Whether trucks have changed that it has not been told of."""
        return "states" in self.wanted.events and self.tick < self.hub.sequence

    def states(self) -> bytes:
        """The next trucks that changed since it was told: as they are now, some at a time, however slow it is."""
        if not self.behind:
            return b""
        if self.slot == 0:
            self.until = self.hub.sequence
        told, self.slot = self.hub.states_after(self.tick, self.slot, self._only())
        if self.slot == 0:
            self.tick = self.until
        return told

    def _only(self) -> list[set[int]]:
        fleet, wanted = self.hub.view.fleet, self.wanted
        only: list[set[int]] = []
        with self.hub.view.lock:
            if wanted.truck_ids:
                only.append({slot for each in wanted.truck_ids if (slot := fleet.find(each)) is not None})
            if wanted.fence_ids:
                only.append({slot for each in wanted.fence_ids for slot in fleet.inside.get(each, ())})
        return only
