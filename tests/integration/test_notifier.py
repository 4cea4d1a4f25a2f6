"""The notifier as a process, against a real broker."""

import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer

from schemas.models import Alert, AlertKind
from schemas.topics import TRUCKS_ALERTS
from tests.conftest import Kafka
from tests.eventually import eventually

ROOT = Path(__file__).parents[2]


@contextmanager
def running(kafka: Kafka, group_id: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    flags = ["--bootstrap-servers", kafka.bootstrap_servers, "--group-id", group_id]
    with (folder / "told").open("wb") as told, (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "notifier", *flags], cwd=ROOT, stdout=told, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def told(folder: Path) -> list[str]:
    return (folder / "told").read_text().splitlines()


@pytest.fixture
def producer(kafka: Kafka) -> Iterator[Any]:
    kafka.make_topics(TRUCKS_ALERTS)
    make: Any = KafkaProducer
    made = make(bootstrap_servers=kafka.bootstrap_servers, enable_idempotence=True, acks="all")
    yield made
    made.close()


def publish(producer: Any, value: bytes, key: str = "truck-7") -> str:
    """Where the record lies: topic/partition/offset."""
    at = producer.send(TRUCKS_ALERTS.name, key=key.encode(), value=value).get(timeout=20)
    return f"{at.topic}/{at.partition}/{at.offset}"


def an_alert(truck_id: str) -> bytes:
    alert = Alert(
        alert_id=uuid.uuid4().hex,
        revision=0,
        status="raised",
        kind=AlertKind.GEOFENCE_ENTER,
        severity="warning",
        truck_id=truck_id,
        fence_id="depot",
        start_time=datetime(2026, 3, 2, 14, 5, tzinfo=UTC),
        end_time=None,
        lat=41.5,
        lon=-87.25,
        explanation={},
    )
    return alert.model_dump_json().encode()


def test_an_alert_is_told_once_with_what_who_where_and_when(kafka: Kafka, producer: Any, tmp_path: Path) -> None:
    truck_id, group_id = f"truck-{uuid.uuid4().hex[:8]}", uuid.uuid4().hex
    expected = f"2026-03-02T14:05:00.000Z warning raised: {truck_id} entered fence depot at 41.50000, -87.25000"
    publish(producer, an_alert(truck_id))
    with running(kafka, group_id, tmp_path) as process:
        eventually(lambda: expected in told(tmp_path), timeout_s=30)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0

    # The next one of the group goes on where this one ended.
    later = f"truck-{uuid.uuid4().hex[:8]}"
    publish(producer, an_alert(later))
    with running(kafka, group_id, tmp_path):
        eventually(lambda: any(later in line for line in told(tmp_path)), timeout_s=30)
    assert not any(truck_id in line for line in told(tmp_path))


def test_a_bad_record_is_reported_with_its_place_and_skipped(kafka: Kafka, producer: Any, tmp_path: Path) -> None:
    truck_id = f"truck-{uuid.uuid4().hex[:8]}"
    places = [publish(producer, bad) for bad in (b"not json", b'{"alert_id": "a"}', b"\xff")]
    publish(producer, an_alert(truck_id))
    with running(kafka, uuid.uuid4().hex, tmp_path):
        eventually(lambda: any(truck_id in line for line in told(tmp_path)), timeout_s=30)
    log = (tmp_path / "log").read_text()
    assert all(f"skipped {place} (topic/partition/offset)" in log for place in places)
    assert "Traceback" not in log
