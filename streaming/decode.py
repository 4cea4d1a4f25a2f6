"""From Kafka records to columns of usable fixes, and a reason for every record that is not one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from schemas.models import Fix, Reason
from streaming.rules import Rules
from streaming.timeline import FIX

# So many records are read at once. Together they are smaller than one may be, so none of them can be too large.
CHUNK = 64
OLDEST_MS = 946_684_800_000  # 2000-01-01: a clock before it was never set by a satellite

WHY = {
    Reason.TOO_LARGE: "the record is larger than a fix may be",
    Reason.EMPTY: "the record has no value",
    Reason.NOT_JSON: "the value is not JSON in UTF-8",
    Reason.NOT_AN_OBJECT: "the value is JSON, but not an object",
    Reason.MISSING_TRUCK_ID: "truck_id is missing, or not a text of 1 to 64 characters",
    Reason.MISSING_KEY: "the record has no key; the key is the truck's id",
    Reason.KEY_MISMATCH: "the record's key is not the truck_id in its value",
    Reason.BAD_LAT: "lat is missing, or not a number from -90 to 90",
    Reason.BAD_LON: "lon is missing, or not a number from -180 to 180",
    Reason.NULL_ISLAND: "the position is 0, 0: a receiver without a fix",
    Reason.BAD_TIME: "event_time is not RFC 3339 with a zone, or before the year 2000",
    Reason.BAD_SPEED: "speed_kmh is not a number from 0 to 1000",
    Reason.BAD_HEADING: "heading_deg is not a number from 0 to 360",
    Reason.BAD_ACCURACY: "accuracy_m is not a number from 0 to 1000000",
    Reason.BAD_SEQ: "seq is not a whole number from 0",
    Reason.FUTURE: "event_time is too far ahead of the time at which Kafka received the record",
    Reason.CONFLICT: "another position of this truck at the same event_time came first",
    Reason.LATE: "older than the truck's newest fix by more than the horizon",
    Reason.BAD_FENCE: "the fence cannot be used",
}

# In the order in which a record is blamed, when several of its fields are bad.
REASON_BY_FIELD = {
    "truck_id": Reason.MISSING_TRUCK_ID,
    "lat": Reason.BAD_LAT,
    "lon": Reason.BAD_LON,
    "event_time": Reason.BAD_TIME,
    "speed_kmh": Reason.BAD_SPEED,
    "heading_deg": Reason.BAD_HEADING,
    "accuracy_m": Reason.BAD_ACCURACY,
    "seq": Reason.BAD_SEQ,
}
AFTER_KEY = [field for field in REASON_BY_FIELD if field != "truck_id"]


def _field_type(schema: dict[str, Any]) -> Any:
    """What msgspec must demand for this piece of JSON Schema to hold."""
    if "anyOf" in schema:
        return _field_type(schema["anyOf"][0]) | None
    if schema["type"] == "string":
        if schema.get("format") == "date-time":
            return Annotated[datetime, msgspec.Meta(tz=True)]
        return Annotated[str, msgspec.Meta(min_length=schema["minLength"], max_length=schema["maxLength"])]
    number = {"number": float, "integer": int}[schema["type"]]
    return Annotated[number, msgspec.Meta(ge=schema["minimum"], le=schema["maximum"])]


_SCHEMA = Fix.model_json_schema()
FIELD_TYPES = {name: _field_type(field) for name, field in _SCHEMA["properties"].items()}
_FastFix = msgspec.defstruct(
    "_FastFix",
    [(n, t) if n in _SCHEMA["required"] else (n, t, None) for n, t in FIELD_TYPES.items()],
    gc=False,
)
_decode_fix: Callable[[bytes], Any] = msgspec.json.Decoder(_FastFix).decode
_decode_lines: Callable[[bytes], list[Any]] = msgspec.json.Decoder(_FastFix).decode_lines
_decode_any = msgspec.json.Decoder().decode


@dataclass(frozen=True)
class Decoded:
    """The usable fixes in the order of the records, whose they are, and the reason against each other record."""

    fixes: NDArray[np.void]
    truck_ids: list[str]
    record: NDArray[np.int64]
    rejected: dict[int, Reason]


def decode(
    keys: Iterable[bytes | None], values: Iterable[bytes | None], received_ms: NDArray[np.int64], rules: Rules
) -> Decoded:
    """Judge each record by itself: what is wrong with it does not depend on any other."""
    rejected: dict[int, Reason] = {}
    parsed: list[Any] = []
    record: list[int] = []
    pairs = list(zip(keys, values, strict=True))
    for start in range(0, len(pairs), CHUNK):
        for i, found in enumerate(_parse_chunk(pairs[start : start + CHUNK], rules.max_fix_bytes), start=start):
            if isinstance(found, Reason):
                rejected[i] = found
            else:
                parsed.append(found)
                record.append(i)
    at = np.array(record, dtype=np.int64)
    fixes = _as_columns(parsed, received_ms[at])
    late_rejects = _reject_by_time(fixes, at, rules)
    if not late_rejects:
        return Decoded(fixes, [fix.truck_id for fix in parsed], at, rejected)
    rejected |= late_rejects
    good = np.array([i not in late_rejects for i in record], dtype=bool)
    truck_ids = [fix.truck_id for fix, ok in zip(parsed, good.tolist(), strict=True) if ok]
    return Decoded(fixes[good], truck_ids, at[good], rejected)


def _parse_chunk(pairs: list[tuple[bytes | None, bytes | None]], max_bytes: int) -> list[Any]:
    """A fix or a reason for each record: all of them as lines at once, or one by one where a line cannot be right."""
    try:
        lines = b"\n".join([value for _, value in pairs])  # type: ignore[misc]
        if lines.count(b"\n") != len(pairs) - 1 or len(lines) > max_bytes:
            return [_parse(key, value, max_bytes) for key, value in pairs]
        fixes = _decode_lines(lines)
    except (TypeError, msgspec.DecodeError, UnicodeError, RecursionError):
        return [_parse(key, value, max_bytes) for key, value in pairs]
    if len(fixes) != len(pairs):
        return [_parse(key, value, max_bytes) for key, value in pairs]
    return [
        fix if key == fix.truck_id.encode() and (fix.lat or fix.lon) else _parse(key, value, max_bytes)
        for fix, (key, value) in zip(fixes, pairs, strict=True)
    ]


def _parse(key: bytes | None, value: bytes | None, max_bytes: int) -> Any:
    if not value:
        return Reason.EMPTY
    if len(value) > max_bytes:
        return Reason.TOO_LARGE
    try:
        fix = _decode_fix(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _blame(key, value)
    if key is None or key.decode(errors="replace") != fix.truck_id:
        return Reason.MISSING_KEY if key is None else Reason.KEY_MISMATCH
    return Reason.NULL_ISLAND if fix.lat == 0 and fix.lon == 0 else fix


def _blame(key: bytes | None, value: bytes) -> Reason:
    """The first thing that is wrong with a record that the fast decoder refused."""
    try:
        fields = _decode_any(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return Reason.NOT_JSON
    if not isinstance(fields, dict):
        return Reason.NOT_AN_OBJECT
    if _is_bad(fields, "truck_id"):
        return Reason.MISSING_TRUCK_ID
    if key is None or key.decode(errors="replace") != fields["truck_id"]:
        return Reason.MISSING_KEY if key is None else Reason.KEY_MISMATCH
    if fields.get("lat") == 0 and fields.get("lon") == 0 and not (_is_bad(fields, "lat") or _is_bad(fields, "lon")):
        return Reason.NULL_ISLAND
    return next((REASON_BY_FIELD[field] for field in AFTER_KEY if _is_bad(fields, field)), Reason.NOT_JSON)


def _is_bad(fields: dict[str, Any], field: str) -> bool:
    try:
        msgspec.convert(fields.get(field), FIELD_TYPES[field])
    except msgspec.ValidationError:
        return True
    return False


def _as_columns(parsed: list[Any], received_ms: NDArray[np.int64]) -> NDArray[np.void]:
    nan = float("nan")
    fixes = np.zeros(len(parsed), dtype=FIX)
    fixes["received"] = received_ms
    fixes["t"] = received_ms
    timed = [i for i, fix in enumerate(parsed) if fix.event_time is not None]
    seconds = np.array([parsed[i].event_time.timestamp() for i in timed], dtype=np.float64)
    # Cut to milliseconds; the half microsecond outweighs what the float lost.
    fixes["t"][timed] = np.floor(seconds * 1000 + 0.0005)
    fixes["lat"] = [fix.lat for fix in parsed]
    fixes["lon"] = [fix.lon for fix in parsed]
    fixes["reported_kmh"] = [nan if fix.speed_kmh is None else fix.speed_kmh for fix in parsed]
    fixes["reported_deg"] = [nan if fix.heading_deg is None else fix.heading_deg for fix in parsed]
    fixes["accuracy_m"] = [nan if fix.accuracy_m is None else fix.accuracy_m for fix in parsed]
    fixes["seq"] = [-1 if fix.seq is None else fix.seq for fix in parsed]
    return fixes


def _reject_by_time(fixes: NDArray[np.void], at: NDArray[np.int64], rules: Rules) -> dict[int, Reason]:
    unset = dict.fromkeys(at[fixes["t"] < OLDEST_MS].tolist(), Reason.BAD_TIME)
    ahead = dict.fromkeys(at[fixes["t"] > fixes["received"] + rules.future_ms].tolist(), Reason.FUTURE)
    return unset | ahead
