"""Alerts: list, look into, acknowledge, export."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Row
from starlette.responses import StreamingResponse

from dashboard_api.answers import shown
from dashboard_api.parts import AnyTime, Asker, Id, Parts, Text
from dashboard_api.routes.params import errors
from schemas.models import Alert, AlertKind, Count, Moment, Severity
from store import alerts
from store.moments import as_ms, from_ms, maybe_from_ms

EXPORT_PAGE = 500
MOST_EXPORTED = 100_000
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
ALERT_EXAMPLE: dict[str, Any] = {
    "alert_id": "5f0c2b7e9a41",
    "revision": 0,
    "status": "raised",
    "kind": "geofence_enter",
    "severity": "warning",
    "truck_id": "truck-0007",
    "fence_id": "depot-chicago",
    "start_time": "2026-03-02T14:05:30.000Z",
    "end_time": None,
    "lat": 41.8781,
    "lon": -87.6298,
    "cause": None,
    "explanation": {"fence_version": 1, "distance_m": 12.5},
    "fence_name": "Depot Chicago",
    "silenced": False,
    "acknowledged_by": None,
    "acknowledged_time": None,
    "note": None,
    "assignee": None,
}
EXPORTED = (
    *("alert_id", "revision", "status", "kind", "severity", "truck_id", "fence_id", "fence_name", "start_time"),
    *("end_time", "lat", "lon", "cause", "acknowledged_by", "acknowledged_time", "note", "assignee"),
)


class AlertAnswer(Alert):
    """An alert in its newest revision, and what people made of it."""

    model_config = shown(ALERT_EXAMPLE)
    fence_name: str | None
    silenced: bool = Field(description="A silence covers it: nobody is notified.")
    acknowledged_by: str | None
    acknowledged_time: Moment | None
    note: str | None
    assignee: str | None


class AlertPage(BaseModel):
    model_config = shown({"items": [ALERT_EXAMPLE], "total": 1})
    items: list[AlertAnswer]
    total: Count


class AlertChange(BaseModel):
    change: Literal["revision", "acknowledged", "unacknowledged"]
    revision: int | None
    who: str | None = Field(description="Null for a revision: the stream wrote it.")
    stored_time: Moment
    value: dict[str, Any] = Field(description="The alert in that revision, or the acknowledgement.")


class AlertStory(BaseModel):
    alert: AlertAnswer
    changes: list[AlertChange] = Field(description="Every revision and acknowledgement, oldest first.")


class Acknowledgement(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": {"note": "driver called", "assignee": "bob"}})
    note: Annotated[Text, Field(max_length=2000)] | None = None
    assignee: Annotated[Text, Field(max_length=200)] | None = None


class BulkAcknowledgement(Acknowledgement):
    model_config = ConfigDict(json_schema_extra={"example": {"alert_ids": ["5f0c2b7e9a41"], "note": "all seen"}})
    alert_ids: Annotated[list[Id], Field(min_length=1, max_length=1000)]


class Acknowledged(BaseModel):
    model_config = shown({"acknowledged": 2, "missing": ["5f0c2b7e9a42"]})
    acknowledged: Count
    missing: list[str] = Field(description="Ids that no alert has.")


class AlertFilter(BaseModel):
    """Which alerts; times are a half-open range of the start."""

    model_config = ConfigDict(extra="ignore")
    kind: list[AlertKind] = Field(default=[], description="May be given several times.", max_length=20)
    severity: list[Severity] = Field(default=[], description="May be given several times.", max_length=20)
    status: list[Literal["raised", "cleared", "retracted"]] = Field(
        default=[], description="May be given several times.", max_length=20
    )
    truck_id: Id | None = None
    fence_id: Id | None = None
    acknowledged: bool | None = None
    from_time: AnyTime | None = Field(default=None, description="Began at or after this moment.")
    to_time: AnyTime | None = Field(default=None, description="Began before this moment.")
    sort: Literal["newest", "oldest", "severity"] = "newest"
    format: Literal["json", "csv"] | None = Field(default=None, description="Or by Accept: text/csv.")
    limit: Annotated[int, Field(ge=1, le=1000, description="At most so many items; a CSV has all.")] = 100
    offset: Annotated[int, Field(ge=0, le=10_000_000, description="Skip so many items.")] = 0

    def wanted(self) -> alerts.Wanted:
        return alerts.Wanted(
            kinds=tuple(self.kind),
            severities=tuple(self.severity),
            statuses=tuple(self.status),
            truck_id=self.truck_id,
            fence_id=self.fence_id,
            acknowledged=self.acknowledged,
            from_ms=_maybe_ms(self.from_time),
            to_ms=_maybe_ms(self.to_time),
        )


def alert_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api/alerts", tags=["alerts"], responses=errors(401, 403, 413, 422, 429))
    alert_id_path = Path(min_length=1, max_length=200, description="The alert's id.")

    @router.get("", summary="Alerts, newest first", responses={200: {"content": {"text/csv": {}}}})
    def page(request: Request, asked: Annotated[AlertFilter, Query()]) -> AlertPage:
        by_accept = asked.format is None and "text/csv" in request.headers.get("accept", "")
        if asked.format == "csv" or by_accept:
            headers = {"Content-Disposition": 'attachment; filename="alerts.csv"'}
            return StreamingResponse(as_csv(parts, asked), media_type="text/csv", headers=headers)  # type: ignore[return-value]
        rows, total = ask(parts, asked, asked.limit, asked.offset)
        return AlertPage(items=[answer(row) for row in rows], total=total)

    @router.post("/acknowledge", summary="Acknowledge several alerts", responses=errors(400))
    def acknowledge_all(given: BulkAcknowledgement, who: Asker) -> Acknowledged:
        asked = alerts.Acknowledgement(given.note, given.assignee)
        missing = alerts.acknowledge(parts.store, given.alert_ids, asked, who=who.label, at_ms=parts.now_ms())
        parts.alert_changed()
        return Acknowledged(acknowledged=len(set(given.alert_ids)) - len(missing), missing=missing)

    @router.get("/{alert_id}", summary="One alert, with every revision", responses=errors(404))
    def one(alert_id: Annotated[Text, alert_id_path]) -> AlertStory:
        return story(parts, alert_id)

    @router.post("/{alert_id}/acknowledge", summary="Acknowledge an alert", responses=errors(400, 404))
    def acknowledge(alert_id: Annotated[Text, alert_id_path], given: Acknowledgement, who: Asker) -> AlertStory:
        alerts.acknowledge(
            parts.store,
            [alert_id],
            alerts.Acknowledgement(given.note, given.assignee),
            who=who.label,
            at_ms=parts.now_ms(),
        )
        parts.alert_changed()
        return story(parts, alert_id)

    @router.post("/{alert_id}/unacknowledge", summary="Take an acknowledgement back", responses=errors(404))
    def unacknowledge(alert_id: Annotated[Text, alert_id_path], who: Asker) -> AlertStory:
        alerts.acknowledge(parts.store, [alert_id], None, who=who.label, at_ms=parts.now_ms())
        parts.alert_changed()
        return story(parts, alert_id)

    return router


def ask(parts: Parts, asked: AlertFilter, limit: int, offset: int) -> tuple[Any, int]:
    at_ms = parts.now_ms()
    return alerts.page(parts.store, asked.wanted(), order=asked.sort, limit=limit, offset=offset, at_ms=at_ms)


def story(parts: Parts, alert_id: str) -> AlertStory:
    found = alerts.one(parts.store, alert_id, parts.now_ms())
    if found is None:
        raise HTTPException(404, "No alert has this id.")
    row, changes = found
    return AlertStory(alert=answer(row), changes=[change(each) for each in changes])


def answer(row: Row[Any]) -> AlertAnswer:
    people = {name: getattr(row, name) for name in ("fence_name", "acknowledged_by", "note", "assignee")}
    people |= {"silenced": bool(row.silenced), "acknowledged_time": maybe_from_ms(row.acknowledged_ms)}
    return AlertAnswer.model_validate(json.loads(row.value) | people)


def change(row: Row[Any]) -> AlertChange:
    told = {name: getattr(row, name) for name in ("change", "revision", "who")}
    return AlertChange(**told, stored_time=from_ms(row.at_ms), value=json.loads(row.value))


def as_csv(parts: Parts, asked: AlertFilter) -> Iterator[str]:
    """Which alerts is settled at the beginning, so that none is there twice; they are read page by page."""
    alert_ids = alerts.ids(parts.store, asked.wanted(), order=asked.sort, limit=MOST_EXPORTED + 1)
    if len(alert_ids) > MOST_EXPORTED:
        raise HTTPException(422, f"More than {MOST_EXPORTED:,} alerts: export them in parts, by from_time and to_time.")
    return csv_lines(parts, alert_ids)


def csv_lines(parts: Parts, alert_ids: list[str]) -> Iterator[str]:
    yield line(EXPORTED)
    for first in range(0, len(alert_ids), EXPORT_PAGE):
        for row in alerts.several(parts.store, alert_ids[first : first + EXPORT_PAGE], parts.now_ms()):
            told = answer(row).model_dump(mode="json")
            yield line(cell(told[name]) for name in EXPORTED)


def line(cells: Any) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def cell(value: Any) -> Any:
    """Spreadsheets take text that begins so for a formula, and a truck's id is whatever somebody sent."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _maybe_ms(moment: datetime | None) -> int | None:
    return None if moment is None else as_ms(moment)
