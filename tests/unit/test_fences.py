"""Which fences are taken, and what is said of those that are not."""

import json
from typing import Any

import pytest

from schemas.fences import FenceError, read_fence, rings_of

SQUARE = [[4.0, 52.0], [4.1, 52.0], [4.1, 52.1], [4.0, 52.1], [4.0, 52.0]]
GOOD: dict[str, Any] = {
    "fence_id": "depot",
    "version": 1,
    "effective_from": "2026-03-01T00:00:00Z",
    "name": "Depot",
    "kind": "polygon",
    "geometry": {"type": "Polygon", "coordinates": [SQUARE]},
}
CIRCLE = {"kind": "circle", "geometry": {"type": "Point", "coordinates": [4.0, 52.0]}, "radius_m": 100}
LINE = {"kind": "corridor", "geometry": {"type": "LineString", "coordinates": SQUARE[:3]}, "width_m": 50}
SCHEDULE = {"days": ["mon"], "start": "22:00", "end": "06:00", "zone": "Europe/Amsterdam"}


def polygon(*rings: list[Any]) -> dict[str, Any]:
    return {"geometry": {"type": "Polygon", "coordinates": list(rings)}}


def read(changes: dict[str, Any]) -> Any:
    return read_fence(json.dumps(GOOD | changes).encode())


@pytest.mark.parametrize("changes", [{}, CIRCLE, LINE, {"schedule": SCHEDULE}, {"deleted": True}])
def test_a_good_fence_is_taken(changes: dict[str, Any]) -> None:
    assert read(changes).fence_id == "depot"


BOW_TIE = [[4.0, 52.0], [4.1, 52.1], [4.1, 52.0], [4.0, 52.1], [4.0, 52.0]]


@pytest.mark.parametrize(
    ("changes", "where", "message"),
    [
        (polygon(BOW_TIE), "geometry.coordinates", "Self-intersection"),
        (polygon([[4, 52], [4.1, 52], [4, 52], [4, 52]]), "geometry.coordinates", "no area"),
        (polygon(SQUARE[:4]), r"geometry.coordinates\[0\]", "ends where it began"),
        (polygon([[4, 52]] * 3), r"geometry.coordinates\[0\]", "at least 4"),
        (polygon([*SQUARE[:2], [4.1, 91], *SQUARE[3:]]), r"geometry.coordinates\[0\]\[2\]", "latitude 91.0"),
        (polygon([*SQUARE[:2], [4.1, "x"], *SQUARE[3:]]), r"geometry.coordinates\[0\]\[2\]", "two numbers"),
        (polygon([[4, 52]] * 20_000), r"geometry.coordinates\[0\]", "at most 10000"),
        (CIRCLE | {"radius_m": None}, "radius_m", "a circle has one"),
        (CIRCLE | {"width_m": 5}, "width_m", "a corridor has one"),
        (CIRCLE | {"radius_m": -1}, "radius_m", "greater than 0"),
        (LINE | {"geometry": {"type": "LineString", "coordinates": [[4, 52], [4, 52]]}}, "geometry", "no length"),
        ({"kind": "circle"}, "geometry.type", "is a GeoJSON Point"),
        ({"surprise": 1}, "surprise", "not permitted"),
        ({"version": 0}, "version", "greater than or equal"),
        ({"schedule": SCHEDULE | {"zone": "Mars/Base"}}, "schedule.zone", "not an IANA"),
        ({"schedule": SCHEDULE | {"start": "25:00"}}, "schedule.start", "match pattern"),
    ],
)
def test_a_broken_fence_is_refused_with_what_is_wrong_and_where(
    changes: dict[str, Any], where: str, message: str
) -> None:
    with pytest.raises(FenceError, match=f"^{where}.*{message}"):
        read(changes)


def test_a_million_vertices_are_refused_before_they_are_parsed() -> None:
    with pytest.raises(FenceError, match="larger than"):
        read(polygon([[4.0, 52.0]] * 1_000_000))


def test_a_ring_across_the_antimeridian_stays_in_one_piece() -> None:
    ring = [[179.9, -17.0], [-179.9, -17.0], [-179.9, -16.9], [179.9, -16.9], [179.9, -17.0]]
    assert [round(lon, 6) for lon, _ in rings_of(read(polygon(ring)))[0][0]] == [179.9, 180.1, 180.1, 179.9, 179.9]
