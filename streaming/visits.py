"""Which fences a truck is in: one row for each pair of truck and fence and each moment that could change it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.models import Cause
from streaming.fencebook import FenceBook
from streaming.places import FOREVER, Places
from streaming.timeline import Flags, Indices, is_last, starts
from streaming.watch import NEVER, PAIR, Opened, Pairs, Spot, Stay, Watches

# What a moment says of a pair. KEEP: outside, but not far enough to leave. FORCED_*: no confirmation is needed.
OUT, KEEP, IN, FORCED_OUT, FORCED_KEEP, FORCED_IN = range(6)
SPOT = ("t", "lat", "lon")


@dataclass(frozen=True)
class Moments:
    """Rows by (pair, t), forced ones first. `at` is the row of the fix whose position counts, -1: the watch's."""

    pair: Indices
    t: Indices
    says: NDArray[np.int8]
    at: Indices
    version: Indices
    is_fix: Flags


@dataclass(frozen=True)
class Hits:
    """Pairs of fix (row) and fence that it is in."""

    row: Indices
    fence: Indices


def visit_fences(  # noqa: PLR0913 (each is given by name)
    *, watch: Watches, pairs: Pairs, rows: dict[str, np.ndarray], until: Indices, hits: Hits, book: FenceBook
) -> tuple[Pairs, list[Stay], "Timeline"]:
    """The pairs afterwards, the visits that were opened, closed or are still open, and the timeline of each pair."""
    changed = trucks_around_changes(watch, rows, until, book.places)
    timeline = Timeline(watch, pairs, rows, hits, changed, book)
    return timeline.pairs_afterwards(), timeline.stays(), timeline


def trucks_around_changes(
    watch: Watches, rows: dict[str, np.ndarray], until: Indices, places: Places
) -> tuple[Indices, Indices]:
    """(who, version) for each truck that was inside a version when that came into force, by its last fix before."""
    known = np.flatnonzero(watch["t"] != NEVER)
    earliest_t = min(watch["t"][known].min(initial=FOREVER), rows["t"].min(initial=FOREVER))
    if earliest_t >= places.last_change_t:
        # As in nearly every batch: no fence has changed since these trucks were seen last.
        return known[:0], known[:0]
    who = np.concatenate([known, rows["who"]])
    at = np.concatenate([np.full(len(known), -1), np.arange(len(rows["who"]))])
    t = np.concatenate([watch["t"][known], rows["t"]])
    order = np.lexsort((t, who))
    who, at, t = who[order], at[order], t[order]
    next_t = np.where(is_last(who), until[who], np.roll(t, -1))
    before_change = t < places.last_change_t
    who, at, t, next_t = who[before_change], at[before_change], t[before_change], next_t[before_change]
    lat = np.where(at < 0, watch["lat"][who], _take(rows["lat"], at))
    lon = np.where(at < 0, watch["lon"][who], _take(rows["lon"], at))
    row, part = places.around(lon, lat, lon, lat)
    version = places.version_of(part)
    table = places.versions[version]
    counts = table["moved"] & (table["from_t"] > t[row]) & (table["from_t"] <= next_t[row])
    counts &= table["from_t"] < table["until_t"]
    row, part, version = row[counts], part[counts], version[counts]
    inside = places.holds(part, lat[row], lon[row])
    return who[row[inside]], version[inside]


def _take(column: np.ndarray, at: Indices) -> np.ndarray:
    return column[np.maximum(at, 0)] if len(column) else np.zeros(len(at), column.dtype)


class Timeline:
    """Every pair that matters in this batch, moment by moment."""

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        watch: Watches,
        pairs: Pairs,
        rows: dict[str, np.ndarray],
        hits: Hits,
        changed: tuple[Indices, Indices],
        book: FenceBook,
    ) -> None:
        self.watch, self.rows, self.book, self.places = watch, rows, book, book.places
        self.width = max(len(book.fence_ids), 1)
        changed_keys = changed[0] * self.width + self.places.versions["fence"][changed[1]]
        hit_keys = rows["who"][hits.row] * self.width + hits.fence
        pair_keys = pairs["truck"].astype(np.int64) * self.width + pairs["fence"]
        self.keys: Indices = np.unique(np.concatenate([pair_keys, hit_keys, changed_keys]))
        self.who, self.fence = self.keys // self.width, self.keys % self.width
        self.start = self._start(pairs, pair_keys)
        self.moments = self._moments(hits, changed)
        self._follow()

    def _start(self, pairs: Pairs, pair_keys: Indices) -> Pairs:
        start = np.zeros(len(self.keys), PAIR)
        for name in ("run_t", "prev_t", "enter_t", "last_t"):
            start[name] = NEVER
        start[np.searchsorted(self.keys, pair_keys)] = pairs
        start["truck"], start["fence"] = self.who, self.fence
        return start

    def _moments(self, hits: Hits, changed: tuple[Indices, Indices]) -> Moments:
        who = self.rows["who"]
        first = np.searchsorted(who, self.who)
        count = np.searchsorted(who, self.who, side="right") - first
        pair = np.repeat(np.arange(len(self.keys)), count)
        at = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        t = self.rows["t"][at]
        says = np.full(len(pair), OUT, dtype=np.int8)
        version = self.places.in_force(self.fence[pair], t)
        hit_at = self._find(pair, at, hits)
        says[hit_at] = IN
        self._soften(says, at, version)
        fresh = (self.watch["t"][self.who[pair]] == NEVER) & (at == np.repeat(first, count))
        says[fresh & (says == IN)] = FORCED_IN
        fixes = Moments(pair, t, says, at, version, np.ones(len(pair), bool))
        changes = self._changes(changed)
        return _merged(fixes, changes) if changes is not None else fixes

    def _find(self, pair: Indices, at: Indices, hits: Hits) -> Indices:
        """Where in the rows of all pairs each hit stands."""
        keys = pair * len(self.rows["who"]) + at
        wanted_pair = np.searchsorted(self.keys, self.rows["who"][hits.row] * self.width + hits.fence)
        return np.searchsorted(keys, wanted_pair * len(self.rows["who"]) + hits.row)

    def _soften(self, says: NDArray[np.int8], at: Indices, version: Indices) -> None:
        """Outside, but within the accuracy and the buffer, is no exit."""
        out = np.flatnonzero((says == OUT) & (version >= 0))
        room_m = np.nan_to_num(self.rows["accuracy_m"][at[out]]) + self.places.versions["buffer_m"][version[out]]
        lat, lon = self.rows["lat"][at[out]], self.rows["lon"][at[out]]
        says[out[~self.places.is_clear(version[out], lat, lon, room_m)]] = KEEP

    def _changes(self, changed: tuple[Indices, Indices]) -> Moments | None:
        """Each change of ground of a pair's fence while its truck was known."""
        who = self.rows["who"]
        first = np.searchsorted(who, self.who)
        has_fix = first < np.searchsorted(who, self.who, side="right")
        first_t = np.where(has_fix, _take(self.rows["t"], np.minimum(first, len(who) - 1)), FOREVER)
        known_t = self.watch["t"][self.who]
        since = np.where(known_t == NEVER, first_t, known_t)
        inside = set(zip(*(column.tolist() for column in changed), strict=True))
        found: list[tuple[int, int, int, int, int]] = []
        for pair in np.flatnonzero(self.places.changed_t[self.fence] > since).tolist():
            found += self._changes_of(pair, int(since[pair]), inside)
        if not found:
            return None
        number, t, says, at, version = (np.array(column, dtype=np.int64) for column in zip(*found, strict=True))
        return Moments(number, t, says.astype(np.int8), at, version, np.zeros(len(number), bool))

    def _changes_of(self, pair: int, since: int, inside: set[tuple[int, int]]) -> list[tuple[int, int, int, int, int]]:
        who, found = int(self.who[pair]), []
        first, last = np.searchsorted(self.rows["who"], [who, who + 1])
        for version in self.places.rows_of(int(self.fence[pair])):
            row = self.places.versions[version]
            t = int(row["from_t"])
            if since < t <= int(self.rows["until"][who]) and self.places.is_change[version]:
                earlier = int(np.searchsorted(self.rows["t"][first:last], t))
                at = int(first) + earlier - 1 if earlier else -1
                found.append((pair, t, self._forced(who, version, at, inside), at, version))
        return found

    def _forced(self, who: int, version: int, at: int, inside: set[tuple[int, int]]) -> int:
        if self.places.versions["deleted"][version]:
            return FORCED_OUT
        if (who, version) in inside:
            return FORCED_IN
        source = self.watch[who] if at < 0 else {name: self.rows[name][at] for name in ("lat", "lon", "accuracy_m")}
        room_m = np.nan_to_num(source["accuracy_m"]) + self.places.versions["buffer_m"][version]
        args = (np.array([float(value)]) for value in (source["lat"], source["lon"], room_m))
        return FORCED_OUT if self.places.is_clear(np.array([version]), *args)[0] else FORCED_KEEP

    def _follow(self) -> None:
        """Count fixes that say the same in a row; a long enough run, or a forced moment, sets the state."""
        m, start = self.moments, self.start
        count = len(m.pair)
        self.first = starts(m.pair)
        begins = self.first.copy()
        begins[1:] |= (m.says[1:] != m.says[:-1]) | ~m.is_fix[1:] | ~m.is_fix[:-1]
        self.run_start: Indices = np.maximum.accumulate(np.where(begins, np.arange(count), 0))
        opposite = np.where(start["inside"][m.pair], OUT, IN)
        self.goes_on = (self.first & m.is_fix & (m.says == opposite) & (start["run_fixes"][m.pair] > 0))[self.run_start]
        carried = np.where(self.goes_on, start["run_fixes"][m.pair], 0)
        self.run_fixes: Indices = np.arange(count) - self.run_start + 1 + carried
        version = np.maximum(m.version, 0)
        enough_in = self.run_fixes >= self.places.versions["enter_fixes"][version]
        enough_out = self.run_fixes >= self.places.versions["exit_fixes"][version]
        wants_in = (m.says == FORCED_IN) | ((m.says == IN) & enough_in)
        wants_out = (m.says == FORCED_OUT) | ((m.says == OUT) & enough_out)
        decides = wants_in | wants_out | self.first
        decided = np.where(wants_in, True, np.where(wants_out, False, start["inside"][m.pair]))
        latest = np.maximum.accumulate(np.where(decides, np.arange(count), 0))
        self.inside: Flags = decided[latest]
        self.was_inside: Flags = np.where(self.first, start["inside"][m.pair], np.roll(self.inside, 1))
        self.flips: Indices = np.flatnonzero(self.inside != self.was_inside)
        in_at = np.where((m.says == IN) | (m.says == FORCED_IN), np.arange(count), -1)
        self.last_in: Indices = np.maximum.accumulate(in_at) if count else in_at

    def spot(self, moment: int) -> Spot:
        """The position that counts at a moment, at the time it was measured."""
        at = int(self.moments.at[moment])
        source = self.watch[self.who[self.moments.pair[moment]]] if at < 0 else None
        return Spot(*((self.rows[name][at] if source is None else source[name]).item() for name in SPOT))

    def _run_spots(self, moment: int) -> tuple[Spot, Spot]:
        """The first fix of the run that a moment ends, and the fix before it."""
        m, pair = self.moments, int(self.moments.pair[moment])
        if self.goes_on[moment]:
            row = self.start[pair]
            return _spot(row, "run"), _spot(row, "prev")
        first = int(self.run_start[moment])
        if not m.is_fix[first]:
            here = self.spot(first)
            return Spot(int(m.t[first]), here.lat, here.lon), here
        at = int(m.at[first])
        before = tuple(self.rows[f"prev_{name}"][at].item() for name in SPOT)
        return self.spot(first), Spot(*before)

    def _last_inside(self, moment: int) -> Spot:
        """The last fix inside before a moment that leads out."""
        at = int(self.last_in[moment])
        if at >= 0 and self.moments.pair[at] == self.moments.pair[moment]:
            return self.spot(at)
        return _spot(self.start[self.moments.pair[moment]], "last")

    def stays(self) -> list[Stay]:
        """Visits that flipped here: closed ones, and those that were opened and still are."""
        found: list[Stay] = []
        open_stay: dict[int, Stay] = {}
        for moment in self.flips.tolist():
            pair = int(self.moments.pair[moment])
            if self.inside[moment]:
                open_stay[pair] = self._opened(moment)
            else:
                found.append(self._closed(moment, open_stay.pop(pair) if pair in open_stay else self.carried(pair)))
        return [*found, *open_stay.values()]

    def carried(self, pair: int) -> Stay:
        row = self.start[pair]
        spots = [_spot(row, name) for name in ("enter", "prev", "last")]
        who, fence = int(self.who[pair]), int(self.fence[pair])
        return Stay(who, fence, spots[0], spots[1], Opened(int(row["cause"])), NEVER, spots[2])

    def _opened(self, moment: int) -> Stay:
        pair, t = int(self.moments.pair[moment]), int(self.moments.t[moment])
        enter, before = self._run_spots(moment)
        how = self._how(moment)
        return Stay(int(self.who[pair]), int(self.fence[pair]), enter, before, how, t, enter)

    def _how(self, moment: int) -> Opened:
        if self.moments.is_fix[moment]:
            return Opened.FIRST_FIX if self.moments.says[moment] == FORCED_IN else Opened.DRIVING
        replaced = self.book.version(int(self.fence[self.moments.pair[moment]]), int(self.moments.t[moment]) - 1)
        return Opened.FENCE_CREATED if replaced is None or replaced.fence.deleted else Opened.FENCE_EDITED

    def _closed(self, moment: int, stay: Stay) -> Stay:
        m = self.moments
        last = self._last_inside(moment)
        cause = None
        if m.is_fix[moment]:
            gone = self._run_spots(moment)[0]
        else:
            here = self.spot(moment)
            gone = Spot(int(m.t[moment]), here.lat, here.lon)
            deleted = self.places.versions["deleted"][m.version[moment]]
            cause = Cause.FENCE_DELETED if deleted else Cause.FENCE_EDITED
        values = {name: getattr(stay, name) for name in Stay.__slots__}
        return Stay(**{**values, "last": last, "exit": gone, "exit_cause": cause, "closed_at": int(m.t[moment])})

    def pairs_afterwards(self) -> Pairs:
        """What is remembered: pairs that are inside, or on their way in."""
        after = self.start.copy()
        ends = np.flatnonzero(is_last(self.moments.pair))
        pair = self.moments.pair[ends]
        inside = self.inside[ends]
        after["inside"][pair] = inside
        pending = (self.moments.says[ends] == np.where(inside, OUT, IN)) & self.moments.is_fix[ends]
        after["run_fixes"][pair] = np.where(pending, self.run_fixes[ends], 0)
        for moment in ends[pending].tolist():
            for name, spot in zip(("run", "prev"), self._run_spots(moment), strict=True):
                _put(after, int(self.moments.pair[moment]), name, spot)
        seen = self.last_in[ends]
        seen = np.where((seen >= 0) & (self.moments.pair[np.maximum(seen, 0)] == pair), seen, -1)
        self._store_last(after, pair[seen >= 0], seen[seen >= 0])
        latest_flip = {int(self.moments.pair[moment]): moment for moment in self.flips.tolist()}
        for number, moment in latest_flip.items():
            if self.inside[moment]:
                stay = self._opened(moment)
                after["cause"][number] = stay.opened
                _put(after, number, "enter", stay.enter)
        return after[after["inside"] | (after["run_fixes"] > 0)]

    def _store_last(self, after: Pairs, pair: Indices, moment: Indices) -> None:
        at, who = self.moments.at[moment], self.who[pair]
        for name in SPOT:
            after[f"last_{name}"][pair] = np.where(at < 0, self.watch[name][who], _take(self.rows[name], at))

    def is_involved(self, row: Indices, fence: Indices) -> Flags:
        """Whether the truck of a fix is inside the fence, or was at the fix before: then it does not cross it."""
        m = self.moments
        key = self.rows["who"][row] * self.width + fence
        pair = np.minimum(np.searchsorted(self.keys, key), max(len(self.keys) - 1, 0))
        involved = np.zeros(len(row), dtype=bool)
        for i in np.flatnonzero(self.keys[pair] == key if len(self.keys) else involved).tolist():
            first, last = np.searchsorted(m.pair, [pair[i], pair[i] + 1])
            moment = int(first) + int(np.flatnonzero(m.is_fix[first:last] & (m.at[first:last] == row[i]))[0])
            is_in = m.says[moment] in (IN, FORCED_IN) or self._said_in_before(moment)
            involved[i] = bool(self.was_inside[moment] or self.inside[moment] or is_in)
        return involved

    def _said_in_before(self, moment: int) -> bool:
        """Whether the fix before this moment was inside."""
        while not self.first[moment]:
            moment -= 1
            if self.moments.is_fix[moment]:
                return bool(self.moments.says[moment] in (IN, FORCED_IN))
        start = self.start[self.moments.pair[moment]]
        return bool(start["inside"]) or int(start["run_fixes"]) > 0

    def flaps(self) -> Indices:
        """Trucks (one row for each) with a run that turned back before it was confirmed."""
        m = self.moments
        count = len(m.pair)
        if not count:
            return np.zeros(0, dtype=np.int64)
        run_ends = np.ones(count, dtype=bool)
        run_ends[:-1] = self.run_start[1:] != self.run_start[:-1]
        followed = np.zeros(count, dtype=bool)
        followed[:-1] = ~self.first[1:] & m.is_fix[1:]
        opposite = np.where(self.inside, OUT, IN)
        flapped = run_ends & followed & m.is_fix & (m.says == opposite)
        dropped = self.first & m.is_fix & (self.start["run_fixes"][m.pair] > 0) & ~self.goes_on
        return np.concatenate([self.who[m.pair[flapped]], self.who[m.pair[dropped]]])


def _merged(fixes: Moments, changes: Moments) -> Moments:
    both = [np.concatenate([getattr(fixes, name), getattr(changes, name)]) for name in Moments.__dataclass_fields__]
    order = np.lexsort((both[5], both[1], both[0]))
    return Moments(*(column[order] for column in both))


def _spot(row: np.void, name: str) -> Spot:
    return Spot(*(row[f"{name}_{field}"].item() for field in SPOT))


def _put(pairs: Pairs, number: int, name: str, spot: Spot) -> None:
    for field in SPOT:
        pairs[f"{name}_{field}"][number] = getattr(spot, field)
