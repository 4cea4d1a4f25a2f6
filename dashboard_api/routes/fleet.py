"""Trucks, their tracks, windows, rejects, the pipeline and the numbers over all of them."""

from datetime import timedelta
from functools import lru_cache
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

import msgspec
from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dashboard_api.answers import (
    CountsAnswer,
    FeedAnswer,
    PipelineAnswer,
    RejectPage,
    StatsAnswer,
    TrackAnswer,
    TruckAnswer,
    TruckPage,
    WindowPage,
)
from dashboard_api.errors import error_answer
from dashboard_api.parts import Id, Parts, Text
from dashboard_api.routes.params import Limit, Offset, errors, wants_geojson
from dashboard_api.select import Box, Order, Wanted
from dashboard_api.tracks import Track
from schemas.models import Counts, Reason, Status, as_rfc3339
from store import alerts, fences
from store.moments import from_ms

STALE_S = 120
LONGEST_KEPT = 500
# A query speaks text, and a Literal takes it literally.
Length = Annotated[Literal[60, 300], BeforeValidator(int)]
TruckId = Annotated[Text, Path(description="The truck's id.")]
GEOJSON: dict[str, Any] = {"application/geo+json": {}}


def _numbers(text: object) -> object:
    if not isinstance(text, str):
        return text
    return [float(part) for part in text.split(",")]


Degrees = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]


class TruckFilter(BaseModel):
    """Which trucks, and in which order."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    status: Status | None = Field(default=None, description="Only trucks that do this.")
    q: Annotated[Text, Field(max_length=100)] = Field(default="", description="Part of an id, name, plate or driver.")
    fence: Id | None = Field(default=None, description="Only trucks in this fence, by its id.")
    bbox: Annotated[tuple[Degrees, Degrees, Degrees, Degrees] | None, BeforeValidator(_numbers)] = Field(
        default=None, description="west,south,east,north in degrees; west may be greater: across the antimeridian."
    )
    near: Annotated[tuple[Degrees, Degrees] | None, BeforeValidator(_numbers)] = Field(
        default=None, description="lat,lon: nearest first, with `distance_m`."
    )
    stale: bool | None = Field(default=None, description=f"Whether the newest fix is older than {STALE_S} s.")
    sort: Order = Field(default="id", description="oldest: not heard for longest; `near` comes before it.")
    format: Literal["json", "geojson"] | None = Field(default=None, description="Or by Accept.")
    limit: Annotated[int, Field(ge=1, le=1000)] = Field(default=100, description="At most so many items.")
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = Field(default=0, description="Skip so many items.")

    def wanted(self, now_ms: int) -> Wanted:
        edge_ms = now_ms - 1000 * STALE_S
        return Wanted(
            status=self.status,
            text=self.q,
            fence_id=self.fence,
            box=Box(*self.bbox) if self.bbox else None,
            heard_before_ms=edge_ms if self.stale is True else None,
            heard_after_ms=edge_ms if self.stale is False else None,
        )


@lru_cache(maxsize=1024)
def read_filter(query: bytes) -> TruckFilter:
    """Pages ask the same again and again: it is read once."""
    return TruckFilter.model_validate(dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)))


def query_parameters(model: type[BaseModel]) -> list[dict[str, Any]]:
    """The model's fields as the OpenAPI document names them; FastAPI's own way of asking costs more than the answer."""
    fields = model.model_json_schema(ref_template="#/components/schemas/{model}")["properties"]
    for name in ("bbox", "near"):
        numbers = 4 if name == "bbox" else 2
        pattern = "^" + ",".join([r"-?\d{1,2}(\.\d{1,6})?"] * numbers) + "$"
        fields[name] = {"type": "string", "pattern": pattern, "description": fields[name]["description"]}
    return [
        {"name": name, "in": "query", "required": False, "schema": schema, "description": schema.get("description", "")}
        for name, schema in fields.items()
    ]


class TruckList:
    """The list of trucks, as a bare ASGI application: the router hands it a request without more ado."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            query = scope["query_string"]
            # What is remembered must not be what somebody stuffs into it.
            asked = read_filter(query) if len(query) < LONGEST_KEPT else read_filter.__wrapped__(query)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, ("query", *first["loc"])))
            answer: Response = error_answer(422, "invalid", first["msg"], where)
        else:
            as_geojson = wants_geojson(scope, asked.format)
            # What looks at every truck must not keep everybody else waiting.
            if as_geojson or asked.q or asked.near or asked.sort != "id":
                answer = await run_in_threadpool(self._answer, asked, as_geojson=as_geojson)
            else:
                answer = self._answer(asked)
        await answer(scope, receive, send)

    def _answer(self, asked: TruckFilter, *, as_geojson: bool = False) -> Response:
        now_ms = self._parts.now_ms()
        page, total = self._parts.view.trucks(
            asked.wanted(now_ms),
            limit=asked.limit,
            offset=asked.offset,
            now_ms=now_ms,
            near=asked.near,
            sort=asked.sort,
        )
        if as_geojson:
            return Response(as_features(page), media_type="application/geo+json")
        return Response(b'{"items":[%b],"total":%d}' % (page, total), media_type="application/json")


def fleet_routes(parts: Parts) -> APIRouter:
    """Trucks and windows. `parts.now` gives the wall clock, for ages."""
    router = APIRouter(prefix="/api", tags=["fleet"], responses=errors(401, 403, 422, 429))
    view = parts.view

    @router.get(
        "/trucks",
        summary="Newest state of each truck, ordered by id",
        response_model=None,
        responses={200: {"model": TruckPage, "content": GEOJSON}},
        openapi_extra={"parameters": query_parameters(TruckFilter)},
    )
    def trucks() -> None:
        """For the OpenAPI document: `TruckList` answers."""

    @router.get(
        "/trucks/{truck_id}",
        summary="Newest state of one truck",
        response_model=None,
        responses={200: {"model": TruckAnswer}, **errors(404)},
    )
    def truck(truck_id: TruckId) -> Response:
        known = view.truck(truck_id, parts.now_ms())
        if known is None:
            raise HTTPException(404, "No truck has this id.")
        return Response(known, media_type="application/json")

    @router.get("/trucks/{truck_id}/track", summary="Where a truck was in the last hour", responses=errors(404))
    def track(truck_id: TruckId) -> TrackAnswer:
        found = view.track(truck_id, parts.now_ms())
        if found is None:
            raise HTTPException(404, "No truck has this id.")
        return track_answer(truck_id, found)

    @router.get("/windows", summary="Windows of the fleet or of one truck, newest first")
    def windows(
        scope: Annotated[Literal["fleet", "truck"] | None, Query(description="Follows from truck_id.")] = None,
        truck_id: Annotated[Text | None, Query(description="Needed for the windows of a truck.")] = None,
        length_s: Annotated[Length | None, Query(description="Only windows of this length.")] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> WindowPage:
        if scope is not None and (scope == "truck") != (truck_id is not None):
            raise HTTPException(422, "scope=truck goes with a truck_id, scope=fleet without.")
        scope = "fleet" if truck_id is None else "truck"
        items, total = view.windows(scope=scope, truck_id=truck_id, length_s=length_s, limit=limit, offset=offset)
        return WindowPage(items=items, total=total)

    @router.get("/rejects", summary="Records that were not used, and why, newest first")
    def rejects(
        reason: Annotated[Reason | None, Query(description="Only rejects for this reason.")] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> RejectPage:
        items, total = view.rejects(reason=reason, limit=limit, offset=offset)
        return RejectPage(items=items, total=total)

    @router.get("/pipeline", summary="What became of every record, and how the queries are doing")
    def pipeline() -> PipelineAnswer:
        health = parts.health
        feed = FeedAnswer(connected=health.connected, rebuilt=health.rebuilt, trouble=health.trouble)
        return PipelineAnswer(feed=feed, counts=sum_counts(view.counts()), queries=view.queries())

    @router.get("/stats", summary="Trucks by status, open alerts by kind, alerts per hour of the last day")
    def stats() -> StatsAnswer:
        since_ms = parts.now_ms() - timedelta(days=1) // timedelta(milliseconds=1)
        open_alerts: dict[str, int] = {}
        unseen = 0
        for kind, _severity, count, not_acknowledged in alerts.open_by_kind(parts.store):
            open_alerts[kind] = open_alerts.get(kind, 0) + count
            unseen += not_acknowledged
        hours = {as_rfc3339(from_ms(hour_ms)): count for hour_ms, count in alerts.per_hour(parts.store, since_ms)}
        return StatsAnswer(
            trucks=view.by_status(),
            open_alerts=open_alerts,
            not_acknowledged=unseen,
            alerts_per_hour=hours,
            fences=fences.page(parts.store, text="", limit=1, offset=0)[1],
            fences_waiting=fences.waiting(parts.store),
        )

    return router


def as_features(trucks: bytes) -> bytes:
    features = []
    for known in msgspec.json.decode(b"[%b]" % trucks):
        point = {"type": "Point", "coordinates": [known["lon"], known["lat"]]}
        features.append({"type": "Feature", "id": known["truck_id"], "geometry": point, "properties": known})
    return msgspec.json.encode({"type": "FeatureCollection", "features": features})


def track_answer(truck_id: str, track: Track) -> TrackAnswer:
    positions = [[lon, lat] for lon, lat in zip(track.lon.tolist(), track.lat.tolist(), strict=True)]
    # A line has two positions at least.
    geometry = {"type": "LineString", "coordinates": positions} if len(positions) > 1 else None
    times = [as_rfc3339(from_ms(each * 1000)) for each in track.event_s.tolist()]
    properties = {"truck_id": truck_id, "event_times": times, "speeds_kmh": track.speed_kmh}
    return TrackAnswer.model_validate({"type": "Feature", "geometry": geometry, "properties": properties})


def sum_counts(shards: list[Counts]) -> CountsAnswer:
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
