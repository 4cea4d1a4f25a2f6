"""Overspeed and idle: what a truck's own speed says, fix by fix."""

import numpy as np

from schemas.models import Cause
from streaming.fencebook import FenceBook
from streaming.geodesy import PLANE_M, Floats, degree_m, distance_m, shorter_way
from streaming.rules import Rules
from streaming.timeline import Flags, Indices, is_last, starts
from streaming.watch import NEVER, Overspeed, Spot, Standing, Watches


def overspeeds(
    watch: Watches, rows: dict[str, np.ndarray], until: Indices, book: FenceBook, rules: Rules
) -> list[Overspeed]:
    """Overspeed runs that were raised or ended; updates `watch`. Fixes without a speed say nothing."""
    known = ~np.isnan(rows["kmh"])
    above = known & (rows["kmh"] > rows["limit_kmh"])
    involved = watch["over_fixes"] > 0
    involved[rows["who"][above]] = True
    found: list[Overspeed] = []
    first = np.searchsorted(rows["who"], np.arange(len(watch)))
    last = np.searchsorted(rows["who"], np.arange(len(watch)), side="right")
    for who in np.flatnonzero(involved).tolist():
        picked = np.arange(first[who], last[who])[known[first[who] : last[who]]]
        columns = ("t", "lat", "lon", "kmh", "limit_kmh", "limit_fence")
        fixes = list(zip(*(rows[name][picked].tolist() for name in columns), strict=True))
        found += _overspeeds_of(who, watch, fixes, int(until[who]), book, rules)
    return found


def _overspeeds_of(  # noqa: PLR0913, PLR0917
    who: int,
    watch: Watches,
    fixes: list[tuple[int, float, float, float, float, int]],
    until: int,
    book: FenceBook,
    rules: Rules,
) -> list[Overspeed]:
    run = _run_of(who, watch[who]) if watch["over_fixes"][who] else None
    count = int(watch["over_fixes"][who])
    told: list[Overspeed] = []
    for t, lat, lon, kmh, limit_kmh, fence in [*fixes, (until, 0.0, 0.0, np.nan, np.inf, -1)]:
        gone_t = _deleted_t(book, run, t) if run is not None else None
        if run is not None and (gone_t is not None or kmh <= limit_kmh):
            ended = _changed(run, end_t=gone_t or t, cause=Cause.FENCE_DELETED if gone_t else None)
            told += [ended] if count >= rules.overspeed_confirm_fixes else []
            run, count = None, 0
        if kmh > limit_kmh:
            count += 1
            run = run or Overspeed(who, fence, Spot(t, lat, lon), t, kmh, limit_kmh, kmh)
            at = t if count <= rules.overspeed_confirm_fixes else run.raised_at
            run = _changed(run, raised_at=at, top_kmh=max(run.top_kmh, kmh))
    _store(who, watch, run, count)
    return [*told, run] if run is not None and count >= rules.overspeed_confirm_fixes else told


def _changed(run: Overspeed, **changes: object) -> Overspeed:
    values = {name: getattr(run, name) for name in Overspeed.__slots__}
    return Overspeed(**{**values, **changes})


def _run_of(who: int, row: np.void) -> Overspeed:
    first = Spot(int(row["over_t"]), float(row["over_lat"]), float(row["over_lon"]))
    speeds = (float(row["over_kmh"]), float(row["over_limit_kmh"]), float(row["over_top_kmh"]))
    # When it was raised is known to whoever was told; here it lies before everything that comes.
    return Overspeed(who, int(row["over_fence"]), first, NEVER, *speeds)


def _store(who: int, watch: Watches, run: Overspeed | None, count: int) -> None:
    watch["over_fixes"][who] = count
    watch["over_t"][who] = run.first.t if run else NEVER
    watch["over_fence"][who] = run.fence if run else -1
    watch["over_lat"][who], watch["over_lon"][who] = (run.first.lat, run.first.lon) if run else (0.0, 0.0)
    watch["over_kmh"][who] = run.speed_kmh if run else 0.0
    watch["over_limit_kmh"][who] = run.limit_kmh if run else 0.0
    watch["over_top_kmh"][who] = run.top_kmh if run else 0.0


def _deleted_t(book: FenceBook, run: Overspeed, t: int) -> int | None:
    """When the fence whose limit was passed was deleted, if that was by `t`."""
    if run.fence < 0:
        return None
    gone = [
        each.from_t for each, _ in book.timeline(run.fence) if each.fence.deleted and run.first.t < each.from_t <= t
    ]
    return min(gone, default=None)


def standings(
    watch: Watches, rows: dict[str, np.ndarray], until: Indices, since: Indices, rules: Rules
) -> list[Standing]:
    """Trucks that became idle after `since`, or no longer are; updates `watch`."""
    who = rows["who"]
    stands = (rows["kmh"] < rules.moving_kmh) & ~rows["depot"]
    involved = watch["stand_t"] != NEVER
    involved[who[stands]] = True
    anchor = _anchors(watch, rows, stands)
    broken = stands & (_apart_m(rows, anchor, stands) >= rules.idle_m)
    wanders = np.zeros(len(watch), dtype=bool)
    wanders[who[broken]] = True
    found: list[Standing] = []
    for each in np.flatnonzero(wanders).tolist():
        found += _standings_of(each, watch, rows, stands, rules)
    found += _plain_standings(watch, rows, stands & ~wanders[who], ~wanders, anchor, rules)
    due = watch["stand_t"] + rules.idle_ms
    for each in np.flatnonzero(involved & (watch["stand_t"] != NEVER) & (due > since) & (due <= until)).tolist():
        found.append(Standing(each, _anchor_spot(watch[each])))
    return found


def _anchor_spot(row: np.void) -> Spot:
    return Spot(int(row["stand_t"]), float(row["stand_lat"]), float(row["stand_lon"]))


def _anchors(watch: Watches, rows: dict[str, np.ndarray], stands: Flags) -> Watches:
    """For each standing row: the fix at which its run began (as a row with `t`, `lat`, `lon`)."""
    who = rows["who"]
    first = starts(who)
    begins = stands.copy()
    begins[1:] &= ~stands[:-1] | first[1:]
    carried = first & stands & (watch["stand_t"][who] != NEVER)
    at = np.maximum.accumulate(np.where(begins, np.arange(len(who)), 0)) if len(who) else np.zeros(0, np.int64)
    anchor = np.zeros(len(who), dtype=[("t", np.int64), ("lat", np.float64), ("lon", np.float64)])
    for name in ("t", "lat", "lon"):
        anchor[name] = np.where(carried, watch[f"stand_{name}"][who], rows[name])[at]
    return anchor


def _apart_m(rows: dict[str, np.ndarray], anchor: Watches, stands: Flags) -> Floats:
    """Metres from the anchor, for standing rows; most stand still, and only the others are measured."""
    north_m, east_m = degree_m(rows["lat"])
    apart_m: Floats = np.hypot(
        (rows["lat"] - anchor["lat"]) * north_m, shorter_way(rows["lon"] - anchor["lon"]) * east_m
    )
    moved = stands & (apart_m > PLANE_M)
    apart_m[moved] = distance_m(rows["lat"][moved], rows["lon"][moved], anchor["lat"][moved], anchor["lon"][moved])
    return apart_m


def _plain_standings(  # noqa: PLR0913, PLR0917
    watch: Watches, rows: dict[str, np.ndarray], stands: Flags, mine: Flags, anchor: Watches, rules: Rules
) -> list[Standing]:
    """Runs that stay near where they began: each ends at the row behind its last."""
    who, t = rows["who"], rows["t"]
    first = starts(who)
    stood = np.where(first, watch["stand_t"][who] != NEVER, np.roll(stands, 1))
    ends = np.flatnonzero(mine[who] & stood & ~stands)
    found = []
    for at in ends.tolist():
        carried = bool(first[at])
        row = watch[who[at]]
        spot = _anchor_spot(row) if carried else Spot(*(anchor[at - 1][name].item() for name in ("t", "lat", "lon")))
        if int(t[at]) - spot.t >= rules.idle_ms:
            found.append(Standing(int(who[at]), spot, int(t[at])))
    last = np.flatnonzero(is_last(who) & mine[who])
    for name in ("t", "lat", "lon"):
        nothing = NEVER if name == "t" else 0.0
        watch[f"stand_{name}"][who[last]] = np.where(stands[last], anchor[name][last], nothing)
    return found


def _standings_of(
    each: int, watch: Watches, rows: dict[str, np.ndarray], stands: Flags, rules: Rules
) -> list[Standing]:
    """The same for a truck that creeps: a fix too far from where it began to stand begins anew."""
    found = []
    anchor = _anchor_spot(watch[each]) if watch["stand_t"][each] != NEVER else None
    for at in np.flatnonzero(rows["who"] == each).tolist():
        spot = Spot(*(rows[name][at].item() for name in ("t", "lat", "lon")))
        still = stands[at]
        if anchor is not None and (not still or _spots_apart_m(anchor, spot) >= rules.idle_m):
            if spot.t - anchor.t >= rules.idle_ms:
                found.append(Standing(each, anchor, spot.t))
            anchor = None
        if still:
            anchor = anchor or spot
    watch["stand_t"][each] = anchor.t if anchor else NEVER
    watch["stand_lat"][each], watch["stand_lon"][each] = (anchor.lat, anchor.lon) if anchor else (0.0, 0.0)
    return found


def _spots_apart_m(one: Spot, other: Spot) -> float:
    return float(distance_m(*(np.array([value]) for value in (one.lat, one.lon, other.lat, other.lon)))[0])
