"""How the dashboard opens a consumer."""

import socket
from collections.abc import Iterable
from typing import Any, Protocol

from kafka import KafkaConsumer, TopicPartition

KNOCK_S = 2.0


class Arrived(Protocol):
    """What the feed uses of a Kafka record."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class Consumer(Protocol):
    """What the feed uses of kafka-python's consumer, which has no types."""

    def topics(self) -> set[str]: ...
    def partitions_for_topic(self, topic: str) -> set[int]: ...
    def assign(self, partitions: Iterable[TopicPartition]) -> None: ...
    def seek(self, partition: TopicPartition, offset: int) -> None: ...
    def position(self, partition: TopicPartition, timeout_ms: int) -> int | None: ...
    def beginning_offsets(self, partitions: Iterable[TopicPartition], timeout_ms: int) -> dict[TopicPartition, int]: ...
    def end_offsets(self, partitions: Iterable[TopicPartition], timeout_ms: int) -> dict[TopicPartition, int]: ...
    def offsets_for_times(self, timestamps: dict[TopicPartition, int]) -> dict[TopicPartition, Any]: ...
    def poll(self, timeout_ms: int, max_records: int) -> dict[TopicPartition, list[Arrived]]: ...
    def close(self) -> None: ...


def knock(bootstrap_servers: str) -> None:
    """Raise OSError unless one of the brokers takes a connection.

    kafka-python leaves a thread behind each time a consumer cannot bootstrap, so the retries knock first.
    """
    trouble = OSError("no broker is named")
    for server in bootstrap_servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()
        except OSError as error:
            trouble = error
        else:
            return
    raise trouble


def connect(bootstrap_servers: str) -> Consumer:
    make: Any = KafkaConsumer
    consumer: Consumer = make(
        bootstrap_servers=bootstrap_servers.split(","),
        client_id="dashboard_api",
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        allow_auto_create_topics=False,
        bootstrap_timeout_ms=10_000,
        fetch_max_wait_ms=100,
        reconnect_backoff_max_ms=2000,
        metrics_enabled=False,
    )
    return consumer
