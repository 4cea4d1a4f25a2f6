"""What is known of a shard's trucks, in memory: see `stored` for how it is kept.

The past is a sorted base and small pieces, one per batch, so that a batch costs what it brings and not what the fleet
has. A piece may repeat a fix of the base with corrected values: the last one counts.
"""

from dataclasses import dataclass, field

import msgspec
import numpy as np

from schemas.models import Reason
from streaming.fencebook import FenceBook
from streaming.places import FOREVER
from streaming.rules import Rules
from streaming.timeline import FIX, Fixes, Indices, is_last, starts
from streaming.told import Told
from streaming.watch import NEVER, PAIR, Pairs, Watches, unknown

FOLD_ROWS, FOLD_PIECES = 5_000, 500


class Totals(msgspec.Struct):
    """What became of every record of the shard, since the beginning."""

    input: int = 0
    judged: int = 0
    duplicate: int = 0
    late: int = 0
    rejected: dict[Reason, int] = {}
    flaps: int = 0


class Feed(msgspec.Struct, array_like=True):
    """The stream's clock, the newest record of any truck, and since when records come again after a break."""

    clock_t: int = NEVER
    heard_t: int = NEVER
    resumed_t: int = NEVER


@dataclass
class Watched:
    """The detectors' memory of every truck of the shard, at one moment of each truck's own time."""

    watch: Watches = field(default_factory=lambda: unknown(0))
    pairs: Pairs = field(default_factory=lambda: np.zeros(0, PAIR))

    def grow(self, trucks: int) -> None:
        self.watch = np.concatenate([self.watch, unknown(trucks - len(self.watch))])

    def pick(self, trucks: Indices) -> tuple[Watches, Pairs]:
        """The rows of some trucks (sorted), whose pairs then count trucks from 0 in that order."""
        place = np.full(len(self.watch), -1)
        place[trucks] = np.arange(len(trucks))
        pairs = self.pairs[place[self.pairs["truck"]] >= 0].copy()
        pairs["truck"] = place[pairs["truck"]]
        return self.watch[trucks], pairs

    def put(self, trucks: Indices, watch: Watches, pairs: Pairs) -> None:
        """Replace the rows of some trucks."""
        self.watch[trucks] = watch
        replaced = np.zeros(len(self.watch), dtype=bool)
        replaced[trucks] = True
        pairs = pairs.copy()
        pairs["truck"] = trucks[pairs["truck"]]
        self.pairs = np.concatenate([self.pairs[~replaced[self.pairs["truck"]]], pairs])


@dataclass
class Shard:
    """The state of one shard. `now` is as of each truck's newest fix, `settled` as of `settled_t`, which no late fix
    reaches; `due_t` is when something happens to a truck without a fix."""

    rules: Rules
    truck_ids: list[str] = field(default_factory=list)
    number: dict[str, int] = field(default_factory=dict)
    base: Fixes = field(default_factory=lambda: np.empty(0, FIX))
    pieces: list[Fixes] = field(default_factory=list)
    newest: Fixes = field(default_factory=lambda: np.empty(0, FIX))
    heard_t: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    due_t: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    settled_t: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    now: Watched = field(default_factory=Watched)
    settled: Watched = field(default_factory=Watched)
    told: Told = field(default_factory=Told)
    feed: Feed = field(default_factory=Feed)
    totals: Totals = field(default_factory=Totals)
    foreseen: dict[int, list[int]] = field(default_factory=dict)
    book: FenceBook = field(init=False)

    def __post_init__(self) -> None:
        self.book = FenceBook(self.rules)

    def numbers_of(self, truck_ids: list[str]) -> Indices:
        """The number of each truck within the shard; a new truck gets the next one."""
        number = self.number
        for truck_id in truck_ids:
            if truck_id not in number:
                number[truck_id] = len(self.truck_ids)
                self.truck_ids.append(truck_id)
        new = len(self.truck_ids) - len(self.newest)
        if new:
            self._grow(new)
        return np.array([number[truck_id] for truck_id in truck_ids], dtype=np.int64)

    def _grow(self, new: int) -> None:
        fresh = np.zeros(new, FIX)
        fresh["t"] = NEVER
        self.newest = np.concatenate([self.newest, fresh])
        self.heard_t = np.concatenate([self.heard_t, np.full(new, NEVER)])
        self.due_t = np.concatenate([self.due_t, np.full(new, FOREVER)])
        self.settled_t = np.concatenate([self.settled_t, np.full(new, NEVER)])
        self.now.grow(len(self.truck_ids))
        self.settled.grow(len(self.truck_ids))

    def past_of(self, trucks: Indices) -> Fixes:
        """The recent fixes of these trucks, sorted by truck and time."""
        if not len(trucks):
            return np.empty(0, FIX)
        wanted = np.zeros(len(self.truck_ids), dtype=bool)
        wanted[trucks] = True
        return _last_of_each(np.concatenate([rows[wanted[rows["truck"]]] for rows in (self.base, *self.pieces)]))

    def add(self, fixes: Fixes) -> None:
        """Take in new and corrected fixes."""
        self.pieces.append(fixes)
        self.take_newest(fixes)

    def take_newest(self, fixes: Fixes) -> None:
        if not len(fixes):
            return
        order = np.lexsort((fixes["t"], fixes["truck"]))
        truck = fixes["truck"][order]
        latest = fixes[order[is_last(truck)]]
        newer = latest["t"] >= self.newest["t"][latest["truck"]]
        self.newest[latest["truck"][newer]] = latest[newer]
        heard_t = np.maximum.reduceat(fixes["received"][order], np.flatnonzero(starts(truck)))
        self.heard_t[latest["truck"]] = np.maximum(self.heard_t[latest["truck"]], heard_t)

    @property
    def wants_folding(self) -> bool:
        rows = sum(map(len, self.pieces))
        return rows > max(FOLD_ROWS, len(self.base)) or len(self.pieces) > FOLD_PIECES

    def fold(self) -> Fixes:
        """Make one sorted base of all pieces; returns what no late fix can reach any more, and is forgotten."""
        past = _last_of_each(np.concatenate([self.base, *self.pieces]))
        reachable = past["t"] >= self.newest["t"][past["truck"]] - self.rules.horizon_ms
        keep = reachable.copy()
        # The fix right before the horizon stays too: a late fix may start its segment there.
        keep[:-1] |= reachable[1:] & (past["truck"][1:] == past["truck"][:-1])
        self.base, self.pieces = past[keep], []
        gone: Fixes = past[~reachable]
        return gone


def _last_of_each(fixes: Fixes) -> Fixes:
    """Sorted by truck and time; of several rows of one fix the one that was added last."""
    fixes = fixes[np.lexsort((fixes["t"], fixes["truck"]))]
    same = np.zeros(len(fixes), dtype=bool)
    same[:-1] = (fixes["truck"][1:] == fixes["truck"][:-1]) & (fixes["t"][1:] == fixes["t"][:-1])
    found: Fixes = fixes[~same]
    return found
