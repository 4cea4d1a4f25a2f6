"""The judge query: the one place where a truck's past is known. Spark's side of `verdict`."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from streaming.decode import decode
from streaming.rows import rows_of
from streaming.rules import Rules
from streaming.shard import Shard, pack, unpack
from streaming.verdict import judge

ROW_SCHEMA = "topic string, key string, value binary"

# Decoded shards of this Python worker, each with the token of the stored state that it equals.
_cache: dict[int, tuple[str, Shard]] = {}


def judge_records(records: DataFrame, shards: int, rules: Rules) -> DataFrame:
    """Rows for several topics from the records of `trucks_gps`."""
    sharded = records.select(
        F.pmod(F.xxhash64("key"), F.lit(shards)).cast("int").alias("shard"),
        "key",
        "value",
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("received_ms"),
    )
    return sharded.groupBy("shard").transformWithStateInPandas(ShardJudge(rules), ROW_SCHEMA, "Update", "None")


class ShardJudge(StatefulProcessor):
    """Keeps a shard as pieces: a base, then one piece per batch until they are folded together."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def init(self, handle: Any) -> None:
        self.token = handle.getValueState("token", "token string")
        self.pieces = handle.getListState("pieces", "piece binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803
        number = int(key[0])
        records = pd.concat(list(rows)).sort_values(["partition", "offset"], ignore_index=True)
        shard = self._load(number)
        known = len(shard.truck_ids)
        decoded = decode(records["key"], records["value"], records["received_ms"].to_numpy(), self.rules)
        judged, gained = judge(shard, decoded, len(records), self.rules)
        if shard.wants_folding:
            shard.fold(self.rules.horizon_ms)
            self.pieces.put([(pack(shard.truck_ids, shard.base, shard.totals),)])
        else:
            self.pieces.appendValue((pack(shard.truck_ids[known:], gained, shard.totals),))
        self._keep(number, shard)
        yield rows_of(number, shard, judged, records, self.rules)

    def close(self) -> None:
        pass

    def _load(self, number: int) -> Shard:
        """The shard as stored; taken out of the cache, so that a batch that fails half-way leaves nothing behind."""
        token, shard = _cache.pop(number, (None, Shard()))
        stored = self.token.get()
        if stored is None:
            return Shard()
        return shard if token == stored[0] else unpack(piece for (piece,) in self.pieces.get())

    def _keep(self, number: int, shard: Shard) -> None:
        token = uuid4().hex
        self.token.update((token,))
        _cache[number] = (token, shard)
