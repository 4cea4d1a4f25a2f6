"""One batch of a shard, from records to rows: fences first, then fixes, then the clock. Pure but for the shard."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

import numpy as np
import pandas as pd

from schemas.fences import FenceError, read_fence
from schemas.models import Fence, Tick
from streaming.alerts import Outcome, Teller, next_due
from streaming.decode import decode
from streaming.detect import Found, detect
from streaming.fencebook import Edition, FenceBook
from streaming.shard import Shard
from streaming.silence import clear_silent, hear
from streaming.timeline import FIX, Fixes, Indices, starts
from streaming.told import Entry
from streaming.verdict import Judged, judge
from streaming.watch import NEVER

NO_TRUCKS = np.zeros(0, dtype=np.int64)
# Books of this process: shards that have read the same changes share one, with its index.
_books: dict[bytes, FenceBook] = {}
BOOKS_KEPT = 4


@dataclass
class Batch:
    """What one batch brought: for the topics, and (`gained`, `trucks`, `editions`, `entries`) for the stored state."""

    judged: Judged | None = None
    gained: Fixes = field(default_factory=lambda: np.empty(0, FIX))
    trucks: Indices = field(default_factory=lambda: NO_TRUCKS)
    shown: Indices = field(default_factory=lambda: NO_TRUCKS)
    editions: list[Edition] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    bad_fences: list[tuple[int, str]] = field(default_factory=list)

    @property
    def changes_state(self) -> bool:
        """Whether more than the clock has moved on."""
        return self.judged is not None or bool(len(self.trucks) or self.editions or self.entries)


def run_batch(shard: Shard, fences: pd.DataFrame, fixes: pd.DataFrame, ticks: Iterable[Tick], *, first: bool) -> Batch:
    """`first`: this shard speaks for the whole fleet where only one may."""
    batch = Batch()
    again = _take_fences(shard, fences, batch)
    late = _take_fixes(shard, fixes, batch)
    news = [_tick(shard, tick, first=first) for tick in ticks]
    # What a fence changes for fixes that were there before it is shown with it.
    batch.shown = np.union1d(batch.shown, again)
    _look(shard, np.union1d(again, late), batch)
    batch.entries += chain.from_iterable(entries for entries, _ in news)
    silent = [trucks for _, trucks in news]
    batch.shown = np.unique(np.concatenate([batch.shown, *silent]))
    return batch


def _tick(shard: Shard, tick: Tick, *, first: bool) -> tuple[list[Entry], Indices]:
    clock_t, heard_t = (round(time.timestamp() * 1000) for time in (tick.clock_time, tick.heard_time))
    return hear(shard, clock_t, heard_t, speaks_for_fleet=first)


def _take_fences(shard: Shard, records: pd.DataFrame, batch: Batch) -> Indices:
    """Take in new versions; returns the trucks that must be looked at again because of them."""
    # What is settled stays: a version that comes later than the horizon counts from there.
    floor_t = int(shard.settled.watch["t"].max(initial=NEVER)) + 1
    newest: dict[str, Fence | None] = {}
    columns = (records["key"], records["value"], records["received_ms"])
    for i, (key, value, received_t) in enumerate(zip(*columns, strict=True)):
        fence_id = bytes(key or b"").decode(errors="replace")
        known = newest.get(fence_id) or shard.book.newest(fence_id)
        try:
            fence = _read(fence_id, known, value, int(received_t))
        except FenceError as error:
            batch.bad_fences.append((i, str(error)))
            continue
        if fence is not None:
            newest[fence_id] = fence
            batch.editions.append(Edition(fence, max(round(fence.effective_from.timestamp() * 1000), floor_t)))
    if not batch.editions:
        return NO_TRUCKS
    shard.book = shared_book(shard.book, batch.editions)
    return _concerned(shard, batch.editions)


def _read(fence_id: str, known: Fence | None, value: bytes | None, received_t: int) -> Fence | None:
    """The fence of a record, None where it says nothing new. A tombstone is a deletion at Kafka's record time."""
    if value:
        fence = read_fence(bytes(value))
        if fence_id != fence.fence_id:
            raise FenceError("key", "the record's key is not the fence_id in its value")
        return fence if known is None or fence.version > known.version else None
    if known is None or known.deleted:
        return None
    when = datetime.fromtimestamp(received_t / 1000, UTC)
    return known.model_copy(update={"version": known.version + 1, "effective_from": when, "deleted": True})


def shared_book(book: FenceBook, editions: list[Edition]) -> FenceBook:
    """The book after these changes, made once in a process."""
    digest = book.digest_after(editions)
    if digest not in _books:
        _books[digest] = book.with_editions(editions)
    while len(_books) > BOOKS_KEPT:
        del _books[next(iter(_books))]
    return _books[digest]


def _concerned(shard: Shard, editions: list[Edition]) -> Indices:
    """Trucks with fixes that a change is older than; those inside a changed fence are due at the next tick."""
    earliest = min(edition.from_t for edition in editions)
    numbers = [shard.book.numbers[edition.fence.fence_id] for edition in editions]
    known_t = shard.now.watch["t"]
    soon = (known_t != NEVER) & (known_t < max(edition.from_t for edition in editions))
    shard.due_t[soon] = np.minimum(shard.due_t[soon], earliest)
    inside = shard.now.pairs["truck"][np.isin(shard.now.pairs["fence"], numbers)]
    shard.due_t[inside] = NEVER
    return np.flatnonzero(known_t >= earliest)


def _take_fixes(shard: Shard, records: pd.DataFrame, batch: Batch) -> Indices:
    """Judge the records; returns the trucks whose past has changed."""
    if not len(records):
        return NO_TRUCKS
    decoded = decode(records["key"], records["value"], records["received_ms"].to_numpy(), shard.rules)
    batch.judged, batch.gained = judge(shard, decoded, len(records), shard.rules)
    batch.entries += clear_silent(shard, batch.judged.fixes)
    batch.shown = np.sort(batch.judged.newest["truck"]).astype(np.int64)
    return np.unique(batch.judged.fixes["truck"][batch.judged.late]).astype(np.int64)


def _look(shard: Shard, again: Indices, batch: Batch) -> None:
    """Run the detectors on the new fixes, on the recent past of `again`, then up to the clock where time counts."""
    judged = batch.judged
    new = judged.fixes[~judged.late] if judged is not None else np.empty(0, FIX)
    trucks = np.union1d(again, new["truck"][starts(new["truck"])]).astype(np.int64)
    since = np.where(np.isin(trucks, again), shard.settled.watch["t"][trucks], shard.now.watch["t"][trucks])
    outcomes: Iterator[Outcome] = iter(())
    batch.trucks = trucks
    if len(trucks):
        found = _detect_new(shard, trucks, again, new)
        outcomes = chain(outcomes, _tell(shard, trucks, found, since, found.watch["t"]))
        shard.due_t[trucks] = next_due(found, found.watch["t"], shard.book, shard.rules)
        shard.totals.flaps += int(found.watch["flaps"].sum() - shard.now.watch["flaps"][trucks].sum())
        shard.now.put(trucks, found.watch, found.pairs)
        for truck in np.intersect1d(trucks, list(shard.foreseen)).tolist():
            del shard.foreseen[truck]
    due = np.flatnonzero(shard.due_t <= shard.feed.clock_t)
    if len(due):
        outcomes = chain(outcomes, _foresee(shard, due))
        alone = due[~np.isin(due, trucks)]
        trucks, since = np.concatenate([trucks, alone]), np.concatenate([since, shard.now.watch["t"][alone]])
    batch.entries += shard.told.correct(outcomes, trucks, since)
    batch.shown = np.union1d(batch.shown, due)


def _detect_new(shard: Shard, trucks: Indices, again: Indices, new: Fixes) -> Found:
    place = np.full(len(shard.truck_ids), -1)
    place[trucks] = np.arange(len(trucks))
    is_again = np.zeros(len(shard.truck_ids), dtype=bool)
    is_again[again] = True
    past = shard.past_of(again)
    fixes = np.concatenate([past[past["t"] > shard.settled_t[past["truck"]]], new[~is_again[new["truck"]]]])
    fixes["truck"] = place[fixes["truck"]]
    if len(past):
        fixes = fixes[np.lexsort((fixes["t"], fixes["truck"]))]
    watch, pairs = _joined(shard, trucks, is_again[trucks])
    return detect(watch, pairs, fixes, watch["t"], shard.book, shard.rules)


def _joined(shard: Shard, trucks: Indices, again: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each truck as it is now, or as it was settled if it is looked at again."""
    watch, pairs = shard.now.pick(trucks)
    if again.any():
        settled_watch, settled_pairs = shard.settled.pick(trucks)
        watch[again] = settled_watch[again]
        pairs = np.concatenate([pairs[~again[pairs["truck"]]], settled_pairs[again[settled_pairs["truck"]]]])
    return watch, pairs


def _tell(shard: Shard, trucks: Indices, found: Found, since: Indices, until: Indices) -> Iterator[Outcome]:
    ids = [shard.truck_ids[truck] for truck in trucks.tolist()]
    numbers = trucks.tolist()
    for outcome in Teller(found, ids, since, until, shard.book, shard.rules).outcomes():
        yield outcome.of_truck(numbers[outcome.truck])


def _foresee(shard: Shard, due: Indices) -> Iterator[Outcome]:
    """What the clock alone brings to these trucks. It is told, but not remembered: an older fix may still come."""
    watch, pairs = shard.now.pick(due)
    until = np.full(len(due), shard.feed.clock_t)
    found = detect(watch, pairs, np.empty(0, FIX), until, shard.book, shard.rules)
    shard.due_t[due] = next_due(found, until, shard.book, shard.rules)
    inside = found.pairs[found.pairs["inside"]]
    for i, truck in enumerate(due.tolist()):
        shard.foreseen[truck] = inside["fence"][inside["truck"] == i].tolist()
    yield from _tell(shard, due, found, watch["t"], until)


def settle(shard: Shard) -> None:
    """Fold the past, and move the settled memory up to where no late fix reaches any more."""
    gone = shard.fold()
    gone = gone[gone["t"] > shard.settled_t[gone["truck"]]]
    trucks = np.unique(gone["truck"]).astype(np.int64)
    if len(trucks):
        place = np.full(len(shard.truck_ids), -1)
        place[trucks] = np.arange(len(trucks))
        np.maximum.at(shard.settled_t, gone["truck"], gone["t"])
        gone["truck"] = place[gone["truck"]]
        watch, pairs = shard.settled.pick(trucks)
        found = detect(watch, pairs, gone, watch["t"], shard.book, shard.rules)
        shard.settled.put(trucks, found.watch, found.pairs)
    shard.told.forget(shard.settled.watch["t"])


def fences_of(shard: Shard, trucks: Indices) -> list[list[str]]:
    """The ids of the fences that each truck is in."""
    place = np.full(len(shard.truck_ids), -1)
    place[trucks] = np.arange(len(trucks))
    pairs = shard.now.pairs[shard.now.pairs["inside"] & (place[shard.now.pairs["truck"]] >= 0)]
    inside: dict[int, list[int]] = {}
    for truck, fence in zip(pairs["truck"].tolist(), pairs["fence"].tolist(), strict=True):
        inside.setdefault(truck, []).append(fence)
    found: list[list[str]] = [[]] * len(trucks)
    for truck, fences in (inside | shard.foreseen).items():
        if place[truck] >= 0:
            found[place[truck]] = sorted(shard.book.fence_ids[fence] for fence in fences)
    return found
