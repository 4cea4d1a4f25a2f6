"""From what the detectors found to alerts and visits as a dispatcher reads them, each with a name of its own."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schemas.models import AlertKind, Cause
from streaming.detect import Found
from streaming.fencebook import FenceBook
from streaming.places import FOREVER, Version
from streaming.rules import Rules
from streaming.schedule import is_open, openings
from streaming.timeline import Indices
from streaming.watch import NEVER, Crossing, Opened, Overspeed, Pairs, Spot, Standing, Stay

VISIT = "visit"
SEVERITY = {
    AlertKind.GEOFENCE_ENTER: "info",
    AlertKind.GEOFENCE_EXIT: "info",
    AlertKind.GEOFENCE_CROSSED: "warning",
    AlertKind.GEOFENCE_DWELL: "warning",
    AlertKind.OVERSPEED: "warning",
    AlertKind.IDLE: "info",
    AlertKind.SILENT: "warning",
    AlertKind.FEED_SILENT: "critical",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """An alert or a visit as it stands: `content` when it began, `closing` what its end adds.

    `raised_at` and `closed_at` are the moments that decided it; NEVER: before anything that is looked at now.
    """

    name: str
    kind: str
    truck: int
    fence_id: str | None
    start_t: int
    raised_at: int
    closed_at: int
    content: dict[str, Any]
    closing: dict[str, Any] | None = None

    def of_truck(self, number: int) -> "Outcome":
        """The same, of a truck by its number in the shard."""
        return replace(self, truck=number)


def name_of(kind: str, truck_id: str | None, fence_id: str | None, start_t: int) -> str:
    """The same alert has the same name, whoever raises it and how often."""
    parts = "\n".join((kind, truck_id or "", fence_id or "", str(start_t)))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


def moment(t: int) -> str:
    return str(np.datetime64(t, "ms")) + "Z"


def known_moment(t: int) -> str | None:
    return None if t == NEVER else moment(t)


class Teller:
    """Tells what was found; `since` and `until` bound, for each truck, what is looked at."""

    def __init__(  # noqa: PLR0913, PLR0917
        self, found: Found, truck_ids: Sequence[str], since: Indices, until: Indices, book: FenceBook, rules: Rules
    ) -> None:
        self.found, self.truck_ids, self.since, self.until = found, truck_ids, since, until
        self.book, self.rules = book, rules

    def outcomes(self) -> Iterator[Outcome]:
        for stay in self.found.stays:
            yield from self._stay(stay)
        for stay in carried_stays(self.found.pairs, self.found.stays, self.book):
            yield from self._timed(stay)
        yield from map(self._crossing, self.found.crossings)
        yield from map(self._overspeed, self.found.overspeeds)
        yield from map(self._idle, self.found.standings)

    def _alert(  # noqa: PLR0913
        self,
        kind: AlertKind,
        truck: int,
        spot: Spot,
        version: Version | None,
        explanation: dict[str, Any],
        *,
        raised_at: int,
        cause: Cause | None = None,
        start_t: int | None = None,
        closing: dict[str, Any] | None = None,
        closed_at: int | None = None,
    ) -> Outcome:
        """An alert; without `closed_at` it is one of those that happen once."""
        start_t = spot.t if start_t is None else start_t
        fence = version.fence if version else None
        truck_id, fence_id = self.truck_ids[truck], fence.fence_id if fence else None
        content = {
            "kind": kind,
            "severity": (fence.severity if fence else None) or SEVERITY[kind],
            "truck_id": truck_id,
            "fence_id": fence_id,
            "start_time": moment(start_t),
            "end_time": None,
            "lat": spot.lat,
            "lon": spot.lon,
            "cause": cause,
            "explanation": (_about(version) if version else {}) | explanation,
        }
        name = name_of(kind, truck_id, fence_id, start_t)
        closed_at = raised_at if closed_at is None else closed_at
        return Outcome(name, kind, truck, fence_id, start_t, raised_at, closed_at, content, closing)

    def _stay(self, stay: Stay) -> Iterator[Outcome]:
        yield self._visit(stay)
        if stay.opened_at != NEVER and (entered := self._entered(stay)):
            yield entered
        if stay.exit is not None and stay.exit_cause is None and (left := self._left(stay, stay.exit)):
            yield left
        yield from self._timed(stay)

    def _visit(self, stay: Stay) -> Outcome:
        truck_id, fence_id = self.truck_ids[stay.truck], self.book.fence_ids[stay.fence]
        content = {
            "truck_id": truck_id,
            "fence_id": fence_id,
            "enter_time": moment(stay.enter.t),
            "exit_time": None,
            "last_inside_time": None,
            "enter_cause": stay.opened.cause,
            "exit_cause": None,
        }
        closing = None
        if stay.exit is not None:
            closing = {
                "exit_time": moment(stay.exit.t),
                "last_inside_time": moment(stay.last.t),
                "exit_cause": stay.exit_cause,
            }
        name = name_of(VISIT, truck_id, fence_id, stay.enter.t)
        times = (stay.enter.t, stay.opened_at, stay.closed_at)
        return Outcome(name, VISIT, stay.truck, fence_id, *times, content, closing)

    def _entered(self, stay: Stay) -> Outcome | None:
        version = self.book.version(stay.fence, stay.enter.t)
        seeded = stay.opened in (Opened.FIRST_FIX, Opened.FENCE_CREATED)
        if version is None or not is_open(version, stay.enter.t):
            return None
        if stay.opened != Opened.DRIVING and not (seeded and version.fence.alert_if_already_inside):
            return None
        explanation = _two_fixes(stay.before, stay.enter) | {
            "boundary_m": _boundary_m(version, stay.enter),
            "inferred": False,
        }
        cause = stay.opened.cause
        kind = AlertKind.GEOFENCE_ENTER
        return self._alert(kind, stay.truck, stay.enter, version, explanation, raised_at=stay.opened_at, cause=cause)

    def _left(self, stay: Stay, gone: Spot) -> Outcome | None:
        version = self.book.version(stay.fence, gone.t)
        if version is None or not is_open(version, gone.t):
            return None
        explanation = _two_fixes(stay.last, gone) | {
            "boundary_m": _boundary_m(version, gone),
            "last_inside_time": moment(stay.last.t),
            "first_outside_time": moment(gone.t),
            "entered_time": moment(stay.enter.t),
            "visit_s": (gone.t - stay.enter.t) / 1000,
            "inferred": gone.t - stay.last.t > self.rules.gap_ms,
        }
        return self._alert(AlertKind.GEOFENCE_EXIT, stay.truck, gone, version, explanation, raised_at=stay.closed_at)

    def _timed(self, stay: Stay) -> Iterator[Outcome]:
        """What comes of staying long, or of a schedule that opens meanwhile."""
        since = stay.enter.t if stay.opened_at != NEVER else int(self.since[stay.truck])
        until = int(self.until[stay.truck]) if stay.exit is None else stay.exit.t
        due = dwell_due(stay.enter.t, self.book, stay.fence)
        if due is not None and due <= until and (due > since or stay.exit is not None or stay.opened_at != NEVER):
            yield from self._dwelt(stay, due)
        for t in opening_times(self.book, stay.fence, max(since, stay.enter.t), until):
            if stay.exit is None or t < stay.exit.t:
                yield self._opened_around(stay, t)

    def _dwelt(self, stay: Stay, due: int) -> Iterator[Outcome]:
        version = self.book.version(stay.fence, due)
        if version is None or not is_open(version, due):
            return
        closing = None
        if stay.exit is not None:
            closing = {"end_time": moment(stay.exit.t), **({"cause": stay.exit_cause} if stay.exit_cause else {})}
        explanation = {
            "entered_time": moment(stay.enter.t),
            "fix_lat": stay.enter.lat,
            "fix_lon": stay.enter.lon,
            "dwell_s": version.fence.dwell_s,
            "inferred": False,
        }
        yield self._alert(
            AlertKind.GEOFENCE_DWELL,
            stay.truck,
            stay.enter,
            version,
            explanation,
            raised_at=due,
            start_t=due,
            closing=closing,
            closed_at=stay.closed_at,
        )

    def _opened_around(self, stay: Stay, t: int) -> Outcome:
        version = self.book.version(stay.fence, t)
        explanation = {"entered_time": moment(stay.enter.t), "inferred": False}
        kind, cause = AlertKind.GEOFENCE_ENTER, Cause.SCHEDULE_OPEN
        return self._alert(kind, stay.truck, stay.enter, version, explanation, raised_at=t, start_t=t, cause=cause)

    def _crossing(self, crossing: Crossing) -> Outcome:
        explanation = _two_fixes(crossing.before, crossing.after) | {
            "boundary_m": _boundary_m(crossing.version, crossing.after),
            "inferred": True,
        }
        return self._alert(
            AlertKind.GEOFENCE_CROSSED,
            crossing.truck,
            crossing.after,
            crossing.version,
            explanation,
            raised_at=crossing.after.t,
        )

    def _overspeed(self, run: Overspeed) -> Outcome:
        version = self.book.version(run.fence, run.first.t) if run.fence >= 0 else None
        closing = None
        if run.end_t is not None:
            closing = {"end_time": moment(run.end_t), "explanation": {"peak_kmh": round(run.top_kmh, 2)}}
            closing |= {"cause": run.cause} if run.cause else {}
        explanation = {
            "fix_time": moment(run.first.t),
            "speed_kmh": round(run.speed_kmh, 2),
            "limit_kmh": run.limit_kmh,
            "inferred": False,
        }
        return self._alert(
            AlertKind.OVERSPEED,
            run.truck,
            run.first,
            version,
            explanation,
            raised_at=run.raised_at,
            closing=closing,
            closed_at=NEVER if run.end_t is None else run.end_t,
        )

    def _idle(self, standing: Standing) -> Outcome:
        due = standing.first.t + self.rules.idle_ms
        closing = None if standing.end_t is None else {"end_time": moment(standing.end_t)}
        explanation = {
            "standing_since_time": moment(standing.first.t),
            "idle_s": self.rules.idle_ms / 1000,
            "inferred": False,
        }
        return self._alert(
            AlertKind.IDLE,
            standing.truck,
            standing.first,
            None,
            explanation,
            raised_at=due,
            start_t=due,
            closing=closing,
            closed_at=NEVER if standing.end_t is None else standing.end_t,
        )


def carried_stays(pairs: Pairs, changed: list[Stay], book: FenceBook) -> Iterator[Stay]:
    """Visits that were open before and still are, in fences where time alone can raise an alert."""
    timed = pairs[pairs["inside"] & book.is_timed[pairs["fence"]]]
    if not len(timed):
        return
    new = {(stay.truck, stay.fence) for stay in changed if stay.exit is None}
    for row in timed:
        if (int(row["truck"]), int(row["fence"])) not in new:
            enter, last = (
                Spot(*(row[f"{name}_{each}"].item() for each in ("t", "lat", "lon"))) for name in ("enter", "last")
            )
            yield Stay(int(row["truck"]), int(row["fence"]), enter, enter, Opened(int(row["cause"])), NEVER, last)


def dwell_due(enter_t: int, book: FenceBook, fence: int) -> int | None:
    """When a visit that goes on becomes a dwell, by the version that is in force then."""
    for version, until in book.timeline(fence):
        if version.fence.dwell_s is not None and not version.fence.deleted:
            due = max(enter_t + version.fence.dwell_s * 1000, version.from_t)
            if due < until:
                return due
    return None


def opening_times(book: FenceBook, fence: int, after: int, until: int) -> Iterator[int]:
    for version, replaced in book.timeline(fence):
        if version.fence.schedule is not None and not version.fence.deleted:
            yield from openings(version, max(after, version.from_t - 1), min(until, replaced - 1))


def next_due(found: Found, until: Indices, book: FenceBook, rules: Rules) -> Indices:
    """For each truck: the next moment after `until` at which something happens without a fix; FOREVER: none."""
    standing = found.watch["stand_t"] != NEVER
    due = np.where(standing, found.watch["stand_t"] + rules.idle_ms, FOREVER)
    due[due <= until] = FOREVER
    changes = book.places.change_times
    if len(changes):
        later = np.searchsorted(changes, until, side="right")
        soon = np.where(later < len(changes), changes[np.minimum(later, len(changes) - 1)], FOREVER)
        due = np.where(found.watch["t"] == NEVER, due, np.minimum(due, soon))
    for stay in carried_stays(found.pairs, [], book):
        limit = int(until[stay.truck])
        dwell = dwell_due(stay.enter.t, book, stay.fence)
        opening = next(opening_times(book, stay.fence, limit, limit + 8 * 86_400_000), FOREVER)
        candidates = [opening, dwell if dwell is not None and dwell > limit else FOREVER]
        due[stay.truck] = min(int(due[stay.truck]), *candidates)
    return due


def _about(version: Version) -> dict[str, Any]:
    return {"fence_name": version.fence.name, "fence_version": version.fence.version}


def _two_fixes(before: Spot, fix: Spot) -> dict[str, Any]:
    known = before.t != NEVER
    return {
        "before_time": known_moment(before.t),
        "before_lat": before.lat if known else None,
        "before_lon": before.lon if known else None,
        "fix_time": moment(fix.t),
        "fix_lat": fix.lat,
        "fix_lon": fix.lon,
    }


def _boundary_m(version: Version, spot: Spot) -> float:
    return round(version.shape.boundary_m(spot.lat, spot.lon), 1)
