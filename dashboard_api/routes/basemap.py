"""The base map: roads and cities. They change with the program alone, so browsers keep them."""

from typing import Annotated

from fastapi import APIRouter, Header
from pydantic import BaseModel, Field
from starlette.responses import Response

from dashboard_api import basemap
from dashboard_api.answers import shown
from dashboard_api.routes.params import errors

CITY_EXAMPLE = {"name": "Chicago", "state": "IL", "lat": 41.85, "lon": -87.65, "population": 2720546}
IfNoneMatch = Annotated[str | None, Header(max_length=200, description="The ETag of what is known already.")]
UNCHANGED: dict[int | str, dict[str, str]] = {304: {"description": "Still the same."}}


class RoadsAnswer(BaseModel):
    model_config = shown({"per_degree": 1000, "lines": [[-87630, 41878, 12, -5, 8, -9]]})
    per_degree: int = Field(description="So many units are a degree.")
    lines: list[list[int]] = Field(description="lon, lat, then the steps (lon, lat) to each next position.")


class City(BaseModel):
    model_config = shown(CITY_EXAMPLE)
    name: str
    state: str
    lat: float
    lon: float
    population: int


class CitiesAnswer(BaseModel):
    model_config = shown({"items": [CITY_EXAMPLE]})
    items: list[City] = Field(description="The largest first. Source: GeoNames, CC BY 4.0.")


def basemap_routes() -> APIRouter:
    router = APIRouter(prefix="/api/map", tags=["map"], responses=errors(401, 403, 422, 429))

    @router.get(
        "/roads",
        summary="The U.S. freeways as lines",
        response_model=None,
        responses={200: {"model": RoadsAnswer}, **UNCHANGED},
    )
    def roads(if_none_match: IfNoneMatch = None) -> Response:
        return answer(basemap.roads(), if_none_match)

    @router.get(
        "/cities",
        summary="The largest U.S. cities",
        response_model=None,
        responses={200: {"model": CitiesAnswer}, **UNCHANGED},
    )
    def cities(if_none_match: IfNoneMatch = None) -> Response:
        return answer(basemap.cities(), if_none_match)

    return router


def answer(sheet: basemap.Sheet, known: str | None) -> Response:
    # Private: it took a key to get here, and a cache between would not ask for one.
    headers = {"ETag": sheet.etag, "Cache-Control": "private, max-age=86400"}
    if known is not None and sheet.etag in known:
        return Response(status_code=304, headers=headers)
    return Response(sheet.json, media_type="application/json", headers=headers)
