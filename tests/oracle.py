"""The oracle: judges one fix at a time, in plain Python. Shares no code with the engine."""

from bisect import bisect_left
from collections import Counter
from datetime import datetime
from typing import Any

from geographiclib.geodesic import Geodesic

HORIZON_MS, GAP_MS, IDLE_MS, JUMP_KMH, MOVING_KMH = 600_000, 120_000, 300_000, 200.0, 3.0
MINUTE_MS = 60_000


def epoch_ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


class Segment:
    """What lies between a fix and the one before it, if there is one."""

    def __init__(self, before: dict[str, Any] | None, fix: dict[str, Any]) -> None:
        self.length_m: float | None = None
        self.jump = False
        self.speed = fix.get("speed_kmh")
        self.heading = None if fix.get("heading_deg") is None else fix["heading_deg"] % 360
        self.distance = self.moving = self.idle = 0.0
        self.active = 1
        if before is not None:
            self._measure(before, fix)

    def _measure(self, before: dict[str, Any], fix: dict[str, Any]) -> None:
        line = Geodesic.WGS84.Inverse(before["lat"], before["lon"], fix["lat"], fix["lon"])
        took_ms = fix["t"] - before["t"]
        self.length_m = line["s12"]
        kmh = line["s12"] / took_ms * 3600
        self.jump = kmh > JUMP_KMH
        self.active = int(before["t"] // MINUTE_MS != fix["t"] // MINUTE_MS)
        if self.jump:
            return
        self.distance = line["s12"]
        if self.speed is None:
            self.speed = kmh
        if self.heading is None and line["s12"] >= 5:
            self.heading = line["azi1"] % 360
        if took_ms <= GAP_MS:
            self.moving, self.idle = (took_ms / 1000, 0.0) if kmh >= MOVING_KMH else (0.0, took_ms / 1000)


class Oracle:
    """Remembers everything; every contribution is kept under its name."""

    def __init__(self) -> None:
        self.tracks: dict[str, list[dict[str, Any]]] = {}
        self.rows: dict[tuple[str, int, int | None], dict[str, Any]] = {}
        self.judged = self.duplicate = self.late = 0
        self.rejected: Counter[str] = Counter()

    def take(self, message: dict[str, Any], *, received_ms: int, offset: int) -> None:
        """One valid fix, in the order of arrival."""
        t = epoch_ms(message["event_time"]) if message.get("event_time") else received_ms
        fix = {**message, "t": t, "offset": offset}
        track = self.tracks.setdefault(fix["truck_id"], [])
        times = [known["t"] for known in track]
        if times and t < times[-1] - HORIZON_MS:
            self.late += 1
            return
        at = bisect_left(times, t)
        if at < len(track) and times[at] == t:
            self._repeated(track[at], fix)
            return
        self._insert(track, at, fix)

    def _repeated(self, first: dict[str, Any], fix: dict[str, Any]) -> None:
        if (first["lat"], first["lon"]) == (fix["lat"], fix["lon"]):
            self.duplicate += 1
        else:
            self.rejected["conflict"] += 1

    def _insert(self, track: list[dict[str, Any]], at: int, fix: dict[str, Any]) -> None:
        self.judged += 1
        before = track[at - 1] if at else None
        after = track[at] if at < len(track) else None
        track.insert(at, fix)
        own = Segment(before, fix)
        self._add(fix, before, own, None, late=after is not None)
        if after is not None:
            self._add(after, fix, Segment(fix, after), Segment(before, after), late=False)

    def _add(
        self, fix: dict[str, Any], before: dict[str, Any] | None, now: Segment, was: Segment | None, *, late: bool
    ) -> None:
        def less(name: str) -> Any:
            return (getattr(now, name) or 0) - (getattr(was, name) or 0 if was else 0)

        known_before = was is not None and was.speed is not None
        self.rows[fix["truck_id"], fix["t"], before["t"] if before else None] = {
            "correction": was is not None,
            "late": late,
            "jump": now.jump,
            "lat": fix["lat"],
            "lon": fix["lon"],
            "speed_kmh": now.speed,
            "heading_deg": now.heading,
            "fixes": 1 if was is None else 0,
            "speed_fixes": int(now.speed is not None) - int(known_before),
            "speed_sum_kmh": less("speed"),
            "distance_m": less("distance"),
            "moving_s": less("moving"),
            "idle_s": less("idle"),
            "active_trucks": less("active"),
        }

    def state(self, truck_id: str) -> dict[str, Any]:
        """The newest state of a truck."""
        track = self.tracks[truck_id]
        phases: list[bool | None] = []
        since = track[0]["t"]
        for before, fix in zip([None, *track], track, strict=False):
            speed = Segment(before, fix).speed
            phase = None if speed is None else speed >= MOVING_KMH
            if phases and phases[-1] != phase:
                since = fix["t"]
            phases.append(phase)
        newest = track[-1]
        segment = Segment(track[-2] if len(track) > 1 else None, newest)
        standing = "idle" if newest["t"] - since >= IDLE_MS else "stopped"
        return {
            "event_time": newest["t"],
            "status_since": since,
            "lat": newest["lat"],
            "lon": newest["lon"],
            "speed_kmh": segment.speed,
            "heading_deg": segment.heading,
            "segment_m": segment.length_m,
            "jump": segment.jump,
            "status": {None: "unknown", True: "moving", False: standing}[phases[-1]],
        }

    def must_equal_judged(self, rows: list[dict[str, Any]]) -> None:
        """The fixes in `trucks_judged`, in any order, are exactly the oracle's."""
        found = {(row["truck_id"], row["event_time_ms"], row["prev_event_time_ms"]): row for row in rows}
        assert len(found) == len(rows), "a row came twice"
        assert found.keys() == self.rows.keys()
        for name, expected in self.rows.items():
            must_match(expected, found[name], name)

    def must_equal_states(self, states: dict[str, dict[str, Any]]) -> None:
        assert states.keys() == {truck for truck, track in self.tracks.items() if track}
        for truck_id, state in states.items():
            times = {name: epoch_ms(state[name]) for name in ("event_time", "status_since")}
            must_match(self.state(truck_id), state | times, truck_id)


def fixes_of(judged: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The fixes in a record of `trucks_judged`."""
    return [dict(zip(judged, fix, strict=True)) for fix in zip(*judged.values(), strict=True)]


def must_match(expected: dict[str, Any], found: dict[str, Any], name: object) -> None:
    """Numbers may differ by what rounding for the topic costs."""
    for field, value in expected.items():
        tolerance = 0.06 if field == "heading_deg" else 0.011
        if isinstance(value, float) and isinstance(found[field], int | float):
            assert abs(value - found[field]) <= tolerance, (name, field, value, found[field])
        else:
            assert value == found[field], (name, field, value, found[field])
