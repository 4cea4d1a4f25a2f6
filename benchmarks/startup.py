"""How long the API takes from its start until it is ready, where it has to rebuild a fleet from a real Kafka."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from kafka import KafkaProducer

from benchmarks.api_server import now
from dashboard_api.answers import TRUCK_EXAMPLE, WINDOW_EXAMPLE
from local_stack.answers import get
from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.java import find_java_home
from local_stack.paths import CACHE, ROOT
from local_stack.ports import free_ports
from local_stack.topics import make_topics
from schemas.models import Truck, TruckState, Window, as_rfc3339
from schemas.topics import TRUCKS, TRUCKS_STATE, TRUCKS_WINDOWS

# Kafka compacts closed segments alone: a topic holds several states of a truck.
STATES = 3
TIMEOUT_S = 600.0


def rows(trucks: int) -> Iterator[str]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with kafka(folder) as servers:
            records = publish(servers, trucks)
            took_s, memory_mb = start(servers, folder)
    yield f"| from start to ready, {trucks:,} trucks in Kafka | {took_s:.1f} s | {records:,} records |"
    yield f"| memory of the whole process then | {memory_mb:.0f} MB | |"


@contextmanager
def kafka(folder: Path) -> Iterator[str]:
    jars = JarStore()
    java_home = find_java_home(CACHE)
    with Cluster(java_home=java_home, jars=jars.broker, data=folder / "data", logs=folder / "logs") as cluster:
        make_topics(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


def publish(servers: str, trucks: int) -> int:
    """States, names and one window for each truck."""
    make: Any = KafkaProducer
    producer = make(bootstrap_servers=servers, acks=1, linger_ms=50, batch_size=262_144)
    count = 0
    for count, (topic, key, value) in enumerate(records(trucks), start=1):  # noqa: B007 (used behind the loop)
        producer.send(topic, key=key.encode(), value=value.encode())
    producer.flush()
    producer.close()
    return count


def records(trucks: int) -> Iterator[tuple[str, str, str]]:
    window = Window.model_validate(WINDOW_EXAMPLE | {"scope": "truck", "truck_id": "ID", "active_trucks": None})
    told = window.model_dump_json()
    name = Truck(truck_id="ID", name="Prairie Wind", plate="IL 482 913", driver="Ana Flores").model_dump_json()
    for number in range(STATES):
        moment = as_rfc3339(now() - timedelta(seconds=20 * (STATES - number)))
        state = TruckState.model_validate_json(json.dumps(TRUCK_EXAMPLE | {"truck_id": "ID", "event_time": moment}))
        text = state.model_dump_json()
        for truck_id in ids(trucks):
            yield TRUCKS_STATE.name, truck_id, text.replace("ID", truck_id, 1)
    for truck_id in ids(trucks):
        yield TRUCKS.name, truck_id, name.replace("ID", truck_id, 1)
        yield TRUCKS_WINDOWS.name, f"truck/{truck_id}/60/{window.window_start}", told.replace("ID", truck_id, 1)


def ids(trucks: int) -> Iterator[str]:
    return (f"truck-{number:06}" for number in range(trucks))


def start(servers: str, folder: Path) -> tuple[float, float]:
    port = free_ports(1)[0]
    env = os.environ | {
        "DASHBOARD_BOOTSTRAP_SERVERS": servers,
        "DASHBOARD_PORT": str(port),
        "DASHBOARD_STORE_URL": f"sqlite:///{folder / 'store.db'}",
        "DASHBOARD_ADMIN_KEY_FILE": str(folder / "admin.key"),
        "DASHBOARD_SEALING_KEY_FILE": str(folder / "sealing.key"),
        "DASHBOARD_LOG_LEVEL": "WARNING",
    }
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "dashboard_api"], cwd=ROOT, env=env)
    try:
        while get(port, "/readyz") is None:
            if process.poll() is not None or time.monotonic() - began > TIMEOUT_S:
                raise RuntimeError("the API was never ready")
            time.sleep(0.1)
        return time.monotonic() - began, psutil.Process(process.pid).memory_info().rss / 1e6
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    print("\n".join(rows(100_000)))
