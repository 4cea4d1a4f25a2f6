"""The notifier as a process, against a real broker and real receivers."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer
from standardwebhooks import Webhook

from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.topics import make_topics
from schemas.models import Alert, AlertKind
from schemas.topics import TRUCKS_ALERTS
from store import channels, deliveries, rules
from store.engine import Store
from store.sealing import Sealer, read_sealing_key
from tests.eventually import eventually
from tests.postgres import Postgres

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("NOTIFIER_KILLS", "20"))
ALERTS = 1000
SEED = random.randrange(10**6)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args: Any) -> None:
        """Nothing: a client that was killed ends in the middle of its request."""


class Receiver:
    """Keeps every webhook that it took, with its signature verified by the public library."""

    def __init__(self, status: int = 200) -> None:
        self.secret = channels.new_secret()
        self.heard: list[tuple[str, float, Any]] = []
        taken = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                told = Webhook(taken.secret).verify(body, dict(self.headers))
                taken.heard.append((self.headers["webhook-id"], time.time(), told))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_args: Any) -> None:
                """Nothing."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Notifier:
    """`python -m notifier` with a store of its own."""

    def __init__(self, servers: str, folder: Path, store_url: str) -> None:
        self._folder = folder
        key_file = folder / "sealing.key"
        self.sealer = Sealer(read_sealing_key(key_file))
        self.store = Store(store_url)
        self._env = os.environ | {
            "NOTIFIER_BOOTSTRAP_SERVERS": servers,
            "NOTIFIER_STORE_URL": store_url,
            "NOTIFIER_SEALING_KEY_FILE": str(key_file),
            "NOTIFIER_FILES_DIR": str(folder / "files"),
            "NOTIFIER_ALLOWED_RANGES": "127.0.0.0/8",
            "NOTIFIER_ALLOW_HTTP": "true",
            "NOTIFIER_RETRY_S": "0.2,0.3",
            "NOTIFIER_TIMEOUT_S": "1",
            "NOTIFIER_LEASE_S": "3",
            "NOTIFIER_CIRCUIT_S": "0.5",
        }
        self.process: subprocess.Popen[bytes] | None = None

    def add(self, kind: str, config: dict[str, Any]) -> str:
        wanted = channels.Wanted(kind, kind, config)
        channel_id: str = channels.add(self.store, self.sealer, wanted, who="test", at_ms=0).channel_id
        rules.add(self.store, rules.Rule(name="all", channel_ids=[channel_id]), who="test", at_ms=0)
        return channel_id

    def start(self) -> None:
        with (self._folder / "told").open("ab") as told, (self._folder / "log").open("ab") as log:
            command = [sys.executable, "-m", "notifier"]
            self.process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=told, stderr=log)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def log(self) -> str:
        return (self._folder / "log").read_text()

    def told(self) -> str:
        return (self._folder / "told").read_text()

    def states(self, channel_id: str) -> dict[str, int]:
        counted = deliveries.counts(self.store).items()
        return {state: number for (channel, state), number in counted if channel == channel_id}


@pytest.fixture
def own_kafka(java_home: Path, jars: JarStore, tmp_path: Path) -> Iterator[str]:
    """Not the shared broker: the notifier reads every alert that is there."""
    with Cluster(
        java_home=java_home, jars=jars.broker, data=tmp_path / "kafka", logs=tmp_path / "kafka-logs"
    ) as cluster:
        make_topics(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


@pytest.fixture
def producer(own_kafka: str) -> Iterator[Any]:
    make: Any = KafkaProducer
    made = make(bootstrap_servers=own_kafka, enable_idempotence=True, acks="all")
    yield made
    made.close()


@pytest.fixture
def notifier(own_kafka: str, store_url: str, tmp_path: Path) -> Iterator[Notifier]:
    made = Notifier(own_kafka, tmp_path, store_url)
    yield made
    if made.process is not None and not made.ended():
        made.kill()
    made.store.close()


def an_alert(truck_id: str, start_time: datetime | None = None) -> bytes:
    alert = Alert(
        alert_id=uuid.uuid4().hex,
        revision=0,
        status="raised",
        kind=AlertKind.GEOFENCE_ENTER,
        severity="warning",
        truck_id=truck_id,
        fence_id="depot",
        start_time=start_time or datetime.now(UTC),
        end_time=None,
        lat=41.5,
        lon=-87.25,
        explanation={},
    )
    return alert.model_dump_json().encode()


def publish(producer: Any, value: bytes) -> str:
    """Where the record lies: topic/partition/offset."""
    at = producer.send(TRUCKS_ALERTS.name, key=b"truck-7", value=value).get(timeout=20)
    return f"{at.topic}/{at.partition}/{at.offset}"


def test_killed_again_and_again_it_sends_every_alert_and_doubles_only_under_the_same_id(
    notifier: Notifier, producer: Any
) -> None:
    print(f"seed {SEED}")
    pauses, receiver = random.Random(SEED), Receiver()
    channel_id = notifier.add("webhook", {"url": receiver.url, "secrets": [receiver.secret]})
    values = [an_alert(f"truck-{each}") for each in range(ALERTS)]
    rounds = KILLS + 1
    for number in range(rounds):
        for value in values[number * ALERTS // rounds : (number + 1) * ALERTS // rounds]:
            producer.send(TRUCKS_ALERTS.name, key=b"truck-7", value=value)
        producer.flush()
        before = len(receiver.heard)
        notifier.start()
        eventually(lambda: len(receiver.heard) > before, timeout_s=30, interval_s=0.01)  # noqa: B023
        time.sleep(pauses.random() * 0.05)
        if number < KILLS:
            notifier.kill()
    eventually(lambda: notifier.states(channel_id) == {"delivered": ALERTS}, timeout_s=60)
    assert notifier.stop() == 0, notifier.log()
    ids = [webhook_id for webhook_id, _, _ in receiver.heard]
    told = {(webhook_id, body["data"]["alerts"][0]["alert_id"]) for webhook_id, _, body in receiver.heard}
    print(f"{KILLS} kills, {ALERTS} alerts, {len(ids)} webhooks, {len(ids) - len(set(ids))} of them again")
    assert len(set(ids)) == len(told) == ALERTS
    assert {alert_id for _, alert_id in told} == {json.loads(value)["alert_id"] for value in values}
    receiver.close()


def test_a_channel_that_fails_ends_dead_and_delays_no_other(notifier: Notifier, producer: Any) -> None:
    good, bad, gone = Receiver(), Receiver(status=500), Receiver(status=410)
    names = {each: notifier.add("webhook", {"url": each.url, "secrets": [each.secret]}) for each in (good, bad, gone)}
    notifier.start()
    publish(producer, an_alert("first"))
    eventually(lambda: len(good.heard) == 1, timeout_s=30)
    published: dict[str, float] = {}
    for number in range(100):
        value = an_alert(f"truck-{number}")
        producer.send(TRUCKS_ALERTS.name, key=b"truck-7", value=value)
        published[json.loads(value)["alert_id"]] = time.time()
        time.sleep(0.05)
    eventually(lambda: notifier.states(names[good]) == {"delivered": 101}, timeout_s=30)
    eventually(lambda: set(notifier.states(names[bad])) == {"dead"}, timeout_s=60)
    assert sum(notifier.states(names[bad]).values()) == sum(notifier.states(names[gone]).values()) == 101
    assert channels.one(notifier.store, names[gone]).enabled is False  # type: ignore[union-attr]
    waits = sorted(
        at - published[body["data"]["alerts"][0]["alert_id"]]
        for _, at, body in good.heard
        if body["data"]["alerts"][0]["alert_id"] in published
    )
    print(
        f"from the topic to the receiver at 20 alerts/s: p50 {waits[50] * 1000:.0f} ms, p95 {waits[95] * 1000:.0f} ms"
    )
    assert waits[95] < 5
    for each in (good, bad, gone):
        each.close()


def test_a_bad_record_is_reported_with_its_place_and_an_old_alert_is_history(notifier: Notifier, producer: Any) -> None:
    console = notifier.add("console", {})
    places = [publish(producer, bad) for bad in (b"not json", b'{"alert_id": "a"}', b"\xff")]
    publish(producer, an_alert("truck-old", datetime(2026, 3, 2, 14, 5, tzinfo=UTC)))
    publish(producer, an_alert("truck-new"))
    notifier.start()
    eventually(lambda: "truck-new entered depot" in notifier.told(), timeout_s=30)
    assert notifier.stop() == 0
    assert "truck-old" not in notifier.told()
    assert notifier.states(console) == {"delivered": 1, "historical": 1}
    assert all(f"skipped {place} (topic/partition/offset)" in notifier.log() for place in places)
    assert "Traceback" not in notifier.log()


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_an_outage_of_the_store_is_waited_out(
    notifier: Notifier, producer: Any, postgres: Postgres, store_url: str
) -> None:
    notifier.add("console", {})
    notifier.start()
    publish(producer, an_alert("truck-before"))
    eventually(lambda: "truck-before entered depot" in notifier.told(), timeout_s=30)
    with postgres.away(store_url):
        publish(producer, an_alert("truck-meanwhile"))
        eventually(lambda: notifier.ended() or notifier.log().count("planning does not work") >= 3, timeout_s=30)
        assert not notifier.ended(), notifier.log()
    eventually(lambda: "truck-meanwhile entered depot" in notifier.told(), timeout_s=30)
    assert notifier.stop() == 0
    assert "Traceback" not in notifier.log()
