"""Silences: who wants no notice of what, until when, and why."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Row

from dashboard_api.answers import shown
from dashboard_api.parts import Asker, Id, Parts, Text, Time
from dashboard_api.routes.params import Limit, Offset, errors
from schemas.models import AlertKind, Count, Moment
from store import silences
from store.moments import as_ms, from_ms

DRAFT_EXAMPLE: dict[str, Any] = {
    "truck_id": "truck-0007",
    "fence_id": None,
    "kind": "idle",
    "until_time": "2026-03-02T18:00:00.000Z",
    "why": "in the workshop",
}
SILENCE_EXAMPLE: dict[str, Any] = DRAFT_EXAMPLE | {
    "silence_id": "0c2b7e9a415f0c2b",
    "who": "ana (1a2b3c4d)",
    "created_time": "2026-03-02T14:05:00.000Z",
}


class SilenceDraft(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": DRAFT_EXAMPLE})
    truck_id: Id | None = Field(default=None, description="Null: any truck.")
    fence_id: Id | None = Field(default=None, description="Null: any fence or none.")
    kind: AlertKind | None = Field(default=None, description="Null: any kind.")
    until_time: Time
    why: Annotated[Text, Field(min_length=1, max_length=500)]


class Silence(BaseModel):
    model_config = shown(SILENCE_EXAMPLE)
    truck_id: str | None
    fence_id: str | None
    kind: AlertKind | None
    until_time: Moment
    why: str
    silence_id: str
    who: str
    created_time: Moment


class SilencePage(BaseModel):
    model_config = shown({"items": [SILENCE_EXAMPLE], "total": 1})
    items: list[Silence]
    total: Count


def silence_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api/silences", tags=["silences"], responses=errors(401, 403, 413, 422, 429))

    @router.get("", summary="Silences, newest first")
    def page(
        active: Annotated[bool, Query(description="Only those that last.")] = True,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> SilencePage:
        at_ms = parts.now_ms()
        rows, total = silences.page(parts.store, active_only=active, limit=limit, offset=offset, at_ms=at_ms)
        return SilencePage(items=[answer(row) for row in rows], total=total)

    @router.post(
        "", status_code=201, summary="Silence a truck, a fence, a kind of alert, or all", responses=errors(400)
    )
    def add(draft: SilenceDraft, who: Asker) -> Silence:
        at_ms, until_ms = parts.now_ms(), as_ms(draft.until_time)
        if until_ms <= at_ms:
            raise HTTPException(422, "until_time has passed already.")
        given = draft.model_dump(mode="json", exclude={"until_time"}) | {"until_ms": until_ms}
        return answer(silences.add(parts.store, given, who=who.label, at_ms=at_ms))

    @router.delete("/{silence_id}", status_code=204, summary="End a silence now", responses=errors(404))
    def end(silence_id: Annotated[Text, Path(max_length=200)], who: Asker) -> None:
        if not silences.end(parts.store, silence_id, who=who.label, at_ms=parts.now_ms()):
            raise HTTPException(404, "No silence that lasts has this id.")

    return router


def answer(row: Row[Any]) -> Silence:
    told = {name: getattr(row, name) for name in ("silence_id", "truck_id", "fence_id", "kind", "why", "who")}
    return Silence(**told, until_time=from_ms(row.until_ms), created_time=from_ms(row.created_ms))
