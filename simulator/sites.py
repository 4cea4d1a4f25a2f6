"""Where trucks load and unload: depots at the hubs of US haulage, customers in real cities within a day's drive."""

import functools
from dataclasses import dataclass, field

import numpy as np
from faker import Faker
from faker.providers.geo import Provider

from simulator.chance import Luck
from simulator.geodesy import Places, distances_m, headings_deg, joined, lengths_m, moved, place
from simulator.roads import NODES, Ways, nearest_node

HUBS = {
    "Atlanta": (33.75, -84.39),
    "Charlotte": (35.23, -80.84),
    "Chicago": (41.88, -87.63),
    "Columbus": (39.96, -83.00),
    "Dallas": (32.78, -96.80),
    "Denver": (39.74, -104.99),
    "Houston": (29.76, -95.37),
    "Jacksonville": (30.33, -81.66),
    "Kansas City": (39.10, -94.58),
    "Los Angeles": (34.05, -118.24),
    "Memphis": (35.15, -90.05),
    "Minneapolis": (44.98, -93.27),
    "Newark": (40.74, -74.17),
    "Oakland": (37.80, -122.27),
    "Phoenix": (33.45, -112.07),
    "Portland": (45.52, -122.68),
    "Salt Lake City": (40.76, -111.89),
    "Seattle": (47.61, -122.33),
}
"""Latitude and longitude of each."""
CUSTOMERS_PER_DEPOT = 6
CUSTOMERS_MIN = 3
WAY_KM = (25.0, 450.0)
CITY_TO_FREEWAY_MAX_M = 12_000
STREET_M = (700.0, 1_800.0)
YARD_ASIDE_MAX_M = 60.0
"""Trucks park so far from where a site's street ends."""
THE_WORLD = Luck(0)
"""The map is the same for every seed; only trucks differ."""


@dataclass(frozen=True)
class Site:
    """A depot or a customer, at the end of a street that leaves the freeway at `node`."""

    number: int
    name: str
    city: str
    node: int
    street: Places = field(compare=False, repr=False)

    @property
    def lat(self) -> float:
        return float(self.street.lat[-1])

    @property
    def lon(self) -> float:
        return float(self.street.lon[-1])


@dataclass(frozen=True)
class Map:
    """All sites, depots first, and for each depot the numbers of its customers."""

    sites: tuple[Site, ...]
    customers: tuple[tuple[int, ...], ...]

    @property
    def depots(self) -> tuple[Site, ...]:
        return self.sites[: len(self.customers)]


def cities() -> dict[str, tuple[float, float]]:
    """Name → latitude, longitude: Faker's US cities, each alone at its freeway exit. Their source is GeoNames."""
    by_exit = {}
    for lat, lon, name, country, _zone in sorted(Provider.land_coords, key=lambda row: str(row[2])):
        where = (float(lat), float(lon))
        if country == "US" and distances_m(NODES, lat=where[0], lon=where[1]).min() < CITY_TO_FREEWAY_MAX_M:
            by_exit[nearest_node(lat=where[0], lon=where[1])] = (str(name), where)
    return dict(by_exit.values())


def site(number: int, name: str, city: str, *, lat: float, lon: float) -> Site:
    node = nearest_node(lat=lat, lon=lon)
    return Site(number=number, name=name, city=city, node=node, street=street(node, number, lat=lat, lon=lon))


def street(node: int, number: int, *, lat: float, lon: float) -> Places:
    """From the freeway towards the city, then round one corner."""
    exit_ = Places(lat=NODES.lat[[node]], lon=NODES.lon[[node]])
    to_city = joined(exit_, place(lat=lat, lon=lon))
    heading_deg = headings_deg(to_city)[0] if lengths_m(to_city)[0] > 1 else 0.0
    turn_deg = 80.0 if THE_WORLD.share("turn", number)[0] < 0.5 else -80.0
    length_m = THE_WORLD.between(*STREET_M, "street", number)[0]
    corner = moved(exit_, heading_deg=heading_deg, by_m=length_m * 0.6)
    end = moved(corner, heading_deg=heading_deg + turn_deg, by_m=length_m * 0.4)
    return joined(exit_, corner, end)


@functools.cache
def us_map() -> Map:
    depots = [
        site(n, f"Depot {name}", name, lat=lat, lon=lon) for n, (name, (lat, lon)) in enumerate(sorted(HUBS.items()))
    ]
    sites = list(depots)
    known = cities()
    names = Faker("en_US")
    names.seed_instance(0)
    customers = tuple(tuple(served_from(depot, known, sites, names)) for depot in depots)
    return Map(sites=tuple(sites), customers=customers)


def served_from(depot: Site, known: dict[str, tuple[float, float]], sites: list[Site], fake: Faker) -> list[int]:
    """Numbers of the depot's customers; new ones are added to `sites`."""
    ways = Ways(depot.node)
    by_way = sorted((ways.length_km(nearest_node(lat=lat, lon=lon)), name) for name, (lat, lon) in known.items())
    outside = [(km, name) for km, name in by_way if km >= WAY_KM[0]]
    near = [name for km, name in outside if km <= WAY_KM[1]]
    names = near if len(near) >= CUSTOMERS_MIN else [name for _, name in outside[:CUSTOMERS_MIN]]
    chosen = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, CUSTOMERS_PER_DEPOT).astype(int))]
    return [customer(name, known[name], sites, fake) for name in chosen]


def customer(city: str, where: tuple[float, float], sites: list[Site], fake: Faker) -> int:
    """The number of the city's one customer, who is added to `sites` when first asked for."""
    for each in sites[len(HUBS) :]:
        if each.city == city:
            return each.number
    sites.append(site(len(sites), f"{fake.company()}, {city}", city, lat=where[0], lon=where[1]))
    return sites[-1].number
