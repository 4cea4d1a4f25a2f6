"""Whether a fence can be used: asked by whoever writes one, and again by whoever reads it."""

import math
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import shapely
from pydantic import ValidationError

from schemas.models import Fence

MAX_FENCE_BYTES = 1_000_000
MAX_VERTICES = 10_000
GEOMETRY_OF_KIND = {
    "polygon": "Polygon",
    "multipolygon": "MultiPolygon",
    "circle": "Point",
    "corridor": "LineString",
}


class FenceError(ValueError):
    """Why a fence is refused: which field or vertex, and what is wrong with it."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where
        self.message = message


def read_fence(value: bytes) -> Fence:
    """The fence that a record holds; raises FenceError."""
    if len(value) > MAX_FENCE_BYTES:
        raise FenceError("fence", f"larger than {MAX_FENCE_BYTES} bytes")
    try:
        fence = Fence.model_validate_json(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise FenceError(".".join(map(str, first["loc"])) or "fence", first["msg"]) from error
    check_fence(fence)
    return fence


def check_fence(fence: Fence) -> None:
    """Raise FenceError unless the fence encloses an area that can be told from its outside."""
    if fence.geometry.get("type") != GEOMETRY_OF_KIND[fence.kind]:
        raise FenceError("geometry.type", f"a {fence.kind} is a GeoJSON {GEOMETRY_OF_KIND[fence.kind]}")
    _check_size(fence)
    if fence.schedule is not None:
        _check_zone(fence.schedule.zone)
    coordinates = fence.geometry.get("coordinates")
    match fence.kind:
        case "circle":
            _vertex(coordinates, "geometry.coordinates")
        case "corridor":
            _check_line(_vertices(coordinates, "geometry.coordinates", least=2))
        case _:
            _check_area(rings_of(fence))


def _check_size(fence: Fence) -> None:
    if (fence.kind == "circle") != (fence.radius_m is not None):
        raise FenceError("radius_m", "a circle has one, and nothing else does")
    if (fence.kind == "corridor") != (fence.width_m is not None):
        raise FenceError("width_m", "a corridor has one, and nothing else does")


def _check_zone(zone: str) -> None:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise FenceError("schedule.zone", f"{zone} is not an IANA time zone, such as Europe/Amsterdam") from error


def rings_of(fence: Fence) -> list[list[list[tuple[float, float]]]]:
    """Of each polygon the outer ring and its holes, as (lon, lat), in one piece where they cross the antimeridian."""
    coordinates = fence.geometry.get("coordinates")
    polygons = [coordinates] if fence.kind == "polygon" else coordinates
    if not isinstance(polygons, list) or not polygons:
        raise FenceError("geometry.coordinates", "no polygon")
    found = []
    for p, polygon in enumerate(polygons):
        where = "geometry.coordinates" if fence.kind == "polygon" else f"geometry.coordinates[{p}]"
        if not isinstance(polygon, list) or not polygon:
            raise FenceError(where, "a polygon is a list of rings, the outer one first")
        found.append([_ring(ring, f"{where}[{r}]") for r, ring in enumerate(polygon)])
    return _in_one_piece(found)


def line_of(fence: Fence) -> list[tuple[float, float]]:
    """The middle of a corridor, as (lon, lat), in one piece where it crosses the antimeridian."""
    return unwrapped(_vertices(fence.geometry.get("coordinates"), "geometry.coordinates", least=2))


def unwrapped(vertices: list[tuple[float, float]], near_lon: float | None = None) -> list[tuple[float, float]]:
    """The same vertices, each on the shorter way from the one before; longitudes may then pass 180."""
    out: list[tuple[float, float]] = []
    before = vertices[0][0] if near_lon is None else near_lon
    for lon, lat in vertices:
        before = lon + 360 * round((before - lon) / 360)
        out.append((before, lat))
    return out


def _in_one_piece(polygons: list[list[list[tuple[float, float]]]]) -> list[list[list[tuple[float, float]]]]:
    pieces = []
    for outer, *holes in polygons:
        ring = unwrapped(outer)
        pieces.append([ring, *(unwrapped(hole, near_lon=ring[0][0]) for hole in holes)])
    return pieces


def _ring(ring: Any, where: str) -> list[tuple[float, float]]:
    vertices = _vertices(ring, where, least=4)
    if vertices[0] != vertices[-1]:
        raise FenceError(where, "a ring ends where it began: its last vertex equals its first")
    return vertices


def _vertices(found: Any, where: str, *, least: int) -> list[tuple[float, float]]:
    if not isinstance(found, list) or len(found) < least:
        raise FenceError(where, f"at least {least} vertices are needed")
    if len(found) > MAX_VERTICES:
        raise FenceError(where, f"{len(found)} vertices; at most {MAX_VERTICES} are taken")
    return [_vertex(vertex, f"{where}[{i}]") for i, vertex in enumerate(found)]


def _vertex(found: Any, where: str) -> tuple[float, float]:
    """GeoJSON's [lon, lat]; an altitude behind it is ignored."""
    if not isinstance(found, list) or len(found) not in (2, 3) or not all(map(_is_number, found)):
        raise FenceError(where, "a vertex is [lon, lat], two numbers")
    lon, lat = float(found[0]), float(found[1])
    if not -180 <= lon <= 180:
        raise FenceError(where, f"the longitude {lon} is not within -180 to 180")
    if not -90 <= lat <= 90:
        raise FenceError(where, f"the latitude {lat} is not within -90 to 90")
    return lon, lat


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_line(vertices: list[tuple[float, float]]) -> None:
    if all(start == end for start, end in pairwise(vertices)):
        raise FenceError("geometry.coordinates", "the line has no length")


def _check_area(polygons: list[list[list[tuple[float, float]]]]) -> None:
    if sum(len(ring) for rings in polygons for ring in rings) > MAX_VERTICES:
        raise FenceError("geometry.coordinates", f"more than {MAX_VERTICES} vertices")
    shape = shapely.MultiPolygon([shapely.Polygon(rings[0], rings[1:]) for rings in polygons])
    # Not its own area: the halves of a figure of eight cancel each other out.
    if shape.convex_hull.area == 0:
        raise FenceError("geometry.coordinates", "the fence has no area")
    if not shape.is_valid:
        raise FenceError("geometry.coordinates", f"the boundary is not simple: {shapely.is_valid_reason(shape)}")
