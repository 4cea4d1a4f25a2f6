"""The log of deliveries, dead letters, and sending again."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from dashboard_api.answers import shown
from dashboard_api.parts import Asker, Id, Parts, Text
from dashboard_api.routes.params import Limit, Offset, errors
from schemas.models import AlertKind, Count, Moment, Severity
from store import deliveries
from store.moments import from_ms, maybe_from_ms

ALERT_EXAMPLE: dict[str, Any] = {
    "alert_id": "5f0c2b7e",
    "status": "raised",
    "kind": "geofence_enter",
    "severity": "critical",
    "truck_id": "truck-0007",
    "fence_id": "depot-07",
}
DELIVERY_EXAMPLE: dict[str, Any] = {
    "delivery_id": "msg_5f0c2b7e9a415f0c2b7e9a415f0c2b7e",
    "channel_id": "0c2b7e9a415f",
    "what": "raised",
    "state": "dead",
    "reason": "the receiver answered 500",
    "attempts": 10,
    "alerts": [ALERT_EXAMPLE],
    "created_time": "2026-03-02T14:05:00.000Z",
    "due_time": "2026-03-05T14:05:00.000Z",
    "delivered_time": None,
    "last_error": "the receiver answered 500",
}
State = Literal["pending", "sending", "delivered", "dead", "suppressed", "historical"]


class DeliveredAlert(BaseModel):
    model_config = shown(ALERT_EXAMPLE)
    alert_id: str
    status: str
    kind: AlertKind
    severity: Severity
    truck_id: str | None
    fence_id: str | None


class Delivery(BaseModel):
    model_config = shown(DELIVERY_EXAMPLE)
    delivery_id: str = Field(description="The webhook-id: the same at every try.")
    channel_id: str
    what: str = Field(description="raised, cleared, retracted, repeat or test.")
    state: State
    reason: str | None = Field(description="Why it is dead, or was not sent.")
    attempts: Count
    alerts: list[DeliveredAlert] = Field(description="As they were when it was planned.")
    created_time: Moment
    due_time: Moment = Field(description="The next try; of one that has ended, the last one's lease.")
    delivered_time: Moment | None
    last_error: str | None


class DeliveryPage(BaseModel):
    model_config = shown({"items": [DELIVERY_EXAMPLE], "total": 1})
    items: list[Delivery]
    total: Count


class ResendDraft(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"channel_id": "0c2b7e9a415f"}})
    delivery_ids: Annotated[list[Id], Field(max_length=1000)] | None = Field(
        default=None, description="Null: dead letters, the oldest 1000."
    )
    channel_id: Id | None = Field(default=None, description="Only dead letters of this channel.")


class Resent(BaseModel):
    model_config = shown({"resent": 12, "refused": []})
    resent: Count
    refused: list[str] = Field(description="Ids that do not exist, have not ended, or whose channel is disabled.")


def delivery_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api/deliveries", tags=["notifications"], responses=errors(401, 403, 413, 422, 429))

    @router.get("", summary="Deliveries, newest first")
    def page(
        alert_id: Annotated[Text | None, Query(max_length=200)] = None,
        channel_id: Annotated[Text | None, Query(max_length=200)] = None,
        state: Annotated[State | None, Query(description="`dead`: the dead letters.")] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> DeliveryPage:
        wanted = deliveries.Wanted(alert_id, channel_id, state)
        found, total = deliveries.page(parts.store, wanted, limit=limit, offset=offset)
        return DeliveryPage(items=[answer(each) for each in found], total=total)

    @router.post("/resend", summary="Send several again", responses=errors(400))
    def resend_many(draft: ResendDraft, who: Asker) -> Resent:
        ids = draft.delivery_ids
        if ids is None:
            ids = deliveries.dead_ids(parts.store, draft.channel_id, limit=1000)
        refused = deliveries.resend(parts.store, ids, who=who.label, at_ms=parts.now_ms())
        return Resent(resent=len(set(ids)) - len(refused), refused=refused)

    @router.get("/{delivery_id}", summary="One delivery", responses=errors(404))
    def one(delivery_id: Annotated[Text, Path(max_length=200)]) -> Delivery:
        found = deliveries.one(parts.store, delivery_id)
        if found is None:
            raise HTTPException(404, "No delivery has this id.")
        return answer(found)

    @router.post("/{delivery_id}/resend", summary="Send one again, under the same id", responses=errors(404, 409))
    def resend(delivery_id: Annotated[Text, Path(max_length=200)], who: Asker) -> Delivery:
        refused = deliveries.resend(parts.store, [delivery_id], who=who.label, at_ms=parts.now_ms())
        found = one(delivery_id)
        if refused:
            raise HTTPException(409, "It has not ended yet, or its channel is disabled.")
        return found

    return router


def answer(row: dict[str, Any]) -> Delivery:
    names = ("delivery_id", "channel_id", "what", "state", "reason", "attempts", "last_error")
    return Delivery(
        **{name: row[name] for name in names},
        alerts=[DeliveredAlert(**alert.model_dump(include=set(ALERT_EXAMPLE))) for alert, _ in row["alerts"]],
        created_time=from_ms(row["created_ms"]),
        due_time=from_ms(row["due_ms"]),
        delivered_time=maybe_from_ms(row["delivered_ms"]),
    )
