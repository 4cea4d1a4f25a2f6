"""A fence drawn on the page, judged by the real Spark job, seen on the same page."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard import ROOT, Dashboard, Publisher, now
from tests.browser.test_fence_editor import draw, name_and_save
from tests.eventually import eventually

LAT, LON = 47.5, -95.0
METRES_A_DEGREE = 111_200
# A tick of the drive, and how far it leads: 90 km/h.
TICK_S, STEP_M = 0.5, 12.5
WARM_S = 6.0


class Drive:
    """Trucks on one meridian, in metres north of a place; each goes to where it is sent and reports at every tick."""

    def __init__(self, publisher: Publisher, **trucks_m: float) -> None:
        self.at_m, self.to_m = dict(trucks_m), dict(trucks_m)
        self._publisher = publisher
        self._ended = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Drive":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._ended.wait(TICK_S):
            for truck_id, at_m in self.at_m.items():
                way_m = self.to_m[truck_id] - at_m
                self.at_m[truck_id] = at_m + max(-STEP_M, min(STEP_M, way_m))
                fix = {
                    "truck_id": truck_id,
                    "event_time": now().isoformat(),
                    "lon": LON,
                    "speed_kmh": 90.0 if way_m else 0.0,
                }
                self._publisher.put("trucks_gps", truck_id, fix | {"lat": LAT + self.at_m[truck_id] / METRES_A_DEGREE})


@pytest.fixture
def spark_job(own_kafka: str, java_home: Path, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    env = {
        **os.environ,
        "JAVA_HOME": str(java_home),
        "STREAMING_BOOTSTRAP_SERVERS": own_kafka,
        "STREAMING_CHECKPOINT_DIR": str(tmp_path / "checkpoints"),
    }
    with (tmp_path / "streaming.log").open("wb") as log:
        job = subprocess.Popen([sys.executable, "-m", "streaming"], cwd=ROOT, env=env, stdout=log, stderr=log)
    try:
        yield job
    finally:
        job.terminate()
        job.wait(timeout=60)


def age_s(dashboard: Dashboard, truck_id: str) -> float:
    answer: dict[str, Any] = dashboard.get(f"/api/trucks/{truck_id}").json()
    return float(answer.get("age_s", 1e9))


def is_warm(dashboard: Dashboard) -> Callable[[], bool]:
    """Whether the job has its first, slow batches behind it: the newest fix was young, several times in a row."""
    ages: list[float] = []

    def warm() -> bool:
        ages.append(age_s(dashboard, "inside"))
        return max(ages[-20:]) < WARM_S and len(ages) > 20

    return warm


def alert_of(page: Page, truck_id: str, words: str) -> Locator:
    return page.get_by_test_id("alert").filter(has_text=words).filter(has_text=truck_id)


def test_a_drawn_fence_shows_who_is_inside_and_alerts_from_then_on(
    open_page: OpenPage, publisher: Publisher, dashboard: Dashboard, spark_job: "subprocess.Popen[bytes]"
) -> None:
    with Drive(publisher, inside=0, leaving=50, coming=-500) as drive:
        eventually(is_warm(dashboard), timeout_s=240)
        assert spark_job.poll() is None
        page = open_page(f"#at={LAT},{LON},15&panel=fences")
        draw(page, "polygon", (-80, -80), (80, -80), (80, 80), (-80, 80))
        name_and_save(page, "Gate")
        expect(page.get_by_test_id("fence-inside")).to_have_text("2 trucks inside now", timeout=10_000)

        drive.to_m |= {"leaving": 500, "coming": 0}
        page.get_by_test_id("fence-back").click()
        page.get_by_test_id("tab-alerts").click()
        expect(alert_of(page, "coming", "Entered Gate")).to_be_visible(timeout=60_000)
        expect(alert_of(page, "leaving", "Left Gate")).to_be_visible(timeout=60_000)
        expect(alert_of(page, "inside", "Gate")).to_have_count(0)
