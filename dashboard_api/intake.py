"""The thread that brings alerts and visits from Kafka into the store, each once."""

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient

from dashboard_api.broker import Arrived, Consumer, connect, knock
from dashboard_api.health import Health
from dashboard_api.worker import Worker
from schemas.models import Alert, Visit
from schemas.topics import TRUCKS_ALERTS, TRUCKS_VISITS
from store.engine import Store
from store.intake import Batch, OffsetsMoved, Place, stored_offsets, take_in

log = logging.getLogger(__name__)
TOPICS = (TRUCKS_ALERTS.name, TRUCKS_VISITS.name)
Kind = TypeVar("Kind", Alert, Visit)
POLL_MS = 200
POLL_RECORDS = 2000


class Intake(Worker):
    """The store says where to go on: its offsets were written together with the rows they brought."""

    def __init__(
        self,
        bootstrap_servers: str,
        store: Store,
        health: Health,
        now_ms: Callable[[], int],
        stored: Callable[[Batch], None] = lambda _batch: None,
    ) -> None:
        super().__init__("store", health)
        self._bootstrap_servers = bootstrap_servers
        self._store = store
        self._now_ms = now_ms
        self._stored = stored
        self._places: dict[TopicPartition, Place] = {}

    def work(self) -> None:
        knock(self._bootstrap_servers)
        self._places = find_places(self._bootstrap_servers)
        consumer = connect(self._bootstrap_servers)
        try:
            consumer.assign(self._places)
            self._seek(consumer)
            self._catch_up(consumer)
            while not self._stopping.is_set():
                self._take(consumer)
        finally:
            consumer.close()

    def _seek(self, consumer: Consumer) -> None:
        stored = stored_offsets(self._store)
        first = consumer.beginning_offsets(self._places, timeout_ms=5000)
        for partition, place in self._places.items():
            wanted = stored.get(place, 0)
            if place in stored and wanted < first[partition]:
                log.error("records %d to %d of %s were deleted before they were read", wanted, first[partition], place)
            if place not in stored and any(_same(place, other) for other in stored):
                log.warning("%s is another topic than before: read from its beginning", place)
            consumer.seek(partition, max(wanted, first[partition]))

    def _catch_up(self, consumer: Consumer) -> None:
        """Until the store has what was in Kafka at the start, its lists are incomplete, and it is not ready."""
        ends = consumer.end_offsets(self._places, timeout_ms=5000)
        while not self._stopping.is_set():
            at = {each: consumer.position(each, timeout_ms=5000) or 0 for each in ends}
            behind = sum(max(0, end - at[each]) for each, end in ends.items())
            if behind == 0:
                self._works()
                return
            self._health.troubles[self._part] = f"{behind:,} alerts and visits are still to be read"
            self._take(consumer)

    def _take(self, consumer: Consumer) -> None:
        arrived = consumer.poll(timeout_ms=POLL_MS, max_records=POLL_RECORDS)
        if not arrived:
            return
        records = [record for several in arrived.values() for record in several]
        batch = Batch(
            alerts=list(read(records, TRUCKS_ALERTS.name, Alert)),
            visits=list(read(records, TRUCKS_VISITS.name, Visit)),
            began={self._places[partition]: several[0].offset for partition, several in arrived.items()},
            ended={self._places[partition]: several[-1].offset + 1 for partition, several in arrived.items()},
        )
        try:
            take_in(self._store, batch, self._now_ms())
        except OffsetsMoved:
            log.info("another process has taken these records in")
            self._seek(consumer)
        else:
            self._stored(batch)


def find_places(bootstrap_servers: str) -> dict[TopicPartition, Place]:
    make: Any = KafkaAdminClient
    admin = make(bootstrap_servers=bootstrap_servers.split(","), client_id="dashboard_api")
    try:
        described = admin.describe_topics(list(TOPICS))
    finally:
        admin.close()
    return {
        TopicPartition(topic["name"], each["partition_index"]): Place(
            topic["name"], str(topic["topic_id"]), each["partition_index"]
        )
        for topic in described
        for each in topic["partitions"]
    }


def read(records: Iterable[Arrived], topic: str, model: type[Kind]) -> Iterable[Kind]:
    """What can be read; what cannot is named in the log and passed over."""
    for record in records:
        if record.topic != topic or record.value is None:
            continue
        try:
            # PostgreSQL's text cannot hold this character.
            if b"\\u0000" in record.value:
                raise ValueError("it has a NUL character")  # noqa: TRY301
            yield model.model_validate_json(record.value)
        except ValueError as error:
            where = (record.topic, record.partition, record.offset)
            why = " ".join(str(error).split())[:300]
            log.warning("skipped a bad record: topic %s partition %d offset %d: %s", *where, why)


def _same(place: Place, other: Place) -> bool:
    return (place.topic, place.partition) == (other.topic, other.partition) and place.topic_id != other.topic_id
