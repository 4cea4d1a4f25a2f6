"""Fences over HTTP: versions, refusals, import and export."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dashboard_api.answers import TRUCK_EXAMPLE
from dashboard_api.drafts import FENCE_DRAFT_EXAMPLE, FenceDraft
from schemas.fences import read_fence
from schemas.models import Fence
from store import fences
from tests.api import NOW, Api, Client, made

SQUARE = [[4.0, 52.0], [5.0, 52.0], [5.0, 53.0], [4.0, 53.0], [4.0, 52.0]]
CIRCLE = FENCE_DRAFT_EXAMPLE
KML = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Placemark id="yard"><name>Yard</name><ExtendedData><Data name="speed_limit_kmh"><value>30</value></Data></ExtendedData>
<Polygon><outerBoundaryIs><LinearRing><coordinates>4,52,0 5,52,0 5,53,0 4,53,0 4,52,0</coordinates></LinearRing>
</outerBoundaryIs></Polygon></Placemark>
<Placemark><name>Route</name><ExtendedData><Data name="width_m"><value>500</value></Data></ExtendedData>
<LineString><coordinates>4,52 5,53</coordinates></LineString></Placemark>
</Document></kml>"""

DEEP_KML = KML.replace("<value>30<", f"<value>{'[' * 100_000}<").encode()


@pytest.fixture
def client(api: Api) -> Client:
    return api.client()


def put(client: Client, fence: dict[str, Any], version: int | str | None) -> Any:
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    return client.request("PUT", f"/api/fences/{fence['fence_id']}", json=fence, headers=headers)


def outbox(api: Api) -> list[Fence]:
    seen: list[Fence] = []

    def look(waiting: Any) -> int:
        seen.extend(read_fence(value) for _, value in waiting)
        return 0

    fences.publish(api.store, look, api.now_ms)
    return seen


def test_a_fence_is_made_read_changed_and_ended_and_its_versions_stay(api: Api, client: Client) -> None:
    made = client.post("/api/fences", CIRCLE)
    assert (made.status_code, made.headers["ETag"], made.headers["Location"]) == (
        201,
        '"1"',
        "/api/fences/depot-chicago",
    )
    assert made.json()["effective_from"] == "2026-03-02T14:06:00.000Z"
    # What was read can be sent back; that its moment has passed does not put the change into the past.
    api.now = NOW.replace(hour=15)
    changed = put(client, made.json() | {"name": "Yard"}, 1)
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert changed.json()["effective_from"] == "2026-03-02T15:06:00.000Z"
    ended = client.request("DELETE", "/api/fences/depot-chicago", headers={"If-Match": '"2"'})
    assert (ended.json()["version"], ended.json()["deleted"]) == (3, True)
    assert client.get("/api/fences/depot-chicago").status_code == 404
    assert client.get("/api/fences/depot-chicago?version=1").json()["name"] == "Depot Chicago"
    history = client.get("/api/fences/depot-chicago/versions").json()["items"]
    assert [(each["fence"]["version"], each["who"]) for each in history] == [(v, "admin (file)") for v in (3, 2, 1)]
    second = client.get("/api/fences/depot-chicago/versions?limit=1&offset=1").json()
    assert (second["total"], [each["fence"]["version"] for each in second["items"]]) == (3, [2])
    assert client.post("/api/fences", CIRCLE).json()["version"] == 4
    assert [(each.version, each.deleted) for each in outbox(api)] == [(1, False), (2, False), (3, True), (4, False)]


def test_a_change_needs_the_version_that_was_seen(client: Client) -> None:
    client.post("/api/fences", CIRCLE)
    assert put(client, CIRCLE, None).status_code == 428
    assert put(client, CIRCLE, 1).status_code == 200
    refused = put(client, CIRCLE, 1)
    assert (refused.status_code, "version 2" in refused.json()["error"]["message"]) == (412, True)
    assert put(client, CIRCLE | {"fence_id": "nobody"}, 1).status_code == 404
    assert client.post("/api/fences", CIRCLE).status_code == 409


def test_of_many_who_change_a_fence_at_once_one_is_taken_and_the_others_are_told(
    tmp_path: Path, store_url: str
) -> None:
    with made(tmp_path, store_url=store_url) as api, ThreadPoolExecutor(8) as people:
        client = api.client()
        assert sorted(people.map(lambda _: client.post("/api/fences", CIRCLE).status_code, range(8))) == [
            201,
            *[409] * 7,
        ]
        assert sorted(people.map(lambda _: put(client, CIRCLE, 1).status_code, range(8))) == [200, *[412] * 7]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"radius_m": -5}, "body.radius_m"),
        ({"radius_m": None}, "body.radius_m"),
        ({"colour": 5}, "body.colour"),
        ({"speeds": 5}, "body.speeds"),
        ({"fence_id": "a/b"}, "body.fence_id"),
        ({"geometry": {"type": "Point", "coordinates": [4.3, 95]}}, "body.geometry.coordinates"),
        (
            {
                "kind": "polygon",
                "radius_m": None,
                "geometry": {"type": "Polygon", "coordinates": [[*SQUARE[:-2], [9, 99]]]},
            },
            "body.geometry.coordinates[0][3]",
        ),
    ],
)
def test_a_refusal_names_the_fault_and_its_place(api: Api, client: Client, change: dict[str, Any], where: str) -> None:
    refused = client.post("/api/fences", CIRCLE | change)
    assert (refused.status_code, refused.json()["error"]["where"]) == (422, where)
    assert outbox(api) == []


def test_what_is_exported_can_be_imported(api: Api, client: Client) -> None:
    corridor = {"type": "LineString", "coordinates": [[4, 52], [5, 53]]}
    client.post("/api/fences", CIRCLE)
    client.post(
        "/api/fences", {"fence_id": "r", "name": "Route", "kind": "corridor", "geometry": corridor, "width_m": 9}
    )
    exported = client.get("/api/fences", headers={"Accept": "application/geo+json"})
    assert exported.headers["Content-Type"] == "application/geo+json"
    assert client.get("/api/fences?format=geojson").json() == exported.json()
    again = client.post("/api/fences/import?existing=update", exported.json()).json()
    assert again == {"created": [], "updated": ["depot-chicago", "r"], "skipped": [], "ignored": []}
    first, second = (client.get(f"/api/fences/r?version={number}").json() for number in (1, 2))
    assert {name: first[name] for name in first if name != "version"} == {
        name: second[name] for name in second if name != "version"
    }
    assert client.post("/api/fences/import?existing=skip", exported.json()).json()["skipped"] == ["depot-chicago", "r"]


def test_an_export_has_every_fence(client: Client) -> None:
    assert client.get("/api/fences?format=geojson").json() == {"type": "FeatureCollection", "features": []}
    square = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [SQUARE]}, "properties": {}}
    client.post("/api/fences/import", {"type": "FeatureCollection", "features": [square] * 120})
    assert len(client.get("/api/fences?format=geojson").json()["features"]) == 120
    assert len(client.get("/api/fences?format=geojson&limit=7").json()["features"]) == 7
    assert len(client.get("/api/fences").json()["items"]) == 100


def test_an_import_is_taken_as_a_whole_or_not_at_all(api: Api, client: Client) -> None:
    good = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [SQUARE]}, "properties": {"fill": "red"}}
    bad = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [SQUARE[:3]]}, "properties": {}}
    refused = client.post("/api/fences/import", {"type": "FeatureCollection", "features": [good, bad]})
    assert refused.json()["error"]["where"] == "body.features[1].geometry.coordinates[0]"
    assert outbox(api) == []
    taken = client.post("/api/fences/import", {"type": "FeatureCollection", "features": [good, good]}).json()
    assert (len(taken["created"]), taken["ignored"]) == (2, ["fill"])
    assert client.post("/api/fences/import", {"type": "Polygon"}).json()["error"]["where"] == "body.type"


def test_kml_is_taken(client: Client) -> None:
    headers = {"Content-Type": "application/vnd.google-earth.kml+xml"}
    taken = client.request("POST", "/api/fences/import", content=KML.encode(), headers=headers)
    assert taken.status_code == 200, taken.text
    found = client.get("/api/fences").json()["items"]
    assert {(each["name"], each["kind"], each["speed_limit_kmh"], each["width_m"]) for each in found} == {
        ("Yard", "polygon", 30.0, None),
        ("Route", "corridor", None, 500.0),
    }


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'<!DOCTYPE a [<!ENTITY b "c">]><kml>&b;</kml>', "application/vnd.google-earth.kml+xml", 422),
        (b"<kml", "application/vnd.google-earth.kml+xml", 422),
        (DEEP_KML, "application/vnd.google-earth.kml+xml", 422),
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"{}", "text/plain", 415),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(client: Client, content: bytes, kind: str, status: int) -> None:
    answer = client.request("POST", "/api/fences/import", content=content, headers={"Content-Type": kind})
    assert (answer.status_code, bool(answer.json()["error"]["message"])) == (status, True)


def test_a_draft_has_every_field_that_a_fence_has() -> None:
    assert set(FenceDraft.model_fields) == set(Fence.model_fields)


def test_fences_are_searched_and_counted_with_the_trucks_inside(api: Api, client: Client) -> None:
    client.post("/api/fences", CIRCLE)
    client.post("/api/fences", CIRCLE | {"fence_id": "other", "name": "100 % other_one"})
    state = json.dumps(TRUCK_EXAMPLE | {"fences": ["depot-chicago"]}).encode()
    api.view.apply("trucks_state", "truck-0007", state)
    page = client.get("/api/fences?q=DEPOT").json()
    assert (page["total"], page["inside"]) == (1, {"depot-chicago": 1})
    assert client.get("/api/fences", params={"q": "% other_"}).json()["total"] == 1
    assert client.get("/api/trucks?fence=depot-chicago").json()["total"] == 1
