"""Every way that trucks drive between two sites, as one long table of road points that columns look positions up in."""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from simulator.columns import Bools, Floats, Ints
from simulator.geodesy import Places, distances_m, headings_deg, joined, lengths_m
from simulator.roads import Ways
from simulator.sites import HUBS, THE_WORLD, Map, Site, cities, us_map

STREET_KMH = 45.0
CITY_KMH = 82.0
CITY_RADIUS_M = 12_000
ROAD_KMH = (92.0, 110.0)
POINTS_APART_M = 4_000
BETWEEN_LEGS_M = 10_000.0
"""Keeps two legs apart in the table."""


@dataclass(frozen=True)
class Spots:
    """Where on the roads: columns of positions, with the road's direction and the pace that drivers keep there."""

    places: Places
    heading_deg: Floats
    limit_kmh: Floats


@dataclass(frozen=True)
class Legs:
    """A leg is a way from one site to another. Its points follow each other in the table, by odometer."""

    odometer_m: Floats
    points: Places
    heading_deg: Floats
    limit_kmh: Floats
    start_m: Floats
    length_m: Floats
    between: Ints
    """Leg by the numbers of the two sites, -1 where there is none."""

    def spots(self, leg: Ints, along_m: Floats) -> Spots:
        at_m = self.start_m[leg] + along_m
        i = np.searchsorted(self.odometer_m, at_m, side="right") - 1
        # The end of a leg belongs to its last segment.
        i -= along_m >= self.length_m[leg]
        share = (at_m - self.odometer_m[i]) / (self.odometer_m[i + 1] - self.odometer_m[i])
        lat, lon = self.points
        places = Places(lat=lat[i] + share * (lat[i + 1] - lat[i]), lon=lon[i] + share * (lon[i + 1] - lon[i]))
        return Spots(places=places, heading_deg=self.heading_deg[i], limit_kmh=self.limit_kmh[i])

    def line(self, leg: int) -> Places:
        """A leg's points."""
        first = np.searchsorted(self.odometer_m, self.start_m[leg])
        last = np.searchsorted(self.odometer_m, self.start_m[leg] + self.length_m[leg] + 1)
        return Places(lat=self.points.lat[first:last], lon=self.points.lon[first:last])


@functools.cache
def us_legs() -> Legs:
    sites = us_map().sites
    pairs = list(dict.fromkeys(pair for group in groups(us_map()) for pair in itertools.permutations(group, 2)))
    between = np.full((len(sites), len(sites)), -1, dtype=np.int64)
    for leg, (origin, goal) in enumerate(pairs):
        between[origin, goal] = leg
    ways = {origin: Ways(sites[origin].node) for origin in dict.fromkeys(origin for origin, _ in pairs)}
    return table([line(ways[origin], sites[origin], sites[goal]) for origin, goal in pairs], between)


def groups(sites: Map) -> list[tuple[int, ...]]:
    """Each depot with its customers: trucks drive within these."""
    return [(depot.number, *customers) for depot, customers in zip(sites.depots, sites.customers, strict=True)]


def line(ways: Ways, origin: Site, goal: Site) -> tuple[Places, Bools]:
    """The points from one site to the other, and which of them are followed by a street."""
    out = Places(lat=origin.street.lat[:0:-1], lon=origin.street.lon[:0:-1])
    freeway = dense(ways.to(goal.node))
    street = Places(lat=goal.street.lat[1:], lon=goal.street.lon[1:])
    points = joined(out, freeway, street)
    at = np.arange(len(points.lat))
    return points, (at < len(out.lat)) | (at >= len(out.lat) + len(freeway.lat) - 1)


def dense(coarse: Places) -> Places:
    """Without repeated points, and none farther apart than needed for speeds to come out right."""
    keep = np.append(True, lengths_m(coarse) > 1)
    corners = Places(lat=coarse.lat[keep], lon=coarse.lon[keep])
    pieces = np.ceil(lengths_m(corners) / POINTS_APART_M).astype(np.int64)
    corner = np.repeat(np.arange(len(pieces)), pieces)
    share = (np.arange(len(corner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)) / pieces[corner]
    position = np.append(corner + share, len(pieces))
    known = np.arange(len(corners.lat))
    return Places(lat=np.interp(position, known, corners.lat), lon=np.interp(position, known, corners.lon))


def limits_kmh(points: Places) -> Floats:
    """Slower near cities; elsewhere each part of the country has its own pace."""
    region = np.floor(points.lat / 2).astype(np.int64) * 1000 + np.floor(points.lon / 2).astype(np.int64)
    limits = THE_WORLD.between(*ROAD_KMH, "region", region)
    for lat, lon in [*HUBS.values(), *cities().values()]:
        limits[distances_m(points, lat=lat, lon=lon) < CITY_RADIUS_M] = CITY_KMH
    return limits


def table(lines: list[tuple[Places, Bools]], between: Ints) -> Legs:
    steps = [lengths_m(points) for points, _ in lines]
    headings = [headings_deg(points) for points, _ in lines]
    length_m = np.array([step.sum() for step in steps])
    start_m = np.cumsum(length_m + BETWEEN_LEGS_M) - length_m - BETWEEN_LEGS_M
    odometer = [start + np.append(0.0, np.cumsum(step)) for start, step in zip(start_m, steps, strict=True)]
    points = joined(*(points for points, _ in lines))
    streets = np.concatenate([street for _, street in lines])
    return Legs(
        odometer_m=np.concatenate(odometer),
        points=points,
        # The last point of a leg begins no segment; it repeats the one before.
        heading_deg=np.concatenate([np.append(each, each[-1]) for each in headings]),
        limit_kmh=np.where(streets, STREET_KMH, limits_kmh(points)),
        start_m=start_m,
        length_m=length_m,
        between=between,
    )
