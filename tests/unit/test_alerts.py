"""The alert engine against the oracle: any order of arrival, any cut into batches, the same alerts and visits."""

from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.alert_oracle import Fences, Walk, must_be_told
from tests.engine import RECEIVED_MS, START_MS, Engine, moment
from tests.oracle import Oracle, epoch_ms

STEP = 0.005


def square(south: float, west: float, size: float) -> list[list[float]]:
    def lon(degrees: float) -> float:
        return round(degrees - 360 if degrees > 180 else degrees, 6)

    corners = [(south, west), (south, west + size), (south + size, west + size), (south + size, west), (south, west)]
    return [[lon(x), round(y, 6)] for y, x in corners]


@st.composite
def grounds(draw: st.DrawFn, lat: float, lon: float) -> dict[str, Any]:
    """A shape whose corners lie where fixes do."""
    south, west = lat + STEP * draw(st.integers(-2, 2)), lon + STEP * draw(st.integers(-2, 2))
    kind = draw(st.sampled_from(["polygon", "polygon", "circle", "corridor", "multipolygon"]))
    if kind == "circle":
        middle = [round((west + 180) % 360 - 180, 6), round(south, 6)]
        radius = draw(st.sampled_from([200.0, 555.0, 1500.0]))
        return {"kind": kind, "geometry": {"type": "Point", "coordinates": middle}, "radius_m": radius}
    outer = square(south, west, 2 * STEP)
    if kind == "corridor":
        width = draw(st.sampled_from([100.0, 700.0]))
        return {"kind": kind, "geometry": {"type": "LineString", "coordinates": outer[:3]}, "width_m": width}
    if kind == "multipolygon":
        polygons = [[outer], [square(south + 3 * STEP, west, STEP)]]
        return {"kind": kind, "geometry": {"type": "MultiPolygon", "coordinates": polygons}}
    hole = [square(south + STEP / 2, west + STEP / 2, STEP)] if draw(st.booleans()) else []
    return {"kind": kind, "geometry": {"type": "Polygon", "coordinates": [outer, *hole]}}


@st.composite
def fence_rules(draw: st.DrawFn) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    choices: dict[str, list[Any]] = {
        "enter_confirm_fixes": [1, 2, 3],
        "exit_confirm_fixes": [1, 2, 3],
        "exit_buffer_m": [0.0, 50.0, 300.0],
        "dwell_s": [60, 100, 400],
        "speed_limit_kmh": [50.0, 80.0],
        "alert_if_already_inside": [True],
        "severity": ["critical"],
        "tags": [["depot"]],
        "schedule": [{"days": ["mon", "tue", "thu", "sun"], "start": "19:47", "end": "19:55", "zone": "Asia/Kolkata"}],
    }
    for name, values in choices.items():
        if draw(st.integers(0, 3)) == 0:
            rules[name] = draw(st.sampled_from(values))
    return rules


@st.composite
def fence_histories(draw: st.DrawFn, lat: float, lon: float) -> list[dict[str, Any]]:
    """The versions of a few fences. The first ones are there before any truck."""
    versions = []
    for number in range(draw(st.integers(1, 3))):
        fence = {"fence_id": f"F{number}", "name": f"fence {number}", **draw(grounds(lat, lon)), **draw(fence_rules())}
        t = START_MS - 1_000_000 if draw(st.booleans()) else START_MS + 1000 * draw(st.integers(0, 500))
        for version in range(1, draw(st.sampled_from([2, 2, 3, 4]))):
            versions.append({**fence, "version": version, "from": t, "effective_from": moment(t)})
            change = draw(st.sampled_from(["ground", "rules", "deleted"]))
            fence = {
                k: v for k, v in fence.items() if k in ("fence_id", "name", "kind", "geometry", "radius_m", "width_m")
            }
            if change == "ground":
                fence = {"fence_id": fence["fence_id"], "name": fence["name"], **draw(grounds(lat, lon))}
            fence |= {"deleted": True} if change == "deleted" else draw(fence_rules())
            t = max(t, START_MS) + 1000 * draw(st.integers(0, 300))
    return versions


@st.composite
def drives(draw: st.DrawFn, lat: float, lon: float) -> list[dict[str, Any]]:
    """Random walks on and around borders, in order of time."""
    fixes = []
    for truck in ("A", "B")[: draw(st.integers(1, 2))]:
        t, y, x = START_MS + 1000 * draw(st.integers(0, 100)), draw(st.integers(-4, 4)), draw(st.integers(-4, 4))
        for _ in range(draw(st.integers(1, 18))):
            t += 1000 * draw(st.sampled_from([1, 10, 20, 20, 20, 60, 100, 121, 310]))
            y, x = y + draw(st.sampled_from([0, 0, 1, -1, 4, -4])), x + draw(st.sampled_from([0, 0, 1, -1, 4, -4]))
            y, x = max(-9, min(9, y)), max(-9, min(9, x))
            east = round(lon + x * STEP / 2, 6)
            fix: dict[str, Any] = {
                "truck_id": truck,
                "lat": round(lat + y * STEP / 2, 6),
                "lon": round((east + 180) % 360 - 180, 6),
            }
            fix["event_time"] = moment(t)
            if draw(st.booleans()):
                fix["speed_kmh"] = draw(st.sampled_from([0, 2.5, 60, 95, 120]))
            if draw(st.booleans()):
                fix["accuracy_m"] = draw(st.sampled_from([5, 40, 99, 150]))
            fixes.append(fix)
    return sorted(fixes, key=lambda fix: fix["event_time"])


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    lat, lon = draw(st.sampled_from([(52.0, 4.0), (-17.0, 180.0), (69.5, -30.0)]))
    fences = draw(fence_histories(lat, lon))
    fixes = draw(drives(lat, lon))
    # Held back, so that it comes late, or sent again.
    arrivals = [
        (epoch_ms(fix["event_time"]) + 1000 * draw(st.sampled_from([0] * 8 + [30, 200, 500])), fix) for fix in fixes
    ]
    arrivals += [(t + 1, fix) for t, fix in arrivals if draw(st.integers(0, 9)) == 0]
    early = [(START_MS - 1, fence) for fence in fences if fence["from"] < START_MS]
    later = [
        (fence["from"] + 1000 * draw(st.sampled_from([-100, 0, 5, 60])), fence)
        for fence in fences
        if fence["from"] >= START_MS
    ]
    records = [(t, ("fix", fix["truck_id"], fix)) for t, fix in arrivals]
    records += [
        (t, ("fence", fence["fence_id"], {k: v for k, v in fence.items() if k != "from"}))
        for t, fence in _in_version_order(early + later)
    ]
    records.sort(key=lambda record: record[0])
    cuts = sorted(draw(st.lists(st.integers(0, len(records)), max_size=4)))
    clock = draw(st.one_of(st.none(), st.integers(0, 1500)))
    return {"records": records, "fences": fences, "cuts": cuts, "clock_s": clock, "ticks": draw(st.booleans())}


def _in_version_order(later: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """A version never comes before the one before it."""
    at: dict[str, int] = {}
    ordered = []
    for t, fence in sorted(later, key=lambda each: each[1]["version"]):
        at[fence["fence_id"]] = max(t, at.get(fence["fence_id"], 0) + 1)
        ordered.append((at[fence["fence_id"]], fence))
    return ordered


def expected_of(scenario: dict[str, Any], clock: int | None) -> tuple[dict[str, Any], dict[str, Any], int]:
    judge = Oracle()
    for offset, (_, (kind, _, value)) in enumerate(scenario["records"]):
        if kind == "fix":
            judge.take(value, received_ms=RECEIVED_MS, offset=offset)
    alerts: dict[str, Any] = {}
    visits: dict[str, Any] = {}
    flaps = 0
    for truck, track in judge.tracks.items():
        walk = Walk(truck, Fences(scenario["fences"]), clock)
        walk.go(track)
        alerts |= walk.alerts
        visits |= walk.visits
        flaps += walk.flaps
    return alerts, visits, flaps


def play(scenario: dict[str, Any], engine: Engine) -> int | None:
    """Run the scenario; returns how far the clock came."""
    records = scenario["records"]
    bounds = [0, *scenario["cuts"], len(records)]
    for start, end in pairwise(bounds):
        part = records[start:end]
        now = part[-1][0] if part and scenario["ticks"] else None
        engine.batch([record for _, record in part], clock=now)
    times = [t for t, _ in records]
    clock = None if scenario["clock_s"] is None else max(times) + 1000 * scenario["clock_s"]
    if clock is not None:
        engine.batch([], clock=clock)
    elif scenario["ticks"]:
        clock = max(times)
        engine.batch([], clock=clock)
    return clock


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=2000)
@given(scenarios(), st.booleans(), st.booleans())
def test_alerts_and_visits_are_those_of_the_oracle(scenario: dict[str, Any], forgets: bool, folds: bool) -> None:
    engine = Engine(forgets=forgets, folds=folds)
    clock = play(scenario, engine)
    alerts, visits, flaps = expected_of(scenario, clock)
    must_be_told(visits, engine.visits())
    must_be_told(alerts, {k: v for k, v in engine.alerts().items() if v["kind"] not in ("silent", "feed_silent")})
    assert engine.shard.totals.flaps == flaps
