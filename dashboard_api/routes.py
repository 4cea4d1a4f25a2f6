"""The HTTP routes: each asks the view and shapes the answer."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query, Response
from pydantic import BeforeValidator

from dashboard_api.answers import (
    CountsAnswer,
    ErrorAnswer,
    FeedAnswer,
    HealthAnswer,
    PartAnswer,
    PipelineAnswer,
    ReadyAnswer,
    RejectPage,
    TruckAnswer,
    TruckPage,
    WindowPage,
)
from dashboard_api.health import Health
from dashboard_api.view import Known, View
from schemas.models import Counts, Reason, Status

# A query speaks text, and a Literal takes it literally.
Length = Annotated[Literal[60, 300], BeforeValidator(int)]
Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many items.")]
ERRORS: dict[int | str, dict[str, Any]] = {status: {"model": ErrorAnswer} for status in (404, 422, 500)}


def api_routes(view: View, health: Health, now: Callable[[], datetime]) -> APIRouter:
    """Everything under /api. `now` gives the wall clock, for ages."""
    router = APIRouter(prefix="/api", responses=ERRORS)

    @router.get("/trucks", summary="Newest state of each truck, ordered by id")
    def trucks(
        limit: Limit = 100,
        offset: Annotated[int, Query(ge=0, description="Skip so many items.")] = 0,
        status: Annotated[Status | None, Query(description="Only trucks that do this.")] = None,
        q: Annotated[str, Query(max_length=100, description="Part of an id, name, plate or driver.")] = "",
    ) -> TruckPage:
        known, total = view.trucks(status=status, text=q, limit=limit, offset=offset)
        moment = now()
        return TruckPage(items=[_truck_answer(each, moment) for each in known], total=total)

    @router.get("/trucks/{truck_id}", summary="Newest state of one truck")
    def truck(truck_id: Annotated[str, Path(description="The truck's id.")]) -> TruckAnswer:
        known = view.truck(truck_id)
        if known is None:
            raise HTTPException(404, "No truck has this id.")
        return _truck_answer(known, now())

    @router.get("/windows", summary="Windows of the fleet or of one truck, newest first")
    def windows(
        scope: Annotated[Literal["fleet", "truck"] | None, Query(description="Follows from truck_id.")] = None,
        truck_id: Annotated[str | None, Query(description="Needed for the windows of a truck.")] = None,
        length_s: Annotated[Length | None, Query(description="Only windows of this length.")] = None,
        limit: Limit = 100,
    ) -> WindowPage:
        if scope is not None and (scope == "truck") != (truck_id is not None):
            raise HTTPException(422, "scope=truck goes with a truck_id, scope=fleet without.")
        scope = "fleet" if truck_id is None else "truck"
        items, total = view.windows(scope=scope, truck_id=truck_id, length_s=length_s, limit=limit)
        return WindowPage(items=items, total=total)

    @router.get("/rejects", summary="Records that were not used, and why, newest first")
    def rejects(
        reason: Annotated[Reason | None, Query(description="Only rejects for this reason.")] = None,
        limit: Limit = 100,
    ) -> RejectPage:
        items, total = view.rejects(reason=reason, limit=limit)
        return RejectPage(items=items, total=total)

    @router.get("/pipeline", summary="What became of every record, and how the queries are doing")
    def pipeline() -> PipelineAnswer:
        feed = FeedAnswer(connected=health.connected, rebuilt=health.rebuilt, trouble=health.trouble)
        return PipelineAnswer(feed=feed, counts=_sum(view.counts()), queries=view.queries())

    return router


def health_routes(health: Health) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz", summary="The process answers")
    def healthz() -> HealthAnswer:
        return HealthAnswer(status="ok")

    @router.get("/readyz", summary="Every part works; 503 and why when not", responses={503: {"model": ReadyAnswer}})
    def readyz(response: Response) -> ReadyAnswer:
        response.status_code = 200 if health.ready else 503
        view_why = "" if health.rebuilt else "the topics have not been read to their end yet"
        parts = {
            "kafka": PartAnswer(ready=health.connected, why=health.trouble),
            "view": PartAnswer(ready=health.rebuilt, why=view_why),
        }
        return ReadyAnswer(ready=health.ready, parts=parts)

    return router


def _truck_answer(known: Known, moment: datetime) -> TruckAnswer:
    state, truck = known.state, known.truck
    # The state was validated when it came in; a thousand of them an answer need no second look.
    return TruckAnswer.model_construct(
        **dict(state),
        name=truck.name if truck else None,
        plate=truck.plate if truck else None,
        driver=truck.driver if truck else None,
        age_s=round((moment - state.event_time).total_seconds(), 1),
    )


def _sum(shards: list[Counts]) -> CountsAnswer:
    rejected: dict[Reason, int] = {}
    for shard in shards:
        for reason, count in shard.rejected.items():
            rejected[reason] = rejected.get(reason, 0) + count
    total = {name: sum(getattr(shard, name) for shard in shards) for name in ("input", "judged", "duplicate", "late")}
    rejected_total = sum(rejected.values())
    used = total["judged"] + total["duplicate"] + total["late"] + rejected_total
    return CountsAnswer(
        shards=len(shards), **total, rejected=rejected, rejected_total=rejected_total, balanced=total["input"] == used
    )
