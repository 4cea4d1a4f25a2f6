"""`python -m benchmarks.simulator`: how many fixes the simulator produces, and what 100,000 trucks cost."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from kafka import KafkaConsumer, TopicPartition

from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.java import find_java_home
from local_stack.paths import CACHE
from local_stack.topics import make_topics
from schemas.topics import TRUCKS_GPS

LIVE_TRUCKS = 100_000
MEASURED_S = 30.0
WAIT_S = 120.0


@dataclass(frozen=True)
class Rate:
    """What one simulator process did in `seconds`."""

    fixes: int
    seconds: float
    cpu_s: float

    @property
    def fixes_per_s(self) -> float:
        return self.fixes / self.seconds

    @property
    def cores(self) -> float:
        return self.cpu_s / self.seconds


class Topic:
    """Counts the fixes in `trucks_gps`."""

    def __init__(self, bootstrap_servers: str) -> None:
        make: Any = KafkaConsumer
        self._consumer = make(bootstrap_servers=bootstrap_servers)
        self._partitions = [TopicPartition(TRUCKS_GPS.name, number) for number in range(TRUCKS_GPS.partitions)]

    def count(self) -> int:
        return sum(self._consumer.end_offsets(self._partitions).values())

    def wait_for(self, fixes: int) -> None:
        deadline_s = time.monotonic() + WAIT_S
        while self.count() < fixes:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"the simulator has not produced {fixes} fixes within {WAIT_S} s")
            time.sleep(0.2)

    def close(self) -> None:
        self._consumer.close()


@contextmanager
def simulator(*flags: str) -> Iterator[psutil.Process]:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([sys.executable, "-m", "simulator", *flags], stdout=output, stderr=output)
        try:
            yield psutil.Process(process.pid)
        finally:
            process.kill()
            process.wait()


def measure(bootstrap_servers: str, *flags: str, seconds: float = MEASURED_S) -> Rate:
    """From its first fixes on."""
    topic = Topic(bootstrap_servers)
    before = topic.count()
    try:
        with simulator("--bootstrap-servers", bootstrap_servers, *flags) as process:
            topic.wait_for(before + 1000)
            return rate(process, topic, seconds)
    finally:
        topic.close()


def rate(process: psutil.Process, topic: Topic, seconds: float) -> Rate:
    begun_s, fixes, cpu_s = time.monotonic(), topic.count(), used_s(process)
    time.sleep(seconds)
    return Rate(topic.count() - fixes, time.monotonic() - begun_s, used_s(process) - cpu_s)


def used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def table(bootstrap_servers: str) -> str:
    """Markdown."""
    history = measure(bootstrap_servers, "--trucks", "10000", "--backfill", "24h")
    live = measure(bootstrap_servers, "--trucks", str(LIVE_TRUCKS))
    rows = {"history, as fast as Kafka takes it": history, f"live, {LIVE_TRUCKS:,} trucks": live}
    lines = [f"| {name} | {each.fixes_per_s:,.0f} | {each.cores:.2f} |" for name, each in rows.items()]
    return "\n".join(["| simulator | fixes/s | cores |", "| --- | ---: | ---: |", *lines])


def main() -> None:
    java_home, jars = find_java_home(CACHE), JarStore()
    if not jars.is_complete():
        jars.fetch(java_home)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Cluster(java_home=java_home, jars=jars.broker, data=folder / "data", logs=folder / "logs") as cluster:
            make_topics(cluster.bootstrap_servers)
            print(table(cluster.bootstrap_servers))


if __name__ == "__main__":
    main()
