"""All versions of all fences in one spatial index: which of them a fix is in, and which a drive cuts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray

from schemas.models import Fence
from streaming.geodesy import Floats, degree_m, distance_m, shorter_way, within_m
from streaming.rules import Rules
from streaming.shapes import CIRCLE, CORRIDOR, POLYGON, Shape
from streaming.timeline import Flags, Indices

FOREVER = np.iinfo(np.int64).max // 2
DEPOT = "depot"
# Cells of a degree, along each side.
CELLS = 20

# What the engine asks of a version, column by column. In force: from_t <= t < until_t.
VERSION = np.dtype(
    [
        ("fence", np.int32),
        ("from_t", np.int64),
        ("until_t", np.int64),
        ("kind", np.int8),
        ("deleted", np.bool_),
        ("moved", np.bool_),
        ("depot", np.bool_),
        ("enter_fixes", np.int32),
        ("exit_fixes", np.int32),
        ("buffer_m", np.float64),
        ("limit_kmh", np.float64),
        ("reach_m", np.float64),
        ("west", np.float64),
        ("south", np.float64),
        ("east", np.float64),
        ("north", np.float64),
    ]
)


@dataclass(frozen=True)
class Version:
    """A version of a fence, as it counts: `moved` if it encloses other ground than the one before."""

    fence_number: int
    fence: Fence
    from_t: int
    moved: bool
    shape: Shape


def version_row(version: Version, rules: Rules) -> NDArray[np.void]:
    fence, row = version.fence, np.zeros(1, VERSION)
    west, south, east, north = version.shape.bounds
    enter_fixes, exit_fixes = fence.enter_confirm_fixes, fence.exit_confirm_fixes
    row[0] = (
        version.fence_number,
        version.from_t,
        FOREVER,
        version.shape.kind,
        fence.deleted,
        version.moved,
        DEPOT in fence.tags,
        rules.enter_confirm_fixes if enter_fixes is None else enter_fixes,
        rules.exit_confirm_fixes if exit_fixes is None else exit_fixes,
        rules.exit_buffer_m if fence.exit_buffer_m is None else fence.exit_buffer_m,
        np.inf if fence.speed_limit_kmh is None else fence.speed_limit_kmh,
        version.shape.reach_m,
        *(west, south, east, north),
    )
    return row


class Places:
    """Immutable. `versions` is the table, `shapes` the geometry of each row, `before` what they were made from."""

    def __init__(self, versions: NDArray[np.void], shapes: Sequence[Shape], before: "Places | None" = None) -> None:
        self.versions = versions
        self.shapes = shapes
        # The cells that are marked already, and for which shapes.
        self._marked: tuple[NDArray[np.bool_], Sequence[Shape]] | None = None
        if before is not None:
            self._marked = (before._cells, before.shapes) if "_cells" in vars(before) else before._marked
        self._part_version: Indices = np.repeat(np.arange(len(shapes)), [len(shape.parts) for shape in shapes])

    @cached_property
    def _parts(self) -> tuple[shapely.STRtree, NDArray[np.object_], Indices, Indices]:
        """The index, its parts, the version of each, and its edge; a part that passes 180 stands there twice."""
        alive = ~self.versions["deleted"]
        geometry = np.array([part for shape in self.shapes for part in shape.parts], dtype=object)
        version = self._part_version
        counts = np.array([len(shape.parts) for shape in self.shapes], dtype=np.int64)
        edge = np.arange(len(version)) - np.repeat(np.cumsum(counts) - counts, counts)
        keep = alive[version] if len(version) else np.zeros(0, bool)
        geometry, version, edge = geometry[keep], version[keep], edge[keep]
        bounds = shapely.bounds(geometry).reshape(-1, 4)
        copies = [(np.ones(len(geometry), bool), 0.0), (bounds[:, 2] >= 180, -360.0), (bounds[:, 0] <= -180, 360.0)]
        parts = np.concatenate([_shifted(geometry[which], by) for which, by in copies])
        shapely.prepare(parts)
        versions = np.concatenate([version[which] for which, _ in copies])
        return shapely.STRtree(parts), parts, versions, np.concatenate([edge[which] for which, _ in copies])

    @cached_property
    def is_change(self) -> Flags:
        """Versions that come into force and enclose other ground than before, or none."""
        table = self.versions
        counts: Flags = (table["moved"] | table["deleted"]) & (table["from_t"] < table["until_t"])
        return counts

    @cached_property
    def change_times(self) -> Indices:
        return np.unique(self.versions["from_t"][self.is_change])

    @property
    def last_change_t(self) -> int:
        return int(self.change_times[-1]) if len(self.change_times) else -FOREVER

    @cached_property
    def changed_t(self) -> Indices:
        """For each fence: when its ground changed last."""
        changed = np.full(len(self._first_row), -FOREVER)
        np.maximum.at(changed, self.versions["fence"][self.is_change], self.versions["from_t"][self.is_change])
        return changed

    @cached_property
    def _first_row(self) -> Indices:
        """For each fence: where its versions stand in the table, the oldest first."""
        fences = int(self.versions["fence"].max(initial=-1)) + 1
        first = np.full(fences, -1)
        first[self.versions["fence"][::-1]] = np.arange(len(self.versions))[::-1]
        return first

    @cached_property
    def _row_count(self) -> Indices:
        return np.bincount(self.versions["fence"], minlength=len(self._first_row))

    def rows_of(self, fence: int) -> range:
        first = int(self._first_row[fence])
        return range(first, first + int(self._row_count[fence]))

    def in_force(self, fence: Indices, t: Indices) -> Indices:
        """The version of each fence that counts at its moment, -1 where there is none."""
        found = np.full(len(fence), -1)
        for i in range(int(self._row_count[fence].max(initial=0))):
            row = np.minimum(self._first_row[fence] + i, len(self.versions) - 1)
            counts = (i < self._row_count[fence]) & (self.versions["from_t"][row] <= t)
            found[counts] = row[counts]
        found[(found >= 0) & self.versions["deleted"][found]] = -1
        return found

    def around(self, west: Floats, south: Floats, east: Floats, north: Floats) -> tuple[Indices, Indices]:
        """(row, part) for every box that touches a part's box."""
        if not len(self.versions):
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing
        rows = np.flatnonzero(self._could_touch(west, south, east, north))
        row, part = self._parts[0].query(shapely.box(west[rows], south[rows], east[rows], north[rows]))
        return rows[row], part

    @cached_property
    def _cells(self) -> NDArray[np.bool_]:
        """Which cells of a grid over the Earth a part's box touches: most fixes are nowhere near, and done with."""
        cells, known = np.zeros((180 * CELLS + 1, 360 * CELLS), dtype=bool), set()
        if self._marked is not None:
            # What lay somewhere before may still be marked: that costs a look, and changes no answer.
            cells, known = self._marked[0].copy(), {id(shape) for shape in self._marked[1]}
        parts = [part for shape in self.shapes if id(shape) not in known for part in shape.parts]
        for west, south, east, north in shapely.bounds(parts).reshape(-1, 4).tolist():
            rows = slice(_row(max(south, -90.0)), _row(min(north, 90.0)) + 1)
            columns = np.arange(_column(west), _column(min(east, west + 360)) + 1) % (360 * CELLS)
            cells[rows, columns] = True
        return cells

    def _could_touch(self, west: Floats, south: Floats, east: Floats, north: Floats) -> Flags:
        """A box smaller than a cell lies in those of its corners; a larger one is not sorted out."""
        could = (east - west >= 1 / CELLS) | (north - south >= 1 / CELLS)
        for lat in (south, north):
            row = np.floor((lat + 90) * CELLS).astype(np.int64)
            for lon in (west, east):
                could |= self._cells[row, np.floor((lon + 180) * CELLS).astype(np.int64) % (360 * CELLS)]
        return could

    def version_of(self, part: Indices) -> Indices:
        return self._parts[2][part]

    def holds(self, part: Indices, lat: Floats, lon: Floats) -> Flags:
        """Whether each point is in its part; the boundary is inside."""
        _, parts, versions, edges = self._parts
        version = versions[part]
        kind = self.versions["kind"][version]
        inside = np.zeros(len(part), dtype=bool)
        polygon, circle, corridor = kind == POLYGON, kind == CIRCLE, kind == CORRIDOR
        inside[polygon] = shapely.intersects_xy(parts[part[polygon]], lon[polygon], lat[polygon])
        if circle.any():
            middle = self._edge_rows(version[circle], edges[part[circle]])
            apart_m = distance_m(lat[circle], lon[circle], middle[:, 0], middle[:, 1])
            inside[circle] = apart_m <= self.versions["reach_m"][version[circle]]
        if corridor.any():
            edge = self._edge_rows(version[corridor], edges[part[corridor]])
            ends = (edge[:, 0], edge[:, 1]), (edge[:, 2], edge[:, 3])
            reach_m = self.versions["reach_m"][version[corridor]]
            inside[corridor] = within_m(lat[corridor], lon[corridor], *ends, reach_m)
        return inside

    def cut(self, part: Indices, start: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> Flags:
        """Whether the straight line from start to end (lat, lon each, unwrapped) touches its part."""
        _, parts, versions, edges = self._parts
        version = versions[part]
        kind = self.versions["kind"][version]
        touched = np.zeros(len(part), dtype=bool)
        polygon, other = kind == POLYGON, kind != POLYGON
        if polygon.any():
            coordinates = np.stack([start[1], start[0], end[1], end[0]], axis=1)[polygon].reshape(-1, 2, 2)
            touched[polygon] = shapely.intersects(parts[part[polygon]], shapely.linestrings(coordinates))
        if other.any():
            edge = self._edge_rows(version[other], edges[part[other]])
            drive = (start[0][other], start[1][other]), (end[0][other], end[1][other])
            touched[other] = _cuts_edge(edge, *drive, self.versions["reach_m"][version[other]])
        return touched

    def is_clear(self, version: Indices, lat: Floats, lon: Floats, room_m: Floats) -> Flags:
        """Whether each point, which is outside its version, is more than `room_m` away from it."""
        clear = self._box_m(version, lat, lon) > room_m
        clear |= room_m == 0
        for i in np.flatnonzero(~clear).tolist():
            shape = self.shapes[int(version[i])]
            clear[i] = shape.boundary_m(float(lat[i]), float(lon[i]), float(room_m[i])) > room_m[i]
        return clear

    def _box_m(self, version: Indices, lat: Floats, lon: Floats) -> Floats:
        """Metres to the version's box, rather too few than too many; 0 near the poles."""
        row = self.versions[version]
        north_m, east_m = degree_m(lat)
        up = np.maximum(np.maximum(row["south"] - lat, lat - row["north"]), 0.0)
        half = (row["east"] - row["west"]) / 2
        over = np.maximum(np.abs(shorter_way(lon - row["west"] - half)) - half, 0.0)
        return np.where(np.abs(lat) < 80, 0.97 * np.maximum(up * north_m, over * east_m), 0.0)

    def _edge_rows(self, version: Indices, edge: Indices) -> NDArray[np.float64]:
        return np.array([self.shapes[v].edges[e] for v, e in zip(version.tolist(), edge.tolist(), strict=True)])


def _row(lat: float) -> int:
    return math.floor((lat + 90) * CELLS)


def _column(lon: float) -> int:
    return math.floor((lon + 180) * CELLS)


def _shifted(geometry: NDArray[np.object_], by_lon: float) -> NDArray[np.object_]:
    if not by_lon or not len(geometry):
        return geometry
    moved: NDArray[np.object_] = shapely.transform(geometry, lambda xy: xy + np.array([by_lon, 0.0]))
    return moved


def _cuts_edge(
    edge: NDArray[np.float64], start: tuple[Floats, Floats], end: tuple[Floats, Floats], reach_m: Floats
) -> Flags:
    """Whether a drive comes within reach of an edge: one end of the two is nearest, unless they cross."""
    first, last = (edge[:, 0], edge[:, 1]), (edge[:, 2], edge[:, 3])
    touched = within_m(*first, start, end, reach_m) | within_m(*last, start, end, reach_m)
    touched |= within_m(*start, first, last, reach_m) | within_m(*end, first, last, reach_m)
    return touched | _cross(first, last, start, end)


def _cross(
    a: tuple[Floats, Floats], b: tuple[Floats, Floats], c: tuple[Floats, Floats], d: tuple[Floats, Floats]
) -> Flags:
    """Whether the lines a-b and c-d cross, in degrees around a."""

    def side(p: tuple[Floats, Floats], q: tuple[Floats, Floats], r: tuple[Floats, Floats]) -> Floats:
        return shorter_way(q[1] - p[1]) * (r[0] - p[0]) - (q[0] - p[0]) * shorter_way(r[1] - p[1])

    return (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)
