"""The state of every truck, as columns, and how a fleet is spread over the country when the clock starts."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from simulator.chance import Luck
from simulator.columns import Bools, Floats, Ints
from simulator.legs import Legs
from simulator.sites import YARD_ASIDE_MAX_M, Map

CRUISE_KMH = (84.0, 105.0)
LANE_M = (3.0, 9.0)
BREAK_AFTER_S = 4 * 3600.0
TANK_M = 900_000.0
AT_A_SITE = 0.18
ABOUT_TO_ARRIVE = 0.06
JUST_LEFT = 0.06
"""Shares of the fleet at the start; the last two so that visits begin and end within the first minute."""
NIGHT_RESTERS = 0.45
REST_SHARE_OF_DAY = (7 / 24, 10 / 24)


@dataclass
class Trucks:
    """One entry per truck; `part` gives views, so what is written there is written here."""

    number: Ints
    home: Ints
    cruise_kmh: Floats
    lane_m: Floats
    rest_from: Floats
    rest_length: Floats
    """When the driver's daily rest begins and how long it lasts, as shares of the local day."""
    goal_site: Ints
    leg: Ints
    along_m: Floats
    goal_m: Floats
    """Where on the leg the truck stops next: its end, or a place to rest or refuel."""
    aside_m: Floats
    """How far off the road it will stand there."""
    left_m: Floats
    """Where it stood last, and how far off the road."""
    left_aside_m: Floats
    speed_kmh: Floats
    driving: Bools
    until_s: Floats
    """When a standing truck leaves."""
    trip: Ints
    """Departures so far."""
    departed_s: Floats
    visits: Ints
    """Customers seen since the depot."""
    driven_s: Floats
    """Since the last break."""
    driven_m: Floats
    """Since the tank was full."""

    def part(self, where: slice) -> Self:
        return type(self)(**{each.name: getattr(self, each.name)[where] for each in fields(self)})


def starting(numbers: Ints, *, luck: Luck, sites: Map, legs: Legs, start_s: float) -> Trucks:
    """A fleet in the middle of its day: most trucks somewhere on the road, some standing."""
    count = len(numbers)
    home = luck.pick(len(sites.depots), "home", numbers)
    goal_site, leg = first_legs(numbers, home, luck, sites, legs)
    length_m = legs.length_m[leg]
    kind = luck.share("start", numbers)
    standing = kind < AT_A_SITE
    along_m = length_m * luck.between(0.02, 0.98, "start/along", numbers)
    arriving = ~standing & (kind < AT_A_SITE + ABOUT_TO_ARRIVE)
    along_m = np.where(arriving, length_m - luck.between(200, 700, "start/arriving", numbers), along_m)
    leaving = ~standing & ~arriving & (kind < AT_A_SITE + ABOUT_TO_ARRIVE + JUST_LEFT)
    along_m = np.where(leaving, luck.between(20, 120, "start/leaving", numbers), along_m)
    along_m = np.where(standing, length_m, along_m)
    speed_kmh = np.where(arriving | leaving, 25.0, 75.0)
    return Trucks(
        number=numbers,
        home=home,
        cruise_kmh=luck.between(*CRUISE_KMH, "cruise", numbers),
        lane_m=luck.between(*LANE_M, "lane", numbers),
        rest_from=rest_from(numbers, luck),
        rest_length=luck.between(*REST_SHARE_OF_DAY, "rest/length", numbers),
        goal_site=goal_site,
        leg=leg,
        along_m=along_m,
        goal_m=length_m.copy(),
        aside_m=luck.between(-YARD_ASIDE_MAX_M, YARD_ASIDE_MAX_M, "aside", numbers, 0),
        left_m=np.zeros(count),
        left_aside_m=luck.between(-YARD_ASIDE_MAX_M, YARD_ASIDE_MAX_M, "aside", numbers, -1),
        speed_kmh=np.where(standing, 0.0, speed_kmh),
        driving=~standing,
        until_s=start_s + luck.between(0, 3000, "start/until", numbers),
        trip=np.zeros(count, dtype=np.int64),
        departed_s=np.full(count, start_s - 3600),
        visits=np.zeros(count, dtype=np.int64),
        driven_s=luck.between(0, 0.9 * BREAK_AFTER_S, "start/driven_s", numbers),
        driven_m=luck.between(0, 0.9 * TANK_M, "start/driven_m", numbers),
    )


def first_legs(numbers: Ints, home: Ints, luck: Luck, sites: Map, legs: Legs) -> tuple[Ints, Ints]:
    """Half are on their way from the depot to a customer, half on their way back."""
    customer = some_customer(numbers, home, np.zeros_like(numbers), luck, sites)
    outbound = luck.share("start/outbound", numbers) < 0.5
    goal = np.where(outbound, customer, home)
    return goal, legs.between[np.where(outbound, home, customer), goal]


def some_customer(numbers: Ints, home: Ints, trip: Ints, luck: Luck, sites: Map) -> Ints:
    served = np.array([len(customers) for customers in sites.customers])
    widest = max(served)
    known = np.array([[*customers, *[-1] * (widest - len(customers))] for customers in sites.customers])
    return np.asarray(known[home, luck.pick(served[home], "customer", numbers, trip)])


def rest_from(numbers: Ints, luck: Luck) -> Floats:
    """Most drivers sleep at night, the others at any time of the day."""
    at_night = luck.between(20 / 24, 1.0, "rest", numbers)
    anytime = luck.share("rest", numbers)
    return np.where(luck.share("rest/night", numbers) < NIGHT_RESTERS, at_night, anytime)
