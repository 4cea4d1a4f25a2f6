"""The API is killed again and again while alerts come and fences are drawn: nothing is lost, nothing is there twice."""

import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from httpx_sse import SSEError, connect_sse
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from dashboard_api.drafts import FENCE_DRAFT_EXAMPLE
from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.topics import make_topics
from schemas.fences import read_fence
from schemas.models import Alert
from schemas.topics import FENCES, TRUCKS_ALERTS
from tests.eventually import eventually
from tests.running_api import RunningApi
from tests.unit.test_store import an_alert

# Ten on each store take two minutes on a quiet machine: API_KILLS=10.
KILLS = int(os.environ.get("API_KILLS", "5"))
PER_S = 500
SEED = random.randrange(10**6)


class Stopping(threading.Thread):
    """Does something again and again until it is told to stop."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                self.once()
        except Exception as error:  # noqa: BLE001 (told by `finish`)
            self.failure = error

    def once(self) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        self.stopping.set()
        self.join(timeout=60)
        assert self.failure is None, self.failure


class Alerts(Stopping):
    """500 revisions a second; now and then an old one again."""

    def __init__(self, servers: str) -> None:
        super().__init__()
        make: Any = KafkaProducer
        self._producer = make(bootstrap_servers=servers, enable_idempotence=True, acks="all", linger_ms=5)
        self._random = random.Random(SEED)
        self._due_s = time.monotonic()
        self.sent: list[Alert] = []

    def once(self) -> None:
        known = self._random.choice(self.sent) if self.sent and self._random.random() < 0.2 else None
        alert = (
            an_alert(uuid4().hex) if known is None else an_alert(known.alert_id, known.revision + 1, status="cleared")
        )
        self.sent.append(alert)
        self._producer.send(TRUCKS_ALERTS.name, key=b"t1", value=alert.model_dump_json().encode())
        self._due_s += 1 / PER_S
        time.sleep(max(0.0, self._due_s - time.monotonic()))

    def finish(self) -> None:
        super().finish()
        self._producer.close()


class Listens(Stopping):
    """A third-party client of the event stream that reconnects, as browsers do."""

    def __init__(self, api: RunningApi, last_id: str) -> None:
        super().__init__()
        self._api = api
        self._last_id = last_id
        self._client = httpx.Client(timeout=5)
        self.heard: set[tuple[str, int]] = set()
        self.resets = 0

    def once(self) -> None:
        headers = self._api.headers | {"Last-Event-ID": self._last_id}
        url = f"{self._api.url}/api/live?events=alerts"
        try:
            with connect_sse(self._client, "GET", url, headers=headers) as source:
                for event in source.iter_sse():
                    self._last_id = event.id
                    self._take(event.event, event.json())
                    if self.stopping.is_set():
                        return
        except (httpx.HTTPError, SSEError):
            time.sleep(0.1)

    def finish(self) -> None:
        super().finish()
        self._client.close()

    def _take(self, name: str, told: Any) -> None:
        self.resets += name == "reset"
        if name == "alert":
            self.heard.add((told["alert_id"], told["alert"]["revision"]))


class Draws(Stopping):
    """Writes fence after fence, version after version; keeps what was confirmed."""

    def __init__(self, api: RunningApi) -> None:
        super().__init__()
        self._client = httpx.Client(base_url=api.url, headers=api.headers, timeout=5)
        self.confirmed: list[tuple[str, int]] = []

    def once(self) -> None:
        fence_id = f"f-{uuid4().hex[:8]}"
        draft = FENCE_DRAFT_EXAMPLE | {"fence_id": fence_id}
        try:
            self._keep(self._client.post("/api/fences", json=draft))
            self._keep(self._client.put(f"/api/fences/{fence_id}", json=draft, headers={"If-Match": "*"}))
        except httpx.HTTPError:
            pass
        time.sleep(0.1)

    def finish(self) -> None:
        super().finish()
        self._client.close()

    def _keep(self, answer: httpx.Response) -> None:
        if answer.is_success:
            self.confirmed.append((answer.json()["fence_id"], answer.json()["version"]))


@pytest.fixture(scope="module")
def own_kafka(java_home: Path, jars: JarStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Not the shared broker: whoever comes after would read all these alerts first."""
    folder = tmp_path_factory.mktemp("kills")
    with Cluster(java_home=java_home, jars=jars.broker, data=folder / "data", logs=folder / "logs") as cluster:
        make_topics(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


def in_topic(servers: str, topic: str) -> Iterator[bytes]:
    make: Any = KafkaConsumer
    consumer = make(bootstrap_servers=servers, auto_offset_reset="earliest", group_id=None)
    partitions = [TopicPartition(topic, each) for each in consumer.partitions_for_topic(topic)]
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    while any(consumer.position(each) < end for each, end in ends.items()):
        for records in consumer.poll(timeout_ms=500).values():
            yield from (record.value for record in records)
    consumer.close()


def newest(api: RunningApi) -> dict[str, int]:
    """Every alert of the store with its revision."""
    found: dict[str, int] = {}
    while page := api.get(f"/api/alerts?limit=1000&offset={len(found)}&sort=oldest").json()["items"]:
        found |= {each["alert_id"]: each["revision"] for each in page}
    return found


def test_alerts_and_fences_survive_kills(own_kafka: str, store_url: str, tmp_path: Path) -> None:
    print(f"seed {SEED}")
    servers = own_kafka
    api = RunningApi(servers, tmp_path, store_url)
    pauses = random.Random(SEED)
    with api:
        with httpx.stream("GET", f"{api.url}/api/live", headers=api.headers) as stream:
            first = next(line for line in stream.iter_lines() if line.startswith("id: "))
        alerts, listens, draws = Alerts(servers), Listens(api, first.removeprefix("id: ")), Draws(api)
        for each in (alerts, listens, draws):
            each.start()
        for _ in range(KILLS):
            before = api.get("/api/alerts?limit=1").json()["total"]
            eventually(lambda: api.get("/api/alerts?limit=1").json()["total"] > before, timeout_s=60)  # noqa: B023
            time.sleep(pauses.random())
            api.kill()
            api.start()
            eventually(lambda: api.get("/healthz").is_success, timeout_s=60)
        for each in (alerts, draws):
            each.finish()
        api.wait_until_ready()
        check_alerts(api, servers, alerts, listens)
        check_fences(api, servers, draws)


def check_alerts(api: RunningApi, servers: str, alerts: Alerts, listens: Listens) -> None:
    expected: dict[str, int] = {}
    for value in in_topic(servers, TRUCKS_ALERTS.name):
        try:
            alert = Alert.model_validate_json(value)
        except ValueError:
            continue  # Of another test.
        expected[alert.alert_id] = max(alert.revision, expected.get(alert.alert_id, 0))
    sent = {(alert.alert_id, alert.revision) for alert in alerts.sent}
    assert len(sent) > KILLS * PER_S / 2
    assert {alert_id for alert_id, _ in sent} <= set(expected)
    eventually(lambda: len(newest(api)) == len(expected), timeout_s=60, interval_s=1)
    assert newest(api) == expected
    eventually(lambda: sent <= listens.heard, timeout_s=60)
    listens.finish()
    assert listens.resets == 0


def check_fences(api: RunningApi, servers: str, draws: Draws) -> None:
    assert len(draws.confirmed) > KILLS
    eventually(lambda: api.get("/api/stats").json()["fences_waiting"] == 0, timeout_s=30)
    published = [read_fence(value) for value in in_topic(servers, FENCES.name)]
    assert set(draws.confirmed) <= {(fence.fence_id, fence.version) for fence in published}
    last: dict[str, int] = {}
    for fence in published:
        last[fence.fence_id] = fence.version
    for fence_id in {fence_id for fence_id, _ in draws.confirmed}:
        # The topic ends with what the API says, and has nothing that the API does not know.
        assert api.get(f"/api/fences/{fence_id}").json()["version"] == last[fence_id]
