"""The oracle for alerts and visits: walks along each truck's fixes one at a time. Shares no code with the engine."""

import hashlib
import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from geographiclib.geodesic import Geodesic

from tests.oracle import Segment, epoch_ms

ACCURACY_M, GAP_MS, JUMP_KMH, LIMIT_KMH, IDLE_MS, IDLE_M, SLOW_KMH = 100.0, 120_000, 200.0, 110.0, 300_000, 50.0, 3.0
Point = tuple[float, float]
Fix = dict[str, Any]


def metres(a: Point, b: Point) -> float:
    """Between two points, each (lat, lon)."""
    return float(Geodesic.WGS84.Inverse(a[0], a[1], b[0], b[1])["s12"])


def near(lon: float, to: float) -> float:
    """The same longitude, on the side where `to` is."""
    while lon - to > 180:
        lon -= 360
    while lon - to < -180:
        lon += 360
    return lon


@lru_cache(maxsize=100_000)
def to_edge_m(p: Point, a: Point, b: Point) -> float:
    """From a point to a straight line in degrees: by trying, ever finer, around where a flat map has the nearest."""
    b = (b[0], near(b[1], a[1]))
    if a == b:
        return metres(p, a)
    squeeze = math.cos(math.radians(p[0]))
    east, north = (b[1] - a[1]) * squeeze, b[0] - a[0]
    along = (near(p[1], a[1]) - a[1]) * squeeze * east + (p[0] - a[0]) * north
    guess = min(1.0, max(0.0, along / (east * east + north * north)))
    low, high = max(0.0, guess - 0.05), min(1.0, guess + 0.05)
    best = min(metres(p, a), metres(p, b))
    for _ in range(7):
        step = (high - low) / 6
        tries = [low + i * step for i in range(7)]
        found = [metres(p, (a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]))) for f in tries]
        at = found.index(min(found))
        best = min(best, found[at])
        low, high = tries[max(at - 1, 0)], tries[min(at + 1, 6)]
    return best


def rings(fence: dict[str, Any]) -> list[list[list[Point]]]:
    coordinates = fence["geometry"]["coordinates"]
    polygons = [coordinates] if fence["kind"] == "polygon" else coordinates
    out = []
    for polygon in polygons:
        start = polygon[0][0][0]
        out.append([[(lat, near(lon, start)) for lon, lat in ring] for ring in polygon])
    return out


def lines(fence: dict[str, Any]) -> list[tuple[Point, Point]]:
    if fence["kind"] == "corridor":
        points = [(lat, lon) for lon, lat in fence["geometry"]["coordinates"]]
        return list(pairwise(points))
    return [edge for polygon in rings(fence) for ring in polygon for edge in pairwise(ring)]


def on_edge(p: Point, a: Point, b: Point) -> bool:
    (py, px), (ay, ax), (by, bx) = (tuple(map(Fraction, each)) for each in (p, a, b))
    straight = (bx - ax) * (py - ay) == (by - ay) * (px - ax)
    return straight and min(ax, bx) <= px <= max(ax, bx) and min(ay, by) <= py <= max(ay, by)


def in_ring(p: Point, ring: list[Point]) -> bool:
    """Strictly inside or not: how often a ray to the east crosses the ring."""
    inside = False
    y, x = Fraction(p[0]), Fraction(p[1])
    for start, end in pairwise(ring):
        (ay, ax), (by, bx) = tuple(map(Fraction, start)), tuple(map(Fraction, end))
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


def is_far(fence: dict[str, Any], fix: Fix) -> bool:
    """Degrees of latitude away from every vertex, and so not worth measuring."""

    def lats(coordinates: Any) -> list[float]:
        if isinstance(coordinates[0], list):
            return [lat for each in coordinates for lat in lats(each)]
        return [coordinates[1]]

    found = lats(fence["geometry"]["coordinates"])
    room = (fence.get("radius_m") or fence.get("width_m") or 0) / 100_000
    return bool(fix["lat"] < min(found) - room or fix["lat"] > max(found) + room)


def is_inside(fence: dict[str, Any], fix: Fix) -> bool:
    if is_far(fence, fix):
        return False
    p = (fix["lat"], fix["lon"])
    if fence["kind"] == "circle":
        lon, lat = fence["geometry"]["coordinates"]
        return bool(metres(p, (lat, lon)) <= fence["radius_m"])
    if fence["kind"] == "corridor":
        return any(to_edge_m(p, a, b) <= fence["width_m"] / 2 for a, b in lines(fence))
    for polygon in rings(fence):
        for lon in (p[1], p[1] + 360, p[1] - 360):
            q = (p[0], lon)
            if any(on_edge(q, a, b) for ring in polygon for a, b in pairwise(ring)):
                return True
            if in_ring(q, polygon[0]) and not any(in_ring(q, hole) for hole in polygon[1:]):
                return True
    return False


def outside_m(fence: dict[str, Any], fix: Fix) -> float:
    """How far outside a fix is, that is outside."""
    p = (fix["lat"], fix["lon"])
    if fence["kind"] == "circle":
        lon, lat = fence["geometry"]["coordinates"]
        return metres(p, (lat, lon)) - float(fence["radius_m"])
    nearest = min(to_edge_m(p, a, b) for a, b in lines(fence))
    return nearest - (fence["width_m"] / 2 if fence["kind"] == "corridor" else 0)


def a_lat(fence: dict[str, Any]) -> float:
    """The latitude of some vertex."""
    coordinates = fence["geometry"]["coordinates"]
    while isinstance(coordinates[0], list):
        coordinates = coordinates[0]
    return float(coordinates[1])


def lines_meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    def side(p: Point, q: Point, r: Point) -> Fraction:
        (py, px), (qy, qx), (ry, rx) = (tuple(map(Fraction, each)) for each in (p, q, r))
        return (qx - px) * (ry - py) - (qy - py) * (rx - px)

    if any(on_edge(*each) for each in ((a, c, d), (b, c, d), (c, a, b), (d, a, b))):
        return True
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def is_cut(fence: dict[str, Any], before: Fix, fix: Fix) -> bool:
    """Whether the straight line between two fixes, both outside, touches the fence."""
    a = (before["lat"], near(before["lon"], fix["lon"]))
    b = (fix["lat"], fix["lon"])
    if is_far(fence, before) and is_far(fence, fix) and (before["lat"] > a_lat(fence)) == (fix["lat"] > a_lat(fence)):
        return False
    if fence["kind"] == "circle":
        lon, lat = fence["geometry"]["coordinates"]
        return bool(to_edge_m((lat, near(lon, b[1])), a, b) <= fence["radius_m"])
    for start, end in lines(fence):
        c = (start[0], near(start[1], b[1]))
        d = (end[0], near(end[1], c[1]))
        if lines_meet(a, b, c, d):
            return True
        if fence["kind"] == "corridor":
            apart = min(to_edge_m(a, c, d), to_edge_m(b, c, d), to_edge_m(c, a, b), to_edge_m(d, a, b))
            if apart <= fence["width_m"] / 2:
                return True
    return False


def is_open(fence: dict[str, Any], t: int) -> bool:
    schedule = fence.get("schedule")
    if schedule is None:
        return True
    days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    local = datetime.fromtimestamp(t / 1000, UTC).astimezone(ZoneInfo(schedule["zone"]))
    minute = local.hour * 60 + local.minute
    start, end = (int(text[:2]) * 60 + int(text[3:]) for text in (schedule["start"], schedule["end"]))
    yesterday = (local - timedelta(days=1)).strftime("%a").lower()
    today = days[local.weekday()]
    if start < end:
        return today in schedule["days"] and start <= minute < end
    return (today in schedule["days"] and minute >= start) or (yesterday in schedule["days"] and minute < end)


def name_of(kind: str, truck: str, fence: str | None, start: int) -> str:
    return hashlib.sha256(f"{kind}\n{truck}\n{fence or ''}\n{start}".encode()).hexdigest()[:32]


class Fences:
    """Versions by fence; the highest version that is effective counts."""

    def __init__(self, versions: list[dict[str, Any]]) -> None:
        self.versions = versions
        self.ids = sorted({each["fence_id"] for each in versions})

    def at(self, fence_id: str, t: int) -> dict[str, Any] | None:
        known = [each for each in self.versions if each["fence_id"] == fence_id and each["from"] <= t]
        return max(known, key=lambda each: each["version"], default=None)

    def changes(self) -> list[tuple[int, str]]:
        return sorted({(each["from"], each["fence_id"]) for each in self.versions})


class Walk:
    """One truck. `clock` is how far time has come without a fix, or None."""

    def __init__(self, truck: str, fences: Fences, clock: int | None) -> None:
        self.truck, self.fences, self.clock = truck, fences, clock
        self.alerts: dict[str, dict[str, Any]] = {}
        self.visits: dict[str, dict[str, Any]] = {}
        self.inside: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, list[Fix]] = {}
        self.was_in: dict[str, bool] = {}
        self.last: Fix | None = None
        self.over: dict[str, Any] | None = None
        self.anchor: Fix | None = None
        self.flaps = 0

    def go(self, track: list[Fix]) -> None:
        fixes = []
        for before, fix in zip([None, *track], track, strict=False):
            if (fix.get("accuracy_m") or 0) <= ACCURACY_M:
                fixes.append({**fix, "kmh": Segment(before, fix).speed})
        changes = self.fences.changes()
        for fix in fixes:
            while changes and changes[0][0] <= fix["t"]:
                self._change(*changes.pop(0))
            self._fix(fix)
        known = fixes[-1]["t"] if fixes else None
        if known is not None and self.clock is not None and self.clock > known:
            while changes and changes[0][0] <= self.clock:
                self._change(*changes.pop(0))
            known = self.clock
        if known is not None:
            self._end(known)

    def _alert(self, kind: str, fence: str | None, start: int, place: Fix, **more: Any) -> dict[str, Any]:
        version = self.fences.at(fence, more.pop("version_at", start)) if fence else None
        usual = {"geofence_crossed": "warning", "geofence_dwell": "warning", "overspeed": "warning"}.get(kind, "info")
        severity = (version or {}).get("severity") or usual
        alert = {"kind": kind, "fence": fence, "start": start, "end": None, "cause": None, "severity": severity}
        alert |= {"lat": place["lat"], "lon": place["lon"], "fence_version": version and version["version"], **more}
        self.alerts[name_of(kind, self.truck, fence, start)] = alert
        return alert

    def _change(self, t: int, fence_id: str) -> None:
        now, before = self.fences.at(fence_id, t), self.fences.at(fence_id, t - 1)
        if now is None or self.last is None or now is before:
            return
        existed = before is not None and not before.get("deleted")
        if now.get("deleted"):
            self.runs.pop(fence_id, None)
            if fence_id in self.inside:
                self._leave(fence_id, t, None, "fence_deleted")
            if self.over and self.over["fence"] == fence_id:
                self._slow_down(t, "fence_deleted")
            self.was_in[fence_id] = False
            return
        ground = ("kind", "geometry", "radius_m", "width_m")
        if existed and before is not None and all(now.get(each) == before.get(each) for each in ground):
            return
        self.runs.pop(fence_id, None)
        in_now = is_inside(now, self.last)
        self.was_in[fence_id] = in_now
        if in_now:
            if fence_id not in self.inside:
                cause = "fence_edited" if existed else "fence_created"
                self._enter(fence_id, t, {**self.last, "t": t}, cause)
            self.inside[fence_id]["last"] = self.last
        elif fence_id in self.inside and self._is_clear(now, self.last):
            self._leave(fence_id, t, None, "fence_edited")

    def _is_clear(self, fence: dict[str, Any], fix: Fix) -> bool:
        return outside_m(fence, fix) > (fix.get("accuracy_m") or 0) + (fence.get("exit_buffer_m") or 0)

    def _enter(self, fence_id: str, t: int, first: Fix, cause: str | None) -> None:
        fence = self.fences.at(fence_id, t)
        assert fence is not None
        self.inside[fence_id] = {"enter": t, "first": first, "last": first, "cause": cause}
        seeded = cause in ("first_fix", "fence_created") and fence.get("alert_if_already_inside")
        if (cause is None or seeded) and is_open(fence, t):
            self._alert("geofence_enter", fence_id, t, first, cause=cause)

    def _leave(self, fence_id: str, t: int, gone: Fix | None, cause: str | None) -> None:
        stay = self.inside.pop(fence_id)
        fence = self.fences.at(fence_id, t)
        assert fence is not None
        if gone is not None and is_open(fence, t):
            visit_s = (t - stay["enter"]) / 1000
            inferred = t - stay["last"]["t"] > GAP_MS
            self._alert("geofence_exit", fence_id, t, gone, visit_s=visit_s, inferred=inferred)
        self._timed(fence_id, stay, t, closed=True, cause=cause)
        self._visit(fence_id, stay, {"exit": t, "last": stay["last"]["t"], "exit_cause": cause})

    def _visit(self, fence_id: str, stay: dict[str, Any], closing: dict[str, Any]) -> None:
        visit = {"fence": fence_id, "enter": stay["enter"], "enter_cause": stay["cause"], **closing}
        self.visits[name_of("visit", self.truck, fence_id, stay["enter"])] = visit

    def _timed(self, fence_id: str, stay: dict[str, Any], until: int, *, closed: bool, cause: str | None) -> None:
        enter = stay["enter"]
        for t in sorted({enter, *(each["from"] for each in self.fences.versions if each["fence_id"] == fence_id)}):
            fence = self.fences.at(fence_id, t)
            if fence is None or fence.get("deleted") or not fence.get("dwell_s"):
                continue
            due = max(enter + fence["dwell_s"] * 1000, fence["from"])
            if due <= until and self.fences.at(fence_id, due) is fence:
                if is_open(fence, due):
                    end = until if closed else None
                    self._alert("geofence_dwell", fence_id, due, stay["first"], end=end, cause=cause)
                break
        if any(each.get("schedule") for each in self.fences.versions if each["fence_id"] == fence_id):
            self._openings(fence_id, stay, until, closed=closed)

    def _openings(self, fence_id: str, stay: dict[str, Any], until: int, *, closed: bool) -> None:
        """Minute by minute: where the schedule opens around the truck."""
        t = stay["enter"] // 60_000 * 60_000 + 60_000
        while t <= until and not (closed and t >= until):
            now = self.fences.at(fence_id, t)
            if (
                now
                and now.get("schedule")
                and not now.get("deleted")
                and is_open(now, t)
                and not is_open(now, t - 60_000)
            ):
                self._alert("geofence_enter", fence_id, t, stay["first"], cause="schedule_open")
            t += 60_000

    def _fix(self, fix: Fix) -> None:
        first = self.last is None
        here = [each for each in self.fences.ids if self._in_force(each, fix["t"])]
        inside_now = {each: is_inside(self._in_force(each, fix["t"]) or {}, fix) for each in here}
        for fence_id in here:
            self._judge(fence_id, fix, first=first, in_now=inside_now[fence_id])
        self._overspeed(fix, [each for each in here if inside_now[each]])
        in_depot = any(
            inside_now[each] and "depot" in (self._in_force(each, fix["t"]) or {}).get("tags", []) for each in here
        )
        self._idle(fix, in_depot=in_depot)
        self.was_in = inside_now
        self.last = fix

    def _in_force(self, fence_id: str, t: int) -> dict[str, Any] | None:
        fence = self.fences.at(fence_id, t)
        return None if fence is None or fence.get("deleted") else fence

    def _judge(self, fence_id: str, fix: Fix, *, first: bool, in_now: bool) -> None:
        fence = self._in_force(fence_id, fix["t"])
        assert fence is not None
        if first:
            if in_now:
                self._enter(fence_id, fix["t"], fix, "first_fix")
            return
        stay = self.inside.get(fence_id)
        run = self.runs.get(fence_id, [])
        towards = in_now if stay is None else (not in_now and self._is_clear(fence, fix))
        if stay is not None and in_now:
            stay["last"] = fix
        if not towards:
            self.flaps += bool(run)
            self.runs.pop(fence_id, None)
            if stay is None and not in_now:
                self._crossed(fence_id, fence, fix)
            return
        run = self.runs[fence_id] = [*run, fix]
        needed = fence.get("enter_confirm_fixes" if stay is None else "exit_confirm_fixes") or 1
        if len(run) < needed:
            return
        del self.runs[fence_id]
        if stay is None:
            self._enter(fence_id, run[0]["t"], run[0], None)
            self.inside[fence_id]["last"] = fix
        else:
            self._leave(fence_id, run[0]["t"], run[0], None)

    def _crossed(self, fence_id: str, fence: dict[str, Any], fix: Fix) -> None:
        before = self.last
        assert before is not None
        took_ms = fix["t"] - before["t"]
        if took_ms > GAP_MS or fence["from"] > before["t"] or self.was_in.get(fence_id):
            return
        if metres((before["lat"], before["lon"]), (fix["lat"], fix["lon"])) / took_ms * 3600 > JUMP_KMH:
            return
        if is_cut(fence, before, fix):
            self._alert("geofence_crossed", fence_id, fix["t"], fix)

    def _overspeed(self, fix: Fix, inside: list[str]) -> None:
        if fix["kmh"] is None:
            return
        limits = []
        for fence_id in inside:
            fence = self._in_force(fence_id, fix["t"])
            if fence and fence.get("speed_limit_kmh") and is_open(fence, fix["t"]):
                limits.append((fence["speed_limit_kmh"], fence_id))
        limit, limiting = min(limits, default=(LIMIT_KMH, None))
        if fix["kmh"] <= limit:
            if self.over:
                self._slow_down(fix["t"], None)
        elif self.over:
            self.over["top"] = max(self.over["top"], fix["kmh"])
        else:
            alert = self._alert("overspeed", limiting, fix["t"], fix, limit_kmh=limit)
            self.over = {"alert": alert, "fence": limiting, "top": fix["kmh"]}

    def _slow_down(self, t: int, cause: str | None) -> None:
        assert self.over is not None
        self.over["alert"] |= {"end": t, "cause": cause, "peak_kmh": self.over["top"]}
        self.over = None

    def _idle(self, fix: Fix, *, in_depot: bool) -> None:
        stands = fix["kmh"] is not None and fix["kmh"] < SLOW_KMH and not in_depot
        if self.anchor and (
            not stands or metres((self.anchor["lat"], self.anchor["lon"]), (fix["lat"], fix["lon"])) >= IDLE_M
        ):
            if fix["t"] - self.anchor["t"] >= IDLE_MS:
                self._alert("idle", None, self.anchor["t"] + IDLE_MS, self.anchor, end=fix["t"])
            self.anchor = None
        if stands and self.anchor is None:
            self.anchor = fix

    def _end(self, known: int) -> None:
        if self.anchor and self.anchor["t"] + IDLE_MS <= known:
            self._alert("idle", None, self.anchor["t"] + IDLE_MS, self.anchor)
        for fence_id, stay in self.inside.items():
            self._timed(fence_id, stay, known, closed=False, cause=None)
            self._visit(fence_id, stay, {"exit": None, "last": None, "exit_cause": None})


TIMES = {
    "start": "start_time",
    "end": "end_time",
    "enter": "enter_time",
    "exit": "exit_time",
    "last": "last_inside_time",
}
EXPLAINED = ("visit_s", "inferred", "limit_kmh", "peak_kmh", "fence_version")


def must_be_told(expected: dict[str, dict[str, Any]], found: dict[str, dict[str, Any]]) -> None:
    """Every alert or visit that the oracle has, and no other; the same contents."""

    def brief(rows: dict[str, dict[str, Any]], names: set[str]) -> list[str]:
        return [str({k: v for k, v in rows[name].items() if k != "explanation"}) for name in sorted(names)]

    missing, extra = expected.keys() - found.keys(), found.keys() - expected.keys()
    assert (brief(expected, missing), brief(found, extra)) == ([], []), "(missing, told but wrong)"
    for name, want in expected.items():
        have = found[name]
        for field, value in want.items():
            if field in TIMES:
                told = have[TIMES[field]]
                assert (None if told is None else epoch_ms(told)) == value, (field, want, have)
            elif field in EXPLAINED:
                told = have.get("explanation", {}).get(field)
                same = abs(told - value) < 0.02 if isinstance(value, float) and told is not None else told == value
                assert same, (field, want, have)
            else:
                assert have["fence_id" if field == "fence" else field] == value, (field, want, have)
