"""The fences that fit the simulated fleet, as GeoJSON: its sites, and areas and work zones on the roads between."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from simulator.columns import Floats
from simulator.geodesy import Places, headings_deg, moved
from simulator.legs import Legs, us_legs
from simulator.sites import THE_WORLD, Map, Site, us_map

DEPOT_M = (260.0, 190.0)
"""Half the length and half the width of a depot's ground."""
CUSTOMER_RADIUS_M = 180.0
LONG_LOADING_S = 2700
RESTRICTED_RADIUS_M = (1500.0, 3000.0)
RESTRICTED_AT_M = 14_000.0
"""So far from a depot on one of its legs."""
WORK_ZONE_EVERY, WORK_ZONE_M, WORK_ZONE_WIDTH_M, WORK_ZONE_KMH = 2, 8_000.0, 600.0, 70
Feature = dict[str, Any]


def feature_collection() -> dict[str, Any]:
    sites, legs = us_map(), us_legs()
    found = [*depots(sites), *customers(sites), *restricted_areas(sites, legs), *work_zones(sites, legs)]
    return {"type": "FeatureCollection", "features": found}


def depots(sites: Map) -> Iterator[Feature]:
    for depot in sites.depots:
        heading_deg = headings_deg(depot.street)[-1]
        corner_m, corner_deg = np.hypot(*DEPOT_M), np.degrees(np.arctan2(*DEPOT_M[::-1]))
        corners = heading_deg + np.array([corner_deg, 180 - corner_deg, 180 + corner_deg, -corner_deg])
        yield polygon(around(depot, corners, np.full(4, corner_m)), f"depot-{depot.number:02d}", depot.name, "depot")


def customers(sites: Map) -> Iterator[Feature]:
    for each in sites.sites[len(sites.depots) :]:
        circle = {"type": "Point", "coordinates": [round(each.lon, 6), round(each.lat, 6)]}
        rules = {"radius_m": CUSTOMER_RADIUS_M, "dwell_s": LONG_LOADING_S, "severity": "info"}
        yield feature(circle, f"customer-{each.number:02d}", each.name, "circle", "customer", **rules)


def restricted_areas(sites: Map, legs: Legs) -> Iterator[Feature]:
    for depot, leg in depot_legs(sites, legs):
        corners = np.arange(0.0, 360.0, 45.0)
        radius_m = THE_WORLD.between(*RESTRICTED_RADIUS_M, "restricted", depot.number, np.arange(8))
        centre = legs.spots(np.array([leg]), np.array([RESTRICTED_AT_M])).places
        ring = moved(Places(*(np.repeat(each, 8) for each in centre)), heading_deg=corners, by_m=radius_m)
        name = f"No through traffic, {depot.city}"
        yield polygon(ring, f"restricted-{depot.number:02d}", name, "restricted", severity="critical")


def work_zones(sites: Map, legs: Legs) -> Iterator[Feature]:
    for depot, leg in list(depot_legs(sites, legs))[::WORK_ZONE_EVERY]:
        along_m = legs.length_m[leg] / 2 + np.linspace(0, WORK_ZONE_M, 9)
        places = legs.spots(np.full(9, leg), along_m).places
        geometry = {"type": "LineString", "coordinates": coordinates(places)}
        rules = {"width_m": WORK_ZONE_WIDTH_M, "speed_limit_kmh": WORK_ZONE_KMH, "severity": "warning"}
        name = f"Work zone out of {depot.city}"
        yield feature(geometry, f"work-zone-{depot.number:02d}", name, "corridor", "work_zone", **rules)


def depot_legs(sites: Map, legs: Legs) -> Iterator[tuple[Site, int]]:
    """Each depot and its way to the farthest customer."""
    for depot, served in zip(sites.depots, sites.customers, strict=True):
        out = [int(legs.between[depot.number, customer]) for customer in served]
        yield depot, max(out, key=lambda leg: float(legs.length_m[leg]))


def around(site: Site, corners_deg: Floats, corners_m: Floats) -> Places:
    centre = Places(lat=np.full(len(corners_m), site.lat), lon=np.full(len(corners_m), site.lon))
    return moved(centre, heading_deg=corners_deg, by_m=corners_m)


def polygon(ring: Places, fence_id: str, name: str, tag: str, **rules: object) -> Feature:
    """Of corners that go clockwise; GeoJSON wants them the other way round, and the first one again."""
    corners = coordinates(ring)[::-1]
    geometry = {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}
    return feature(geometry, fence_id, name, "polygon", tag, **rules)


def coordinates(places: Places) -> list[list[float]]:
    return [[round(lon, 6), round(lat, 6)] for lat, lon in zip(*places, strict=True)]


def feature(geometry: Feature, fence_id: str, name: str, kind: str, tag: str, **rules: object) -> Feature:
    properties = {"fence_id": fence_id, "name": name, "kind": kind, "tags": [tag], **rules}
    return {"type": "Feature", "id": fence_id, "properties": properties, "geometry": geometry}
