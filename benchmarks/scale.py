"""What a fix costs the engine (one process, no Spark) as fleet and fences grow, and how much state a truck has."""

import statistics
import time

import pandas as pd

from benchmarks.fleet import Fleet
from streaming.engine import run_batch, settle
from streaming.rows import rows_of
from streaming.rules import Rules
from streaming.shard import Shard
from streaming.stored import pack_base, pack_piece

FIXES = 100_000
SIZES = ((1_000, 1_000), (10_000, 1_000), (100_000, 1_000), (10_000, 100), (10_000, 10_000), (10_000, 100_000))
ROUNDS = 3


def table() -> list[str]:
    found = {size: cost_us(*size) for size in SIZES}
    lines = ["| trucks | fences | µs a fix | against 1,000 trucks, or 100 fences |", "| --- | --- | --- | --- |"]
    for (trucks, fences), cost in found.items():
        base = found[(1_000, 1_000)] if fences == 1_000 else found[(10_000, 100)]
        lines.append(f"| {trucks:,} | {fences:,} | {cost:.1f} | {cost / base:.2f} x |")
    kept, stored = state_bytes()
    lines += ["", f"State of a truck that reports every 20 s: {kept:.0f} bytes folded, {stored:.0f} bytes at the most."]
    return lines


def cost_us(trucks: int, fences: int) -> float:
    """Processor time of a fix, from record to rows and stored state; the median of some batches."""
    fleet = Fleet(trucks, fences)
    shard = Shard(Rules())
    no_records = frame([])
    run_batch(shard, frame([(*record, 0) for record in fleet.fence_records()]), no_records, [], first=True)
    costs = []
    for number in range(ROUNDS + 1):
        fixes = frame(list(fleet.fix_records(max(1, FIXES // trucks))))
        began = time.process_time()
        known = len(shard.truck_ids)
        batch = run_batch(shard, no_records, fixes, [], first=True)
        rows_of(0, shard, batch, no_records, fixes)
        pack_piece(shard, batch, known)
        if number:
            costs.append((time.process_time() - began) / len(fixes) * 1e6)
    return statistics.median(costs)


def state_bytes(trucks: int = 2_000, minutes: int = 30) -> tuple[float, float]:
    """Bytes of one truck's state, right after folding and right before."""
    fleet = Fleet(trucks, 1_000)
    shard, no_records, most, base, pieces = Shard(Rules()), frame([]), 0, 0, 0
    for _ in range(minutes * 3):
        known = len(shard.truck_ids)
        batch = run_batch(shard, no_records, frame(list(fleet.fix_records(1))), [], first=True)
        if shard.wants_folding:
            settle(shard)
            base, pieces = len(pack_base(shard)), 0
        else:
            pieces += len(pack_piece(shard, batch, known))
        most = max(most, base + pieces)
    return base / trucks, most / trucks


def frame(records: list[tuple[bytes, bytes, int]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "key": [key for key, _, _ in records],
            "value": [value for _, value, _ in records],
            "partition": 0,
            "offset": range(len(records)),
            "received_ms": pd.array([moment for _, _, moment in records], dtype="int64").to_numpy(),
        }
    )


if __name__ == "__main__":
    print("\n".join(table()))
