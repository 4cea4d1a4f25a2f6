"""What the API answers, with the examples that its OpenAPI document shows."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from schemas.models import Count, QueryProgress, Reason, Reject, TruckState, Window

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


class TruckPage(BaseModel):
    model_config = shown({"items": [TRUCK_EXAMPLE], "total": 1})
    items: list[TruckAnswer]
    total: Count = Field(description="How many trucks match, on all pages.")


class WindowPage(BaseModel):
    model_config = shown({"items": [WINDOW_EXAMPLE], "total": 1})
    items: list[Window]
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


class HealthAnswer(BaseModel):
    model_config = shown({"status": "ok"})
    status: str


class PartAnswer(BaseModel):
    ready: bool
    why: str = Field(description="Empty when ready.")


class ReadyAnswer(BaseModel):
    model_config = shown(
        {"ready": True, "parts": {"kafka": {"ready": True, "why": ""}, "view": {"ready": True, "why": ""}}}
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
