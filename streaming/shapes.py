"""One version of a fence as geometry: what the spatial index holds of it, and how far its boundary is."""

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from schemas.fences import line_of, rings_of
from schemas.models import Fence
from streaming.geodesy import PLANE_M, PLANE_REACH_M, PLANE_SHARE, Floats, degree_m, distance_m, edge_m, plane_edge_m

POLYGON, CIRCLE, CORRIDOR = 0, 1, 2
# Boxes in the index are a little larger than they must be; what is inside is decided exactly.
BOX_ROOM = 1.01


@dataclass(frozen=True)
class Shape:
    """`parts` go into the index; `edges` are rows of lat, lon, lat, lon: the boundary, or a corridor's middle."""

    kind: int
    parts: list[shapely.Geometry]
    edges: NDArray[np.float64]
    reach_m: float

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east, north; longitudes may pass 180."""
        west, south, east, north = shapely.total_bounds(self.parts)
        return float(west), float(south), float(east), float(north)

    def boundary_m(self, lat: float, lon: float, near_m: float = np.nan) -> float:
        """Metres to the boundary, whichever side; exact if within what the plane could be wrong by of `near_m`."""
        lats, lons = np.full(len(self.edges), lat), np.full(len(self.edges), lon)
        ends = (self.edges[:, 0], self.edges[:, 1]), (self.edges[:, 2], self.edges[:, 3])
        if self.kind == CIRCLE:
            return abs(float(distance_m(lats, lons, *ends[0])[0]) - self.reach_m)
        plane_m = plane_edge_m(lats, lons, *ends)
        nearest_m = float(plane_m.min())
        if not self._is_unsure(nearest_m, near_m):
            return abs(nearest_m - self.reach_m)
        close = plane_m <= nearest_m * (1 + 3 * PLANE_SHARE) + 2 * PLANE_M
        picked = tuple((each[0][close], each[1][close]) for each in ends)
        return abs(float(edge_m(lats[close], lons[close], *picked).min()) - self.reach_m)

    def _is_unsure(self, plane_m: float, near_m: float) -> bool:
        if np.isnan(near_m):
            return False
        room_m = PLANE_SHARE * plane_m + PLANE_M
        return plane_m > PLANE_REACH_M or abs(abs(plane_m - self.reach_m) - near_m) <= room_m


def shape_of(fence: Fence) -> Shape:
    match fence.kind:
        case "circle":
            lon, lat = (float(number) for number in fence.geometry["coordinates"][:2])  # type: ignore[index]
            reach_m = float(fence.radius_m or 0)
            edges = np.array([[lat, lon, lat, lon]])
            return Shape(CIRCLE, boxes_around(edges, reach_m), edges, reach_m)
        case "corridor":
            edges = _edges([line_of(fence)])
            reach_m = float(fence.width_m or 0) / 2
            return Shape(CORRIDOR, boxes_around(edges, reach_m), edges, reach_m)
        case _:
            polygons = rings_of(fence)
            whole = shapely.MultiPolygon([shapely.Polygon(rings[0], rings[1:]) for rings in polygons])
            shapely.prepare(whole)
            return Shape(POLYGON, [whole], _edges([ring for rings in polygons for ring in rings]), 0.0)


def _edges(lines: list[list[tuple[float, float]]]) -> NDArray[np.float64]:
    """From (lon, lat) to rows of lat, lon, lat, lon; edges without a length say nothing."""
    rows = [(*line[i][::-1], *line[i + 1][::-1]) for line in lines for i in range(len(line) - 1)]
    edges = np.array(rows, dtype=np.float64)
    moves = (edges[:, 0] != edges[:, 2]) | (edges[:, 1] != edges[:, 3])
    found: NDArray[np.float64] = edges[moves]
    return found


def boxes_around(edges: NDArray[np.float64], reach_m: float) -> list[shapely.Geometry]:
    """A box for each edge that holds every point within `reach_m` of it; all around the Earth near a pole."""
    south = np.minimum(edges[:, 0], edges[:, 2]) - BOX_ROOM * reach_m / 110_000
    north = np.maximum(edges[:, 0], edges[:, 2]) + BOX_ROOM * reach_m / 110_000
    farthest: Floats = np.maximum(np.abs(south), np.abs(north))
    east_m = degree_m(np.minimum(farthest, 89.9))[1]
    by_lon = np.where(farthest > 89.0, 360.0, BOX_ROOM * reach_m / east_m)
    west, east = np.minimum(edges[:, 1], edges[:, 3]) - by_lon, np.maximum(edges[:, 1], edges[:, 3]) + by_lon
    return list(shapely.box(west, south, east, north))
