"""What trucks do with the next seconds: leave, speed up, keep their pace, brake, stop. Writes to their columns only."""

from math import ceil

import numpy as np

from simulator.columns import Floats, Ints
from simulator.geodesy import Places, moved
from simulator.legs import CITY_KMH
from simulator.sites import YARD_ASIDE_MAX_M
from simulator.stops import arrive, choose_stops, is_at_site
from simulator.trucks import Trucks, some_customer
from simulator.world import World, share_of_day

MOMENT_S = 5.0
"""Speeds are worked out anew at least this often."""
SPEED_UP_KMH_PER_S = 1.4
BRAKE_KMH_PER_S = 2.9
PACE_BLOCK_S = 300
RUSH_HOURS, RUSH_PACE = ((7 / 24, 9 / 24), (16 / 24, 18 / 24)), (0.55, 0.95)
NIGHT = (21 / 24, 6 / 24)
NIGHT_PACE = 0.95
JAM_BLOCK_S, JAM_SHARE, JAM_PACE = 1800, 0.01, 0.35
EXIT_RAMP_M = 300.0
CUSTOMERS_PER_TOUR_MAX = 3
HOME_AFTER_CUSTOMER = 0.4


def advance(trucks: Trucks, world: World, *, until_s: Floats, by_s: float) -> None:
    """Bring the trucks to `until_s`, one moment per truck, from `by_s` before."""
    pace = pace_share(trucks, world, until_s)
    wander_kmh = 2.5 * between_blocks(trucks, world, until_s)
    moments = ceil(by_s / MOMENT_S)
    for left in range(moments - 1, -1, -1):
        now_s = until_s - left * by_s / moments
        leave(trucks, world, now_s)
        roll(trucks, world, pace=pace, wander_kmh=wander_kmh, by_s=by_s / moments)
        arrive(trucks, world, now_s)
    choose_stops(trucks, world, until_s)


def pace_share(trucks: Trucks, world: World, now_s: Floats) -> Floats:
    """How much of its usual pace a truck can keep here and now: rush hours near cities, the night, a jam."""
    spots = world.legs.spots(trucks.leg, trucks.along_m)
    day = share_of_day(now_s, spots.places.lon)
    rush = np.any([(day > start) & (day < end) for start, end in RUSH_HOURS], axis=0) & (spots.limit_kmh <= CITY_KMH)
    night = (day > NIGHT[0]) | (day < NIGHT[1])
    area = np.floor(spots.places.lat * 4).astype(np.int64) * 10_000 + np.floor(spots.places.lon * 4).astype(np.int64)
    half_hour = (now_s // JAM_BLOCK_S).astype(np.int64)
    jam = world.luck.share("jam", area, half_hour) < JAM_SHARE
    rush_pace = world.luck.between(*RUSH_PACE, "rush", area, half_hour)
    return np.where(rush, rush_pace, 1.0) * np.where(night, NIGHT_PACE, 1.0) * np.where(jam, JAM_PACE, 1.0)


def between_blocks(trucks: Trucks, world: World, now_s: Floats) -> Floats:
    """A wish that wanders slowly around 0, each truck's own."""
    block, share = np.divmod(now_s / PACE_BLOCK_S, 1.0)
    before, after = (world.luck.bell("pace", trucks.number, block.astype(np.int64) + i) for i in (0, 1))
    return np.asarray(before + share * (after - before))


def roll(trucks: Trucks, world: World, *, pace: Floats, wander_kmh: Floats, by_s: float) -> None:
    limit_kmh = world.legs.spots(trucks.leg, trucks.along_m).limit_kmh
    wish_kmh = np.minimum(trucks.cruise_kmh, limit_kmh) * pace + wander_kmh
    room_m = trucks.goal_m - trucks.along_m
    stopping_kmh = np.sqrt(2 * BRAKE_KMH_PER_S * 3.6 * np.maximum(room_m, 0))
    reached_kmh = np.minimum(
        trucks.speed_kmh + SPEED_UP_KMH_PER_S * by_s, np.maximum(wish_kmh, trucks.speed_kmh - BRAKE_KMH_PER_S * by_s)
    )
    speed_kmh = np.where(trucks.driving, np.clip(reached_kmh, 0, stopping_kmh), 0.0)
    by_m = np.where(trucks.driving, np.minimum((trucks.speed_kmh + speed_kmh) / 7.2 * by_s, room_m), 0.0)
    trucks.along_m += by_m
    trucks.speed_kmh[:] = speed_kmh
    trucks.driven_m += by_m
    trucks.driven_s += np.where(trucks.driving, by_s, 0.0)


def leave(trucks: Trucks, world: World, now_s: Floats) -> None:
    """Standing trucks whose time has come go on: to the next site, or on with the leg after a stop at the road."""
    who = np.flatnonzero(~trucks.driving & (trucks.until_s <= now_s))
    if not who.size:
        return
    trucks.trip[who] += 1
    trucks.driving[who] = True
    trucks.departed_s[who] = now_s[who]
    trucks.left_m[who] = trucks.along_m[who]
    done = is_at_site(trucks, world, who)
    # The way out of a site is the way in turned round: what was on the right is on the left.
    trucks.left_aside_m[who] = np.where(done, -trucks.aside_m[who], trucks.aside_m[who])
    trucks.aside_m[who] = world.luck.between(
        -YARD_ASIDE_MAX_M, YARD_ASIDE_MAX_M, "aside", trucks.number[who], trucks.trip[who]
    )
    begin_leg(trucks, world, who[done])
    trucks.goal_m[who] = world.legs.length_m[trucks.leg[who]]


def begin_leg(trucks: Trucks, world: World, who: Ints) -> None:
    number, home, here = trucks.number[who], trucks.home[who], trucks.goal_site[who]
    customer = some_customer(number, home, trucks.trip[who], world.luck, world.sites)
    trucks.visits[who] = np.where(here == home, 0, trucks.visits[who] + 1)
    weary = world.luck.share("home", number, trucks.trip[who]) < HOME_AFTER_CUSTOMER
    go_home = (here != home) & (weary | (trucks.visits[who] >= CUSTOMERS_PER_TOUR_MAX) | (customer == here))
    goal = np.where(go_home, home, customer)
    trucks.leg[who] = world.legs.between[here, goal]
    trucks.goal_site[who] = goal
    trucks.along_m[who] = 0.0
    trucks.left_m[who] = 0.0


def where(trucks: Trucks, world: World) -> tuple[Places, Floats]:
    """True positions and headings: in the right lane, and off the road where a truck stands, stops or has just left."""
    spots = world.legs.spots(trucks.leg, trucks.along_m)
    arriving = np.clip(1 - (trucks.goal_m - trucks.along_m) / EXIT_RAMP_M, 0, 1) * trucks.aside_m
    leaving = np.clip(1 - (trucks.along_m - trucks.left_m) / EXIT_RAMP_M, 0, 1) * trucks.left_aside_m
    aside_m = trucks.lane_m + arriving + np.where(trucks.driving, leaving, 0.0)
    return moved(spots.places, heading_deg=spots.heading_deg + 90, by_m=aside_m), spots.heading_deg
