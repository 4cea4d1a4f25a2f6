"""What the API answers, with the examples that its OpenAPI document shows."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.models import Count, Moment, QueryProgress, Reason, Reject, TruckState, Window

TRUCK_EXAMPLE: dict[str, Any] = {
    "truck_id": "truck-0007",
    "event_time": "2026-03-02T14:05:30.000Z",
    "received_time": "2026-03-02T14:05:30.412Z",
    "lat": 41.8781,
    "lon": -87.6298,
    "seq": 512,
    "accuracy_m": 4.0,
    "speed_kmh": 88.5,
    "heading_deg": 270.0,
    "segment_m": 24.6,
    "jump": False,
    "status": "moving",
    "status_since": "2026-03-02T13:40:00.000Z",
    "fences": [],
    "name": "Prairie Wind",
    "plate": "IL 482 913",
    "driver": "Ana Flores",
    "age_s": 1.3,
    "distance_m": None,
}
WINDOW_EXAMPLE: dict[str, Any] = {
    "scope": "fleet",
    "truck_id": None,
    "window_start": "2026-03-02T14:05:00.000Z",
    "window_end": "2026-03-02T14:06:00.000Z",
    "length_s": 60,
    "fixes": 6000,
    "speed_avg_kmh": 71.3,
    "speed_top_kmh": 118.0,
    "distance_m": 118833.0,
    "moving_s": 5100.0,
    "idle_s": 900.0,
    "first_lat": None,
    "first_lon": None,
    "last_lat": None,
    "last_lon": None,
    "active_trucks": 100,
    "final": True,
}
REJECT_EXAMPLE: dict[str, Any] = {
    "reason": "bad_lat",
    "detail": "lat is 91.5, outside -90 to 90",
    "truck_id": "truck-0007",
    "topic": "trucks_gps",
    "partition": 3,
    "offset": 48211,
    "received_time": "2026-03-02T14:05:30.412Z",
    "size_bytes": 142,
    "raw_base64": "eyJ0cnVja19pZCI6InRydWNrLTAwMDcifQ==",
}
QUERY_EXAMPLE: dict[str, Any] = {
    "query": "fixes",
    "batch": 41,
    "measured_time": "2026-03-02T14:05:31.000Z",
    "input_rows": 200,
    "input_rows_per_s": 100.0,
    "batch_ms": 640,
    "watermark": "2026-03-02T14:03:30.000Z",
    "state_rows": 100,
    "late_rows": 0,
    "lag": 0,
}
PIPELINE_EXAMPLE: dict[str, Any] = {
    "feed": {"connected": True, "rebuilt": True, "trouble": ""},
    "counts": {
        "shards": 10,
        "input": 6010,
        "judged": 6000,
        "duplicate": 4,
        "late": 1,
        "rejected": {"bad_lat": 5},
        "rejected_total": 5,
        "balanced": True,
    },
    "queries": [QUERY_EXAMPLE],
}
TRACK_EXAMPLE: dict[str, Any] = {
    "type": "Feature",
    "geometry": {"type": "LineString", "coordinates": [[-87.6298, 41.8781], [-87.6349, 41.8779]]},
    "properties": {
        "truck_id": "truck-0007",
        "event_times": ["2026-03-02T14:05:10.000Z", "2026-03-02T14:05:30.000Z"],
        "speeds_kmh": [76, 88],
    },
}
STATS_EXAMPLE: dict[str, Any] = {
    "trucks": {"moving": 150, "stopped": 30, "idle": 12, "silent": 8, "unknown": 0},
    "open_alerts": {"overspeed": 3},
    "not_acknowledged": 2,
    "alerts_per_hour": {"2026-03-02T14:00:00.000Z": 17},
    "fences": 12,
    "fences_waiting": 0,
}
ERROR_EXAMPLE: dict[str, Any] = {
    "error": {"code": "not_found", "message": "No truck has this id.", "where": "/api/trucks/truck-9999"}
}


def shown(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": example})


class TruckAnswer(TruckState):
    """A truck's newest state, and what people call it."""

    model_config = shown(TRUCK_EXAMPLE)
    name: str | None = Field(description="Null when the registry does not know the truck, like the two below.")
    plate: str | None
    driver: str | None
    age_s: float = Field(description="Seconds since the fix was measured.")
    distance_m: float | None = Field(default=None, description="From the point that was asked for, if one was.")


class TruckPage(BaseModel):
    model_config = shown({"items": [TRUCK_EXAMPLE], "total": 1})
    items: list[TruckAnswer]
    total: Count = Field(description="How many trucks match, on all pages.")


class WindowPage(BaseModel):
    model_config = shown({"items": [WINDOW_EXAMPLE], "total": 1})
    items: list[Window] = Field(description="Of a truck: speeds and times to a tenth.")
    total: Count = Field(description="How many matching windows are kept.")


class RejectPage(BaseModel):
    model_config = shown({"items": [REJECT_EXAMPLE], "total": 1})
    items: list[Reject]
    total: Count = Field(description="How many matching rejects are kept; at most 1,000.")


class FeedAnswer(BaseModel):
    connected: bool
    rebuilt: bool = Field(description="Everything that was in Kafka at the start has been read.")
    trouble: str = Field(description="Why there is no connection; empty when there is one.")


class CountsAnswer(BaseModel):
    shards: Count
    input: Count
    judged: Count
    duplicate: Count
    late: Count
    rejected: dict[Reason, Count]
    rejected_total: Count
    balanced: bool = Field(description="input == judged + duplicate + late + rejected_total: no record was lost.")


class PipelineAnswer(BaseModel):
    model_config = shown(PIPELINE_EXAMPLE)
    feed: FeedAnswer
    counts: CountsAnswer
    queries: list[QueryProgress]


class Line(BaseModel):
    type: Literal["LineString"]
    coordinates: list[tuple[float, float]] = Field(description="[lon, lat], oldest first.")


class TrackProperties(BaseModel):
    truck_id: str
    event_times: list[Moment]
    speeds_kmh: list[int | None]


class TrackAnswer(BaseModel):
    """A GeoJSON Feature; times and speeds belong to the positions, one by one."""

    model_config = shown(TRACK_EXAMPLE)
    type: Literal["Feature"]
    geometry: Line | None = Field(description="Null where fewer than two positions are known.")
    properties: TrackProperties


class StatsAnswer(BaseModel):
    model_config = shown(STATS_EXAMPLE)
    trucks: dict[str, Count] = Field(description="Status → how many trucks.")
    open_alerts: dict[str, Count] = Field(description="Kind → how many are raised.")
    not_acknowledged: Count = Field(description="Raised, and nobody has acknowledged them.")
    alerts_per_hour: dict[str, Count] = Field(description="Start of the hour → alerts that began in it.")
    fences: Count
    fences_waiting: Count = Field(description="Versions that are not in Kafka yet.")


class HealthAnswer(BaseModel):
    model_config = shown({"status": "ok"})
    status: str


class PartAnswer(BaseModel):
    ready: bool
    why: str = Field(description="Empty when ready.")


class ReadyAnswer(BaseModel):
    model_config = shown(
        {"ready": False, "parts": {"kafka": {"ready": True, "why": ""}, "store": {"ready": False, "why": "locked"}}}
    )
    ready: bool
    parts: dict[str, PartAnswer]


class ErrorBody(BaseModel):
    code: str
    message: str
    where: str


class ErrorAnswer(BaseModel):
    """The one shape of every error."""

    model_config = shown(ERROR_EXAMPLE)
    error: ErrorBody
