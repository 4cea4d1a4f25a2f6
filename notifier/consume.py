"""Reads `trucks_alerts` in the notifier's own consumer group."""

import logging
import threading
from collections.abc import Callable
from typing import Any, Protocol

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from pydantic import ValidationError

from notifier.wording import line
from schemas.models import Alert
from schemas.topics import TRUCKS_ALERTS

START_TIMEOUT_MS = 10_000
POLL_MS = 500
COMMIT_TIMEOUT_MS = 10_000
log = logging.getLogger(__name__)


class StartError(Exception):
    """Why the notifier cannot begin, as a sentence for its operator."""


class Arrived(Protocol):
    """What is used of a Kafka record."""

    topic: str
    partition: int
    offset: int
    value: bytes | None


class Consumer(Protocol):
    """What is used of kafka-python's consumer, which has no types."""

    def topics(self) -> set[str]: ...
    def subscribe(self, topics: list[str]) -> None: ...
    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Arrived]]: ...
    def commit(self, *, timeout_ms: int) -> None: ...


def connect(bootstrap_servers: str, group_id: str) -> Any:
    """A consumer that reached a broker and found the topic; raises StartError."""
    make: Any = KafkaConsumer
    try:
        consumer = make(
            bootstrap_servers=bootstrap_servers.split(","),
            client_id="notifier",
            group_id=group_id,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            allow_auto_create_topics=False,
            bootstrap_timeout_ms=START_TIMEOUT_MS,
            reconnect_backoff_max_ms=2_000,
        )
        known = consumer.topics()
    except (KafkaError, ValueError) as error:
        raise StartError(f"No Kafka broker answers at {bootstrap_servers} ({error}).") from error
    if TRUCKS_ALERTS.name not in known:
        consumer.close()
        raise StartError(
            f"The broker at {bootstrap_servers} has no topic {TRUCKS_ALERTS.name}; "
            "`python -m local_stack topics` makes it."
        )
    consumer.subscribe([TRUCKS_ALERTS.name])
    return consumer


def follow(consumer: Consumer, tell: Callable[[str], None], stop: threading.Event) -> None:
    """Tell every alert until `stop`. Offsets are committed afterwards: an alert may be told twice, never lost."""
    while not stop.is_set():
        try:
            arrived = consumer.poll(timeout_ms=POLL_MS)
        except KafkaError as error:
            log.warning("Kafka does not answer (%s); still trying", error)
            stop.wait(1.0)
            continue
        for records in arrived.values():
            for record in records:
                tell_one(record, tell)
        if arrived:
            commit(consumer)


def tell_one(record: Arrived, tell: Callable[[str], None]) -> None:
    try:
        alert = Alert.model_validate_json(record.value or b"")
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"])) or "record"
        place = f"{record.topic}/{record.partition}/{record.offset}"
        log.warning("skipped %s (topic/partition/offset): %s: %s", place, where, problem["msg"])
        return
    tell(line(alert))


def commit(consumer: Consumer) -> None:
    try:
        consumer.commit(timeout_ms=COMMIT_TIMEOUT_MS)
    except KafkaError as error:
        log.warning("the offsets were not committed (%s); the last alerts may be told again", error)
