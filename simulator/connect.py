"""A producer that has reached its broker, or a sentence that says why there is none."""

from typing import Any, Protocol

from kafka import KafkaProducer
from kafka.errors import KafkaError

from schemas.topics import Topic

START_TIMEOUT_MS = 10_000
# Java's largest int: a fix that waits for an absent broker is never given up.
NEVER_MS = 2**31 - 1


class StartError(Exception):
    """Why the simulator cannot begin, as a sentence for its operator."""


class Promise(Protocol):
    """What is used of kafka-python's future."""

    def add_callback(self, told: Any, number: int) -> object: ...
    def add_errback(self, told: Any, number: int) -> object: ...


class Where(Protocol):
    """What is used of kafka-python's answer."""

    partition: int
    offset: int


class Producer(Protocol):
    """What is used of kafka-python's producer, which has no types."""

    def partitions_for(self, topic: str) -> set[int]: ...
    def send(self, topic: str, *, key: bytes, value: bytes) -> Promise: ...
    def flush(self, timeout: float) -> None: ...
    def close(self, timeout: float) -> None: ...


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
