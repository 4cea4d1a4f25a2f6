"""The simulated fleet: the same every time, on the road at once, and honest about what Kafka took."""

import functools
import itertools
import json
import threading
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from schemas.models import Fix
from schemas.topics import TRUCKS_GPS
from simulator import fleet
from simulator.cities import is_contiguous, us_cities
from simulator.drive import as_json, drive, summary
from simulator.geodesy import Position, bearing_deg, distance_m, moved
from simulator.publish import Outbox, Tally

START = datetime(2026, 1, 1, tzinfo=UTC)
CHICAGO = Position(lat=41.8781, lon=-87.6298)


def some_fixes(count: int, *, trucks: int = 5, interval_s: float = 20, seed: int = 1) -> list[Fix]:
    return list(itertools.islice(fleet.fixes(trucks=trucks, interval_s=interval_s, seed=seed, start_time=START), count))


def by_truck(fixes: list[Fix]) -> dict[str, list[Fix]]:
    grouped = defaultdict(list)
    for fix in fixes:
        grouped[fix.truck_id].append(fix)
    return grouped


@pytest.fixture(scope="module")
def six_hours() -> dict[str, list[Fix]]:
    return by_truck(some_fixes(10 * 360, trucks=10, interval_s=60))


def test_the_same_seed_gives_the_same_fixes() -> None:
    assert some_fixes(50) == some_fixes(50)


def test_another_seed_gives_other_fixes() -> None:
    one, two = some_fixes(5), some_fixes(5, seed=2)
    # Not only the cities differ: each truck has its own luck in each seed.
    assert sum(a.accuracy_m == b.accuracy_m for a, b in zip(one, two, strict=True)) <= 1
    assert [fix.lat for fix in one] != [fix.lat for fix in two]


def test_a_larger_fleet_has_the_same_trucks_and_more() -> None:
    small, large = some_fixes(3, trucks=3), some_fixes(10, trucks=10)
    assert (large[0].lat, large[0].lon) == (small[0].lat, small[0].lon)


def test_the_registry_names_every_truck_that_drives_and_each_differently() -> None:
    trucks = list(fleet.registry(trucks=50, seed=1))
    assert {truck.truck_id for truck in trucks} == {fix.truck_id for fix in some_fixes(50, trucks=50)}
    assert len({truck.name for truck in trucks}) == 50
    assert trucks == list(fleet.registry(trucks=50, seed=1))


def test_fixes_come_in_the_order_of_time_and_are_spread_over_the_interval() -> None:
    after_s = [(fix.event_time - START).total_seconds() for fix in some_fixes(10) if fix.event_time]
    assert after_s == [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]


def test_each_truck_numbers_its_fixes_from_zero() -> None:
    assert all([fix.seq for fix in fixes] == [0, 1, 2, 3] for fixes in by_truck(some_fixes(20)).values())


def test_every_truck_moves_between_its_first_two_fixes() -> None:
    for first, second in by_truck(some_fixes(400, trucks=200)).values():
        assert distance_m(Position(lat=first.lat, lon=first.lon), Position(lat=second.lat, lon=second.lon)) > 300


def test_the_reported_speed_is_the_speed_between_two_fixes(six_hours: dict[str, list[Fix]]) -> None:
    pairs = [pair for fixes in six_hours.values() for pair in itertools.pairwise(fixes)]
    driven = [(a, b) for a, b in pairs if a.speed_kmh and b.speed_kmh]
    for before, after in driven:
        m = distance_m(Position(lat=before.lat, lon=before.lon), Position(lat=after.lat, lon=after.lon))
        assert m / 60 * 3.6 == pytest.approx(after.speed_kmh, abs=0.2)
        assert 70 <= (after.speed_kmh or 0) <= 105
    assert len(driven) > 3000


def test_trucks_stop_at_cities_for_some_minutes_and_drive_on(six_hours: dict[str, list[Fix]]) -> None:
    places = {(round(city.position.lat, 6), round(city.position.lon, 6)) for city in us_cities(1).cities}
    stops = []
    for fixes in six_hours.values():
        for still, group in itertools.groupby(fixes[:-15], key=lambda fix: fix.speed_kmh == 0):
            if still:
                stops.append([(fix.lat, fix.lon) for fix in group])
    assert len(stops) >= 5
    assert all(len(set(stop)) == 1 and stop[0] in places for stop in stops)
    assert all(2 <= len(stop) <= 11 for stop in stops)


def test_nobody_leaves_the_contiguous_states(six_hours: dict[str, list[Fix]]) -> None:
    everywhere = [Position(lat=fix.lat, lon=fix.lon) for fixes in six_hours.values() for fix in fixes]
    assert all(map(is_contiguous, everywhere))
    assert all(is_contiguous(city.position) for seed in range(3) for city in us_cities(seed).cities)
    assert not is_contiguous(Position(lat=21.3, lon=-157.8))


def test_a_fix_is_written_as_the_contract_says() -> None:
    written = json.loads(as_json(some_fixes(2)[1]))
    assert written["event_time"] == "2026-01-01T00:00:04.000Z"
    assert set(written) == set(Fix.model_fields)
    assert Fix.model_validate(written) == some_fixes(2)[1]


@pytest.mark.parametrize("heading_deg", [0, 90, 180, 270])
def test_bearings_are_clockwise_from_north(heading_deg: float) -> None:
    there = moved(CHICAGO, heading_deg=heading_deg, by_m=1000)
    assert bearing_deg(CHICAGO, there) == pytest.approx(heading_deg, abs=0.3)
    assert distance_m(CHICAGO, there) == pytest.approx(1000)


class Kept:
    """A promise that the test keeps or breaks."""

    def add_callback(self, told: Callable[[object], None]) -> None:
        self.acknowledge = told

    def add_errback(self, told: Callable[[BaseException], None]) -> None:
        self.fail = told


class FakeProducer:
    """Takes everything and acknowledges nothing by itself."""

    def __init__(self) -> None:
        self.promises: list[Kept] = []
        self.keys: list[bytes] = []

    def partitions_for(self, topic: str) -> set[int]:
        return {0}

    def send(self, topic: str, *, key: bytes, value: bytes) -> Kept:
        self.keys.append(key)
        self.promises.append(Kept())
        return self.promises[-1]

    def flush(self, timeout: float) -> None: ...
    def close(self, timeout: float) -> None: ...


def test_every_send_is_counted_as_acknowledged_failed_or_waiting() -> None:
    producer = FakeProducer()
    outbox = Outbox(producer, stop=threading.Event())
    for _ in range(3):
        outbox.send(TRUCKS_GPS, key="a", value="{}")
    producer.promises[0].acknowledge(None)
    producer.promises[1].fail(RuntimeError("too large"))
    tally = outbox.close(timeout_s=0)
    assert tally == Tally(sent=3, acknowledged=1, failed=1, last_error="too large")
    assert tally.waiting == 1


def test_no_more_than_the_bound_is_in_flight() -> None:
    producer = FakeProducer()
    outbox = Outbox(producer, stop=threading.Event(), in_flight_max=2)
    send = functools.partial(outbox.send, TRUCKS_GPS, key="a", value="{}")
    assert send()
    assert send()
    third = threading.Thread(target=send, daemon=True)
    third.start()
    third.join(timeout=0.5)
    assert third.is_alive()
    assert len(producer.promises) == 2
    producer.promises[0].acknowledge(None)
    third.join(timeout=10)
    assert len(producer.promises) == 3


def test_stop_ends_the_wait_for_room() -> None:
    producer, stop = FakeProducer(), threading.Event()
    outbox = Outbox(producer, stop=stop, in_flight_max=1)
    assert outbox.send(TRUCKS_GPS, key="a", value="{}")
    stop.set()
    assert not outbox.send(TRUCKS_GPS, key="a", value="{}")
    assert len(producer.promises) == 1


def test_after_a_pause_the_fleet_catches_up_and_nothing_is_left_out() -> None:
    producer, stop = FakeProducer(), threading.Event()
    fixes = some_fixes(10)
    drive(fixes, Outbox(producer, stop=stop), now=lambda: START + timedelta(hours=1), stop=stop)
    assert producer.keys == [fix.truck_id.encode() for fix in fixes]


def test_the_summary_says_when_kafka_does_not_answer() -> None:
    before = Tally(sent=10, acknowledged=8)
    assert summary(before, Tally(sent=12, acknowledged=12)) == "2 sent, 4 acknowledged, 0 failed"
    assert "does not answer, 4 wait, still trying" in summary(before, Tally(sent=12, acknowledged=8))
