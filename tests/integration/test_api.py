"""The dashboard's API as a process, against a real broker."""

import signal
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.ports import free_ports
from local_stack.topics import make_topics
from schemas.topics import TOPICS
from tests.browser.dashboard import Dashboard, Publisher, now, reject, state, this_minute, window
from tests.conftest import Kafka
from tests.eventually import eventually


@pytest.fixture
def topics(kafka: Kafka) -> str:
    """The broker's address, with every topic there."""
    kafka.make_topics(*TOPICS)
    return kafka.bootstrap_servers


def new_truck() -> str:
    return f"api-{uuid4().hex[:12]}"


def lat(dashboard: Dashboard, truck_id: str) -> float | None:
    answer = dashboard.get(f"/api/trucks/{truck_id}")
    return answer.json()["lat"] if answer.status_code == 200 else None


def test_a_published_state_appears_and_survives_a_restart(topics: str, tmp_path: Path) -> None:
    truck_id = new_truck()
    with Publisher(topics) as publisher, Dashboard(topics, tmp_path / "first.log") as dashboard:
        dashboard.wait_until_ready()
        publisher.put("trucks", truck_id, {"truck_id": truck_id, "name": "Wind", "plate": "IL 1", "driver": "Ana"})
        publisher.put("trucks_state", truck_id, state(truck_id, now(), lat=41.5))
        publisher.flush()
        found = eventually(lambda: dashboard.get(f"/api/trucks?q={truck_id}").json()["items"])
        assert (found[0]["truck_id"], found[0]["lat"], found[0]["age_s"] < 60) == (truck_id, 41.5, True)
        eventually(lambda: dashboard.get(f"/api/trucks/{truck_id}").json()["driver"] == "Ana")
    with Dashboard(topics, tmp_path / "second.log") as dashboard:
        dashboard.wait_until_ready()
        # Ready means rebuilt: the first question after it is answered in full.
        assert dashboard.get(f"/api/trucks/{truck_id}").json()["driver"] == "Ana"


def test_an_older_state_does_not_overwrite_a_newer_one(topics: str, tmp_path: Path) -> None:
    truck_id, moment = new_truck(), now()
    with Publisher(topics) as publisher, Dashboard(topics, tmp_path / "log") as dashboard:
        dashboard.wait_until_ready()
        skipped = dashboard.output.count("skipped a bad record")
        publisher.put("trucks_state", truck_id, state(truck_id, moment, lat=40.0))
        publisher.put("trucks_state", truck_id, state(truck_id, moment - timedelta(seconds=5), lat=30.0))
        # One key is one partition: once this one is skipped, the older state before it has been read.
        publisher.put("trucks_state", truck_id, b"{nonsense")
        publisher.flush()
        eventually(lambda: dashboard.output.count("skipped a bad record") > skipped)
        assert lat(dashboard, truck_id) == 40.0


def test_a_bad_record_is_named_in_the_log_and_the_next_is_read(topics: str, tmp_path: Path) -> None:
    truck_id = new_truck()
    with Publisher(topics) as publisher, Dashboard(topics, tmp_path / "log") as dashboard:
        dashboard.wait_until_ready()
        publisher.put("trucks_state", truck_id, b"{nonsense")
        publisher.put("trucks_state", truck_id, state(truck_id, now()))
        publisher.flush()
        eventually(lambda: lat(dashboard, truck_id))
        assert "skipped a bad record: topic trucks_state partition" in dashboard.output


def test_windows_and_rejects_are_served_newest_first(topics: str, tmp_path: Path) -> None:
    truck_id, minute = new_truck(), this_minute()
    with Publisher(topics) as publisher, Dashboard(topics, tmp_path / "log") as dashboard:
        for minutes in (3, 1, 2):
            publisher.put("trucks_windows", *window(minute - timedelta(minutes=minutes), truck_id, fixes=minutes))
        publisher.put("trucks_rejects", truck_id, reject(1, now(), truck_id=truck_id, topic=truck_id))
        publisher.flush()
        dashboard.wait_until_ready()
        eventually(lambda: dashboard.get(f"/api/windows?truck_id={truck_id}").json()["total"] == 3)
        found = dashboard.get(f"/api/windows?truck_id={truck_id}").json()
        assert [each["fixes"] for each in found["items"]] == [1, 2, 3]
        eventually(lambda: dashboard.get("/api/rejects").json()["items"][0]["truck_id"] == truck_id)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_says_that_the_broker_is_away_and_stops_with_exit_code_0(tmp_path: Path, how: signal.Signals) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    with Dashboard(nobody, tmp_path / "log") as dashboard:
        eventually(lambda: dashboard.get("/healthz").status_code == 200)
        answer = eventually(lambda: "refused" in dashboard.get("/readyz").text and dashboard.get("/readyz"))
        assert isinstance(answer, httpx.Response)
        assert answer.status_code == 503
        assert answer.json()["parts"]["kafka"]["ready"] is False
        assert f"no connection to Kafka at {nobody}" in dashboard.output
        assert dashboard.stop(how) == 0


def test_it_says_when_the_broker_goes_and_goes_on_when_it_is_back(
    java_home: Path, jars: JarStore, tmp_path: Path
) -> None:
    truck_id, port = new_truck(), free_ports(1)[0]
    places = {"java_home": java_home, "jars": jars.broker, "data": tmp_path / "data", "logs": tmp_path / "logs"}
    with Cluster(**places, first_port=port) as cluster:  # type: ignore[arg-type]
        servers = cluster.bootstrap_servers
        make_topics(servers)
        dashboard = Dashboard(servers, tmp_path / "log")
        dashboard.wait_until_ready()
    with dashboard:
        eventually(lambda: dashboard.get("/readyz").status_code == 503)
        assert dashboard.get("/api/trucks").status_code == 200
        with Cluster(**places, first_port=port) as cluster:  # type: ignore[arg-type]
            assert cluster.bootstrap_servers == servers
            dashboard.wait_until_ready()
            with Publisher(servers) as publisher:
                publisher.put("trucks_state", truck_id, state(truck_id, now()))
                publisher.flush()
            eventually(lambda: lat(dashboard, truck_id))
