"""The thread that fills the view from Kafka: everything from the beginning, then live."""

import logging
import time
from collections.abc import Mapping, Sequence
from threading import Event, Thread
from typing import Protocol

from kafka import TopicPartition
from kafka.errors import KafkaError

from dashboard_api.broker import Arrived, Consumer, connect, knock
from dashboard_api.health import Health

log = logging.getLogger(__name__)

RETRY_S = 1.0
PROBE_S = 3.0
POLL_MS = 200
POLL_RECORDS = 5000


class Sink(Protocol):
    """What is fed: the view, or its tracks."""

    @property
    def topics(self) -> Sequence[str]: ...
    def apply(self, topic: str, key: str, value: bytes | None) -> None: ...


class Feed:
    """Follows every partition of the sink's topics, without a consumer group: each dashboard sees all records.

    `past_s`: begin with the records of so many seconds ago, instead of all.
    """

    def __init__(self, bootstrap_servers: str, view: Sink, health: Health, past_s: float | None = None) -> None:
        self._past_s = past_s
        self._bootstrap_servers = bootstrap_servers
        self._view = view
        self._health = health
        self._positions: dict[TopicPartition, int] = {}
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow()
            except (KafkaError, OSError) as error:
                self._lost(f"{type(error).__name__}: {error}")
            except Exception as error:
                log.exception("the feed failed, and starts again")
                self._lost(f"{type(error).__name__}: {error}")
            self._stopping.wait(RETRY_S)

    def _follow(self) -> None:
        knock(self._bootstrap_servers)
        consumer = connect(self._bootstrap_servers)
        try:
            partitions = self._assign(consumer)
            self._catch_up(consumer, consumer.end_offsets(partitions, timeout_ms=5000))
            self._go_on(consumer, partitions)
        finally:
            consumer.close()

    def _assign(self, consumer: Consumer) -> list[TopicPartition]:
        missing = [topic for topic in self._view.topics if topic not in consumer.topics()]
        if missing:
            raise KafkaError(f"topics are missing: {', '.join(missing)}")
        partitions = [
            TopicPartition(topic, partition)
            for topic in self._view.topics
            for partition in consumer.partitions_for_topic(topic)
        ]
        consumer.assign(partitions)
        if self._past_s is not None and not self._positions:
            self._positions = _offsets_at(consumer, partitions, time.time() - self._past_s)
        # After a broken connection the feed goes on where it was; the view keeps what it has.
        for partition, position in self._positions.items():
            consumer.seek(partition, position)
        return partitions

    def _catch_up(self, consumer: Consumer, ends: Mapping[TopicPartition, int]) -> None:
        self._connected()
        behind = dict(ends)
        began = {each: _position(consumer, each) for each in ends}
        self._health.records_to_read = sum(max(0, end - began[each]) for each, end in ends.items())
        while behind and not self._stopping.is_set():
            self._take(consumer)
            now_at = {each: _position(consumer, each) for each in ends}
            behind = {each: end for each, end in ends.items() if now_at[each] < end}
            self._health.records_read = sum(min(now_at[each], end) - began[each] for each, end in ends.items())
        if not behind and not self._health.rebuilt:
            self._health.rebuilt = True
            log.info("%s rebuilt: %d records", ", ".join(self._view.topics), self._health.records_to_read)

    def _go_on(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        probe_at = time.monotonic() + PROBE_S
        while not self._stopping.is_set():
            self._take(consumer)
            if time.monotonic() >= probe_at:
                self._probe(consumer, partitions)
                probe_at = time.monotonic() + PROBE_S

    def _probe(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Ask the broker something: a poll alone cannot tell a quiet topic from a broker that is away."""
        try:
            consumer.end_offsets(partitions, timeout_ms=3000)
        except KafkaError as error:
            self._lost(f"{type(error).__name__}: {error}")
        else:
            self._connected()

    def _take(self, consumer: Consumer) -> None:
        for partition, records in consumer.poll(timeout_ms=POLL_MS, max_records=POLL_RECORDS).items():
            for record in records:
                self._apply(record)
            self._positions[partition] = records[-1].offset + 1

    def _apply(self, record: Arrived) -> None:
        try:
            self._view.apply(record.topic, (record.key or b"").decode(), record.value)
        except ValueError as error:
            where = (record.topic, record.partition, record.offset)
            log.warning("skipped a bad record: topic %s partition %d offset %d: %s", *where, _brief(error))

    def _connected(self) -> None:
        if not self._health.connected:
            log.info("connected to Kafka at %s", self._bootstrap_servers)
        self._health.connected = True
        self._health.trouble = ""

    def _lost(self, trouble: str) -> None:
        if trouble != self._health.trouble:
            log.warning("no connection to Kafka at %s, trying again: %s", self._bootstrap_servers, trouble)
        self._health.connected = False
        self._health.trouble = trouble


def _position(consumer: Consumer, partition: TopicPartition) -> int:
    position = consumer.position(partition, timeout_ms=5000)
    return -1 if position is None else position


def _offsets_at(consumer: Consumer, partitions: list[TopicPartition], epoch_s: float) -> dict[TopicPartition, int]:
    """Where the records of that moment begin; the end, where none is so young."""
    ends = consumer.end_offsets(partitions, timeout_ms=5000)
    found = consumer.offsets_for_times(dict.fromkeys(partitions, int(epoch_s * 1000)))
    return {each: at.offset if (at := found.get(each)) else ends[each] for each in partitions}


def _brief(error: ValueError) -> str:
    return " ".join(str(error).split())[:300]
