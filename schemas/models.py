"""One model per kind of record. `schemas/json/` holds the same contract as JSON Schema, for readers without Python."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer


def as_rfc3339(moment: datetime) -> str:
    """A moment as every topic and every answer writes it: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment = Annotated[AwareDatetime, PlainSerializer(as_rfc3339, when_used="json")]
TruckId = Annotated[str, Field(min_length=1, max_length=64, description="The truck's id, and the Kafka key.")]
Latitude = Annotated[float, Field(ge=-90, le=90, description="WGS84 degrees, north is positive.")]
Longitude = Annotated[float, Field(ge=-180, le=180, description="WGS84 degrees, east is positive.")]
SpeedKmh = Annotated[float, Field(ge=0, le=1000, description="Speed over ground in km/h.")]
HeadingDeg = Annotated[float, Field(ge=0, le=360, description="Degrees clockwise from north.")]
AccuracyM = Annotated[float, Field(ge=0, le=1e6, description="Radius of the position's error in metres.")]
Count = Annotated[int, Field(ge=0)]
# What every database holds as a key, and as a number.
RecordId = Annotated[str, Field(min_length=1, max_length=200)]
Revision = Annotated[int, Field(ge=0, lt=2**31)]
ClockTime = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="Hours and minutes, such as 06:30.")]
Metres = Annotated[float, Field(description="Metres on WGS84.")]
Seconds = Annotated[float, Field(description="Seconds.")]


class Record(BaseModel):
    """Base of everything in the contract: immutable, unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Fix(Record):
    """`trucks_gps`: one GPS report of one truck. Only the id and the position are required."""

    truck_id: TruckId
    lat: Latitude
    lon: Longitude
    event_time: AwareDatetime | None = Field(
        default=None, description="When it was measured: RFC 3339 with a zone. Absent: Kafka's record time."
    )
    speed_kmh: SpeedKmh | None = None
    heading_deg: HeadingDeg | None = None
    accuracy_m: AccuracyM | None = None
    seq: Annotated[int, Field(ge=0, le=2**53)] | None = Field(
        default=None, description="The truck's own running number of the fix."
    )


class Truck(Record):
    """`trucks`: what people call a truck. Optional: a truck that only sends fixes is shown by its id."""

    truck_id: TruckId
    name: str
    plate: str
    driver: str


class Status(StrEnum):
    """What a truck is doing, by its newest fix."""

    MOVING = "moving"
    STOPPED = "stopped"
    IDLE = "idle"
    SILENT = "silent"
    UNKNOWN = "unknown"


class TruckState(Record):
    """`trucks_state`: the newest judged fix of a truck, with what was derived from it."""

    truck_id: TruckId
    event_time: Moment
    received_time: Moment = Field(description="Kafka's record time of the fix.")
    lat: Latitude
    lon: Longitude
    seq: int | None
    accuracy_m: AccuracyM | None
    speed_kmh: SpeedKmh | None = Field(description="As reported, else derived from the fix before.")
    heading_deg: HeadingDeg | None = Field(description="As reported, else the direction from the fix before.")
    segment_m: Metres | None = Field(description="Distance from the fix before; null for a truck's first fix.")
    jump: bool = Field(description="The fix before is impossibly far away; the segment counts for no distance.")
    status: Status
    status_since: Moment
    fences: list[str] = Field(default=[], description="Ids of the fences the truck is in.")


class JudgedFixes(Record):
    """`trucks_judged`: what fixes add to the windows they fall into. The same place in every column is one fix.

    A late fix changes the segment that ends at its successor: a fix with `correction` then carries the difference,
    at the successor's time. (truck_id, event_time_ms, prev_event_time_ms) names a fix; the same one may come twice.
    Fixes of a truck are in order of time, but for late ones and corrections.
    """

    truck_id: list[TruckId]
    event_time_ms: list[int]
    prev_event_time_ms: list[int | None] = Field(description="The fix that the segment starts at.")
    correction: list[bool]
    late: list[bool] = Field(description="Older than another fix of this truck when it came.")
    jump: list[bool]
    lat: list[Latitude]
    lon: list[Longitude]
    speed_kmh: list[SpeedKmh | None]
    heading_deg: list[HeadingDeg | None]
    fixes: list[int]
    speed_fixes: list[int] = Field(description="How many fixes with a known speed this one adds.")
    speed_sum_kmh: list[float]
    distance_m: list[Metres]
    moving_s: list[Seconds]
    idle_s: list[Seconds]
    active_trucks: list[int] = Field(description="1 for the first fix of a truck in a minute.")


class Window(Record):
    """`trucks_windows`: what happened in `[window_start, window_end)`; a later row of the same window replaces it.

    Nothing but a final row replaces a final one: after a restart, or by a query that lags, others may come behind it.
    """

    scope: Literal["truck", "fleet"]
    truck_id: TruckId | None = Field(description="Null for the fleet.")
    window_start: Moment
    window_end: Moment
    length_s: Literal[60, 300]
    fixes: Count
    speed_avg_kmh: float | None
    speed_top_kmh: float | None
    distance_m: Metres
    moving_s: Seconds
    idle_s: Seconds
    first_lat: Latitude | None = Field(description="Null for the fleet, like the three below.")
    first_lon: Longitude | None
    last_lat: Latitude | None
    last_lon: Longitude | None
    active_trucks: Count | None = Field(description="Trucks with a fix in the window; null for one truck.")
    final: bool = Field(description="The watermark has passed: nothing will change any more.")


class Reason(StrEnum):
    """Why a record is in `trucks_rejects`, in the order in which they are looked for."""

    TOO_LARGE = "too_large"
    EMPTY = "empty"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    MISSING_TRUCK_ID = "missing_truck_id"
    MISSING_KEY = "missing_key"
    KEY_MISMATCH = "key_mismatch"
    BAD_LAT = "bad_lat"
    BAD_LON = "bad_lon"
    NULL_ISLAND = "null_island"
    BAD_TIME = "bad_time"
    BAD_SPEED = "bad_speed"
    BAD_HEADING = "bad_heading"
    BAD_ACCURACY = "bad_accuracy"
    BAD_SEQ = "bad_seq"
    FUTURE = "future"
    CONFLICT = "conflict"
    LATE = "late"
    BAD_FENCE = "bad_fence"


class Reject(Record):
    """`trucks_rejects`: a record that was not used, where it stands in Kafka, and why."""

    reason: Reason
    detail: str = Field(description="What is wrong, for a person.")
    truck_id: str | None = Field(description="The record's key, as far as it can be read.")
    topic: str
    partition: int
    offset: int
    received_time: Moment
    size_bytes: Count
    raw_base64: str = Field(description="The record's value, at most its first 4,096 bytes.")


class AlertKind(StrEnum):
    """What a dispatcher can be told."""

    GEOFENCE_ENTER = "geofence_enter"
    GEOFENCE_EXIT = "geofence_exit"
    GEOFENCE_CROSSED = "geofence_crossed"
    GEOFENCE_DWELL = "geofence_dwell"
    OVERSPEED = "overspeed"
    IDLE = "idle"
    SILENT = "silent"
    FEED_SILENT = "feed_silent"


Severity = Literal["info", "warning", "critical"]


class Cause(StrEnum):
    """Why a visit or an alert began or ended, where it was not by driving."""

    FIRST_FIX = "first_fix"
    FENCE_CREATED = "fence_created"
    FENCE_EDITED = "fence_edited"
    FENCE_DELETED = "fence_deleted"
    SCHEDULE_OPEN = "schedule_open"


class Alert(Record):
    """`trucks_alerts`: a revision of an alert; the highest revision of an `alert_id` counts."""

    alert_id: RecordId = Field(
        description="A hash of kind, truck, fence and start_time: the same alert again has the same."
    )
    revision: Revision
    status: Literal["raised", "cleared", "retracted"]
    kind: AlertKind
    severity: Severity
    truck_id: TruckId | None = Field(description="Null where it is about the whole fleet.")
    fence_id: RecordId | None
    start_time: Moment
    end_time: Moment | None
    lat: Latitude | None
    lon: Longitude | None
    cause: Cause | None = None
    explanation: dict[str, str | float | int | bool | None] = Field(
        description="What raised it: the fix and the one before, the fence's version, distance to its boundary, limits."
    )


class Visit(Record):
    """`trucks_visits`: a revision of a truck's stay inside a fence; the highest revision of a `visit_id` counts."""

    visit_id: RecordId
    revision: Revision
    status: Literal["open", "closed", "retracted"]
    truck_id: TruckId
    fence_id: RecordId
    enter_time: Moment
    exit_time: Moment | None
    last_inside_time: Moment | None = Field(description="The last fix inside; known once the visit is closed.")
    enter_cause: Cause | None
    exit_cause: Cause | None


class Schedule(Record):
    """When a fence raises alerts, by the wall clock of a time zone; over midnight where `start` is not before `end`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    days: Annotated[
        tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...], Field(min_length=1, max_length=7)
    ]
    start: ClockTime
    end: ClockTime
    zone: Annotated[str, Field(min_length=1, max_length=64, description="IANA name, such as Europe/Amsterdam.")]


class Fence(Record):
    """`fences`: one version of a named area, with the rules that differ from the fleet's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fence_id: Annotated[str, Field(min_length=1, max_length=64)]
    version: Annotated[int, Field(ge=1, le=2**31 - 1, description="Counted up at each edit.")]
    effective_from: Moment = Field(description="Counts for fixes at or after this event time.")
    name: Annotated[str, Field(max_length=200)]
    kind: Literal["polygon", "multipolygon", "circle", "corridor"]
    geometry: dict[str, object] = Field(
        description="GeoJSON: Polygon, MultiPolygon, Point (circle) or LineString (corridor)."
    )
    radius_m: Annotated[float, Field(gt=0, le=500_000)] | None = Field(default=None, description="Of a circle.")
    width_m: Annotated[float, Field(gt=0, le=100_000)] | None = Field(
        default=None, description="Of a corridor, from side to side."
    )
    tags: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=32)] = []
    colour: Annotated[str, Field(max_length=32)] | None = None
    severity: Severity | None = None
    enter_confirm_fixes: Annotated[int, Field(ge=1, le=100)] | None = None
    exit_confirm_fixes: Annotated[int, Field(ge=1, le=100)] | None = None
    exit_buffer_m: Annotated[float, Field(ge=0, le=10_000)] | None = None
    dwell_s: Annotated[int, Field(ge=1, le=31_536_000)] | None = Field(
        default=None, description="None: no dwell alert."
    )
    speed_limit_kmh: Annotated[float, Field(gt=0, le=1000)] | None = None
    alert_if_already_inside: bool = False
    schedule: Schedule | None = Field(default=None, description="None: alerts at all times.")
    deleted: bool = Field(default=False, description="This version ends the fence.")


class Tick(Record):
    """`clock`: how far the stream is known, written while the judge has caught up with `trucks_gps`."""

    clock_time: Moment = Field(description="Everything that Kafka received before has been judged.")
    heard_time: Moment = Field(description="Kafka's record time of the newest record of any truck.")


class Counts(Record):
    """`pipeline`, key `counts/<shard>`: what became of every record of a shard since the beginning."""

    shard: int
    input: Count
    judged: Count
    duplicate: Count
    late: Count
    rejected: dict[Reason, Count]
    flaps: Count = Field(default=0, description="Entries and exits that were not confirmed, and so raised nothing.")


class QueryProgress(Record):
    """`pipeline`, key `query/<name>`: how a streaming query is doing."""

    query: str
    batch: int
    measured_time: Moment
    input_rows: Count
    input_rows_per_s: float | None
    batch_ms: Count
    watermark: Moment | None
    state_rows: Count
    late_rows: Count = Field(description="Rows of this batch that came after the watermark.")
    lag: Count = Field(description="Records that wait in the topic.")


CONTRACT: dict[str, type[Record]] = {
    "fix": Fix,
    "truck": Truck,
    "truck_state": TruckState,
    "judged_fixes": JudgedFixes,
    "window": Window,
    "reject": Reject,
    "alert": Alert,
    "visit": Visit,
    "fence": Fence,
    "tick": Tick,
    "counts": Counts,
    "query_progress": QueryProgress,
}
