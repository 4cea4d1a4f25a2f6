"""What was told of alerts and visits, and what must be told now that more is known."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from schemas.models import AlertKind
from streaming.alerts import VISIT, Outcome, moment
from streaming.timeline import Indices
from streaming.watch import NEVER

RETRACTED = "retracted"
SILENCE = (AlertKind.SILENT, AlertKind.FEED_SILENT)


class Entry(msgspec.Struct, array_like=True):
    """The newest revision of an alert or a visit that can still change."""

    name: str
    kind: str
    truck: int
    fence_id: str | None
    start_t: int
    raised_at: int
    closed_at: int
    content: dict[str, Any]
    closing: dict[str, Any] | None
    revision: int = 0
    retracted: bool = False

    @property
    def status(self) -> str:
        if self.retracted:
            return RETRACTED
        if self.kind == VISIT:
            return "open" if self.closing is None else "closed"
        return "raised" if self.closing is None else "cleared"

    def as_record(self) -> dict[str, Any]:
        merged = {**self.content, **(self.closing or {})}
        if self.closing and "explanation" in self.closing:
            merged["explanation"] = {**self.content["explanation"], **self.closing["explanation"]}
        name = "visit_id" if self.kind == VISIT else "alert_id"
        return {name: self.name, "revision": self.revision, "status": self.status, **merged}


class Told:
    """Entries by name, and the names of each truck."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.silent: set[str] = set()
        self._of_truck: dict[int, set[str]] = {}

    def put(self, entry: Entry) -> None:
        self.entries[entry.name] = entry
        self._of_truck.setdefault(entry.truck, set()).add(entry.name)
        if entry.kind in SILENCE:
            self.silent.add(entry.name)

    def of_truck(self, truck: int) -> list[Entry]:
        return [self.entries[name] for name in self._of_truck.get(truck, ())]

    def correct(self, outcomes: Iterable[Outcome], trucks: Indices, since: Indices) -> list[Entry]:
        """Make what was told equal to `outcomes`, for all that was decided of each truck after its `since`."""
        expected: dict[str, Outcome] = {}
        ended: dict[tuple[int, str | None], list[Outcome]] = {}
        for outcome in outcomes:
            known = expected.get(outcome.name)
            later = outcome if known is None else _joined(known, outcome)
            expected[outcome.name] = later
            if outcome.kind == VISIT and outcome.closing is not None:
                ended.setdefault((outcome.truck, outcome.fence_id), []).append(later)
        changed: list[Entry] = []
        has_entries = np.isin(trucks, list(self._of_truck))
        for truck, limit in zip(trucks[has_entries].tolist(), since[has_entries].tolist(), strict=True):
            changed += self._overtaken(truck, limit, expected, ended)
        for outcome in expected.values():
            entry = self._told_now(outcome)
            if entry is not None:
                self.put(entry)
                changed.append(entry)
        return sorted(changed, key=_order)

    def _overtaken(
        self,
        truck: int,
        since: int,
        expected: dict[str, Outcome],
        ended: dict[tuple[int, str | None], list[Outcome]],
    ) -> list[Entry]:
        """What was told of this truck and is no longer true."""
        changed = []
        for entry in self.of_truck(truck):
            if entry.name in expected or entry.retracted:
                continue
            if entry.raised_at > since or _is_void(entry, ended.get((truck, entry.fence_id), ())):
                entry.retracted = True
            elif entry.closing is not None and entry.closed_at > since:
                entry.closing, entry.closed_at = None, NEVER
            else:
                continue
            entry.revision += 1
            changed.append(entry)
        return changed

    def _told_now(self, outcome: Outcome) -> Entry | None:
        """The entry that must be told for an outcome, or None where it has been."""
        entry = self.entries.get(outcome.name)
        if entry is None:
            fields = (outcome.name, outcome.kind, outcome.truck, outcome.fence_id, outcome.start_t)
            return Entry(*fields, outcome.raised_at, outcome.closed_at, outcome.content, outcome.closing)
        if outcome.raised_at != NEVER:
            entry.raised_at = outcome.raised_at
        entry.closed_at = outcome.closed_at
        if (entry.content, entry.closing, entry.retracted) == (outcome.content, outcome.closing, False):
            return None
        entry.content, entry.closing, entry.retracted = outcome.content, outcome.closing, False
        entry.revision += 1
        return entry

    def forget(self, settled_t: Any) -> None:
        """Drop what can no longer change: decided before the settled time of its truck, and over."""
        for entry in [each for each in self.entries.values() if each.kind not in SILENCE]:
            limit = int(settled_t[entry.truck])
            over = entry.retracted or entry.closed_at != NEVER
            if over and entry.raised_at <= limit and entry.closed_at <= limit:
                self.drop(entry.name)

    def drop(self, name: str) -> None:
        entry = self.entries.pop(name)
        self.silent.discard(name)
        self._of_truck[entry.truck].discard(name)
        if not self._of_truck[entry.truck]:
            del self._of_truck[entry.truck]


def _order(entry: Entry) -> tuple[int, bool, int, bool, str]:
    """What is taken back, then what happened in its order; at one moment exits come before entries, then by fence."""
    decided_t = entry.raised_at if entry.closed_at == NEVER else entry.closed_at
    return entry.truck, not entry.retracted, decided_t, entry.kind == AlertKind.GEOFENCE_ENTER, entry.fence_id or ""


def _joined(first: Outcome, later: Outcome) -> Outcome:
    """Two views of one alert: the first knows how it began, the later one how it ended."""
    return replace(first, closing=later.closing, closed_at=later.closed_at)


def _is_void(entry: Entry, ended: Iterable[Outcome]) -> bool:
    """Raised by time in a visit that, as was confirmed later, had ended before."""
    return entry.kind != VISIT and any(
        visit.start_t <= entry.start_t
        and entry.raised_at <= visit.closed_at
        and visit.closing is not None
        and moment(entry.start_t) > visit.closing["exit_time"]
        for visit in ended
    )
