"""Judges one batch of a shard, as if its records came one at a time: any cut into batches gives the same rows."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

import numpy as np

from schemas.models import Reason
from streaming.decode import Decoded
from streaming.rules import Rules
from streaming.shard import Shard
from streaming.timeline import (
    FIX,
    Fixes,
    Flags,
    Indices,
    Segments,
    is_last,
    newest_before,
    phases,
    repeats,
    runs,
    segments,
    starts,
)
from streaming.watch import NEVER


@dataclass(frozen=True)
class Judged:
    """New fixes with their segments, corrections (segment now, segment before), and newest fixes that changed."""

    fixes: Fixes
    before: Fixes
    has_before: Flags
    late: Flags
    segments: Segments
    corrected: Fixes
    corrected_before: Fixes
    now: Segments
    was: Segments
    newest: Fixes
    newest_segments: Segments
    rejected: dict[int, Reason]


def judge(shard: Shard, decoded: Decoded, records: int, rules: Rules) -> tuple[Judged, Fixes]:
    """Judge the records of one batch (sorted by partition and offset); also returns the rows that the past gains."""
    fixes = decoded.fixes.copy()
    fixes["truck"] = shard.numbers_of(decoded.truck_ids)
    rejected = dict(decoded.rejected)
    newest_t = newest_before(fixes, shard.newest["t"])
    too_late = fixes["t"] < newest_t - rules.horizon_ms
    late = (fixes["t"] < newest_t) & ~too_late
    touched = np.unique(fixes["truck"][(fixes["t"] <= newest_t) & ~too_late])
    past = shard.past_of(touched)
    used, duplicates = _drop_repeats(past, fixes, too_late, decoded.record, rejected)
    rejected.update(dict.fromkeys(decoded.record[too_late].tolist(), Reason.LATE))
    judged, gained = _derive(shard, past, (fixes[used], late[used]), rules, rejected)
    _count(shard, records, judged, duplicates)
    shard.add(gained)
    return judged, gained


def _drop_repeats(
    past: Fixes, fixes: Fixes, too_late: Flags, record: Indices, rejected: dict[int, Reason]
) -> tuple[Indices, int]:
    """Which fixes stay (in order of arrival), and how many are the same fix sent again."""
    candidates = np.flatnonzero(~too_late)
    again, holder = repeats(past, fixes[candidates])
    rows = fixes[candidates[again]]
    same = (holder["lat"] == rows["lat"]) & (holder["lon"] == rows["lon"])
    rejected.update(dict.fromkeys(record[candidates[again[~same]]].tolist(), Reason.CONFLICT))
    return np.delete(candidates, again), int(same.sum())


def _derive(
    shard: Shard, past: Fixes, arrived: tuple[Fixes, Flags], rules: Rules, rejected: dict[int, Reason]
) -> tuple[Judged, Fixes]:
    fixes, late = arrived
    on_time = fixes[~late]
    on_time = on_time[np.lexsort((on_time["t"], on_time["truck"]))]
    before, has_before = _in_order(shard, on_time)
    timeline = _by_truck(past, on_time, np.unique(fixes["truck"][late]))
    late_fixes = fixes[late]
    pairs = [_insert(timeline[int(fix["truck"])], fix) for fix in late_fixes]
    late_before, late_has = _rows([pair[0] for pair in pairs])
    corrected, _ = _rows([pair[1] for pair in pairs])
    fixes = np.concatenate([on_time, late_fixes])
    before = np.concatenate([before, late_before])
    has_before = np.concatenate([has_before, late_has])
    derived = segments(before, has_before, fixes, rules)
    fixes["speed_kmh"] = derived.speed_kmh
    on_time = fixes[: len(on_time)]
    on_time["since"] = _since(shard, on_time, rules)
    redone, redone_before = _redo(timeline, rules)
    ends = ~np.isin(on_time["truck"], redone["truck"]) & is_last(on_time["truck"])
    redone_ends = is_last(redone["truck"])
    newest = np.concatenate([on_time[ends], redone[redone_ends]])
    before_redone = redone_before[redone_ends]
    last_redone = segments(before_redone, before_redone["t"] != NEVER, redone[redone_ends], rules)
    judged = Judged(
        fixes=fixes,
        before=before,
        has_before=has_before,
        late=np.arange(len(fixes)) >= len(on_time),
        segments=derived,
        corrected=corrected,
        corrected_before=late_fixes,
        now=segments(late_fixes, np.ones(len(corrected), bool), corrected, rules),
        was=segments(late_before, late_has, corrected, rules),
        newest=newest,
        newest_segments=derived.at(np.flatnonzero(ends)).followed_by(last_redone),
        rejected=rejected,
    )
    return judged, np.concatenate([on_time, redone])


def _in_order(shard: Shard, on_time: Fixes) -> tuple[Fixes, Flags]:
    """The fix before each one: the row above, or the truck's newest of earlier batches."""
    first = starts(on_time["truck"])
    before = np.where(first, shard.newest[on_time["truck"]], np.roll(on_time, 1))
    return before, before["t"] != NEVER


def _since(shard: Shard, on_time: Fixes, rules: Rules) -> Indices:
    first = starts(on_time["truck"])
    newest = shard.newest[on_time["truck"]]
    phase = phases(on_time["speed_kmh"], rules)
    goes_on = (newest["t"] != NEVER) & (phases(newest["speed_kmh"], rules) == phase)
    return runs(phase, on_time["t"], first, np.where(goes_on, newest["since"], on_time["t"]))


Timeline = tuple[list[int], list[np.void]]


def _by_truck(past: Fixes, on_time: Fixes, trucks: Indices) -> dict[int, Timeline]:
    """The recent fixes of each truck that has a late one, with those of this batch, in order of time."""
    rows = np.concatenate([past, on_time])
    rows = rows[np.isin(rows["truck"], trucks)]
    rows = rows[np.lexsort((rows["t"], rows["truck"]))]
    timeline: dict[int, Timeline] = {int(truck): ([], []) for truck in trucks}
    for row in rows:
        times, fixes = timeline[int(row["truck"])]
        times.append(int(row["t"]))
        fixes.append(row)
    return timeline


def _insert(timeline: Timeline, fix: np.void) -> tuple[np.void | None, np.void | None]:
    """Put a late fix in its place; returns the fixes before and after it. After it there always is one."""
    times, fixes = timeline
    at = bisect_left(times, int(fix["t"]))
    around = (fixes[at - 1] if at else None, fixes[at])
    times.insert(at, int(fix["t"]))
    fixes.insert(at, fix)
    return around


def _rows(found: list[np.void | None]) -> tuple[Fixes, Flags]:
    rows = np.zeros(len(found), FIX)
    for i, row in enumerate(found):
        if row is not None:
            rows[i] = row
    return rows, np.array([row is not None for row in found], dtype=bool)


def _redo(timeline: dict[int, Timeline], rules: Rules) -> tuple[Fixes, Fixes]:
    """Derive anew every fix of the trucks with late ones: speeds and phases behind a late fix may have changed.

    Returns the fixes, and the fix before each of them.
    """
    rows, _ = _rows([row for _, fixes in timeline.values() for row in fixes])
    first = starts(rows["truck"])
    before = np.roll(rows, 1)
    before["t"][first] = NEVER
    derived = segments(before, ~first, rows, rules)
    # Nothing comes before the first one of these any more, so what is known of it stays.
    known_first = first & (rows["since"] != 0)
    rows["speed_kmh"] = np.where(known_first, rows["speed_kmh"], derived.speed_kmh)
    began = np.where(known_first, rows["since"], rows["t"])
    rows["since"] = runs(phases(rows["speed_kmh"], rules), rows["t"], first, began)
    return rows, before


def _count(shard: Shard, records: int, judged: Judged, duplicates: int) -> None:
    totals = shard.totals
    reasons = Counter(judged.rejected.values())
    totals.input += records
    totals.judged += len(judged.fixes)
    totals.duplicate += duplicates
    totals.late += reasons.pop(Reason.LATE, 0)
    totals.rejected = dict(Counter(totals.rejected) + reasons)
