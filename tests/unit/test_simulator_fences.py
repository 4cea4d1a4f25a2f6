"""The fences that come with the simulated fleet: valid, near its sites, and crossed from the first minute on."""

import itertools
import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
import shapely

from schemas.fences import check_fence
from schemas.models import Fence, Fix
from simulator.fences import feature_collection
from simulator.rates import PRESETS
from simulator.stream import Stream

FEATURES: list[dict[str, Any]] = feature_collection()["features"]


def test_the_collection_is_the_same_every_time_and_of_a_moderate_size() -> None:
    assert json.dumps(feature_collection()) == json.dumps(feature_collection())
    tags = Counter(tag for each in FEATURES for tag in each["properties"]["tags"])
    assert tags.keys() == {"depot", "customer", "restricted", "work_zone"}
    assert min(tags.values()) >= 8
    assert 60 <= len(FEATURES) <= 150
    assert len({each["properties"]["fence_id"] for each in FEATURES}) == len(FEATURES)
    assert len({each["properties"]["name"] for each in FEATURES}) == len(FEATURES)


def test_each_feature_is_a_fence_that_the_contract_accepts() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for each in FEATURES:
        check_fence(Fence(version=1, effective_from=now, geometry=each["geometry"], **each["properties"]))
        if each["properties"]["kind"] == "polygon":
            assert shapely.geometry.shape(each["geometry"]).exterior.is_ccw, "as GeoJSON wants it"


def is_inside(each: dict[str, Any], *, lat: float, lon: float) -> bool:
    """On a flat map around the point, in metres."""
    scale = np.array([np.cos(np.radians(lat)), 1.0]) * 111_195
    shape = shapely.transform(shapely.geometry.shape(each["geometry"]), lambda xy: (xy - (lon, lat)) * scale)
    kept_off_m = each["properties"].get("radius_m", each["properties"].get("width_m", 0) / 2)
    return bool(shape.distance(shapely.Point(0, 0)) <= kept_off_m)


@pytest.mark.parametrize("hour_utc", [8, 18])
def test_trucks_enter_and_leave_fences_within_the_first_minute_of_a_demo(hour_utc: int) -> None:
    """By day and in the middle of the night."""
    start = datetime(2026, 1, 1, hour_utc, tzinfo=UTC)
    stream = Stream(trucks=200, interval_s=20, seed=1, start_time=start, rates=PRESETS["realistic"])
    end_ms = start.timestamp() * 1000 + 60_000
    entered: Counter[str] = Counter()
    left: Counter[str] = Counter()
    inside: dict[tuple[str, str], bool] = {}
    for record in itertools.takewhile(lambda record: record.send_ms < end_ms, stream):
        if record.classes != ("good",):
            continue
        fix = Fix.model_validate_json(record.value)
        for each in FEATURES:
            pair = (fix.truck_id, each["id"])
            now = is_inside(each, lat=fix.lat, lon=fix.lon)
            before = inside.get(pair, now)
            tag = each["properties"]["tags"][0]
            entered[tag] += now and not before
            left[tag] += before and not now
            inside[pair] = now
    assert entered.total() >= 4, (entered, left)
    assert left.total() >= 4, (entered, left)
