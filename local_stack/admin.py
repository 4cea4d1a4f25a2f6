"""A connection for asking a Kafka cluster about itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafka import KafkaAdminClient


@contextmanager
def connected(bootstrap_servers: str, *, timeout_ms: int) -> Iterator[Any]:
    """An admin client, closed at the end; kafka-python has no types, hence Any."""
    admin: Any = KafkaAdminClient(bootstrap_servers=bootstrap_servers.split(","), bootstrap_timeout_ms=timeout_ms)
    try:
        yield admin
    finally:
        admin.close()
