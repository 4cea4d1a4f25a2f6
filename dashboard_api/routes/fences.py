"""Fences: draw, change, delete, look back, import and export."""

import json
import secrets
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Header, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection, Row
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from dashboard_api import geojson, kml
from dashboard_api.access import Who
from dashboard_api.answers import shown
from dashboard_api.drafts import FENCE_DRAFT_EXAMPLE, FenceDraft, checked_found, write
from dashboard_api.parts import Asker, Parts, Text
from dashboard_api.routes.params import Limit, Offset, Search, errors, wants_geojson
from schemas.fences import FenceError
from schemas.models import Count, Fence, Moment
from store import fences
from store.moments import from_ms

FENCE_EXAMPLE: dict[str, Any] = FENCE_DRAFT_EXAMPLE | {"version": 1, "effective_from": "2026-03-02T14:05:00.000Z"}
FEATURE_EXAMPLE: dict[str, Any] = {
    "type": "Feature",
    "id": "depot-chicago",
    "geometry": FENCE_DRAFT_EXAMPLE["geometry"],
    "properties": {"name": "Depot Chicago", "radius_m": 400, "tags": ["depot"]},
}
KML_TYPE = "application/vnd.google-earth.kml+xml"
GEOJSON_TYPE = "application/geo+json"
IMPORT_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"type": "object"},
            "example": {"type": "FeatureCollection", "features": [FEATURE_EXAMPLE]},
        },
        GEOJSON_TYPE: {"schema": {"type": "object"}},
        KML_TYPE: {"schema": {"type": "string"}},
    },
}
FenceId = Annotated[Text, Path(min_length=1, max_length=64, description="The fence's id.")]
IfMatch = Annotated[str | None, Header(max_length=100, description='The version that was seen, such as `"3"`.')]


class FencePage(BaseModel):
    model_config = shown({"items": [], "total": 0, "inside": {"depot-chicago": 3}})
    items: list[Fence]
    total: Count
    inside: dict[str, Count] = Field(description="How many trucks are in each fence of this page now.")


class FenceVersion(BaseModel):
    fence: Fence
    who: str = Field(description="Who wrote this version.")
    written_time: Moment


class FenceHistory(BaseModel):
    items: list[FenceVersion] = Field(description="Newest first.")
    total: Count


class Imported(BaseModel):
    model_config = shown({"created": ["depot-chicago"], "updated": [], "skipped": [], "ignored": ["fill"]})
    created: list[str]
    updated: list[str]
    skipped: list[str]
    ignored: list[str] = Field(description="Properties of the file that mean nothing to a fence.")


def fence_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api/fences", tags=["fences"], responses=errors(401, 403, 413, 422, 429))

    @router.get("", summary="Current fences, ordered by id", responses={200: {"content": {GEOJSON_TYPE: {}}}})
    def page(
        request: Request,
        q: Search = "",
        limit: Annotated[int | None, Query(ge=1, le=1000, description="Absent: 100; as GeoJSON: all.")] = None,
        offset: Offset = 0,
        format: Annotated[Literal["json", "geojson"] | None, Query(description="Or by Accept.")] = None,
    ) -> FencePage:
        is_export = wants_geojson(request.scope, format)
        rows, total = fences.page(parts.store, text=q, limit=limit or (None if is_export else 100), offset=offset)
        if is_export:
            return StreamingResponse(geojson.exported(row.value for row in rows), media_type=GEOJSON_TYPE)  # type: ignore[return-value]
        items = [Fence.model_validate_json(row.value) for row in rows]
        inside = parts.view.inside(each.fence_id for each in items)
        return FencePage(items=items, total=total, inside=inside)

    @router.post("", status_code=201, summary="Make a fence", responses=errors(400, 409))
    def create(draft: FenceDraft, who: Asker, response: Response) -> Fence:
        fence_id = draft.fence_id or secrets.token_hex(6)
        with parts.store.write(fences.FENCES_LOCK) as connection:
            refuse_existing(connection, fence_id)
            fence = put(parts, connection, fence_id, draft.fields(), who)
        parts.fence_changed()
        response.headers["Location"] = f"/api/fences/{fence_id}"
        return tagged(response, fence)

    @router.post(
        "/import",
        summary="Take in a file: GeoJSON or KML. All of it, or nothing.",
        responses=errors(400, 409, 415),
        openapi_extra={"requestBody": IMPORT_BODY},
    )
    async def take_file(
        request: Request,
        who: Asker,
        existing: Annotated[
            Literal["refuse", "skip", "update"], Query(description="What to do with fences that are there already.")
        ] = "refuse",
    ) -> Imported:
        document = read_file(request.headers.get("content-type", ""), await request.body())
        return await run_in_threadpool(import_all, parts, list(geojson.fences_in(document)), existing, who)

    @router.get("/{fence_id}", summary="One fence", responses=errors(404))
    def one(
        fence_id: FenceId,
        response: Response,
        version: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="An older version.")] = None,
    ) -> Fence:
        row = fences.version(parts.store, fence_id, version)
        if row is None:
            raise HTTPException(404, "No fence has this id and version.")
        return tagged(response, Fence.model_validate_json(row.value))

    @router.put("/{fence_id}", summary="Write the next version", responses=errors(400, 404, 412, 428))
    def update(
        fence_id: FenceId,
        draft: Annotated[FenceDraft, Body()],
        who: Asker,
        response: Response,
        if_match: IfMatch = None,
    ) -> Fence:
        with parts.store.write(fences.FENCES_LOCK) as connection:
            matched(connection, fence_id, if_match)
            fence = put(parts, connection, fence_id, draft.fields(), who)
        parts.fence_changed()
        return tagged(response, fence)

    @router.delete("/{fence_id}", summary="End a fence; its versions stay", responses=errors(404, 412, 428))
    def delete(fence_id: FenceId, who: Asker, response: Response, if_match: IfMatch = None) -> Fence:
        with parts.store.write(fences.FENCES_LOCK) as connection:
            known = matched(connection, fence_id, if_match)
            fields = json.loads(known.value) | {"effective_from": None, "deleted": True}
            fence = put(parts, connection, fence_id, fields, who)
        parts.fence_changed()
        return tagged(response, fence)

    @router.get("/{fence_id}/versions", summary="The versions of a fence, newest first", responses=errors(404))
    def history(fence_id: FenceId, limit: Limit = 100, offset: Offset = 0) -> FenceHistory:
        rows, total = fences.versions(parts.store, fence_id, limit=limit, offset=offset)
        if not total:
            raise HTTPException(404, "No fence has this id.")
        items = [
            FenceVersion(fence=Fence.model_validate_json(row.value), who=row.who, written_time=from_ms(row.at_ms))
            for row in rows
        ]
        return FenceHistory(items=items, total=total)

    return router


def put(parts: Parts, connection: Connection, fence_id: str, fields: dict[str, Any], who: Who) -> Fence:
    now = parts.now()
    return write(connection, fence_id, fields, who=who.label, at_ms=parts.now_ms(), now=now)


def tagged(response: Response, fence: Fence) -> Fence:
    response.headers["ETag"] = f'"{fence.version}"'
    return fence


def refuse_existing(connection: Connection, fence_id: str) -> None:
    known = fences.current(connection, fence_id)
    if known is not None and not known.deleted:
        raise HTTPException(409, f"The fence {fence_id} exists already; change it with PUT.")


def matched(connection: Connection, fence_id: str, if_match: str | None) -> Row[Any]:
    """The current version, if it is the one that the writer has seen."""
    known = fences.current(connection, fence_id)
    if known is None or known.deleted:
        raise HTTPException(404, "No fence has this id.")
    if if_match is None:
        raise HTTPException(428, f'Send the version that you have seen: If-Match: "{known.version}"')
    if if_match.strip().strip('"') not in (str(known.version), "*"):
        raise HTTPException(412, f"The fence was changed meanwhile: it is at version {known.version}.")
    return known


def read_file(content_type: str, body: bytes) -> Any:
    kind = content_type.partition(";")[0].strip().lower()
    if kind == KML_TYPE:
        return kml.as_geojson(body)
    if kind not in ("application/json", GEOJSON_TYPE):
        raise HTTPException(415, f"Send GeoJSON ({GEOJSON_TYPE}) or KML ({KML_TYPE}).")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"Not readable as JSON: {error}") from error


def import_all(parts: Parts, found: list[geojson.Found], existing: str, who: Who) -> Imported:
    done = Imported(
        created=[], updated=[], skipped=[], ignored=sorted({name for each in found for name in each.ignored})
    )
    lists = {"create": done.created, "update": done.updated, "skip": done.skipped}
    named = [(each, each.fence_id or secrets.token_hex(6)) for each in found]
    # Before anybody has to wait for the transaction: all of a large file takes seconds.
    for each, fence_id in named:
        checked_found(each, fence_id, parts.now())
    with parts.store.write(fences.FENCES_LOCK) as connection:
        for each, fence_id in named:
            what = what_to_do(connection, each, fence_id, existing)
            if what != "skip":
                put(parts, connection, fence_id, {"name": fence_id} | each.fields, who)
            lists[what].append(fence_id)
    parts.fence_changed()
    return done


def what_to_do(connection: Connection, found: geojson.Found, fence_id: str, existing: str) -> str:
    known = fences.current(connection, fence_id)
    if known is None or known.deleted:
        return "create"
    if existing == "refuse":
        raise FenceError(found.where, f"the fence {fence_id} exists already; ?existing=skip or ?existing=update")
    return existing
