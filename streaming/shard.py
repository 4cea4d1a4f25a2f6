"""What is known of a shard's trucks: the newest fix of each, and the recent past that late fixes need.

The past is a sorted base and small pieces, one per batch, so that a batch costs what it brings and not what the fleet
has. A piece may repeat a fix of the base with corrected values: the last one counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
import numpy as np
import zstandard

from schemas.models import Reason
from streaming.timeline import FIX, Fixes, Indices, is_last

VERSION = 1
NEVER = np.iinfo(np.int64).min // 2
FOLD_ROWS = 5_000


class Totals(msgspec.Struct):
    """What became of every record of the shard, since the beginning."""

    input: int = 0
    judged: int = 0
    duplicate: int = 0
    late: int = 0
    rejected: dict[Reason, int] = {}


class Piece(msgspec.Struct, array_like=True):
    """The stored form: trucks first seen in it, its fixes column by column, and the totals so far."""

    version: int
    truck_ids: list[str]
    rows: int
    columns: bytes
    totals: Totals


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Piece).decode


@dataclass
class Shard:
    """The state of one shard, decoded."""

    truck_ids: list[str] = field(default_factory=list)
    number: dict[str, int] = field(default_factory=dict)
    base: Fixes = field(default_factory=lambda: np.empty(0, FIX))
    pieces: list[Fixes] = field(default_factory=list)
    newest: Fixes = field(default_factory=lambda: np.empty(0, FIX))
    totals: Totals = field(default_factory=Totals)

    def numbers_of(self, truck_ids: list[str]) -> Indices:
        """The number of each truck within the shard; a new truck gets the next one."""
        number = self.number
        for truck_id in truck_ids:
            if truck_id not in number:
                number[truck_id] = len(self.truck_ids)
                self.truck_ids.append(truck_id)
        unknown = np.zeros(len(self.truck_ids) - len(self.newest), FIX)
        unknown["t"] = NEVER
        self.newest = np.concatenate([self.newest, unknown])
        return np.array([number[truck_id] for truck_id in truck_ids], dtype=np.int64)

    def past_of(self, trucks: Indices) -> Fixes:
        """The recent fixes of these trucks, sorted by truck and time."""
        wanted = np.zeros(len(self.truck_ids), dtype=bool)
        wanted[trucks] = True
        return _last_of_each(np.concatenate([rows[wanted[rows["truck"]]] for rows in (self.base, *self.pieces)]))

    def add(self, fixes: Fixes) -> None:
        """Take in new and corrected fixes."""
        self.pieces.append(fixes)
        order = np.lexsort((fixes["t"], fixes["truck"]))
        last = order[is_last(fixes["truck"][order])]
        latest = fixes[last]
        newer = latest["t"] >= self.newest["t"][latest["truck"]]
        self.newest[latest["truck"][newer]] = latest[newer]

    @property
    def wants_folding(self) -> bool:
        return sum(map(len, self.pieces)) > max(FOLD_ROWS, len(self.base))

    def fold(self, horizon_ms: int) -> None:
        """Make one sorted base of all pieces, and forget what no late fix can reach any more."""
        past = _last_of_each(np.concatenate([self.base, *self.pieces]))
        reachable = past["t"] >= self.newest["t"][past["truck"]] - horizon_ms
        keep = reachable.copy()
        # The fix right before the horizon stays too: a late fix may start its segment there.
        keep[:-1] |= reachable[1:] & (past["truck"][1:] == past["truck"][:-1])
        self.base, self.pieces = past[keep], []


def pack(truck_ids: list[str], fixes: Fixes, totals: Totals) -> bytes:
    columns = b"".join(np.ascontiguousarray(fixes[name]).tobytes() for name in FIX.names or ())
    return _encode(Piece(VERSION, truck_ids, len(fixes), zstandard.compress(columns, 3), totals))


def unpack(pieces: Iterable[bytes]) -> Shard:
    """The shard that these pieces describe, in the order in which they were written."""
    shard = Shard()
    for i, stored in enumerate(pieces):
        piece = _decode(stored)
        if piece.version != VERSION:
            raise ValueError(f"state of version {piece.version}; this program reads version {VERSION}")
        shard.numbers_of(piece.truck_ids)
        fixes = _table(zstandard.decompress(piece.columns), piece.rows)
        shard.add(fixes)
        if i == 0:
            shard.base, shard.pieces = fixes, []
        shard.totals = piece.totals
    return shard


def _table(columns: bytes, rows: int) -> Fixes:
    fixes = np.empty(rows, FIX)
    at = 0
    for name in FIX.names or ():
        kind = FIX[name]
        fixes[name] = np.frombuffer(columns, kind, rows, at)
        at += rows * kind.itemsize
    return fixes


def _last_of_each(fixes: Fixes) -> Fixes:
    """Sorted by truck and time; of several rows of one fix the one that was added last."""
    fixes = fixes[np.lexsort((fixes["t"], fixes["truck"]))]
    same = np.zeros(len(fixes), dtype=bool)
    same[:-1] = (fixes["truck"][1:] == fixes["truck"][:-1]) & (fixes["t"][1:] == fixes["t"][:-1])
    return fixes[~same]
