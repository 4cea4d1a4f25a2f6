"""Visits: which truck was in which fence, and when."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from dashboard_api.answers import shown
from dashboard_api.parts import AnyTime, Id, Parts, Text
from dashboard_api.routes.params import Limit, Offset, errors
from schemas.models import Count, Visit
from store import visits
from store.moments import as_ms

VISIT_EXAMPLE: dict[str, Any] = {
    "visit_id": "9a415f0c2b7e",
    "revision": 1,
    "status": "closed",
    "truck_id": "truck-0007",
    "fence_id": "depot-chicago",
    "enter_time": "2026-03-02T14:05:30.000Z",
    "exit_time": "2026-03-02T15:10:50.000Z",
    "last_inside_time": "2026-03-02T15:10:30.000Z",
    "enter_cause": None,
    "exit_cause": None,
}


class VisitPage(BaseModel):
    model_config = shown({"items": [VISIT_EXAMPLE], "total": 1})
    items: list[Visit]
    total: Count


def visit_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["visits"], responses=errors(401, 403, 422, 429))

    def ask(wanted: visits.Wanted, limit: int, offset: int) -> VisitPage:
        found, total = visits.page(parts.store, wanted, limit=limit, offset=offset)
        return VisitPage(items=[Visit.model_validate_json(each) for each in found], total=total)

    @router.get("/visits", summary="Visits, newest first")
    def page(  # noqa: PLR0913, PLR0917 (each is a filter)
        truck_id: Annotated[Id | None, Query(description="Only visits of this truck.")] = None,
        fence_id: Annotated[Id | None, Query(description="Only visits to this fence.")] = None,
        status: Annotated[Literal["open", "closed", "retracted"] | None, Query()] = None,
        from_time: Annotated[AnyTime | None, Query(description="Entered at or after.")] = None,
        to_time: Annotated[AnyTime | None, Query(description="Entered before.")] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> VisitPage:
        from_ms = None if from_time is None else as_ms(from_time)
        to_ms = None if to_time is None else as_ms(to_time)
        return ask(visits.Wanted(truck_id, fence_id, status, from_ms, to_ms), limit, offset)

    @router.get("/trucks/{truck_id}/visits", summary="Visits of a truck, newest first")
    def of_truck(
        truck_id: Annotated[Text, Path(description="The truck's id.")], limit: Limit = 100, offset: Offset = 0
    ) -> VisitPage:
        return ask(visits.Wanted(truck_id=truck_id), limit, offset)

    return router
