"""The whole path through real Kafka and real Spark, against the oracle."""

import json
import logging
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer

from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.topics import make_topics
from schemas.models import CONTRACT
from tests.alert_oracle import Fences, Walk, must_be_told
from tests.eventually import eventually
from tests.oracle import Oracle, epoch_ms, fixes_of, must_match

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
POISON = {
    b"": "empty",
    b"{": "not_json",
    b"[]": "not_an_object",
    b'{"lat":1,"lon":1}': "missing_truck_id",
    b'{"truck_id":"other","lat":1,"lon":1}': "key_mismatch",
    b'{"truck_id":"P","lat":91,"lon":1}': "bad_lat",
    b'{"truck_id":"P","lat":1,"lon":"1"}': "bad_lon",
    b'{"truck_id":"P","lat":0,"lon":0}': "null_island",
    b'{"truck_id":"P","lat":1,"lon":1,"event_time":"noon"}': "bad_time",
    b'{"truck_id":"P","lat":1,"lon":1,"event_time":"2999-01-01T00:00:00Z"}': "future",
    b'{"truck_id":"P","lat":1,"lon":1,"speed_kmh":-1}': "bad_speed",
    b" " * 20_000: "too_large",
}
TRUCKS, STEPS = 100, 190


def a_fence(fence_id: str, version: int, after_s: int, **fields: Any) -> dict[str, Any]:
    moment = (START + timedelta(seconds=after_s)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"fence_id": fence_id, "version": version, "effective_from": moment, "name": fence_id, **fields}


def box(south: float, north: float) -> dict[str, Any]:
    ring = [[-100.1, south], [-99.9, south], [-99.9, north], [-100.1, north], [-100.1, south]]
    return {"kind": "polygon", "geometry": {"type": "Polygon", "coordinates": [ring]}}


def circle(lat: float) -> dict[str, Any]:
    return {"kind": "circle", "geometry": {"type": "Point", "coordinates": [-100.0, lat]}, "radius_m": 2500}


# On the way of many trucks. The last two are written while the Spark job is down.
FENCES = [
    a_fence("yard", 1, -900, **box(40.3, 40.35), dwell_s=240),
    a_fence("town", 1, -900, **circle(40.9), exit_buffer_m=200, speed_limit_kmh=60),
    a_fence("wary", 1, -900, **box(41.2, 41.21), enter_confirm_fixes=2, exit_confirm_fixes=2),
    a_fence("depot", 1, 600, **circle(41.5), tags=["depot"]),
    a_fence("yard", 2, 1900, **box(40.3, 40.4), dwell_s=120),
    a_fence("town", 2, 2000, **circle(40.9), deleted=True),
]


def as_record(fence: dict[str, Any]) -> tuple[bytes, bytes]:
    return fence["fence_id"].encode(), json.dumps(fence).encode()


# More than any fix here may lag behind the newest of all, less than the whole feed: some windows become final.
WATERMARK_S = 1800


def feed(seed: int) -> list[dict[str, Any]]:
    """Fixes as they arrive: 20 s apart, 5 % sent twice, 5 % held back, some with another position at the same time."""
    chance = random.Random(seed)
    arrivals: list[tuple[float, dict[str, Any]]] = []
    for number in range(TRUCKS):
        lat, lon = 40 + number / 50, -100.0
        for step in range(STEPS):
            lat += chance.choice([0, 0.002, 0.004, 0.00001])
            when = START + timedelta(seconds=20 * step + number % 20)
            fix: dict[str, Any] = {"truck_id": f"T{number}", "lat": round(lat, 6), "lon": lon}
            fix["event_time"] = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            if chance.random() < 0.5:
                fix["speed_kmh"] = chance.choice([0.0, 1.5, 80.0])
            delay = chance.choice([30, 200, 500, 2000]) if chance.random() < 0.05 else 0
            arrivals.append((20 * step + delay, fix))
            if chance.random() < 0.05:
                arrivals.append((20 * step + delay + chance.choice([0, 25, 300]), fix))
            if chance.random() < 0.01:
                arrivals.append((20 * step + delay + 5, {**fix, "lat": round(lat + 0.01, 6)}))
    arrivals.sort(key=lambda arrival: arrival[0])
    return [fix for _, fix in arrivals]


@contextmanager
def spark_job(bootstrap_servers: str, folder: Path, java_home: Path) -> Iterator[subprocess.Popen[bytes]]:
    env = {
        **os.environ,
        "JAVA_HOME": str(java_home),
        "STREAMING_BOOTSTRAP_SERVERS": bootstrap_servers,
        "STREAMING_CHECKPOINT_DIR": str(folder / "checkpoints"),
        "STREAMING_MAX_FIXES_PER_BATCH": "4000",
        "STREAMING_FINAL_TRIGGER_S": "1",
        # However slow the machine: nobody falls silent while this runs.
        "STREAMING_SILENT_S": "100000",
        "STREAMING_FEED_SILENT_S": "100000",
        "STREAMING_WATERMARK_S": str(WATERMARK_S),
    }
    with (folder / "streaming.log").open("ab") as log:
        job = subprocess.Popen([sys.executable, "-m", "streaming"], env=env, stdout=log, stderr=log)
    try:
        yield job
    finally:
        job.terminate()
        job.wait(timeout=60)


class Topics:
    """Everything that came out so far, as JSON, checked against the contract."""

    def __init__(self, bootstrap_servers: str) -> None:
        names = {"trucks_state": "truck_state", "trucks_judged": "judged_fixes", "trucks_windows": "window"}
        names |= {"trucks_alerts": "alert", "trucks_visits": "visit"}
        self.models = {topic: CONTRACT[name] for topic, name in {**names, "trucks_rejects": "reject"}.items()}
        self.rows: dict[str, list[tuple[str, dict[str, Any]]]] = {topic: [] for topic in [*self.models, "pipeline"]}
        self.consumer = KafkaConsumer(
            *self.rows, bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest", consumer_timeout_ms=500
        )

    def read(self) -> None:
        for record in self.consumer:
            value = json.loads(record.value)
            if record.topic in self.models:
                self.models[record.topic].model_validate(value)
            self.rows[record.topic].append((record.key.decode() if record.key else "", value))

    def newest(self, topic: str) -> dict[str, dict[str, Any]]:
        """The last row of each key; a final one is the last word."""
        return dict(sorted(self.rows[topic], key=lambda row: bool(row[1].get("final"))))

    def counted(self) -> int:
        self.read()
        return sum(each["input"] for key, each in self.newest("pipeline").items() if key.startswith("counts/"))


def publish(bootstrap_servers: str, records: list[tuple[bytes, bytes]], topic: str = "trucks_gps") -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap_servers, enable_idempotence=True, acks="all")
    for future in [producer.send(topic, key=key, value=value) for key, value in records]:
        future.get(timeout=30)
    producer.close()


def walks_of(oracle: Oracle) -> list[Walk]:
    """The oracle's way along every truck's fixes, up to now."""
    versions = [{**fence, "from": epoch_ms(fence["effective_from"])} for fence in FENCES]
    walks = [Walk(truck, Fences(versions), epoch_ms(datetime.now(UTC).isoformat())) for truck in oracle.tracks]
    for walk in walks:
        walk.go(oracle.tracks[walk.truck])
    return walks


def alerts_are(topics: Topics, walks: list[Walk]) -> bool:
    """Alerts and visits equal the oracle's: of each the highest revision, unless it is retracted."""
    topics.read()
    for topic, name in (("trucks_visits", "visit_id"), ("trucks_alerts", "alert_id")):
        newest: dict[str, dict[str, Any]] = {}
        for _, row in topics.rows[topic]:
            if row["revision"] >= newest.get(row[name], row)["revision"]:
                newest[row[name]] = row
        told = {key: row for key, row in newest.items() if row["status"] != "retracted"}
        expected = [walk.visits if name == "visit_id" else walk.alerts for walk in walks]
        must_be_told({key: row for each in expected for key, row in each.items()}, told)
        assert len(told) > 50
    return True


def windows_of(oracle: Oracle) -> dict[str, dict[str, Any]]:
    """The windows that the oracle's rows add up to, by record key."""
    windows: dict[str, dict[str, Any]] = {}
    for (truck, t, _), row in sorted(oracle.rows.items(), key=lambda item: item[0][1]):
        for scope, name, length_s in (("truck", truck, 60), ("truck", truck, 300), ("fleet", "", 60)):
            start = datetime.fromtimestamp(t // 1000 // length_s * length_s, UTC)
            key = f"{scope}/{name}/{length_s}/{start.isoformat(timespec='milliseconds').replace('+00:00', 'Z')}"
            window = windows.setdefault(
                key, {"fixes": 0, "distance_m": 0.0, "moving_s": 0.0, "idle_s": 0.0, "speeds": []}
            )
            for field in ("fixes", "distance_m", "moving_s", "idle_s"):
                window[field] += row[field]
            if scope == "fleet":
                window["active_trucks"] = window.get("active_trucks", 0) + row["active_trucks"]
            else:
                window.setdefault("first_lat", row["lat"])
                window["last_lat"] = row["lat"]
            window["speeds"].append((row["speed_kmh"], row["speed_sum_kmh"], row["speed_fixes"]))
    for window in windows.values():
        speeds = window.pop("speeds")
        known = sum(count for _, _, count in speeds)
        window["speed_top_kmh"] = max((top for top, _, _ in speeds if top is not None), default=None)
        window["speed_avg_kmh"] = sum(total for _, total, _ in speeds) / known if known else None
    return windows


@pytest.fixture
def servers(java_home: Path, jars: JarStore, tmp_path: Path) -> Iterator[str]:
    """A broker of its own: the Spark job reads whole topics."""
    logging.getLogger("kafka").setLevel(logging.ERROR)
    with Cluster(java_home=java_home, jars=jars.broker, data=tmp_path / "data", logs=tmp_path / "logs") as cluster:
        make_topics(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


def test_20000_fixes_with_every_fault_end_as_the_oracle_says(
    servers: str, java_home: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    good = [(fix["truck_id"].encode(), json.dumps(fix).encode()) for fix in feed(seed=7)]
    poison = [(b"P", value) for value in POISON]
    half = len(good) // 2
    topics = Topics(servers)
    request.addfinalizer(topics.consumer.close)
    with spark_job(servers, tmp_path, java_home):
        publish(servers, [as_record(fence) for fence in FENCES[:-2]], "fences")
        publish(servers, good[:half] + poison)
        eventually(lambda: topics.counted() > 4000, timeout_s=300)
    publish(servers, [as_record(fence) for fence in FENCES[-2:]] + [(b"bad", b"{}")], "fences")
    publish(servers, good[half:])
    total = len(good) + len(poison)
    with spark_job(servers, tmp_path, java_home):
        eventually(lambda: topics.counted() == total, timeout_s=300)
        oracle = Oracle()
        for offset, (_, value) in enumerate(good):
            oracle.take(json.loads(value), received_ms=epoch_ms("2026-11-01T00:00:00Z"), offset=offset)
        expected = windows_of(oracle)
        newest_ms = max(t for _, t, _ in oracle.rows)
        eventually(lambda: windows_are(topics, expected, newest_ms), timeout_s=300)
        walks = walks_of(oracle)
        # The clock of the wall is long past these fixes: what time alone brings comes with its first tick.
        eventually(lambda: alerts_are(topics, walks), timeout_s=300)
    assert total > 20_000
    rejected = [row for _, row in topics.rows["trucks_rejects"]]
    found = {(row["partition"], row["offset"]): row["reason"] for row in rejected if row["topic"] == "trucks_gps"}
    bad_fence = next(row for row in rejected if row["topic"] == "fences")
    assert bad_fence["reason"] == "bad_fence"
    reasons = list(found.values())
    assert {reason: reasons.count(reason) for reason in set(reasons) - {"late", "conflict"}} == dict.fromkeys(
        POISON.values(), 1
    )
    assert reasons.count("conflict") == oracle.rejected["conflict"] > 50
    assert reasons.count("late") == oracle.late > 50
    assert total == oracle.judged + oracle.duplicate + len(reasons)
    judged = [fix for _, fixes in topics.rows["trucks_judged"] for fix in fixes_of(fixes)]
    oracle.must_equal_judged(list({json.dumps(fix): fix for fix in judged}.values()))
    oracle.must_equal_states(topics.newest("trucks_state"))
    counts = [each for key, each in topics.newest("pipeline").items() if key.startswith("counts/")]
    for name, number in (("judged", oracle.judged), ("duplicate", oracle.duplicate), ("late", oracle.late)):
        assert sum(each[name] for each in counts) == number


def windows_are(topics: Topics, expected: dict[str, dict[str, Any]], newest_ms: int) -> bool:
    """Live windows and final ones equal the oracle's; final are those whose five minutes the watermark has passed."""
    topics.read()
    found = topics.newest("trucks_windows")
    assert found.keys() == expected.keys()
    passed_s = (newest_ms // 1000 - WATERMARK_S) // 300 * 300
    assert sum(window["final"] for window in found.values()) > 1000
    for key, window in found.items():
        assert window["final"] == (epoch_ms(window["window_start"]) < passed_s * 1000), (key, window)
    for key, window in expected.items():
        assert abs(window["distance_m"] - found[key]["distance_m"]) < 0.5, (key, window, found[key])
        must_match({k: v for k, v in window.items() if k != "distance_m"}, found[key], key)
    return True
