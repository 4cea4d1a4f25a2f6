"""Reads `trucks_alerts` from where the store is, and plans what was read in one transaction with the offsets."""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

from notifier.planner import Limits, Planner
from notifier.wording import about
from schemas.models import Alert, Fence, Truck
from schemas.topics import TRUCKS, TRUCKS_ALERTS
from store import sending
from store.engine import PLANNING_LOCK, Store, lock
from store.intake import OffsetsMoved, Place, move_offsets, stored_offsets
from store.notify_tables import NOTIFIER_OFFSETS

START_TIMEOUT_MS = 10_000
POLL_MS = 200
POLL_RECORDS = 500
REPEAT_MS = 5_000
PRUNE_MS = 60_000
DAY_MS = 24 * 60 * 60_000
log = logging.getLogger(__name__)


class StartError(Exception):
    """Why the notifier cannot begin, as a sentence for its operator."""


def connect(bootstrap_servers: str) -> tuple[Any, dict[TopicPartition, Place]]:
    """A consumer that reached a broker and found the topics, and their partitions; raises StartError."""
    servers = bootstrap_servers.split(",")
    make: Any = KafkaConsumer
    make_admin: Any = KafkaAdminClient
    try:
        consumer = make(
            bootstrap_servers=servers,
            client_id="notifier",
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            allow_auto_create_topics=False,
            bootstrap_timeout_ms=START_TIMEOUT_MS,
            reconnect_backoff_max_ms=2_000,
            fetch_max_wait_ms=50,
        )
        missing = {TRUCKS_ALERTS.name, TRUCKS.name} - consumer.topics()
        if missing:
            consumer.close()
            made = "`python -m local_stack topics` makes it."
            raise StartError(f"The broker at {bootstrap_servers} has no topic {min(missing)}; {made}")
        admin = make_admin(bootstrap_servers=servers, client_id="notifier")
        described = admin.describe_topics([TRUCKS_ALERTS.name, TRUCKS.name])
        admin.close()
    except (KafkaError, ValueError) as error:
        raise StartError(f"No Kafka broker answers at {bootstrap_servers} ({error}).") from error
    return consumer, {
        TopicPartition(topic["name"], each["partition_index"]): Place(
            topic["name"], str(topic["topic_id"]), each["partition_index"]
        )
        for topic in described
        for each in topic["partitions"]
    }


@dataclass
class Intake:
    """`planned` is called after each transaction that may have made deliveries."""

    consumer: Any
    places: dict[TopicPartition, Place]
    store: Store
    limits: Limits
    keep_days: int
    now_ms: Callable[[], int]
    planned: Callable[[], None]
    trucks: dict[str, Truck] = field(default_factory=dict)
    repeat_at_ms: int = 0
    prune_at_ms: int = 0

    def run(self, stop: threading.Event) -> None:
        self.consumer.assign(list(self.places))
        placed = False
        while not stop.is_set():
            try:
                if not placed:
                    self._seek()
                    self._read_trucks(stop)
                    placed = True
                self._take()
                self._from_time_to_time()
            except (KafkaError, SQLAlchemyError) as error:
                log.warning("planning does not work, trying again: %s", str(error).splitlines()[0])
                placed = False
                stop.wait(1.0)
        # Bounded, so that a broker that went away does not hold up the exit.
        self.consumer.close(timeout_ms=5_000)

    def _seek(self) -> None:
        """Alerts from where the store is; the names of the trucks from their beginning."""
        stored = stored_offsets(self.store, NOTIFIER_OFFSETS)
        first = self.consumer.beginning_offsets(list(self.places))
        for partition, place in self.places.items():
            self.consumer.seek(partition, max(stored.get(place, 0), first[partition]))

    def _read_trucks(self, stop: threading.Event) -> None:
        """First of all, so that messages have names."""
        named = [each for each in self.places if each.topic == TRUCKS.name]
        alerts = [each for each in self.places if each.topic != TRUCKS.name]
        self.consumer.pause(*alerts)
        ends = self.consumer.end_offsets(named)
        while not stop.is_set() and any(self.consumer.position(each) < end for each, end in ends.items()):
            self._take()
        self.consumer.resume(*alerts)

    def _take(self) -> None:
        arrived = self.consumer.poll(timeout_ms=POLL_MS, max_records=POLL_RECORDS)
        read: list[Alert] = []
        began, ended = {}, {}
        for partition, records in arrived.items():
            if partition.topic == TRUCKS.name:
                self.trucks.update((each.truck_id, each) for each in parsed(records, Truck))
                continue
            read += parsed(records, Alert)
            began[self.places[partition]] = records[0].offset
            ended[self.places[partition]] = records[-1].offset + 1
        if ended:
            self._plan(read, began, ended)

    def _plan(self, alerts: list[Alert], began: dict[Place, int], ended: dict[Place, int]) -> None:
        at_ms = self.now_ms()
        try:
            with self.store.write() as connection:
                lock(connection, PLANNING_LOCK)
                move_offsets(connection, began, ended, NOTIFIER_OFFSETS)
                Planner(connection, self._about, self.limits, at_ms).plan(alerts)
        except OffsetsMoved:
            log.info("another process has planned these alerts")
            self._seek()
        self.planned()

    def _about(self, alert: Alert, fence: Fence | None) -> dict[str, Any]:
        return about(alert, fence, self.trucks.get(alert.truck_id or ""))

    def _from_time_to_time(self) -> None:
        at_ms = self.now_ms()
        if at_ms >= self.repeat_at_ms:
            self.repeat_at_ms = at_ms + REPEAT_MS
            with self.store.write() as connection:
                lock(connection, PLANNING_LOCK)
                repeated = Planner(connection, self._about, self.limits, at_ms).repeat()
            if repeated:
                self.planned()
        if at_ms >= self.prune_at_ms:
            self.prune_at_ms = at_ms + PRUNE_MS
            sending.prune(self.store, at_ms - self.keep_days * DAY_MS)


def parsed(records: Iterable[Any], model: type[Any]) -> list[Any]:
    """What can be read; what cannot is named in the log and passed over."""
    found = []
    for record in records:
        try:
            # PostgreSQL's text cannot hold this character.
            if b"\\u0000" in (record.value or b""):
                raise ValueError("it has a NUL character")  # noqa: TRY301
            found.append(model.model_validate_json(record.value or b""))
        except ValueError as error:
            place = f"{record.topic}/{record.partition}/{record.offset}"
            log.warning("skipped %s (topic/partition/offset): %s", place, brief(error))
    return found


def brief(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    problem = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'record'}: {problem['msg']}"
