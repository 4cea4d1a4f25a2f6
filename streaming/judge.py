"""The judge query: the one place where a truck's past is known. Spark's side of `engine`."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pandas as pd
from msgspec.structs import astuple
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructType

from schemas.models import Tick
from streaming.engine import run_batch, settle
from streaming.kafka import in_tasks
from streaming.parcels import PARCEL_SCHEMA, labels_of, pack
from streaming.parcels import unpack as unpack_parcels
from streaming.rows import rows_of
from streaming.rules import Rules
from streaming.shard import Feed, Shard
from streaming.stored import catch_up, pack_base, pack_piece, unpack

ROW_SCHEMA = "topic string, key string, value binary"
# Spelled out: a schema in words is sent to the JVM to be read, for every task again.
_TEXT, _NUMBER, _MOMENT, _BYTES = StringType(), IntegerType(), LongType(), BinaryType()
# Which base and pieces make up a shard, and the stream's clock, which moves on with every tick.
HEAD_SCHEMA = (
    StructType().add("base_id", _TEXT).add("pieces", _NUMBER).add("token", _TEXT)
    .add("clock_t", _MOMENT).add("heard_t", _MOMENT).add("resumed_t", _MOMENT)
)  # fmt: skip
BASE_SCHEMA = StructType().add("base", _BYTES)
NUMBER_SCHEMA = StructType().add("number", _NUMBER)
PIECE_SCHEMA = StructType().add("token", _TEXT).add("piece", _BYTES)
FENCE, FIX, TICK = 0, 1, 2
FEED, HEARD = "feed", "heard"

# Shards of this Python worker, each with the token of the last piece that it holds. Spark gives a shard now to one
# worker and now to another: each catches up with the pieces that it has not seen.
_cache: dict[int, tuple[str, int, str, Shard]] = {}


def judge_records(  # noqa: PLR0913, PLR0917
    gps: DataFrame, fences: DataFrame, clock: DataFrame, shards: int, tasks: int, rules: Rules
) -> DataFrame:
    """Rows for several topics from the records of `trucks_gps`, with every change of `fences` and tick of `clock`."""
    labels = labels_of(gps.sparkSession, shards)
    label = F.array(*map(F.lit, labels))
    # Spark reports it with each batch: the stream's clock wants to know when a truck was heard last.
    heard = gps.observe(FEED, F.max("timestamp").alias(HEARD))
    records = _columns(heard, FIX, F.get(label, F.pmod(F.xxhash64("key"), F.lit(shards)).cast("int")))
    for others, kind in ((fences, FENCE), (clock, TICK)):
        records = records.unionByName(_columns(others, kind, F.explode(label)))
    parcels = in_tasks(records, tasks).mapInArrow(pack, PARCEL_SCHEMA)
    return parcels.groupBy("label").transformWithStateInPandas(ShardJudge(rules, labels), ROW_SCHEMA, "Update", "None")


def _columns(records: DataFrame, kind: int, label: Column) -> DataFrame:
    return records.select(
        label.alias("label"),
        F.lit(kind).alias("kind"),
        "key",
        "value",
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("received_ms"),
    )


class ShardJudge(StatefulProcessor):
    """Keeps a shard as a base and one piece per batch, until they are folded together."""

    def __init__(self, rules: Rules, labels: list[int]) -> None:
        self.rules = rules
        self.number_of_label = {label: number for number, label in enumerate(labels)}

    def init(self, handle: Any) -> None:
        self.head = handle.getValueState("head", HEAD_SCHEMA)
        self.base = handle.getValueState("base", BASE_SCHEMA)
        self.pieces = handle.getMapState("pieces", NUMBER_SCHEMA, PIECE_SCHEMA)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803
        number = self.number_of_label[int(key[0])]
        records = unpack_parcels(parcel for parcels in rows for parcel in parcels["records"]).to_pandas()
        fences, gps, clock = (records[records["kind"] == kind].reset_index(drop=True) for kind in (FENCE, FIX, TICK))
        base_id, count, token, shard = self._load(number)
        known = len(shard.truck_ids)
        ticks = [Tick.model_validate_json(value) for value in clock["value"]]
        batch = run_batch(shard, fences, gps, ticks, first=number == 0)
        yield rows_of(number, shard, batch, fences, gps)
        if not base_id or shard.wants_folding:
            base_id, count, token = uuid4().hex, 0, uuid4().hex
            settle(shard)
            self.base.update((pack_base(shard),))
            self.pieces.clear()
        elif batch.changes_state:
            count, token = count + 1, uuid4().hex
            self.pieces.updateValue((count,), (token, pack_piece(shard, batch, known)))
        self.head.update((base_id, count, token, *astuple(shard.feed)))
        _cache[number] = (base_id, count, token, shard)

    def close(self) -> None:
        pass

    def _load(self, number: int) -> tuple[str, int, str, Shard]:
        """The shard as stored; taken out of the cache, so that a batch that fails half-way leaves nothing behind."""
        cached_base, seen, token, shard = _cache.pop(number, ("", 0, "", Shard(self.rules)))
        head = self.head.get()
        if head is None:
            return "", 0, "", Shard(self.rules)
        base_id, count, newest, *feed = head
        if cached_base != base_id or seen > count or not self._is_at(seen, token, count, newest):
            shard, seen = unpack(bytes(self.base.get()[0]), (), self.rules), 0
        for piece in range(seen + 1, count + 1):
            catch_up(shard, bytes(self.pieces.getValue((piece,))[1]))
        shard.feed = Feed(*feed)
        return base_id, count, newest, shard

    def _is_at(self, seen: int, token: str, count: int, newest: str) -> bool:
        """Whether the cached shard is what was stored, and not left over from a batch that was not committed."""
        if seen == count:
            return token == newest
        return seen == 0 or bool(self.pieces.getValue((seen,))[0] == token)
