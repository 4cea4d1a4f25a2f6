"""Sends what is due. Each channel has threads of its own, so that none waits for another."""

import logging
import random
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpcore
from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from notifier.senders import Around, Sender, make_sender
from notifier.webhook import Refused
from store import channels, sending
from store.engine import Store, StoreError
from store.sealing import Sealer
from store.sending import Claimed, Ended

log = logging.getLogger(__name__)
LOOK_S = 0.25
TIDY_MS = 5_000
MOST_OPEN_MS = 300_000
MOST_WAIT_MS = 24 * 60 * 60_000
JITTER = 0.1


@dataclass(frozen=True)
class Tries:
    """`retry_ms`: between the tries; the circuit opens after `circuit_failures` in a row."""

    retry_ms: list[int]
    lease_ms: int
    lane_size: int
    circuit_failures: int
    circuit_ms: int

    def next_ms(self, tries: int, at_ms: int, retry_after_s: float | None) -> int | None:
        """When to try again after so many tries; None: no more."""
        if tries > len(self.retry_ms):
            return None
        wait_ms = self.retry_ms[tries - 1] * (1 + random.random() * JITTER)  # noqa: S311 (spreads load)
        return at_ms + max(round(wait_ms), asked_ms(retry_after_s))

    @property
    def span_ms(self) -> int:
        return round(sum(self.retry_ms) * (1 + JITTER)) + self.lease_ms


def asked_ms(retry_after_s: float | None) -> int:
    return round(min(MOST_WAIT_MS, (retry_after_s or 0) * 1000))


@dataclass
class Lane:
    """A channel's threads; `claimed` counts what they hold: waiting for a thread, running, or not recorded yet."""

    changed_ms: int
    sender: Sender
    pool: ThreadPoolExecutor
    claimed: int = 0


@dataclass
class Lanes:
    store: Store
    sealer: Sealer
    around: Around
    tries: Tries
    now_ms: Callable[[], int]
    tidy_at_ms: int = 0
    lanes: dict[str, Lane] = field(default_factory=dict)
    ended: deque[Ended] = field(default_factory=deque)
    wake: threading.Event = field(default_factory=threading.Event)

    def run(self, stop: threading.Event) -> None:
        """Until `stop`; what is being sent then is finished and recorded."""
        while not stop.is_set():
            try:
                self.record()
                if not self.look():
                    self.wake.wait(LOOK_S)
                self.wake.clear()
            except (SQLAlchemyError, StoreError) as error:
                log.warning("the store does not answer, trying again: %s", str(error).splitlines()[0])
                stop.wait(1.0)
        self.close()
        self.record()

    def close(self) -> None:
        for lane in self.lanes.values():
            lane.pool.shutdown(wait=True, cancel_futures=True)
            lane.sender.close()

    def look(self) -> bool:
        """Claim what is due where there is room; False where there was nothing."""
        at_ms = self.now_ms()
        rows = {row.channel_id: row for row in sending.due_channels(self.store, at_ms)}
        if at_ms >= self.tidy_at_ms:
            self.tidy_at_ms = at_ms + TIDY_MS
            self._tidy(rows.values(), at_ms)
        rooms = {each: room for each, row in rows.items() if (room := self._room(row, at_ms)) > 0}
        if not rooms:
            return False
        claimed = sending.claim(self.store, rooms, at_ms=at_ms, lease_ms=self.tries.lease_ms)
        for each in claimed:
            lane = self._lane(rows[each.channel_id])
            lane.claimed += 1
            lane.pool.submit(self._try, lane, each)
        return bool(claimed)

    def _room(self, row: Row[Any], at_ms: int) -> int:
        held = self.lanes[row.channel_id].claimed if row.channel_id in self.lanes else 0
        # Twice the threads: the next one is at hand when one is done.
        rooms = {"closed": 2 * self.tries.lane_size, "half_open": 1}
        return rooms.get(channels.circuit(row, at_ms), 0) - held

    def _tidy(self, rows: Iterable[Row[Any]], at_ms: int) -> None:
        for row in rows:
            if channels.circuit(row, at_ms) in ("open", "paused"):
                reason = f"not tried any more: the channel was out of order all the time ({row.last_error})"
                sending.expire(self.store, row.channel_id, before_ms=at_ms - self.tries.span_ms, reason=reason)
        sending.tidy(self.store)

    def _lane(self, row: Row[Any]) -> Lane:
        lane = self.lanes.get(row.channel_id)
        if lane is None:
            pool = ThreadPoolExecutor(self.tries.lane_size, thread_name_prefix=f"lane-{row.channel_id}")
            lane = self.lanes[row.channel_id] = Lane(row.changed_ms, self._sender(row), pool)
        elif lane.changed_ms != row.changed_ms:
            # The one before is not closed: threads may still use it.
            lane.changed_ms, lane.sender = row.changed_ms, self._sender(row)
        return lane

    def _sender(self, row: Row[Any]) -> Sender:
        try:
            return make_sender(row.kind, self.sealer.open(row.sealed), self.around, self.now_ms)
        except StoreError as error:
            return refusing(str(error))

    def _try(self, lane: Lane, claimed: Claimed) -> None:
        self.ended.append(self._sent(lane.sender, claimed))
        self.wake.set()

    def _sent(self, sender: Sender, claimed: Claimed) -> Ended:
        try:
            sender.send(claimed)
        except Refused as error:
            return self._refused(claimed, error)
        except (httpcore.TimeoutException, TimeoutError):
            return self._failed(claimed, "no answer in time")
        except Exception as error:  # noqa: BLE001 (whatever a library raises, the delivery goes on)
            # Not the text of every error: some hold the address, and with it a secret.
            told = f": {error}" if isinstance(error, OSError | httpcore.NetworkError) else ""
            return self._failed(claimed, f"{type(error).__name__}{told}"[:300])
        return Ended(claimed, self.now_ms())

    def _refused(self, claimed: Claimed, why: Refused) -> Ended:
        at_ms = self.now_ms()
        if why.gone:
            return Ended(claimed, at_ms, error=str(why), gone=True)
        if not why.busy:
            return self._failed(claimed, str(why), why.retry_after_s)
        # No try is spent, but it does not wait longer than all its tries would take.
        retry_ms = at_ms + asked_ms(why.retry_after_s) if at_ms - claimed.since_ms < self.tries.span_ms else None
        return Ended(claimed, at_ms, error=str(why), retry_ms=retry_ms, busy=True)

    def _failed(self, claimed: Claimed, why: str, retry_after_s: float | None = None) -> Ended:
        at_ms = self.now_ms()
        return Ended(claimed, at_ms, why, self.tries.next_ms(claimed.attempts + 1, at_ms, retry_after_s))

    def record(self) -> None:
        """Everything that has ended since, in one transaction; kept where the store fails."""
        ended = list(self.ended)
        if not ended:
            return
        rows = {row.channel_id: row for row in channels.known(self.store)}
        sending.record(self.store, ended, self._circuits(rows, ended))
        for each in ended:
            self.ended.popleft()
            # Not sooner: what it says of the circuit must be known before another is let through.
            self.lanes[each.claimed.channel_id].claimed -= 1
            if each.error is not None:
                log.warning("%s to channel %s: %s", each.claimed.delivery_id, each.claimed.channel_id, each.error)

    def _circuits(self, rows: dict[str, Row[Any]], ended: list[Ended]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for each in ended:
            row = rows.get(each.claimed.channel_id)
            if row is None:
                continue
            state = found.get(row.channel_id) or {
                "failures": row.failures,
                "open_until_ms": row.open_until_ms,
                "last_error": row.last_error,
            }
            found[row.channel_id] = self._after(state, each)
        return found

    def _after(self, state: dict[str, Any], ended: Ended) -> dict[str, Any]:
        if ended.error is None:
            return {"failures": 0, "open_until_ms": None, "last_error": None}
        if ended.busy:
            # It answers, so it is not out of order: it is left alone for as long as it asks, and no failure is counted.
            return {"failures": 0, "open_until_ms": ended.retry_ms or ended.at_ms, "last_error": ended.error}
        if (state["open_until_ms"] or 0) > ended.at_ms:
            # It was on its way when the circuit opened, and says nothing new.
            return state | {"last_error": ended.error}
        failures = state["failures"] + 1
        over = failures - self.tries.circuit_failures
        open_ms = min(MOST_OPEN_MS, self.tries.circuit_ms * 2 ** min(over, 10)) if over >= 0 else 0
        until = ended.at_ms + open_ms if over >= 0 else state["open_until_ms"]
        return {"failures": failures, "open_until_ms": until, "last_error": ended.error}


def refusing(why: str) -> Sender:
    def send(_claimed: Claimed) -> None:
        raise Refused(why)

    return Sender(send)
