"""Puts records into Kafka and knows what became of each: acknowledged, failed or still on its way."""

import threading
from contextlib import suppress
from dataclasses import dataclass

from kafka.errors import KafkaTimeoutError

from schemas.topics import TRUCKS_GPS, Topic
from simulator.connect import Producer, Where
from simulator.ledger import Ledger
from simulator.stream import Sent

IN_FLIGHT_MAX = 10_000


@dataclass
class Tally:
    """How many records were sent since the start, and what became of them."""

    sent: int = 0
    acknowledged: int = 0
    failed: int = 0
    last_error: str | None = None

    @property
    def waiting(self) -> int:
        return self.sent - self.acknowledged - self.failed


class Outbox:
    """Sends with a bounded number of records in flight; `stop` ends the waiting for room.

    While Kafka is away the records in flight are kept and whoever sends waits: nothing is given up before `close`.
    """

    def __init__(
        self,
        producer: Producer,
        *,
        stop: threading.Event,
        ledger: Ledger | None = None,
        in_flight_max: int = IN_FLIGHT_MAX,
    ) -> None:
        self._producer = producer
        self._stop = stop
        self._ledger = ledger
        self._room = threading.Semaphore(in_flight_max)
        self._lock = threading.Lock()
        self._tally = Tally()
        self._fixes: dict[int, Sent] = {}
        """In flight, by their number among all that were sent: for the ledger."""

    def send_fix(self, fix: Sent) -> bool:
        return self.send(TRUCKS_GPS, key=fix.truck_id, value=fix.value, fix=fix)

    def send(self, topic: Topic, *, key: str, value: bytes, fix: Sent | None = None) -> bool:
        """Send, once there is room; False: told to stop before."""
        while not self._room.acquire(timeout=0.2):
            if self._stop.is_set():
                return False
        number = self._tally.sent
        if fix is not None and self._ledger is not None:
            self._fixes[number] = fix
        while not self._stop.is_set():
            try:
                promise = self._producer.send(topic.name, key=key.encode(), value=value)
            except KafkaTimeoutError as error:
                # The topic's partitions are unknown for now: the record was not taken, so it is sent again.
                self._note(last_error=str(error))
            else:
                self._note(sent=1)
                promise.add_callback(self._acknowledged, number)
                promise.add_errback(self._refused, number)
                return True
        self._fixes.pop(number, None)
        self._room.release()
        return False

    def tally(self) -> Tally:
        """What happened until now; the last error is told once."""
        with self._lock:
            seen = Tally(**vars(self._tally))
            self._tally.last_error = None
        return seen

    def close(self, timeout_s: float) -> Tally:
        """Deliver what is on its way, as far as `timeout_s` allows. What is then unanswered is given up."""
        try:
            self._producer.flush(timeout=timeout_s)
        except KafkaTimeoutError as error:
            self._note(last_error=str(error))
        end = self.tally()
        while self._ledger is not None and self._fixes:
            self._ledger.write(self._fixes.popitem()[1], "unanswered")
        with suppress(KafkaTimeoutError):
            self._producer.close(timeout=1.0)
        return end

    def _acknowledged(self, number: int, where: Where) -> None:
        self._note(acknowledged=1)
        self._room.release()
        fix = self._fixes.pop(number, None)
        if fix is not None and self._ledger is not None:
            self._ledger.write(fix, "acknowledged", partition=where.partition, offset=where.offset)

    def _refused(self, number: int, error: BaseException) -> None:
        self._note(failed=1, last_error=str(error))
        self._room.release()
        fix = self._fixes.pop(number, None)
        if fix is not None and self._ledger is not None:
            self._ledger.write(fix, "refused", error=str(error))

    def _note(self, *, sent: int = 0, acknowledged: int = 0, failed: int = 0, last_error: str | None = None) -> None:
        with self._lock:
            self._tally.sent += sent
            self._tally.acknowledged += acknowledged
            self._tally.failed += failed
            self._tally.last_error = last_error or self._tally.last_error
