"""The thread that publishes fences: what the store confirmed reaches Kafka, in order, also after a crash."""

import logging
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any

from kafka import KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from dashboard_api.broker import connect, knock
from dashboard_api.health import Health
from dashboard_api.worker import Worker
from schemas.fences import FenceError, read_fence
from schemas.models import Fence
from schemas.topics import FENCES
from store import fences
from store.engine import Store

log = logging.getLogger(__name__)
LOOK_S = 1.0
ACK_TIMEOUT_S = 20.0


class Outbox(Worker):
    def __init__(self, bootstrap_servers: str, store: Store, health: Health, now_ms: Callable[[], int]) -> None:
        super().__init__("outbox", health)
        self._bootstrap_servers = bootstrap_servers
        self._store = store
        self._now_ms = now_ms
        self._filled = Event()

    def look(self) -> None:
        """Something waits: publish it at once."""
        self._filled.set()

    def stop(self) -> None:
        self._stopping.set()
        self._filled.set()
        super().stop()

    def work(self) -> None:
        knock(self._bootstrap_servers)
        self._adopt()
        producer = make_producer(self._bootstrap_servers)
        try:
            while not self._stopping.is_set():
                self._filled.clear()
                while fences.publish(self._store, lambda waiting: send(producer, waiting), self._now_ms):
                    pass
                self._works()
                self._filled.wait(LOOK_S)
        finally:
            producer.close(timeout=5)

    def _adopt(self) -> None:
        """A store that was lost learns from Kafka: readers would ignore a version below the topic's."""
        adopted = fences.adopt(self._store, list(published(self._bootstrap_servers)), self._now_ms())
        if adopted:
            log.warning("%d versions of fences were in Kafka and not in the store: taken over", adopted)


def make_producer(bootstrap_servers: str) -> Any:
    make: Any = KafkaProducer
    return make(
        bootstrap_servers=bootstrap_servers.split(","),
        client_id="dashboard_api",
        enable_idempotence=True,
        acks="all",
        max_request_size=2_000_000,
        bootstrap_timeout_ms=10_000,
        metrics_enabled=False,
    )


def send(producer: Any, waiting: Sequence[tuple[str, bytes]]) -> int:
    """How many of the first ones Kafka has. After a failure the rest counts as not sent: order comes before haste."""
    sent = [producer.send(FENCES.name, key=fence_id.encode(), value=value) for fence_id, value in waiting]
    for number, future in enumerate(sent):
        try:
            future.get(timeout=ACK_TIMEOUT_S)
        except KafkaError:
            if number == 0:
                raise
            return number
    return len(sent)


def published(bootstrap_servers: str) -> Iterator[tuple[Fence, bytes]]:
    """Every version that the topic has now."""
    consumer = connect(bootstrap_servers)
    try:
        partitions = [TopicPartition(FENCES.name, each) for each in consumer.partitions_for_topic(FENCES.name) or ()]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions, timeout_ms=5000)
        while any((consumer.position(each, timeout_ms=5000) or 0) < end for each, end in ends.items()):
            for records in consumer.poll(timeout_ms=200, max_records=500).values():
                yield from readable(record.value for record in records if record.value)
    finally:
        consumer.close()


def readable(values: Iterator[bytes]) -> Iterator[tuple[Fence, bytes]]:
    for value in values:
        try:
            yield read_fence(value), value
        except FenceError as error:
            log.warning("skipped a fence in Kafka: %s", error)
