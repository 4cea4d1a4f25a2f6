"""The contract: the JSON Schema files, the models and the fast decoder say the same."""

import json
from collections.abc import Iterator

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.__main__ import FOLDER, as_text
from schemas.models import CONTRACT, Fix, Reason, Record
from schemas.topics import TOPICS, TRUCKS_GPS
from streaming.decode import WHY, decode
from streaming.rules import Rules

RULES = Rules()
FIX_SCHEMA = jsonschema.Draft202012Validator(Fix.model_json_schema())
RECEIVED_MS = 1_790_000_000_000


@pytest.mark.parametrize(("name", "model"), CONTRACT.items())
def test_each_schema_file_is_what_its_model_says(name: str, model: type[Record]) -> None:
    assert (FOLDER / f"{name}.schema.json").read_text() == as_text(model)


def test_there_is_no_schema_file_without_a_model() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.schema.json" for name in CONTRACT}


def test_trucks_gps_has_ten_partitions_and_topics_are_named_once() -> None:
    assert (TRUCKS_GPS.name, TRUCKS_GPS.partitions) == ("trucks_gps", 10)
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)


def test_every_reason_has_a_sentence() -> None:
    assert set(WHY) == set(Reason)


def reason_for(value: bytes | None, key: bytes | None = b"T1", received_ms: int = RECEIVED_MS) -> Reason | None:
    decoded = decode([key], [value], np.array([received_ms]), RULES)
    assert len(decoded.truck_ids) + len(decoded.rejected) == 1
    return decoded.rejected.get(0)


def poisons() -> Iterator[tuple[bytes | None, bytes | None, Reason]]:
    good: dict[str, object] = {"truck_id": "T1", "lat": 52.1, "lon": 4.3}
    yield None, b"T1", Reason.EMPTY
    yield b"", b"T1", Reason.EMPTY
    yield b"{", b"T1", Reason.NOT_JSON
    yield b"\xff\xfe", b"T1", Reason.NOT_JSON
    yield b'{"truck_id":"T1","lat":NaN,"lon":1}', b"T1", Reason.NOT_JSON
    yield b"[" * 10_000, b"T1", Reason.NOT_JSON
    yield b"[1]", b"T1", Reason.NOT_AN_OBJECT
    yield b"7", b"T1", Reason.NOT_AN_OBJECT
    yield b"x" * 20_000, b"T1", Reason.TOO_LARGE
    changes: list[tuple[dict[str, object], Reason]] = [
        ({"truck_id": 7}, Reason.MISSING_TRUCK_ID),
        ({"truck_id": ""}, Reason.MISSING_TRUCK_ID),
        ({"truck_id": "T2"}, Reason.KEY_MISMATCH),
        ({"lat": 91}, Reason.BAD_LAT),
        ({"lat": "52.1"}, Reason.BAD_LAT),
        ({"lat": None}, Reason.BAD_LAT),
        ({"lon": -180.5}, Reason.BAD_LON),
        ({"lat": 0, "lon": 0.0}, Reason.NULL_ISLAND),
        ({"lat": 0, "lon": 0, "seq": "x"}, Reason.NULL_ISLAND),
        ({"event_time": "yesterday"}, Reason.BAD_TIME),
        ({"event_time": "2026-11-18T08:00:00"}, Reason.BAD_TIME),
        ({"event_time": "1980-01-06T00:00:00Z"}, Reason.BAD_TIME),
        ({"event_time": "2999-01-01T00:00:00Z"}, Reason.FUTURE),
        ({"speed_kmh": -1}, Reason.BAD_SPEED),
        ({"heading_deg": 361}, Reason.BAD_HEADING),
        ({"accuracy_m": True}, Reason.BAD_ACCURACY),
        ({"seq": 1.5}, Reason.BAD_SEQ),
    ]
    for changed, reason in changes:
        yield json.dumps(good | changed).encode(), b"T1", reason
    yield json.dumps(good).encode(), None, Reason.MISSING_KEY
    yield json.dumps(good).encode(), b"\xff", Reason.KEY_MISMATCH


@pytest.mark.parametrize(("value", "key", "reason"), list(poisons()))
def test_each_poison_is_rejected_for_its_reason(value: bytes | None, key: bytes | None, reason: Reason) -> None:
    assert reason_for(value, key) == reason


def test_the_least_message_is_a_fix_at_kafkas_record_time() -> None:
    decoded = decode([b"T1"], [b'{"truck_id":"T1","lat":52.1,"lon":4.3}'], np.array([RECEIVED_MS]), RULES)
    assert decoded.truck_ids == ["T1"]
    assert decoded.fixes["t"].tolist() == [RECEIVED_MS]


def test_an_event_time_is_cut_to_milliseconds() -> None:
    value = b'{"truck_id":"T1","lat":1,"lon":1,"event_time":"2020-01-01T00:00:00.123999Z"}'
    assert decode([b"T1"], [value], np.array([RECEIVED_MS]), RULES).fixes["t"].tolist() == [1_577_836_800_123]


SCALARS = st.none() | st.booleans() | st.integers(-200, 1200) | st.floats(-400, 1200) | st.text(max_size=3)


# A busy machine is no fault of the decoder.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "truck_id": st.just("T1"),
            "lat": SCALARS,
            "lon": SCALARS,
            "speed_kmh": SCALARS,
            "heading_deg": SCALARS,
            "accuracy_m": SCALARS,
        },
    )
)
def test_what_the_json_schema_accepts_is_what_the_decoder_accepts(fields: dict[str, object]) -> None:
    accepted = FIX_SCHEMA.is_valid(fields)
    null_island = fields.get("lat") == 0 and fields.get("lon") == 0
    assert (reason_for(json.dumps(fields).encode()) is None) == (accepted and not null_island)
