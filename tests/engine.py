"""The engine without Spark and Kafka: batches of records in, rows of all topics out."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from schemas.models import CONTRACT, Tick
from streaming.engine import run_batch, settle
from streaming.rows import rows_of
from streaming.rules import Rules
from streaming.shard import Shard
from streaming.stored import pack_base, pack_piece, unpack

RULES = Rules()
START_MS = 1_790_000_000_000
RECEIVED_MS = START_MS + 10_000_000
Record = tuple[str, str, dict[str, Any] | None]


def moment(t: int) -> str:
    return str(np.datetime64(t, "ms")) + "Z"


class Engine:
    """The engine without Spark: each batch is stored, and loaded again before the next where `forgets`."""

    def __init__(self, *, forgets: bool = True, folds: bool = False) -> None:
        self.forgets, self.folds = forgets, folds
        self.shard = Shard(RULES)
        self.stored: list[bytes] = []
        self.rows: list[tuple[str, str, dict[str, Any]]] = []
        self.offset = 0

    def batch(
        self, records: list[Record], *, clock: int | None = None, heard: int = RECEIVED_MS, received: int = RECEIVED_MS
    ) -> None:
        """`clock` is a tick behind the records, `heard` what it says of the feed; Kafka got them at `received`."""
        kinds = ("fence", "fix")
        fences, fixes = (self._frame([each for each in records if each[0] == kind], received) for kind in kinds)
        known = len(self.shard.truck_ids)
        ticks = [] if clock is None else [tick(clock, heard)]
        batch = run_batch(self.shard, fences, fixes, ticks, first=True)
        rows = rows_of(0, self.shard, batch, fences, fixes)
        self.rows += [(row.topic, row.key, json.loads(row.value)) for row in rows.itertuples()]  # type: ignore[arg-type, misc]
        if self.folds or not self.stored:
            settle(self.shard)
            self.stored = [pack_base(self.shard)]
        else:
            self.stored.append(pack_piece(self.shard, batch, known))
        if self.forgets:
            self.shard = unpack(self.stored[0], self.stored[1:], RULES)

    def _frame(self, records: list[Record], received: int) -> pd.DataFrame:
        offsets = range(self.offset, self.offset + len(records))
        self.offset += len(records)
        return pd.DataFrame(
            {
                "key": [key.encode() for _, key, _ in records],
                "value": [None if value is None else json.dumps(value).encode() for _, _, value in records],
                "partition": 0,
                "offset": offsets,
                "received_ms": np.full(len(records), received),
            }
        )

    def newest(self, topic: str, name: str) -> dict[str, dict[str, Any]]:
        """The highest revision of each, unless it is retracted; revisions count up by one."""
        latest: dict[str, dict[str, Any]] = {}
        for row in (value for each, _, value in self.rows if each == topic):
            assert row["revision"] == latest.get(row[name], {"revision": -1})["revision"] + 1, row
            CONTRACT[{"alert_id": "alert", "visit_id": "visit"}[name]].model_validate(row)
            latest[row[name]] = row
        return {key: row for key, row in latest.items() if row["status"] != "retracted"}

    def alerts(self) -> dict[str, dict[str, Any]]:
        return self.newest("trucks_alerts", "alert_id")

    def visits(self) -> dict[str, dict[str, Any]]:
        return self.newest("trucks_visits", "visit_id")


def tick(clock: int, heard: int) -> Tick:
    clock_time, heard_time = (datetime.fromtimestamp(each / 1000, UTC) for each in (clock, heard))
    return Tick(clock_time=clock_time, heard_time=heard_time)
