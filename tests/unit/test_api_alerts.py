"""Alerts, visits and silences over HTTP."""

import csv
import io
from datetime import timedelta

import pytest

from dashboard_api.access import Role
from dashboard_api.routes import alerts
from dashboard_api.routes.alerts import EXPORT_PAGE, AlertFilter, as_csv
from schemas.models import Alert, Visit
from store.intake import Batch, Place, take_in
from tests.api import NOW, Api, Client
from tests.unit.test_store import a_visit, an_alert

PLACE = Place("trucks_alerts", "id", 0)


def take(api: Api, *taken: Alert, visits: tuple[Visit, ...] = ()) -> None:
    take_in(api.store, Batch(taken, visits, began={}, ended={PLACE: 1}), api.now_ms())


@pytest.fixture
def client(api: Api) -> Client:
    return api.client(Role.DISPATCHER)


def ids(client: Client, query: str) -> list[str]:
    answer = client.get(f"/api/alerts?{query}")
    assert answer.status_code == 200, answer.text
    return [each["alert_id"] for each in answer.json()["items"]]


def test_alerts_are_filtered_sorted_and_paged(api: Api, client: Client) -> None:
    take(
        api,
        an_alert("a", severity="critical"),
        an_alert("b", minute=1, truck_id="t2", kind="overspeed", fence_id=None),
        an_alert("c", minute=2, status="cleared"),
    )
    assert ids(client, "") == ["c", "b", "a"]
    assert ids(client, "sort=severity&limit=1") == ["a"]
    assert ids(client, "sort=oldest&offset=1&limit=1") == ["b"]
    assert ids(client, "kind=overspeed&kind=idle") == ["b"]
    assert ids(client, "status=raised&severity=warning") == ["b"]
    assert ids(client, "truck_id=t1&fence_id=depot") == ["c", "a"]
    assert ids(client, "from_time=2026-03-02T14:06:00Z&to_time=2026-03-02T14:07:00Z") == ["b"]
    assert client.get("/api/alerts?kind=flying").json()["error"]["where"] == "query.kind.0"


def test_an_alert_is_told_with_its_explanation_revisions_and_acknowledgement(api: Api, client: Client) -> None:
    api.client().post("/api/fences", {"fence_id": "depot", "name": "The depot"} | CIRCLE)
    take(api, an_alert("a"))
    answer = client.post("/api/alerts/a/acknowledge", {"note": "called", "assignee": "bob"})
    take(api, an_alert("a", revision=1, status="cleared"))
    story = client.get("/api/alerts/a").json()
    assert answer.status_code == 200
    assert story["alert"]["explanation"] == {"distance_m": 12.5}
    assert (story["alert"]["status"], story["alert"]["assignee"]) == ("cleared", "bob")
    assert story["alert"]["fence_name"] == "The depot"
    assert story["alert"]["acknowledged_by"].startswith("a dispatcher (")
    assert [each["change"] for each in story["changes"]] == ["revision", "acknowledged", "revision"]
    assert ids(client, "acknowledged=false") == []
    assert client.post("/api/alerts/a/unacknowledge").json()["alert"]["acknowledged_by"] is None
    assert client.get("/api/alerts/nobody").status_code == 404
    assert client.post("/api/alerts/nobody/acknowledge", {}).status_code == 404


CIRCLE = {"kind": "circle", "geometry": {"type": "Point", "coordinates": [4.3, 52.1]}, "radius_m": 200}


def test_several_alerts_are_acknowledged_at_once(api: Api, client: Client) -> None:
    take(api, an_alert("a"), an_alert("b"), an_alert("c"))
    answer = client.post("/api/alerts/acknowledge", {"alert_ids": ["a", "b", "x"], "note": "seen"}).json()
    assert answer == {"acknowledged": 2, "missing": ["x"]}
    assert ids(client, "acknowledged=false") == ["c"]


def test_the_export_has_every_alert_and_no_formula(api: Api, client: Client) -> None:
    take(
        api,
        *(an_alert(f"a{n:04}", minute=n % 7) for n in range(1203)),
        an_alert("b", truck_id="=1+1"),
        an_alert("c", truck_id="\r=2"),
    )
    answer = client.get("/api/alerts?format=csv&limit=1")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert len({row["alert_id"] for row in rows}) == 1205
    assert {row["alert_id"]: row["truck_id"] for row in rows if len(row["alert_id"]) == 1} == {
        "b": "'=1+1",
        "c": "'\r=2",
    }
    assert client.get("/api/alerts?truck_id=t1", headers={"Accept": "text/csv"}).text.count("\r\n") == 1204


def test_an_export_has_no_alert_twice_though_new_ones_come_meanwhile(api: Api) -> None:
    take(api, *(an_alert(f"a{n:04}") for n in range(EXPORT_PAGE + 10)))
    lines = as_csv(api.parts, AlertFilter())
    first = [next(lines) for _ in range(3)]
    take(api, *(an_alert(f"b{n:04}", minute=1) for n in range(20)))
    rows = list(csv.DictReader(io.StringIO("".join([*first, *lines]))))
    assert [row["alert_id"] for row in rows] == [f"a{n:04}" for n in range(EXPORT_PAGE + 10)]


def test_an_export_that_cannot_have_all_is_refused(api: Api, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "MOST_EXPORTED", 2)
    take(api, an_alert("a"), an_alert("b"))
    assert client.get("/api/alerts?format=csv").text.count("\r\n") == 3
    take(api, an_alert("c", minute=5))
    refused = client.get("/api/alerts?format=csv")
    assert (refused.status_code, "from_time" in refused.json()["error"]["message"]) == (422, True)
    assert client.get("/api/alerts?format=csv&to_time=2026-03-02T14:06:00Z").status_code == 200


def test_visits_are_listed_by_truck_and_fence(api: Api, client: Client) -> None:
    take(api, visits=(a_visit("v"), a_visit("w", status="closed"), a_visit("x", status="retracted")))
    assert client.get("/api/visits").json()["total"] == 2
    assert client.get("/api/visits?status=open&fence_id=depot").json()["items"][0]["visit_id"] == "v"
    assert client.get("/api/trucks/t1/visits").json()["total"] == 2
    assert client.get("/api/trucks/t2/visits").json()["total"] == 0


def test_a_silence_says_who_until_when_and_why(api: Api, client: Client) -> None:
    take(api, an_alert("a"))
    draft = {"truck_id": "t1", "until_time": (NOW + timedelta(hours=1)).isoformat(), "why": "workshop"}
    made = client.post("/api/silences", draft).json()
    assert (made["why"], made["until_time"], made["who"][:12]) == (
        "workshop",
        "2026-03-02T15:06:00.000Z",
        "a dispatcher",
    )
    assert client.get("/api/alerts").json()["items"][0]["silenced"] is True
    assert client.request("DELETE", f"/api/silences/{made['silence_id']}").status_code == 204
    assert client.request("DELETE", f"/api/silences/{made['silence_id']}").status_code == 404
    assert client.get("/api/alerts").json()["items"][0]["silenced"] is False
    assert (client.get("/api/silences").json()["total"], client.get("/api/silences?active=false").json()["total"]) == (
        0,
        1,
    )
    assert client.post("/api/silences", draft | {"until_time": NOW.isoformat()}).status_code == 422


def test_the_numbers_over_all_are_told(api: Api, client: Client) -> None:
    take(api, an_alert("a"), an_alert("b", status="cleared"), an_alert("c", kind="idle"))
    client.post("/api/alerts/c/acknowledge", {})
    stats = client.get("/api/stats").json()
    assert stats["open_alerts"] == {"geofence_enter": 1, "idle": 1}
    assert (stats["not_acknowledged"], stats["alerts_per_hour"]) == (1, {"2026-03-02T14:00:00.000Z": 3})
