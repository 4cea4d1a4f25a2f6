"""From Kafka's record time of a fix to its alert in `trucks_alerts`, with the whole Spark job running."""

import json
import threading
import time
from typing import Any

import numpy as np
from confluent_kafka import Consumer, Producer

from benchmarks.fleet import Fleet, publish
from schemas.topics import FENCES, TRUCKS_ALERTS, TRUCKS_GPS

TRUCKS, FENCES_COUNT = 10_000, 1_000
# Java gets to speed in about a minute of the job; the second rate finds it warm.
WARM_S, MEASURED_S = 60, 20
RATES = (500, 5_000)


def table(bootstrap_servers: str) -> list[str]:
    fleet = Fleet(TRUCKS, FENCES_COUNT)
    publish(bootstrap_servers, FENCES.name, ((key, value, 0) for key, value in fleet.fence_records()))
    lines = ["| fixes/s | alerts | p50 | p95 | p99 |", "| --- | --- | --- | --- | --- |"]
    for rate in RATES:
        delays = measure(bootstrap_servers, fleet, rate)
        p50, p95, p99 = np.percentile(delays, [50, 95, 99]) / 1000
        lines.append(f"| {rate:,} | {len(delays)} | {p50:.2f} s | {p95:.2f} s | {p99:.2f} s |")
    return lines


def measure(bootstrap_servers: str, fleet: Fleet, rate: int) -> list[int]:
    """Milliseconds; a fix without an event time counts from Kafka's record time, which its alert then names."""
    ended = threading.Event()
    sender = threading.Thread(target=send, args=(bootstrap_servers, fleet, rate, ended))
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": f"bench-{rate}", "auto.offset.reset": "latest"}
    )
    consumer.subscribe([TRUCKS_ALERTS.name])
    sender.start()
    delays = []
    deadline = time.monotonic() + WARM_S + MEASURED_S
    begun_ms = (time.time() + WARM_S) * 1000
    while time.monotonic() < deadline:
        record = consumer.poll(0.5)
        if record is None or record.error():
            continue
        alert = json.loads(record.value() or b"{}")
        start_ms = np.datetime64(alert["start_time"].rstrip("Z"), "ms").astype(np.int64)
        if alert["kind"] == "geofence_enter" and start_ms > begun_ms:
            delays.append(int(record.timestamp()[1] - start_ms))
    ended.set()
    sender.join()
    consumer.close()
    return delays


def send(bootstrap_servers: str, fleet: Fleet, rate: int, ended: threading.Event) -> None:
    """Every truck in turn; each fiftieth fix is of a visitor, who enters a fence every four seconds, and leaves it."""
    producer: Any = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 5})
    middle = json.loads(fleet.fence_records()[0][1])["geometry"]["coordinates"]
    number, began = 0, time.monotonic()
    while not ended.is_set():
        while number < (time.monotonic() - began) * rate:
            truck, turn = number % fleet.trucks, number // fleet.trucks
            visits = number % 50 == 0
            lat, lon = (
                (middle[1] + 0.02 * ((number // 50) % 2), middle[0]) if visits else (fleet.lat[truck], fleet.lon[truck])
            )
            who = f"V{number // 100 % (rate // 25)}" if visits else f"T{truck}"
            value = f'{{"truck_id":"{who}","lat":{lat:.6f},"lon":{lon:.6f},"speed_kmh":50,"seq":{turn}}}'
            producer.produce(TRUCKS_GPS.name, key=who, value=value)
            number += 1
        producer.poll(0)
        time.sleep(0.01)
    producer.flush()
