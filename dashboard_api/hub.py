"""What is told to everyone who listens: made once, kept in short rings, fetched by each client at its own pace.

There is no queue per client. A client knows how far it has come; one that is too slow for the rings goes on from the
store. So a slow client costs the others nothing, and a client costs the same memory however slow it is.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from dashboard_api import frames
from dashboard_api.access import FILE_KEY_ID
from dashboard_api.view import View
from schemas.models import Window
from store import alerts, keys
from store.engine import Store
from store.retention import forgotten_seq

log = logging.getLogger(__name__)
TICK_S = 1.0
CHANGES_KEPT = 5000
WINDOWS_KEPT = 2000
STORE_PAGE = 500
STATES_AT_ONCE = 1000
MOST_REPLAYED = 10_000
KEYS_LOOK_S = 5.0


@dataclass(frozen=True)
class Told:
    """A change of an alert as JSON, with what clients choose by."""

    seq: int
    json: bytes
    truck_id: str | None
    fence_id: str | None
    kind: str
    severity: str


@dataclass(frozen=True)
class ToldWindow:
    number: int
    json: bytes
    truck_id: str | None


@dataclass
class Hub:
    """Runs in the event loop; `alerts_stored` and `take_window` may be called from other threads."""

    view: View
    store: Store
    now_ms: Callable[[], int]
    stopping: Callable[[], bool] = lambda: False
    clients: int = 0
    frame_listeners: int = 0
    frame: bytes = b""
    frame_count: int = 0
    sequence: int = 0
    closed: bool = False
    changes: deque[Told] = field(default_factory=lambda: deque(maxlen=CHANGES_KEPT))
    windows: deque[ToldWindow] = field(default_factory=lambda: deque(maxlen=WINDOWS_KEPT))
    watched: Counter[str] = field(default_factory=Counter)
    # By whose keys the clients listen, and which of these count no more: their streams end.
    listening: Counter[str] = field(default_factory=Counter)
    ended_keys: set[str] = field(default_factory=set)
    # All changes after this one are in `changes`.
    ring_after: int = 0
    head: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _stored: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _window_number: int = 0
    # What all who are up to date are told of the last tick: (tick, slot) → JSON and the slot to go on from.
    _states: dict[tuple[int, int], tuple[bytes, int]] = field(default_factory=dict)

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.head = self.ring_after = await run_in_threadpool(alerts.last_seq, self.store)
        self.view.window_listeners.append(self.take_window)
        going_on = (self._tick_on, self._follow_changes, self._look_at_keys)
        self._tasks = [asyncio.create_task(self._keep_up(each)) for each in going_on]

    async def _keep_up(self, work: Callable[[], Awaitable[None]]) -> None:
        """Nobody would notice that one of them has ended: the page only says that nothing is new."""
        while not self.closed:
            try:
                await work()
            except Exception:
                log.exception("the live stream failed, and goes on")
                await asyncio.sleep(TICK_S)

    async def stop(self) -> None:
        self._close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def alerts_stored(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stored.set)

    def take_window(self, window: Window) -> None:
        if self.clients and self._loop is not None and (window.truck_id is None or window.truck_id in self.watched):
            self._loop.call_soon_threadsafe(self._add_window, window)

    def wake(self) -> None:
        news, self.news = self.news, asyncio.Event()
        news.set()

    def _add_window(self, window: Window) -> None:
        self._window_number += 1
        self.windows.append(ToldWindow(self._window_number, window.model_dump_json().encode(), window.truck_id))
        self.wake()

    @property
    def window_number(self) -> int:
        return self._window_number

    async def _tick_on(self) -> None:
        while not self.closed:
            await asyncio.sleep(TICK_S)
            if self.stopping():
                self._close()
            self.take_stock()

    def _close(self) -> None:
        self.closed = True
        self.wake()

    def take_stock(self) -> None:
        """Once a second: which trucks have changed, and a frame for those who look at the map."""
        with self.view.lock:
            changed = list(self.view.fleet.changed)
            self.view.fleet.changed.clear()
            if self.clients == 0:
                return
            self.sequence += 1
            self.view.fleet.columns["tick"][changed] = self.sequence
            if self.frame_listeners:
                self.frame = frames.encode(self.view.fleet, now_ms=self.now_ms(), sequence=self.sequence)
                self.frame_count = len(self.view.fleet)
        self._states.clear()
        self.wake()

    async def _follow_changes(self) -> None:
        """From the store, not from Kafka: what is told is kept, also where another process has stored it."""
        while not self.closed:
            try:
                rows = await run_in_threadpool(alerts.changes_after, self.store, self.head, STORE_PAGE)
            except SQLAlchemyError as error:
                log.warning("the store does not say what is new: %s", type(error).__name__)
                rows = []
            self._add_changes(rows)
            if len(rows) < STORE_PAGE:
                await self._wait_for_stored()

    async def _look_at_keys(self) -> None:
        """A stream is opened once and may last for days: its key can expire meanwhile, or be revoked."""
        while not self.closed:
            await asyncio.sleep(KEYS_LOOK_S)
            asked = set(self.listening) - {FILE_KEY_ID}
            if not asked:
                continue
            try:
                standing = await run_in_threadpool(keys.standing, self.store, asked, self.now_ms())
            except SQLAlchemyError as error:
                log.warning("the store does not say which keys count: %s", type(error).__name__)
            else:
                self.ended_keys = asked - standing

    async def _wait_for_stored(self) -> None:
        try:
            async with asyncio.timeout(TICK_S):
                await self._stored.wait()
        except TimeoutError:
            pass
        self._stored.clear()

    def _add_changes(self, rows: Any) -> None:
        for row in rows:
            if len(self.changes) == CHANGES_KEPT:
                self.ring_after = self.changes[0].seq
            self.changes.append(told(self.store.store_id, row))
            self.head = row.seq
        if rows:
            self.wake()

    async def changes_after(self, seq: int) -> list[Told] | None:
        """What came after it, at most a page; None where that is too long ago to be told."""
        if seq >= self.ring_after:
            return list(islice(self._newer(seq), STORE_PAGE))
        if self.head - seq > MOST_REPLAYED or seq < await run_in_threadpool(forgotten_seq, self.store):
            return None
        rows = await run_in_threadpool(alerts.changes_after, self.store, seq, STORE_PAGE)
        return [told(self.store.store_id, row) for row in rows]

    def _newer(self, seq: int) -> Iterator[Told]:
        if self.changes and self.changes[-1].seq <= seq:
            return iter(())
        return (each for each in self.changes if each.seq > seq)

    def states_after(self, tick: int, slot: int, only: Sequence[Collection[int]] = ()) -> tuple[bytes, int]:
        """Trucks that changed after that tick, some at a time from that slot on, and where to go on; 0: those were all.

        Made once for all who are up to date and want all of them.
        """
        shared = not only and tick == self.sequence - 1
        if shared and (made := self._states.get((tick, slot))):
            return made
        now_ms = self.now_ms()
        with self.view.lock:
            slots = self.view.fleet.changed_after(tick, slot, only)
            some = slots[:STATES_AT_ONCE]
            told = b"[%b]" % self.view.told(some, now_ms) if len(some) else b""
        answer = told, int(some[-1]) + 1 if len(some) < len(slots) else 0
        if shared:
            self._states[tick, slot] = answer
        return answer


def told(store_id: str, row: Row[Any]) -> Told:
    value = msgspec.Raw(row.value.encode())
    body = {"id": f"{store_id}-{row.seq}", "change": row.change, "alert_id": row.alert_id}
    body |= {"alert": value} if row.change == "revision" else {"acknowledgement": value}
    return Told(row.seq, msgspec.json.encode(body), row.truck_id, row.fence_id, row.kind, row.severity)
