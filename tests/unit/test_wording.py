"""What a dispatcher reads: what, who, where, when, how long, and a link to the map."""

from datetime import timedelta
from typing import Any

import pytest

from notifier.wording import about, notice
from schemas.models import Alert, AlertKind, Fence, Truck
from tests.unit.test_store import NOW, a_fence, an_alert

TRUCK = Truck(truck_id="t1", name="Prairie Wind", plate="IL 482", driver="Ana Flores")
LINK = "http://map/#truck=t1&alert=a&at=41.50000,-87.25000,12"
BEGAN = (NOW - timedelta(minutes=25)).isoformat()
# As the judge explains them.
WHY: dict[AlertKind, dict[str, Any]] = {
    AlertKind.GEOFENCE_ENTER: {"fence_name": "Depot", "boundary_m": -12.0},
    AlertKind.GEOFENCE_EXIT: {"fence_name": "Depot", "entered_time": BEGAN, "visit_s": 1500},
    AlertKind.GEOFENCE_CROSSED: {"fence_name": "Depot", "inferred": True},
    AlertKind.GEOFENCE_DWELL: {"fence_name": "Depot", "entered_time": BEGAN, "dwell_s": 1500},
    AlertKind.OVERSPEED: {"fence_name": "Depot", "speed_kmh": 121.34, "limit_kmh": 80.0},
    AlertKind.IDLE: {"standing_since_time": BEGAN, "idle_s": 1500},
    AlertKind.SILENT: {"last_record_time": BEGAN, "silent_s": 1500},
    AlertKind.FEED_SILENT: {"last_record_time": BEGAN, "feed_silent_s": 1500},
}
FENCED = [kind for kind, why in WHY.items() if "fence_name" in why]


def alert_of(kind: AlertKind, **changes: Any) -> Alert:
    fence_id = "depot" if kind in FENCED else None
    whole = {"truck_id": None, "lat": None, "lon": None} if kind == AlertKind.FEED_SILENT else {}
    return an_alert(kind=kind, **{"fence_id": fence_id, "explanation": WHY[kind], **whole, **changes})


def told(alert: Alert, what: str = "", fence: Fence | None = None) -> tuple[str, list[str]]:
    truck = TRUCK if alert.truck_id == "t1" else None
    shown = notice(what or alert.status, [(alert, about(alert, fence, truck))], "http://map")
    return shown.title, shown.text.splitlines()


@pytest.mark.parametrize("status", ["raised", "cleared", "retracted"])
@pytest.mark.parametrize("kind", [each for each in AlertKind if each != AlertKind.FEED_SILENT])
def test_every_message_of_a_truck_says_who_where_when_and_leads_to_the_map(kind: AlertKind, status: str) -> None:
    end = NOW + timedelta(minutes=50) if status == "cleared" else None
    title, lines = told(alert_of(kind, status=status, end_time=end))
    assert "Prairie Wind" in title
    assert ("Depot" in title) == (kind in FENCED and kind != AlertKind.OVERSPEED)
    assert lines[0] == "Truck: Prairie Wind · t1 · IL 482, driven by Ana Flores"
    where = "Where: Depot, " if kind in FENCED else "Where: "
    assert f"{where}4 km S of Hobart, 41.50000, -87.25000" in lines
    assert "When: Mon 02 Mar 2026 08:05 CST" in lines
    assert lines[-1] == LINK


@pytest.mark.parametrize(
    ("kind", "title", "lasted"),
    [
        (AlertKind.GEOFENCE_ENTER, "entered Depot", None),
        (AlertKind.GEOFENCE_EXIT, "left Depot", "25 min"),
        (AlertKind.GEOFENCE_CROSSED, "drove through Depot", None),
        (AlertKind.GEOFENCE_DWELL, "stays in Depot", "25 min"),
        (AlertKind.OVERSPEED, "drives too fast", None),
        (AlertKind.IDLE, "stands idle", "25 min"),
        (AlertKind.SILENT, "sends no position", "25 min"),
    ],
)
def test_a_message_says_what_happens_and_how_long_already(kind: AlertKind, title: str, lasted: str | None) -> None:
    said, lines = told(alert_of(kind))
    assert said == f"Warning: Prairie Wind {title}"
    assert [each for each in lines if each.startswith("How long")] == ([f"How long: {lasted}"] if lasted else [])


@pytest.mark.parametrize(
    ("kind", "title", "lasted"),
    [
        (AlertKind.GEOFENCE_DWELL, "stayed in Depot and has left", "1 h 15 min"),
        (AlertKind.OVERSPEED, "drove too fast, and no longer does", "50 min"),
        (AlertKind.IDLE, "stood idle, and moves again", "1 h 15 min"),
        (AlertKind.SILENT, "sends its position again", "1 h 15 min"),
    ],
)
def test_a_message_of_the_end_says_how_long_it_was(kind: AlertKind, title: str, lasted: str) -> None:
    said, lines = told(alert_of(kind, status="cleared", end_time=NOW + timedelta(minutes=50)))
    assert (said, f"How long: {lasted}" in lines) == (f"Prairie Wind {title}", True)


def test_what_was_wrong_is_taken_back_and_what_goes_on_is_still_so() -> None:
    assert told(alert_of(AlertKind.IDLE, status="retracted"))[0] == "Taken back: Prairie Wind stands idle"
    assert told(alert_of(AlertKind.IDLE), what="repeat")[0] == "Warning: Still: Prairie Wind stands idle"
    assert told(alert_of(AlertKind.IDLE, severity="critical"))[0] == "CRITICAL: Prairie Wind stands idle"


def test_too_fast_says_how_fast() -> None:
    assert "Speed: 121 km/h where 80 are allowed" in told(alert_of(AlertKind.OVERSPEED))[1]


def test_a_silent_feed_is_told_of_without_a_truck_or_a_place() -> None:
    title, lines = told(alert_of(AlertKind.FEED_SILENT))
    assert title == "Warning: no truck sends its position"
    assert lines == ["When: Mon 02 Mar 2026 14:05 UTC", "How long: 25 min", "http://map/#alert=a"]


def test_the_clock_of_a_fence_with_hours_counts_and_its_name_of_today() -> None:
    schedule = {"days": ["mon"], "start": "06:00", "end": "18:00", "zone": "Europe/Amsterdam"}
    title, lines = told(alert_of(AlertKind.GEOFENCE_ENTER), fence=a_fence(name="North yard", schedule=schedule))
    assert ("North yard" in title, "When: Mon 02 Mar 2026 15:05 CET" in lines) == (True, True)


def test_a_truck_that_nobody_has_named_goes_by_its_id() -> None:
    title, lines = told(alert_of(AlertKind.IDLE, truck_id="truck-0007"))
    assert (title, lines[0]) == ("Warning: truck-0007 stands idle", "Truck: truck-0007")


def test_a_group_says_how_many_and_names_each_with_its_place_time_and_length() -> None:
    alerts = [alert_of(AlertKind.IDLE, alert_id=name) for name in "ab"]
    found = [(each, about(each, None, TRUCK)) for each in alerts]
    shown = notice("raised", found, "http://map")
    line = "- Warning: Prairie Wind stands idle, 4 km S of Hobart, Mon 02 Mar 2026 08:05 CST, 25 min"
    assert (shown.title, shown.text.splitlines()) == ("2 alerts: stands idle", [line, line, "http://map/#panel=alerts"])
    other = alert_of(AlertKind.GEOFENCE_ENTER, alert_id="c")
    assert notice("raised", [*found, (other, {})], "http://map").title == "3 alerts"
    many = notice("raised", found * 15, "http://map").text.splitlines()
    assert (len(many), many[-2]) == (22, "and 10 more")
