"""Puts records into Kafka and knows what became of each: acknowledged, failed or still on its way."""

import threading
from dataclasses import dataclass
from typing import Any, Protocol

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError

from schemas.topics import Topic

IN_FLIGHT_MAX = 10_000
START_TIMEOUT_MS = 10_000
# Java's largest int: a fix that waits for an absent broker is never given up.
NEVER_MS = 2**31 - 1


class StartError(Exception):
    """Why the simulator cannot begin, as a sentence for its operator."""


class Promise(Protocol):
    """What is used of kafka-python's future."""

    def add_callback(self, told: Any) -> object: ...
    def add_errback(self, told: Any) -> object: ...


class Producer(Protocol):
    """What is used of kafka-python's producer, which has no types."""

    def partitions_for(self, topic: str) -> set[int]: ...
    def send(self, topic: str, *, key: bytes, value: bytes) -> Promise: ...
    def flush(self, timeout: float) -> None: ...
    def close(self, timeout: float) -> None: ...


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


def connect(bootstrap_servers: str, topics: tuple[Topic, ...]) -> Producer:
    """A producer that reached a broker and knows every topic; raises StartError."""
    make: Any = KafkaProducer
    try:
        producer: Producer = make(
            bootstrap_servers=bootstrap_servers.split(","),
            client_id="simulator",
            enable_idempotence=True,
            acks="all",
            linger_ms=20,
            delivery_timeout_ms=NEVER_MS,
            bootstrap_timeout_ms=START_TIMEOUT_MS,
            max_block_ms=START_TIMEOUT_MS,
            reconnect_backoff_max_ms=2_000,
            allow_auto_create_topics=False,
        )
    except (KafkaError, ValueError) as error:
        raise StartError(f"No Kafka broker answers at {bootstrap_servers} ({error}).") from error
    for topic in topics:
        try:
            producer.partitions_for(topic.name)
        except KafkaError as error:
            producer.close(timeout=0)
            raise StartError(
                f"The broker at {bootstrap_servers} has no topic {topic.name}; `python -m local_stack topics` makes it."
            ) from error
    return producer


class Outbox:
    """Sends with a bounded number of records in flight; `stop` ends the waiting for room."""

    def __init__(self, producer: Producer, *, stop: threading.Event, in_flight_max: int = IN_FLIGHT_MAX) -> None:
        self._producer = producer
        self._stop = stop
        self._room = threading.Semaphore(in_flight_max)
        self._lock = threading.Lock()
        self._tally = Tally()

    def send(self, topic: Topic, *, key: str, value: str) -> bool:
        """Send, once there is room; False: told to stop before."""
        while not self._room.acquire(timeout=0.2):
            if self._stop.is_set():
                return False
        while not self._stop.is_set():
            try:
                promise = self._producer.send(topic.name, key=key.encode(), value=value.encode())
            except KafkaTimeoutError as error:
                # The topic's partitions are unknown for now: the record was not taken, so it is sent again.
                self._note(last_error=str(error))
            else:
                self._note(sent=1)
                promise.add_callback(self._acknowledged)
                promise.add_errback(self._failed)
                return True
        self._room.release()
        return False

    def tally(self) -> Tally:
        """What happened until now; the last error is told once."""
        with self._lock:
            seen = Tally(**vars(self._tally))
            self._tally.last_error = None
        return seen

    def close(self, timeout_s: float) -> Tally:
        """Deliver what is on its way, as far as `timeout_s` allows."""
        try:
            self._producer.flush(timeout=timeout_s)
        except KafkaTimeoutError as error:
            self._note(last_error=str(error))
        self._producer.close(timeout=1.0)
        return self.tally()

    def _acknowledged(self, _metadata: object) -> None:
        self._note(acknowledged=1)
        self._room.release()

    def _failed(self, error: BaseException) -> None:
        self._note(failed=1, last_error=str(error))
        self._room.release()

    def _note(self, *, sent: int = 0, acknowledged: int = 0, failed: int = 0, last_error: str | None = None) -> None:
        with self._lock:
            self._tally.sent += sent
            self._tally.acknowledged += acknowledged
            self._tally.failed += failed
            self._tally.last_error = last_error or self._tally.last_error
