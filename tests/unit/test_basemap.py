"""The base map: every freeway is drawn, nothing is drawn twice, and a browser asks for it once."""

from itertools import pairwise

import pytest

from dashboard_api.basemap import freeways, long_lines
from tests.api import Api


def drawn(lines: list[list[int]]) -> list[frozenset[tuple[int, int]]]:
    """The roads between two junctions, from the steps that are sent."""
    found = []
    for line in lines:
        lon, lat = line[:2]
        places = [(lon, lat)]
        for step_lon, step_lat in zip(line[2::2], line[3::2], strict=True):
            lon, lat = lon + step_lon, lat + step_lat
            places.append((lon, lat))
        found += [frozenset(pair) for pair in pairwise(places)]
    return found


def test_the_roads_are_all_freeways_each_drawn_once(api: Api) -> None:
    answer = api.client().get("/api/map/roads")
    roads = drawn(answer.json()["lines"])
    assert len(roads) == len(set(roads))
    assert set(roads) == {frozenset((point, other)) for point, others in freeways().items() for other in others}
    assert len(answer.content) < 150_000


def test_a_line_goes_straight_on_at_a_crossing() -> None:
    cross = {(0, 0): {(-1, 0), (1, 0), (0, -1), (0, 1)}}
    cross |= {end: {(0, 0)} for end in cross[0, 0]}
    assert sorted(long_lines(cross)) == [[(-1, 0), (0, 0), (1, 0)], [(0, -1), (0, 0), (0, 1)]]


def test_the_largest_cities_come_first(api: Api) -> None:
    cities = api.client().get("/api/map/cities").json()["items"]
    assert (len(cities), cities[0]["name"], cities[0]["state"]) == (300, "New York City", "NY")
    assert [each["population"] for each in cities] == sorted((each["population"] for each in cities), reverse=True)
    chicago = next(each for each in cities if each["name"] == "Chicago")
    assert (chicago["lat"], chicago["lon"]) == pytest.approx((41.85, -87.65), abs=0.05)


@pytest.mark.parametrize("path", ["/api/map/roads", "/api/map/cities"])
def test_a_browser_that_has_it_is_told_so(api: Api, path: str) -> None:
    first = api.client().get(path)
    assert first.headers["Cache-Control"] == "private, max-age=86400"
    again = api.client().get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
