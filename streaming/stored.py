"""How a shard is kept: a base, and one small piece per batch with what it changed."""

from collections.abc import Iterable

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from schemas.models import Fence
from streaming.engine import Batch, shared_book
from streaming.fencebook import Edition
from streaming.rules import Rules
from streaming.shard import Feed, Shard, Totals
from streaming.timeline import FIX
from streaming.told import SILENCE, Entry
from streaming.watch import PAIR, WATCH

VERSION = 2


class Table(msgspec.Struct, array_like=True, frozen=True):
    """A table of records, column by column."""

    rows: int = 0
    columns: bytes = b""


class Memory(msgspec.Struct, array_like=True, frozen=True):
    """The detectors' memory of the trucks with these numbers, replacing what was known of them."""

    trucks: Table = Table()
    watch: Table = Table()
    pairs: Table = Table()


class Piece(msgspec.Struct, array_like=True):
    """The stored form. Version 1 ended with the totals: its trucks are known by their fixes, and seen anew."""

    version: int
    truck_ids: list[str]
    rows: int
    columns: bytes
    totals: Totals
    now: Memory = Memory()
    settled: Memory = Memory()
    settled_t: Table = Table()
    entries: list[Entry] = []
    editions: list[tuple[bytes, int]] = []
    feed: Feed = msgspec.field(default_factory=Feed)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Piece).decode
NUMBER = np.dtype([("number", np.int64)])


def pack_base(shard: Shard) -> bytes:
    """All that is known."""
    everyone = np.arange(len(shard.truck_ids))
    fixes = _table(shard.base)
    return _encode(
        Piece(
            VERSION,
            shard.truck_ids,
            fixes.rows,
            fixes.columns,
            shard.totals,
            _memory(everyone, *shard.now.pick(everyone)),
            _memory(everyone, *shard.settled.pick(everyone)),
            _numbers(shard.settled_t),
            list(shard.told.entries.values()),
            [_edition(each) for editions in shard.book.editions for each in editions],
            shard.feed,
        )
    )


def pack_piece(shard: Shard, batch: Batch, known: int) -> bytes:
    """What one batch changed; `known` trucks were there before it."""
    fixes = _table(batch.gained)
    return _encode(
        Piece(
            VERSION,
            shard.truck_ids[known:],
            fixes.rows,
            fixes.columns,
            shard.totals,
            _memory(batch.trucks, *shard.now.pick(batch.trucks)),
            entries=batch.entries,
            editions=[_edition(edition) for edition in batch.editions],
            feed=shard.feed,
        )
    )


def unpack(base: bytes, pieces: Iterable[bytes], rules: Rules) -> Shard:
    """The shard that these describe, in the order in which they were written."""
    shard = Shard(rules)
    piece = _read(base)
    shard.numbers_of(piece.truck_ids)
    shard.base = _array(Table(piece.rows, piece.columns), FIX)
    shard.take_newest(shard.base)
    _remember(shard, piece)
    if piece.settled.trucks.rows:
        shard.settled.put(*_memory_arrays(piece.settled))
        shard.settled_t = _array(piece.settled_t, NUMBER)["number"].copy()
    for stored in pieces:
        catch_up(shard, stored)
    return shard


def catch_up(shard: Shard, stored: bytes) -> None:
    """Take in a piece that another process wrote."""
    piece = _read(stored)
    shard.numbers_of(piece.truck_ids)
    shard.add(_array(Table(piece.rows, piece.columns), FIX))
    _remember(shard, piece)


def _remember(shard: Shard, piece: Piece) -> None:
    shard.totals, shard.feed = piece.totals, piece.feed
    if piece.editions:
        editions = [Edition(Fence.model_validate_json(fence), from_t) for fence, from_t in piece.editions]
        shard.book = shared_book(shard.book, editions)
    if piece.now.trucks.rows:
        trucks, watch, pairs = _memory_arrays(piece.now)
        shard.now.put(trucks, watch, pairs)
        # Whatever may be due is looked at with the next tick.
        shard.due_t[trucks] = watch["t"]
    for entry in piece.entries:
        if entry.kind in SILENCE and entry.closing is not None:
            shard.told.drop(entry.name)
        else:
            shard.told.put(entry)


def _read(stored: bytes) -> Piece:
    piece = _decode(stored)
    if piece.version not in (1, VERSION):
        raise ValueError(f"state of version {piece.version}; this program reads versions 1 and {VERSION}")
    return piece


def _edition(edition: Edition) -> tuple[bytes, int]:
    return edition.fence.model_dump_json(exclude_defaults=True).encode(), edition.from_t


def _memory(trucks: NDArray[np.int64], watch: NDArray[np.void], pairs: NDArray[np.void]) -> Memory:
    return Memory(_numbers(trucks), _table(watch), _table(pairs))


def _memory_arrays(memory: Memory) -> tuple[NDArray[np.int64], NDArray[np.void], NDArray[np.void]]:
    trucks = _array(memory.trucks, NUMBER)["number"].copy()
    return trucks, _array(memory.watch, WATCH), _array(memory.pairs, PAIR)


def _numbers(numbers: NDArray[np.int64]) -> Table:
    return _table(np.ascontiguousarray(numbers, dtype=np.int64).view(NUMBER))


def _table(rows: NDArray[np.void]) -> Table:
    if not len(rows):
        return Table()
    columns = b"".join(np.ascontiguousarray(rows[name]).tobytes() for name in rows.dtype.names or ())
    return Table(len(rows), zstandard.compress(columns, 3))


def _array(table: Table, kind: np.dtype[np.void]) -> NDArray[np.void]:
    rows = np.empty(table.rows, kind)
    columns = zstandard.decompress(table.columns) if table.rows else b""
    at = 0
    for name in kind.names or ():
        rows[name] = np.frombuffer(columns, kind[name], table.rows, at)
        at += table.rows * kind[name].itemsize
    return rows
