"""What an alert means, rule by rule: the shortest story that shows each."""

from typing import Any

import msgspec
import pytest

from streaming.stored import unpack
from tests.engine import RECEIVED_MS, RULES, START_MS, Engine, moment
from tests.oracle import epoch_ms

SOUTH, WEST, SIZE = 52.0, 4.0, 0.01
INSIDE, OUTSIDE, FAR = (52.005, 4.005), (52.005, 4.0105), (52.005, 4.05)


def fence(fence_id: str = "depot", version: int = 1, t: int = -1000, **rules: Any) -> tuple[str, str, dict[str, Any]]:
    ring = [[WEST, SOUTH], [WEST + SIZE, SOUTH], [WEST + SIZE, SOUTH + SIZE], [WEST, SOUTH + SIZE], [WEST, SOUTH]]
    value = {
        "fence_id": fence_id,
        "version": version,
        "effective_from": moment(START_MS + 1000 * t),
        "name": "Depot",
        "kind": "polygon",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        **rules,
    }
    return "fence", fence_id, value


def fix(t: float, place: tuple[float, float], truck: str = "A", **more: Any) -> tuple[str, str, dict[str, Any]]:
    usual = {"event_time": moment(START_MS + round(1000 * t)), "speed_kmh": 50}
    return "fix", truck, {"truck_id": truck, "lat": place[0], "lon": place[1], **usual, **more}


def told(engine: Engine, *kinds: str) -> list[tuple[str, str | None, float, float | None]]:
    """(kind, fence, start, end) of every alert that is not retracted, in order; times in seconds."""
    found = []
    for alert in engine.alerts().values():
        if not kinds or alert["kind"] in kinds:
            times = [alert[name] and seconds(alert[name]) for name in ("start_time", "end_time")]
            found.append((alert["kind"], alert["fence_id"], *times))
    return sorted(found, key=lambda each: (each[2], each[0], each[1] or ""))


def seconds(text: str) -> float:
    return (epoch_ms(text) - START_MS) / 1000


def run(*batches: list[Any], clock_s: float | None = None, **options: bool) -> Engine:
    engine = Engine(**options)
    for batch in batches:
        engine.batch(batch)
    if clock_s is not None:
        engine.batch([], clock=START_MS + round(clock_s * 1000))
    return engine


def drive(*places: tuple[float, float], start: int = 0, step: int = 20, **more: Any) -> list[Any]:
    return [fix(start + i * step, place, **more) for i, place in enumerate(places)]


def test_rule_1_overlapping_fences_are_independent_and_exits_come_before_enters() -> None:
    ring = [[WEST + SIZE, SOUTH], [WEST + 9 * SIZE, SOUTH], [WEST + 9 * SIZE, SOUTH + SIZE], [WEST + SIZE, SOUTH]]
    east = fence("a-east", geometry={"type": "Polygon", "coordinates": [ring]})
    engine = run([fence("z"), fence("y"), east, *drive((52.005, 3.9), INSIDE, (52.005, 4.055))])
    rows = [(row["kind"], row["fence_id"]) for topic, _, row in engine.rows if topic == "trucks_alerts"]
    enters = [("geofence_enter", "y"), ("geofence_enter", "z")]
    assert rows == [*enters, ("geofence_exit", "y"), ("geofence_exit", "z"), ("geofence_enter", "a-east")]


def test_rule_2_the_boundary_is_inside_and_metres_are_on_wgs84() -> None:
    corner = (SOUTH + SIZE, WEST + SIZE)
    assert told(run([fence(), *drive(FAR, corner)])) == [("geofence_enter", "depot", 20.0, None)]
    circle = fence(kind="circle", geometry={"type": "Point", "coordinates": [4.0, 60.0]}, radius_m=558.1)
    # 0.01 degrees of longitude at 60° north are 558.0 m, not 1,113 m.
    engine = run([circle, *drive((60.5, 4.0), (60.0, 4.01), (60.0, 4.0101))])
    assert [each[0] for each in told(engine)] == ["geofence_enter", "geofence_exit"]


def test_rule_2_a_fence_across_the_antimeridian_works() -> None:
    ring = [[179.99, -17.0], [-179.99, -17.0], [-179.99, -16.98], [179.99, -16.98], [179.99, -17.0]]
    island = fence(geometry={"type": "Polygon", "coordinates": [ring]})
    places = [(-16.99, 179.9), (-16.99, 179.995), (-16.99, -179.995), (-16.99, -179.9)]
    assert told(run([island, *drive(*places, step=100)]), "geofence_enter", "geofence_exit") == [
        ("geofence_enter", "depot", 100.0, None),
        ("geofence_exit", "depot", 300.0, None),
    ]


@pytest.mark.parametrize("already", [True, False])
def test_rule_3_a_truck_that_is_first_seen_inside_did_not_enter(already: bool) -> None:
    first_fix = run([fence(alert_if_already_inside=already), fix(0, INSIDE)])
    new_fence = run([fix(0, INSIDE)], [fence(alert_if_already_inside=already, t=10)], clock_s=20)
    for engine, start, cause in ((first_fix, 0.0, "first_fix"), (new_fence, 10.0, "fence_created")):
        assert told(engine) == ([("geofence_enter", "depot", start, None)] if already else [])
        assert [(visit["status"], visit["enter_cause"]) for visit in engine.visits().values()] == [("open", cause)]


def test_rule_4_a_truck_that_returns_before_confirmation_raises_nothing() -> None:
    wary = fence(enter_confirm_fixes=2, exit_confirm_fixes=2)
    engine = run([wary, *drive(FAR, INSIDE, FAR, INSIDE, INSIDE, FAR, INSIDE)])
    assert told(engine, "geofence_enter", "geofence_exit") == [("geofence_enter", "depot", 60.0, None)]
    assert engine.shard.totals.flaps == 2


def test_rule_4_the_alert_carries_the_time_of_the_first_qualifying_fix() -> None:
    wary = fence(enter_confirm_fixes=2, exit_confirm_fixes=3)
    places = [FAR, INSIDE, INSIDE, OUTSIDE, OUTSIDE, OUTSIDE]
    engine = run([wary], *([each] for each in drive(*places)))
    assert told(engine) == [("geofence_enter", "depot", 20.0, None), ("geofence_exit", "depot", 60.0, None)]


def test_rule_4_within_the_buffer_a_truck_has_not_left() -> None:
    # OUTSIDE is 34 m east of the fence.
    near, far = fence(exit_buffer_m=33), fence(exit_buffer_m=36)
    assert [each[0] for each in told(run([near, *drive(FAR, INSIDE, OUTSIDE)]))] == ["geofence_enter", "geofence_exit"]
    assert [each[0] for each in told(run([far, *drive(FAR, INSIDE, OUTSIDE)]))] == ["geofence_enter"]


def test_rule_5_a_bad_accuracy_changes_nothing_and_a_middling_one_is_no_exit() -> None:
    assert told(run([fence(), *drive(FAR, INSIDE, accuracy_m=101)])) == []
    engine = run([fence(), *drive(FAR, INSIDE), fix(40, OUTSIDE, accuracy_m=40), fix(60, OUTSIDE, accuracy_m=30)])
    assert told(engine, "geofence_exit") == [("geofence_exit", "depot", 60.0, None)]


def test_rule_6_silence_is_no_exit_and_the_exit_after_a_gap_says_what_is_known() -> None:
    engine = run([fence(), *drive(FAR, INSIDE), fix(4000, INSIDE), fix(9000, FAR)])
    assert told(engine, "geofence_exit") == [("geofence_exit", "depot", 9000.0, None)]
    why = next(alert for alert in engine.alerts().values() if alert["kind"] == "geofence_exit")["explanation"]
    assert seconds(why["last_inside_time"]) == 4000
    assert seconds(why["first_outside_time"]) == 9000
    assert (why["visit_s"], why["inferred"]) == (8980.0, True)


def test_rule_7_the_same_fix_again_or_another_at_its_time_changes_nothing() -> None:
    once = drive(FAR, INSIDE)
    engine = run([fence(), *once, *once, fix(20, FAR), fix(20, INSIDE)])
    assert told(engine) == [("geofence_enter", "depot", 20.0, None)]


def test_rule_8_a_late_fix_retracts_corrects_and_adds() -> None:
    engine = run([fence(), fix(0, FAR), fix(60, INSIDE)], [fix(30, INSIDE)])
    assert told(engine) == [("geofence_enter", "depot", 30.0, None)]
    rows = [
        (row["status"], seconds(row["start_time"]), row["revision"])
        for topic, _, row in engine.rows
        if topic == "trucks_alerts"
    ]
    assert rows == [("raised", 60.0, 0), ("retracted", 60.0, 1), ("raised", 30.0, 0)]


def test_rule_8_a_fix_beyond_the_horizon_is_counted_and_changes_no_alert() -> None:
    engine = run([fence(), fix(0, FAR), fix(1000, INSIDE)], [fix(300, INSIDE)])
    assert told(engine) == [("geofence_enter", "depot", 1000.0, None)]
    assert engine.shard.totals.late == 1


def test_rule_9_an_edit_opens_and_closes_visits_without_an_alert() -> None:
    elsewhere: dict[str, Any] = {
        "kind": "circle",
        "geometry": {"type": "Point", "coordinates": [FAR[1], FAR[0]]},
        "radius_m": 100,
    }
    engine = run([fence(), fix(0, INSIDE), fix(0, FAR, truck="B")], [fence(version=2, t=10, **elsewhere)], clock_s=12)
    assert told(engine) == []
    visits = {visit["truck_id"]: visit for visit in engine.visits().values()}
    assert (visits["A"]["status"], visits["A"]["exit_cause"]) == ("closed", "fence_edited")
    assert seconds(visits["A"]["exit_time"]) == 10
    assert (visits["B"]["status"], visits["B"]["enter_cause"]) == ("open", "fence_edited")
    states = {key: row["fences"] for topic, key, row in engine.rows if topic == "trucks_state"}
    assert states == {"A": [], "B": ["depot"]}


def test_rule_9_a_fence_that_comes_after_the_fixes_it_counts_for_is_shown_at_once() -> None:
    for change, fences in ((fence(t=10), ["depot"]), (fence(version=2, t=30, deleted=True), [])):
        engine = run([fence()] if change[2]["version"] == 2 else [], drive(FAR, INSIDE, INSIDE), [change])
        assert [row["fences"] for topic, _, row in engine.rows if topic == "trucks_state"][-1] == fences


def test_rule_9_a_new_name_does_not_touch_visits_and_a_rule_counts_from_its_time() -> None:
    engine = run([fence(), fix(0, INSIDE)], [fence(version=2, t=10, name="Yard", dwell_s=60)], clock_s=100)
    assert [visit["status"] for visit in engine.visits().values()] == ["open"]
    assert told(engine) == [("geofence_dwell", "depot", 60.0, None)]


def test_rule_10_a_deletion_closes_visits_and_clears_episodes() -> None:
    engine = run(
        [fence(dwell_s=30), *drive(INSIDE, INSIDE, INSIDE)], [fence(version=2, t=50, deleted=True)], clock_s=60
    )
    alert = next(iter(engine.alerts().values()))
    assert (alert["kind"], alert["status"], alert["cause"]) == ("geofence_dwell", "cleared", "fence_deleted")
    assert seconds(alert["end_time"]) == 50
    assert [visit["exit_cause"] for visit in engine.visits().values()] == ["fence_deleted"]


def test_rule_10_a_tombstone_is_a_deletion_too() -> None:
    engine = run([fence(), fix(0, INSIDE)])
    engine.batch([("fence", "depot", None)], clock=RECEIVED_MS + 1)
    assert [visit["exit_cause"] for visit in engine.visits().values()] == ["fence_deleted"]


def test_rule_11_the_schedule_gates_alerts_and_its_opening_raises_one() -> None:
    # It is Monday, 14:13:20 UTC.
    open_at_15 = {"days": ["mon"], "start": "14:15", "end": "14:16", "zone": "UTC"}
    engine = run([fence(schedule=open_at_15), *drive(FAR, INSIDE, INSIDE, step=60), fix(150, FAR), fix(170, INSIDE)])
    assert told(engine) == [("geofence_enter", "depot", 100.0, None), ("geofence_exit", "depot", 150.0, None)]
    first = min(engine.alerts().values(), key=lambda alert: alert["start_time"])
    assert first["cause"] == "schedule_open"


def test_rule_12_a_replay_in_other_cuts_has_the_same_alerts() -> None:
    story = [fence(dwell_s=50), *drive(FAR, INSIDE, INSIDE, INSIDE, INSIDE, FAR), fix(55, FAR)]
    at_once, one_by_one = run(story), run(*([each] for each in story))
    assert at_once.alerts().keys() == one_by_one.alerts().keys()
    without_revision = [
        {name: {k: v for k, v in alert.items() if k != "revision"} for name, alert in engine.alerts().items()}
        for engine in (at_once, one_by_one)
    ]
    assert without_revision[0] == without_revision[1]


def test_rule_13_an_alert_explains_itself() -> None:
    engine = run([fence(), *drive(FAR, INSIDE)])
    alert = next(iter(engine.alerts().values()))
    assert alert["explanation"] == {
        "fence_name": "Depot",
        "fence_version": 1,
        "before_time": moment(START_MS),
        "before_lat": FAR[0],
        "before_lon": FAR[1],
        "fix_time": moment(START_MS + 20_000),
        "fix_lat": INSIDE[0],
        "fix_lon": INSIDE[1],
        "boundary_m": pytest.approx(343.3, abs=1),
        "inferred": False,
    }


def test_rule_14_silence_is_judged_by_record_times_once_caught_up() -> None:
    engine = run([fix(0, FAR), fix(0, FAR, truck="B")])
    engine.batch([], clock=RECEIVED_MS + 119_000, heard=RECEIVED_MS + 100_000)
    assert told(engine, "silent") == []
    engine.batch([], clock=RECEIVED_MS + 120_000, heard=RECEIVED_MS + 100_000)
    assert len(told(engine, "silent")) == 2
    states = {key: row["status"] for topic, key, row in engine.rows if topic == "trucks_state"}
    assert states == {"A": "silent", "B": "silent"}
    engine.batch([fix(30, FAR)], received=RECEIVED_MS + 130_000)
    ends = {alert["truck_id"]: alert["end_time"] for alert in engine.alerts().values()}
    assert ends == {"A": moment(RECEIVED_MS + 130_000), "B": None}


def test_rule_14_a_feed_that_stops_is_one_alert_and_its_trucks_get_their_time_again() -> None:
    engine = run([fix(0, FAR), fix(0, FAR, truck="B")])
    engine.batch([], clock=RECEIVED_MS + 300_000, heard=RECEIVED_MS)
    assert [each[0] for each in told(engine)] == ["feed_silent"]
    back = RECEIVED_MS + 400_000
    engine.batch([fix(30, FAR)], received=back, clock=back + 1000, heard=back)
    alert = next(iter(engine.alerts().values()))
    assert (alert["status"], alert["truck_id"], alert["severity"]) == ("cleared", None, "critical")
    engine.batch([], clock=back + 60_000, heard=back + 55_000)
    engine.batch([], clock=back + 119_000, heard=back + 110_000)
    assert told(engine, "silent") == []
    engine.batch([], clock=back + 121_000, heard=back + 110_000)
    assert len(told(engine, "silent")) == 2


def test_a_drive_through_a_fence_between_two_fixes_is_a_crossing() -> None:
    west, east = (52.005, 3.995), (52.005, 4.015)
    crossed = [("geofence_crossed", "depot", 30.0, None)]
    assert told(run([fence(), fix(0, west), fix(30, east)])) == crossed
    assert told(run([fence(), fix(0, west), fix(121, east)])) == [], "the gap is too long"
    assert told(run([fence(), fix(0, west), fix(20, east)])) == [], "faster than 200 km/h is a jump, not a drive"


def test_a_truck_that_drives_into_a_corridor_has_not_crossed_another_stretch_of_it() -> None:
    bend = [[4.0, 52.0], [4.01, 52.0], [4.01, 52.01]]
    road: dict[str, Any] = {"kind": "corridor", "geometry": {"type": "LineString", "coordinates": bend}, "width_m": 100}
    engine = run([fence(enter_confirm_fixes=3, **road), fix(0, (52.0025, 4.0175)), fix(30, (52.0, 4.0075))])
    assert told(engine) == []


def test_dwell_is_raised_by_the_clock_and_retracted_if_the_truck_had_left_before() -> None:
    engine = run([fence(dwell_s=60), *drive(FAR, INSIDE)])
    engine.batch([], clock=START_MS + 79_000)
    assert told(engine, "geofence_dwell") == []
    engine.batch([], clock=START_MS + 80_000)
    assert told(engine, "geofence_dwell") == [("geofence_dwell", "depot", 80.0, None)]
    engine.batch([fix(70, FAR)])
    assert told(engine, "geofence_dwell") == []


def test_overspeed_lasts_until_the_first_fix_not_above_the_lowest_limit_and_carries_its_peak() -> None:
    slow_zone, slower = fence("slow", speed_limit_kmh=80), fence("slower", speed_limit_kmh=60)
    speeds = [70, 75, 90, 60, 110, 111, 110]
    places = [INSIDE] * 4 + [FAR] * 3
    fixes = [fix(20 * i, place, speed_kmh=kmh) for i, (place, kmh) in enumerate(zip(places, speeds, strict=True))]
    engine = run([slow_zone, slower, *fixes])
    assert told(engine, "overspeed") == [("overspeed", "slower", 0.0, 60.0), ("overspeed", None, 100.0, 120.0)]
    assert [a["explanation"]["peak_kmh"] for a in engine.alerts().values() if a["kind"] == "overspeed"] == [90, 111]


def test_idle_is_standing_for_five_minutes_but_not_in_a_depot() -> None:
    standing = [fix(60 * i, FAR, speed_kmh=0) for i in range(5)]
    assert told(run(standing)) == []
    assert told(run(standing, clock_s=300)) == [("idle", None, 300.0, None)]
    assert told(run([*standing, fix(310, FAR, speed_kmh=20)])) == [("idle", None, 300.0, 310.0)]
    parked = [fix(60 * i, INSIDE, speed_kmh=0) for i in range(5)]
    assert told(run([fence(tags=["depot"]), *parked], clock_s=400), "idle") == []


def test_a_broken_fence_is_rejected_with_its_reason_and_the_rest_goes_on() -> None:
    broken = fence("bow", geometry={"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]})
    engine = run([broken, fence(), *drive(FAR, INSIDE)])
    assert told(engine) == [("geofence_enter", "depot", 20.0, None)]
    reject = next(row for topic, _, row in engine.rows if topic == "trucks_rejects")
    assert (reject["topic"], reject["reason"]) == ("fences", "bad_fence")
    assert "Self-intersection" in reject["detail"]


def test_a_state_of_version_1_is_read_and_its_trucks_are_seen_anew() -> None:
    newer = run([fence(), fix(0, INSIDE)])
    old = msgspec.msgpack.decode(newer.stored[0])[:5]
    old[0] = 1
    newer.shard = unpack(msgspec.msgpack.encode(old), [], RULES)
    newer.forgets = False
    newer.batch([fence(), fix(20, INSIDE), fix(40, FAR)])
    assert told(newer, "geofence_exit") == [("geofence_exit", "depot", 40.0, None)]
    assert newer.shard.totals.judged == 3
