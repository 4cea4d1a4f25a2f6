"""The simulator as a process, against a real broker."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
from base64 import b64decode
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
import pytest
from kafka import KafkaConsumer, TopicPartition

from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.topics import make_topics
from schemas.models import Truck
from schemas.topics import TRUCKS, TRUCKS_GPS
from simulator import fleet
from simulator.rates import PRESETS
from simulator.stream import Stream
from tests.conftest import Kafka
from tests.eventually import eventually

ROOT = Path(__file__).parents[2]


def start(*flags: str, output: Path) -> subprocess.Popen[bytes]:
    # A setting of the machine must not reach the test.
    env = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    with output.open("wb") as opened:
        return subprocess.Popen(
            [sys.executable, "-m", "simulator", *flags], cwd=ROOT, env=env, stdout=opened, stderr=subprocess.STDOUT
        )


@contextmanager
def running(*flags: str, output: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = start(*flags, output=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Reader:
    """Everything that a topic got since the reader was made."""

    def __init__(self, kafka: Kafka, topic: str) -> None:
        make: Any = KafkaConsumer
        self._consumer = make(bootstrap_servers=kafka.bootstrap_servers, enable_auto_commit=False)
        partitions = [TopicPartition(topic, number) for number in self._consumer.partitions_for_topic(topic)]
        self._consumer.assign(partitions)
        self._consumer.seek_to_end(*partitions)
        for partition in partitions:
            self._consumer.position(partition)
        self.records: list[Any] = []

    def read(self) -> list[Any]:
        for records in self._consumer.poll(timeout_ms=500).values():
            self.records += records
        return self.records

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def readers(kafka: Kafka) -> Iterator[dict[str, Reader]]:
    kafka.make_topics(TRUCKS, TRUCKS_GPS)
    made = {topic.name: Reader(kafka, topic.name) for topic in (TRUCKS, TRUCKS_GPS)}
    yield made
    for reader in made.values():
        reader.close()


def test_the_fleet_is_registered_and_its_fixes_arrive_as_the_seed_says(
    kafka: Kafka, readers: dict[str, Reader], tmp_path: Path
) -> None:
    start_time = datetime.now(UTC).replace(microsecond=0)
    flags = ["--bootstrap-servers", kafka.bootstrap_servers, "--trucks", "4", "--interval-s", "1", "--seed", "7"]
    output = tmp_path / "simulator.out"
    with running(*flags, "--start-time", start_time.isoformat(), "--preset", "hostile", output=output) as process:
        eventually(lambda: len(readers["trucks_gps"].read()) >= 8, timeout_s=60)
        eventually(lambda: "acknowledged, 0 failed" in output.read_text(), timeout_s=10)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0, output.read_text()
    last_line = output.read_text().splitlines()[-1]
    sent = int(last_line.split("stopped: ")[1].split()[0])
    assert f"{sent} sent, {sent} acknowledged, 0 failed, 0 unanswered" in last_line

    eventually(lambda: len(readers["trucks_gps"].read()) == sent - 4, timeout_s=20)
    arrived = [(record.key.decode(), record.value) for record in readers["trucks_gps"].records]
    stream = Stream(trucks=4, interval_s=1, seed=7, start_time=start_time, rates=PRESETS["hostile"])
    assert by_truck(arrived) == by_truck([(record.truck_id, record.value) for record in islice(stream, sent - 4)])

    eventually(lambda: len(readers["trucks"].read()) == 4, timeout_s=20)
    named = [Truck.model_validate(json.loads(record.value)) for record in readers["trucks"].records]
    assert named == list(fleet.registry(trucks=4, seed=7))


def by_truck(records: list[tuple[str, bytes]]) -> dict[str, list[bytes]]:
    """Each truck's records in order."""
    found = defaultdict(list)
    for truck_id, value in records:
        found[truck_id].append(value)
    return found


def test_history_of_an_hour_is_sent_at_once_and_its_progress_told(
    kafka: Kafka, readers: dict[str, Reader], tmp_path: Path
) -> None:
    output, ledger = tmp_path / "simulator.out", tmp_path / "ledger.jsonl"
    flags = ["--bootstrap-servers", kafka.bootstrap_servers, "--trucks", "50", "--ledger", str(ledger)]
    with running(*flags, "--backfill", "1h", "--duration", "1h", output=output) as process:
        assert process.wait(timeout=120) == 0, output.read_text()
    told = output.read_text()
    assert "history: " in told
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert len(lines) == pytest.approx(50 * 180, rel=0.05)
    eventually(lambda: len(readers["trucks_gps"].read()) == len(lines), timeout_s=30)
    first, last = (pick(line["event_time"] for line in lines if line["classes"] == ["good"]) for pick in (min, max))
    assert 3500 < (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() < 3600
    assert datetime.fromisoformat(last) < datetime.now(UTC)


def test_a_recording_is_replayed_and_bad_rows_are_named(
    kafka: Kafka, readers: dict[str, Reader], tmp_path: Path
) -> None:
    recording, output = tmp_path / "trip.csv", tmp_path / "simulator.out"
    rows = [f"T{n % 3},2026-01-01T00:{n:02d}:00Z,{40 + n / 100},-87.5" for n in reversed(range(30))]
    recording.write_text("\n".join(["truck_id,event_time,lat,lon", *rows, "T1,2026-01-01T00:40:00Z,400,-87.5"]))
    flags = ["replay", str(recording), "--bootstrap-servers", kafka.bootstrap_servers, "--speed", "inf"]
    with running(*flags, output=output) as process:
        assert process.wait(timeout=60) == 0, output.read_text()
    assert f"{recording} line 32: lat: " in output.read_text()
    eventually(lambda: len(readers["trucks_gps"].read()) == 30, timeout_s=20)
    times = defaultdict(list)
    for record in readers["trucks_gps"].records:
        times[record.key].append(json.loads(record.value)["event_time"])
    assert len(times) == 3
    assert all(seen == sorted(seen) for seen in times.values())


def test_without_a_broker_it_says_so_in_one_sentence_and_fails(tmp_path: Path) -> None:
    output = tmp_path / "simulator.out"
    with running("--bootstrap-servers", "localhost:1", output=output) as process:
        assert process.wait(timeout=60) == 1
    assert output.read_text().startswith("No Kafka broker answers at localhost:1")
    assert len(output.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--interval-s", "0"], "interval_s=0: Input should be greater than 0"),
        (["--backfill", "soon"], "backfill=soon: a number and s, m, h or d, such as 24h, is expected"),
        (["replay", "no-such.csv"], "[Errno 2] No such file or directory: 'no-such.csv'"),
    ],
)
def test_what_makes_no_sense_is_named_in_one_sentence_and_nothing_starts(
    flags: list[str], sentence: str, tmp_path: Path
) -> None:
    output = tmp_path / "simulator.out"
    with running(*flags, output=output) as process:
        assert process.wait(timeout=60) == 1
    assert output.read_text() == f"{sentence}\n"


@contextmanager
def broker(folder: Path, java_home: Path, jars: JarStore, port: int | None = None) -> Iterator[Cluster]:
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    data, logs = folder / "data", folder / "logs"
    with Cluster(java_home=java_home, jars=jars.broker, data=data, logs=logs, first_port=port) as cluster:
        yield cluster


def test_a_broker_that_lacks_the_topics_is_told_and_one_that_is_killed_loses_and_doubles_nothing(
    java_home: Path, jars: JarStore, tmp_path: Path
) -> None:
    output, ledger = tmp_path / "simulator.out", tmp_path / "ledger.jsonl"
    with broker(tmp_path, java_home, jars) as first:
        port = first.nodes[0].port
        flags = ["--bootstrap-servers", first.bootstrap_servers, "--trucks", "300", "--interval-s", "1"]
        with running(*flags, output=output) as process:
            assert process.wait(timeout=60) == 1
        assert "has no topic trucks;" in output.read_text()
        make_topics(first.bootstrap_servers)
        process = start(*flags, "--ledger", str(ledger), "--preset", "hostile", output=output)
        try:
            eventually(lambda: ledger.stat().st_size > 0, timeout_s=60)
            kill_the_broker(tmp_path)
            eventually(lambda: "does not answer" in output.read_text(), timeout_s=30)
            with broker(tmp_path, java_home, jars, port) as second:
                before = len(output.read_text())
                eventually(lambda: "acknowledged, 0 failed\n" in output.read_text()[before:], timeout_s=90)
                process.send_signal(signal.SIGTERM)
                assert process.wait(timeout=60) == 0, output.read_text()
                topic = whole_topic(second.bootstrap_servers)
        finally:
            process.kill()
            process.wait()
    assert " 0 failed, 0 unanswered" in output.read_text().splitlines()[-1]
    must_be_told_by(ledger, topic)


def test_what_has_to_be_given_up_when_the_broker_is_away_is_counted_and_in_the_ledger(
    java_home: Path, jars: JarStore, tmp_path: Path
) -> None:
    output, ledger = tmp_path / "simulator.out", tmp_path / "ledger.jsonl"
    with broker(tmp_path, java_home, jars) as cluster:
        make_topics(cluster.bootstrap_servers)
        flags = ["--bootstrap-servers", cluster.bootstrap_servers, "--trucks", "300", "--interval-s", "1"]
        with running(*flags, "--ledger", str(ledger), output=output) as process:
            eventually(lambda: ledger.stat().st_size > 0, timeout_s=60)
            kill_the_broker(tmp_path)
            eventually(lambda: "does not answer" in output.read_text(), timeout_s=30)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == 1, output.read_text()
    told = re.search(r"stopped: (\d+) sent, (\d+) acknowledged, 0 failed, (\d+) unanswered", output.read_text())
    assert told is not None, output.read_text()
    sent, acknowledged, unanswered = map(int, told.groups())
    outcomes = Counter(json.loads(line)["outcome"] for line in ledger.read_text().splitlines())
    assert outcomes == {"acknowledged": acknowledged - 300, "unanswered": unanswered}
    assert sent == acknowledged + unanswered
    assert unanswered > 300


def kill_the_broker(folder: Path) -> None:
    """As a power cut would: no goodbye."""
    (broker_process,) = [each for each in psutil.Process().children() if f"{folder}/data" in " ".join(each.cmdline())]
    broker_process.kill()
    broker_process.wait(timeout=30)


def whole_topic(bootstrap_servers: str) -> dict[tuple[int, int], Any]:
    """Every record of `trucks_gps` by partition and offset."""
    make: Any = KafkaConsumer
    consumer = make(bootstrap_servers=bootstrap_servers, enable_auto_commit=False)
    partitions = [TopicPartition(TRUCKS_GPS.name, number) for number in range(TRUCKS_GPS.partitions)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    ends, found = consumer.end_offsets(partitions), {}
    while any(consumer.position(partition) < ends[partition] for partition in partitions):
        for records in consumer.poll(timeout_ms=1000).values():
            found.update({(record.partition, record.offset): record for record in records})
    consumer.close()
    return found


def value_of(line: dict[str, Any]) -> bytes:
    if "raw_base64" in line:
        return b64decode(line["raw_base64"])
    return json.dumps(line["fix"], separators=(",", ":")).encode()


def must_be_told_by(ledger: Path, topic: dict[tuple[int, int], Any]) -> None:
    """Every acknowledged fix is in the topic exactly once, where the ledger says, in the order of sending per truck."""
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    told = {(line["partition"], line["offset"]): line for line in lines if line["outcome"] == "acknowledged"}
    assert len(told) == len(lines) > 1000
    assert told.keys() == topic.keys(), "no record is missing, and none is there twice"
    for place, line in told.items():
        assert (topic[place].key.decode(), topic[place].value) == (line["truck_id"], value_of(line))
    newest: dict[str, int] = defaultdict(lambda: -1)
    for _, line in sorted(told.items()):
        if not {"duplicate", "out_of_order", "late"} & set(line["classes"]):
            assert line["seq"] > newest[line["truck_id"]]
            newest[line["truck_id"]] = line["seq"]
