"""Where and for how long trucks stop: at sites to load, at the road to sleep, take a break or refuel."""

import numpy as np

from simulator.columns import Bools, Floats, Ints
from simulator.legs import STREET_KMH
from simulator.trucks import BREAK_AFTER_S, TANK_M, Trucks
from simulator.world import World, share_of_day

TO_THE_EXIT_M = (2_000.0, 5_000.0)
REST_AREA_M = (50.0, 140.0)
LOADING_S, DEPOT_S, BREAK_S, REFUELLING_S = (1200.0, 3600.0), (1500.0, 5400.0), (1200.0, 2700.0), (600.0, 1200.0)


def arrive(trucks: Trucks, world: World, now_s: Floats) -> None:
    who = np.flatnonzero(trucks.driving & (trucks.goal_m - trucks.along_m < 1.0))
    if not who.size:
        return
    at_site = is_at_site(trucks, world, who)
    resting_s = rest_left_s(trucks, world, who, now_s[who])
    refuel = ~at_site & (trucks.driven_m[who] > TANK_M)
    spans = [REFUELLING_S, BREAK_S, DEPOT_S, LOADING_S]
    kind = np.where(refuel, 0, np.where(~at_site, 1, np.where(trucks.goal_site[who] == trucks.home[who], 2, 3)))
    low, high = np.array(spans)[kind].T
    stay_s = low + (high - low) * world.luck.share("stay", trucks.number[who], trucks.trip[who])
    trucks.until_s[who] = now_s[who] + np.maximum(stay_s, resting_s)
    trucks.driving[who] = False
    trucks.speed_kmh[who] = 0.0
    trucks.driven_m[who] = np.where(refuel | (kind == 2), 0.0, trucks.driven_m[who])
    trucks.driven_s[who] = np.where(refuel, trucks.driven_s[who], 0.0)


def choose_stops(trucks: Trucks, world: World, now_s: Floats) -> None:
    """Who is tired, or low on fuel, or whose rest has begun leaves the freeway at one of the next exits."""
    spots = world.legs.spots(trucks.leg, trucks.along_m)
    on_the_way = trucks.driving & (trucks.goal_m == world.legs.length_m[trucks.leg]) & (spots.limit_kmh > STREET_KMH)
    rest = rest_share_left(share_of_day(now_s, spots.places.lon), trucks.rest_from, trucks.rest_length) > 0
    who = np.flatnonzero(on_the_way & (rest | (trucks.driven_s > BREAK_AFTER_S) | (trucks.driven_m > TANK_M)))
    if not who.size:
        return
    exit_m = trucks.along_m[who] + world.luck.between(*TO_THE_EXIT_M, "exit", trucks.number[who], trucks.trip[who])
    before_the_end = exit_m < trucks.goal_m[who] - TO_THE_EXIT_M[1]
    who, exit_m = who[before_the_end], exit_m[before_the_end]
    trucks.goal_m[who] = exit_m
    trucks.aside_m[who] = world.luck.between(*REST_AREA_M, "rest area", trucks.number[who], trucks.trip[who])


def put_to_rest(trucks: Trucks, world: World, now_s: float) -> None:
    """At the start: drivers on the freeway whose rest it is have already stopped."""
    spots = world.legs.spots(trucks.leg, trucks.along_m)
    day = share_of_day(np.full_like(trucks.until_s, now_s), spots.places.lon)
    rest = rest_share_left(day, trucks.rest_from, trucks.rest_length)
    rest_s = rest * 86_400
    who = np.flatnonzero(trucks.driving & (spots.limit_kmh > STREET_KMH) & (rest_s > 0))
    trucks.goal_m[who] = trucks.along_m[who]
    trucks.aside_m[who] = world.luck.between(*REST_AREA_M, "rest area", trucks.number[who], 0)
    trucks.driving[who] = False
    trucks.speed_kmh[who] = 0.0
    trucks.until_s[who] = now_s + rest_s[who]


def is_at_site(trucks: Trucks, world: World, who: Ints) -> Bools:
    return np.asarray(trucks.along_m[who] >= world.legs.length_m[trucks.leg[who]] - 1.0)


def rest_left_s(trucks: Trucks, world: World, who: Ints, now_s: Floats) -> Floats:
    lon = world.legs.spots(trucks.leg[who], trucks.along_m[who]).places.lon
    return rest_share_left(share_of_day(now_s, lon), trucks.rest_from[who], trucks.rest_length[who]) * 86_400


def rest_share_left(day: Floats, rest_from: Floats, rest_length: Floats) -> Floats:
    """What is left of the daily rest, as a share of the day; 0 outside it."""
    since = (day - rest_from) % 1.0
    return np.maximum(rest_length - since, 0.0)
