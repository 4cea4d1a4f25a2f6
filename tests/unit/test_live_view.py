"""The columns of the live view: states, filters, tracks, windows, frames."""

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard_api import frames, select
from dashboard_api.answers import TRUCK_EXAMPLE, WINDOW_EXAMPLE, TruckAnswer
from dashboard_api.fleet import Fleet
from dashboard_api.hub import STATES_AT_ONCE
from dashboard_api.listening import Listener, Wanted
from dashboard_api.tracks import POSITIONS, Tracks
from dashboard_api.view import TrackView, View
from dashboard_api.windows import TRUCK_HISTORY
from schemas.models import TruckState, Window
from store.moments import as_ms
from tests.api import NOW, Api, Client
from tests.running import ROOT

NOW_MS = as_ms(NOW)
degrees = st.floats(-180, 180).map(lambda value: round(value, 6))


def state(truck_id: str = "t1", second: int = 0, **changes: Any) -> TruckState:
    moment = (NOW - timedelta(minutes=1) + timedelta(seconds=second)).isoformat()
    return TruckState.model_validate(TRUCK_EXAMPLE | {"truck_id": truck_id, "event_time": moment} | changes)


def test_a_truck_is_told_as_it_came() -> None:
    view = View()
    unknown: Any = dict.fromkeys(("seq", "accuracy_m", "speed_kmh", "heading_deg", "segment_m"))
    for each in (state("t1"), state("t2", **unknown, lat=-33.123456789, fences=["a", "b"], jump=True)):
        view.apply("trucks_state", each.truck_id, each.model_dump_json().encode())
        told = TruckAnswer.model_validate_json(view.truck(each.truck_id, NOW_MS) or b"")
        assert told.model_dump(include=set(TruckState.model_fields)) == each.model_dump()
        assert told.age_s == 60


@settings(max_examples=60, deadline=None)
@given(
    trucks=st.lists(st.tuples(degrees, degrees.map(lambda value: value / 2), st.sampled_from(["moving", "idle"]))),
    box=st.tuples(degrees, degrees.map(lambda value: value / 2), degrees, degrees.map(lambda value: value / 2)),
    status=st.sampled_from([None, "moving", "idle"]),
)
def test_a_box_holds_what_a_plain_comparison_says(trucks: Any, box: Any, status: Any) -> None:
    fleet = Fleet()
    west, south, east, north = box
    expected = []
    for number, (lon, lat, what) in enumerate(trucks):
        fleet.put(state(f"t{number:03}", lon=lon, lat=lat, status=what))
        across = lon >= west or lon <= east if west > east else west <= lon <= east
        if across and south <= lat <= north and status in (None, what):
            expected.append(f"t{number:03}")
    found = select.matching(fleet, select.Wanted(status=status, box=select.Box(*box)))
    assert [fleet.ids[slot] for slot in found] == expected


def test_a_search_keeps_nobody_waiting_and_leaves_out_a_truck_that_goes_meanwhile(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fleet(api, range(3))
    fleet, named = api.view.fleet, api.view.fleet.named

    def search(slots: Any, text: str) -> Any:
        found = named(slots, text)
        assert not api.view.lock.locked()
        fleet.remove("t0001")
        return found

    monkeypatch.setattr(fleet, "named", search)
    page = api.client().get("/api/trucks?q=T000").json()
    assert ([each["truck_id"] for each in page["items"]], page["total"]) == (["t0000", "t0002"], 2)


def test_the_nearest_come_first_with_their_distance() -> None:
    view = View()
    for number, lon in enumerate([4.0, 4.3, 5.0, -175.0]):
        view.apply("trucks_state", "", state(f"t{number}", lat=52.0, lon=lon).model_dump_json().encode())
    page, total = view.trucks(select.Wanted(), limit=2, offset=0, now_ms=NOW_MS, near=(52.0, 4.31))
    first, second = json.loads(b"[%b]" % page)
    assert (total, first["truck_id"], second["truck_id"]) == (4, "t1", "t0")
    assert first["distance_m"] == pytest.approx(685, abs=5)


def test_a_track_is_the_last_hour_in_order_and_bounded() -> None:
    tracks = Tracks()
    for number in range(400):
        tracks.put(5, event_s=1_000_000 + 20 * number, lat=number / 10, lon=-number / 10, speed_kmh=None)
    found = tracks.of(5, since_s=0)
    assert len(found.lat) == POSITIONS
    assert np.array_equal(found.event_s, np.arange(220, 400) * 20 + 1_000_000)
    assert np.array_equal(found.lat, np.arange(220, 400) / 10)
    assert len(tracks.of(5, since_s=1_000_000 + 20 * 390).lat) == 10
    assert len(tracks.of(4, since_s=0).lat) == 0
    assert len(tracks.of(5000, since_s=0).lat) == 0


def test_a_track_keeps_an_hour_of_a_truck_that_reports_every_second_and_forgets_what_is_older() -> None:
    tracks = Tracks()
    for second in range(3600):
        tracks.put(0, event_s=second, lat=1, lon=1, speed_kmh=50.4)
    found = tracks.of(0, since_s=0)
    assert (found.event_s[-1], found.event_s[0] < 240, found.speed_kmh[0]) == (3599, True, 50)
    tracks.put(0, event_s=10_000, lat=1, lon=1, speed_kmh=1)
    tracks.put(0, event_s=9_000, lat=1, lon=1, speed_kmh=1)
    assert tracks.of(0, since_s=0).event_s.tolist() == [10_000]


def test_the_track_is_told_as_geojson(api: Api) -> None:
    client, sink = api.client(), TrackView(api.view)
    api.view.apply("trucks_state", "t1", state().model_dump_json().encode())
    assert client.get("/api/trucks/t1/track").json()["geometry"] is None
    seconds = (-4000, -40, -20, -20)
    fixes = {
        "truck_id": ["t1"] * 4,
        "event_time_ms": [as_ms(NOW) + second * 1000 for second in seconds],
        "lat": [40.0, 41.0, 42.0, 50.0],
        "lon": [4.5] * 4,
        "speed_kmh": [80.2, None, 80.2, 80.2],
        "correction": [False, False, False, True],
    }
    sink.apply("trucks_judged", "shard/0", json.dumps(fixes).encode())
    track = client.get("/api/trucks/t1/track").json()
    assert track["geometry"] == {"type": "LineString", "coordinates": [[4.5, 41.0], [4.5, 42.0]]}
    assert track["properties"]["event_times"] == ["2026-03-02T14:05:20.000Z", "2026-03-02T14:05:40.000Z"]
    assert client.get("/api/trucks/nobody/track").status_code == 404
    for bad in (b"{", b"{}", json.dumps(fixes | {"lat": [1]}).encode()):
        with pytest.raises(ValueError):  # noqa: PT011  Any ValueError is what the feed skips.
            sink.apply("trucks_judged", "shard/0", bad)


def test_windows_of_trucks_come_back_as_they_were(api: Api) -> None:
    rest = {"scope": "truck", "truck_id": "t1", "active_trucks": None, "first_lat": 41.5, "first_lon": -87.25}
    length = {60: timedelta(minutes=1), 300: timedelta(minutes=5)}
    for length_s, each in length.items():
        for number in range(20):
            start = NOW + number * each
            times = {"window_start": start, "window_end": start + each, "length_s": length_s, "fixes": number}
            window = Window.model_validate(WINDOW_EXAMPLE | rest | times | {"speed_avg_kmh": None})
            api.view.apply(
                "trucks_windows", f"truck/t1/{length_s}/{start.isoformat()}", window.model_dump_json().encode()
            )
        found, total = api.view.windows(scope="truck", truck_id="t1", length_s=length_s, limit=1)
        assert (found[0], total) == (window, TRUCK_HISTORY[length_s])
        api.view.apply("trucks_windows", f"truck/t1/{length_s}/{start.isoformat()}", None)
        assert api.view.windows(scope="truck", truck_id="t1", length_s=length_s, limit=1)[1] == total - 1


def test_a_final_window_is_not_replaced_by_a_repeated_one(api: Api) -> None:
    rest = {"scope": "truck", "truck_id": "t1"}
    for fixes, final in ((3, True), (2, False)):
        for value in (WINDOW_EXAMPLE | rest, WINDOW_EXAMPLE):
            api.view.apply("trucks_windows", "k", json.dumps(value | {"fixes": fixes, "final": final}).encode())
    assert api.view.windows(scope="truck", truck_id="t1", length_s=60, limit=1)[0][0].fixes == 3
    assert api.view.windows(scope="fleet", truck_id=None, length_s=60, limit=1)[0][0].fixes == 3


def test_a_frame_holds_every_truck_in_12_bytes() -> None:
    fleet = Fleet()
    fleet.put(state("t1", lat=52.5, lon=-4.25, heading_deg=359, speed_kmh=300, status="idle"))
    fleet.put(state("t2", second=-900, heading_deg=None, speed_kmh=None))
    fleet.put(state("t3"))
    fleet.remove("t3")
    frame = frames.encode(fleet, now_ms=NOW_MS, sequence=7)
    assert len(frame) == 32 + 12 * 3
    assert struct.unpack("<4sHHIIQQ", frame[:32]) == (b"TGPS", 1, 0, 3, 0, NOW_MS, 7)
    lon, lat = np.frombuffer(frame[32:56], "<i4").reshape(2, 3)
    heading, speed, status, age = np.frombuffer(frame[56:], np.uint8).reshape(4, 3)
    assert (lon[0], lat[0], heading[0], speed[0], status[0], age[0]) == (-4_250_000, 52_500_000, 179, 254, 2, 60)
    assert (heading[1], speed[1], age[1], status[2]) == (255, 255, 255, 255)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("bbox=4,51,5,53", ["t1", "t3"]),
        ("bbox=170,-90,-170,90", ["t2"]),
        ("stale=true", ["t3"]),
        ("stale=false&status=idle", ["t2"]),
        ("fence=depot", ["t1"]),
        ("near=52,4&limit=2", ["t1", "t3"]),
        ("offset=2", ["t3"]),
        ("sort=oldest&limit=2", ["t3", "t1"]),
        ("sort=fastest", ["t3", "t1", "t2"]),
    ],
)
def test_trucks_are_found_by_place_age_and_fence(api: Api, query: str, expected: list[str]) -> None:
    for each in (
        state("t1", lat=52, lon=4.1, fences=["depot"], speed_kmh=50),
        state("t2", lat=1, lon=179.9, status="idle", speed_kmh=None),
        state("t3", lat=52.5, lon=4.2, second=-600),
    ):
        api.view.apply("trucks_state", "", each.model_dump_json().encode())
    client = api.client()
    page = client.get(f"/api/trucks?{query}").json()
    assert [each["truck_id"] for each in page["items"]] == expected
    features = client.get(f"/api/trucks?{query}", headers={"Accept": "application/geo+json"})
    assert [each["id"] for each in features.json()["features"]] == expected
    assert features.json() == client.get(f"/api/trucks?{query}&format=geojson").json()


@pytest.mark.parametrize(
    "query",
    [
        "bbox=1,2,3",
        "bbox=1,2,3,x",
        "near=1",
        "bbox=1,2,3,nan",
        "stale=perhaps",
        "limit=1001",
        "sort=x",
        f"limit=0&x={1000 * 'x'}",
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(api: Api, query: str) -> None:
    answer = api.client().get(f"/api/trucks?{query}")
    where = answer.json()["error"]["where"]
    assert (answer.status_code, where.split(".")[:2]) == (422, ["query", query.split("=", maxsplit=1)[0]])


def test_readiness_tells_how_far_the_topics_are_read(api: Api) -> None:
    client: Client = api.client(None)
    api.health.rebuilt, api.health.records_read, api.health.records_to_read = False, 250, 1000
    assert client.get("/readyz").json()["parts"]["view"]["why"] == "read 250 of 1,000 records (25 %)"
    api.health.rebuilt = True
    api.health.troubles["store"] = "OperationalError: database is locked"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["store"]["ready"]) == (503, False)


def test_a_truck_with_its_last_hour_takes_less_than_three_kilobytes() -> None:
    """In a process of its own; 100,000 trucks then fit into 300 MB, with 8 for what is remembered of any fleet."""
    code = "from benchmarks.api_server import memory_mb; print(memory_mb(20_480))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 20_480 * 0.0029 + 8


def put_fleet(api: Api, numbers: range, **changes: Any) -> None:
    for number in numbers:
        api.view.fleet.put(state(f"t{number:04}", **changes))


def told(listener: Listener) -> Iterator[dict[str, float]]:
    """What it is told until it has heard all, piece by piece: truck → latitude."""
    while listener.behind:
        yield {each["truck_id"]: each["lat"] for each in json.loads(listener.states() or b"[]")}


def test_who_was_away_is_told_of_each_truck_as_it_is_now_and_some_at_a_time(api: Api) -> None:
    put_fleet(api, range(2500), lat=1)
    with Listener(api.hub, Wanted(("states",)), seq=0) as listener:
        for _ in range(3):
            api.hub.take_stock()
        pieces = told(listener)
        assert next(pieces) == {f"t{number:04}": 1 for number in range(STATES_AT_ONCE)}
        put_fleet(api, range(2490, 2500), second=1, lat=2)
        put_fleet(api, range(10), second=1, lat=3)
        api.hub.take_stock()
        later: dict[str, float] = {}
        for piece in pieces:
            assert len(piece) <= STATES_AT_ONCE
            later |= piece
        assert later == {f"t{number:04}": 1 + (number >= 2490) for number in range(STATES_AT_ONCE, 2500)} | {
            f"t{number:04}": 3 for number in range(10)
        }
        api.hub.take_stock()
        assert list(told(listener)) == [{}]


def test_all_who_are_up_to_date_are_told_the_same_bytes(api: Api) -> None:
    with Listener(api.hub, Wanted(), seq=0) as first, Listener(api.hub, Wanted(), seq=0) as second:
        put_fleet(api, range(3))
        api.hub.take_stock()
        assert first.states() is second.states()
        put_fleet(api, range(1), second=1)
        api.hub.take_stock()
        assert list(told(first)) == list(told(second)) == [{"t0000": 41.8781}]


def test_a_client_hears_of_its_trucks_and_fences_alone(api: Api) -> None:
    put_fleet(api, range(4), fences=["yard"])
    put_fleet(api, range(4, 6))
    wanted = Wanted(truck_ids={"t0003", "t0005", "nobody"}), Wanted(fence_ids={"yard", "nowhere"})
    both = Wanted(truck_ids={"t0003", "t0005"}, fence_ids={"yard"})
    for each, numbers in zip((*wanted, both), ((3, 5), (0, 1, 2, 3), (3,)), strict=True):
        with Listener(api.hub, each, seq=0) as listener:
            put_fleet(api, range(4), second=1, fences=["yard"])
            put_fleet(api, range(4, 6), second=1)
            api.hub.take_stock()
            assert [sorted(piece) for piece in told(listener)] == [[f"t{number:04}" for number in numbers]]
