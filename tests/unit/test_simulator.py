"""The simulated fleet: the same every time, on the roads, and stopping for reasons."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest

from schemas.models import Fix
from simulator import fleet
from simulator.fleet import Fleet, Positions
from simulator.geodesy import Places, distances_m, lengths_m
from simulator.legs import us_legs
from simulator.rates import PRESETS, Preset
from simulator.roads import GRAPH, NODES
from simulator.sites import us_map
from simulator.stream import Sent, Stream

START = datetime(2026, 1, 1, 15, tzinfo=UTC)
START_MS = round(START.timestamp() * 1000)
HOURS = 20


def some_records(
    count: int, *, trucks: int = 50, seed: int = 1, interval_s: float = 20, preset: Preset = "hostile"
) -> list[Sent]:
    stream = Stream(trucks=trucks, interval_s=interval_s, seed=seed, start_time=START, rates=PRESETS[preset])
    return list(itertools.islice(stream, count))


@pytest.fixture(scope="module")
def a_day() -> Positions:
    """Where 40 trucks truly are every 20 s: a row per truck, a column per report."""
    reports = Fleet(trucks=40, interval_s=20, seed=1, start_ms=START_MS).positions()
    seen = [positions for _, positions in itertools.islice(reports, HOURS * 180)]
    return Positions(**{name: np.stack([getattr(each, name) for each in seen], axis=1) for name in vars(seen[0])})


def test_two_runs_with_one_seed_are_equal_byte_for_byte() -> None:
    assert some_records(20_000) == some_records(20_000)


def test_another_seed_gives_other_trucks_on_other_roads() -> None:
    one, two = some_records(50, preset="calm"), some_records(50, seed=2, preset="calm")
    assert {record.truck_id for record in one} == {record.truck_id for record in two}
    assert sum(a.value == b.value for a, b in zip(one, two, strict=True)) == 0


def test_a_larger_fleet_has_the_same_trucks_and_more() -> None:
    small = some_records(1000, trucks=3)
    large = [
        record for record in some_records(200_000, trucks=1500) if record.truck_id in ("truck-00001", "truck-00002")
    ]
    last_ms = large[-1].send_ms
    assert len(large) > 150
    assert large == [r for r in small if r.truck_id in ("truck-00001", "truck-00002") and r.send_ms <= last_ms]


def test_the_registry_names_every_truck_that_drives_and_each_differently() -> None:
    trucks = list(fleet.registry(trucks=2500, seed=1))
    assert {truck.truck_id for truck in trucks} == {
        record.truck_id for record in some_records(2500, trucks=2500, preset="calm")
    }
    assert len({truck.name for truck in trucks}) == len({truck.plate for truck in trucks}) == 2500
    assert trucks[:50] == list(fleet.registry(trucks=50, seed=1))


def test_the_fixes_of_a_fleet_of_any_size_are_spread_evenly_over_the_interval() -> None:
    for trucks in (50, 777, 2000):
        records = some_records(trucks, trucks=trucks, preset="calm")
        in_a_second = Counter((record.send_ms - START_MS) // 1000 for record in records)
        assert set(in_a_second) == set(range(20))
        assert max(in_a_second.values()) - min(in_a_second.values()) <= 3


def test_a_calm_fleet_reports_every_interval_in_order_and_numbers_its_fixes() -> None:
    fixes = defaultdict(list)
    for record in some_records(5000, preset="calm"):
        assert record.classes == ("good",)
        fix = Fix.model_validate_json(record.value)
        assert fix.event_time is not None
        fixes[fix.truck_id].append((fix.seq, (fix.event_time - START).total_seconds()))
    for seen in fixes.values():
        first_s = seen[0][1]
        assert 0 <= first_s < 20
        assert [seq for seq, _ in seen] == list(range(100))
        assert [after_s for _, after_s in seen] == [pytest.approx(first_s + 20 * seq) for seq in range(100)]


def test_trucks_are_on_the_freeways_but_for_streets_and_rest_areas(a_day: Positions) -> None:
    moving = a_day.speed_kmh > 50
    lat, lon = a_day.lat[moving][::97], a_day.lon[moving][::97]
    edges = np.array([(a, b) for a, near in enumerate(GRAPH) for b in near if a < b])
    off_m = np.array([to_nearest_edge_m(edges, lat=y, lon=x) for y, x in zip(lat, lon, strict=True)])
    assert len(off_m) > 500
    assert np.percentile(off_m, 95) < 30
    assert off_m.max() < 2500


def to_nearest_edge_m(edges: np.ndarray[tuple[int, int], np.dtype[np.int64]], *, lat: float, lon: float) -> float:
    """On a flat map around the point."""
    scale = np.array([np.cos(np.radians(lat)), 1.0]) * 111_195
    start, end = ((np.column_stack([NODES.lon, NODES.lat])[edges[:, i]] - (lon, lat)) * scale for i in (0, 1))
    way = end - start
    share = np.clip(-(start * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1), 0, 1)
    return float(np.hypot(*(start + share[:, None] * way).T).min())


def test_speed_and_heading_are_those_of_the_way_driven(a_day: Positions) -> None:
    steady = np.abs(np.diff(a_day.speed_kmh, axis=1)) < 3
    same_road = np.abs(np.diff(a_day.heading_deg, axis=1)) < 1e-9
    driven = steady & same_road & (a_day.speed_kmh[:, 1:] > 60)
    for row in range(5):
        metres = lengths_m(Places(lat=a_day.lat[row], lon=a_day.lon[row]))[driven[row]]
        assert len(metres) > 100
        share = metres / 20 * 3.6 / a_day.speed_kmh[row, 1:][driven[row]]
        assert np.mean(np.abs(share - 1) < 0.04) > 0.99, "but for corners that were cut"


def test_trucks_cruise_at_80_to_105_and_speed_up_like_trucks(a_day: Positions) -> None:
    moving = a_day.speed_kmh[a_day.speed_kmh > 1]
    assert moving.max() < 115
    assert 80 < np.median(moving) < 105
    assert np.mean((moving > 75) & (moving < 108)) > 0.75
    assert np.diff(a_day.speed_kmh, axis=1).max() <= 28.1, "1.4 km/h in a second"


def test_trucks_stand_at_sites_and_rest_areas_for_minutes_or_a_night(a_day: Positions) -> None:
    sites = us_map().sites
    where = Places(lat=np.array([site.lat for site in sites]), lon=np.array([site.lon for site in sites]))
    at_sites: list[float] = []
    at_roads: list[float] = []
    for row in range(40):
        for start, end in stays(a_day.speed_kmh[row] == 0):
            near = distances_m(where, lat=a_day.lat[row, start], lon=a_day.lon[row, start]).min() < 150
            (at_sites if near else at_roads).append((end - start) / 3)
    assert len(at_sites) > 40
    assert len(at_roads) > 20
    assert min(at_sites) > 19
    assert min(at_roads) > 9
    assert sum(stay > 6.9 * 60 for stay in at_sites + at_roads) > 5, "a night's rest"


def stays(standing: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Iterator[tuple[int, int]]:
    """First and last report of each whole stay."""
    at = 0
    for still, run in itertools.groupby(standing):
        end = at + len(list(run))
        if still and at > 0 and end < len(standing):
            yield at, end
        at = end


def test_at_night_fewer_trucks_move_but_some_always_do() -> None:
    def moving(hour_utc: int) -> float:
        start_ms = round(datetime(2026, 1, 1, hour_utc, tzinfo=UTC).timestamp() * 1000)
        _, seen = next(iter(Fleet(trucks=400, interval_s=20, seed=1, start_ms=start_ms).positions()))
        return float(np.mean(seen.speed_kmh > 0))

    assert moving(18) > 0.6
    assert 0.2 < moving(8) < 0.5


def test_legs_are_the_shortest_ways_between_sites_of_one_depot() -> None:
    legs, sites = us_legs(), us_map()
    for depot, customers in zip(sites.depots, sites.customers, strict=True):
        assert len(customers) >= 3
        for a, b in itertools.permutations((depot.number, *customers), 2):
            out, back = legs.between[a, b], legs.between[b, a]
            assert legs.length_m[out] == pytest.approx(legs.length_m[back], rel=1e-6)
            beeline_m = distances_m(
                Places(lat=np.array([sites.sites[a].lat]), lon=np.array([sites.sites[a].lon])),
                lat=sites.sites[b].lat,
                lon=sites.sites[b].lon,
            )[0]
            assert 0.99 * beeline_m <= legs.length_m[out] <= 4 * beeline_m + 30_000
