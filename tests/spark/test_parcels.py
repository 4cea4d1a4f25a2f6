"""What the judge's records are packed into on their way through Spark."""

from collections import Counter

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from streaming.parcels import labels_of, pack, unpack


def test_shards_fill_every_task_alike(session: SparkSession) -> None:
    labels = labels_of(session, 840 + 24)
    assert len(set(labels)) == len(labels)
    assert labels_of(session, 4) == labels[:4], "a shard's label must not depend on how many there are"
    for tasks in range(1, 9):
        rows = session.createDataFrame([(label,) for label in labels[: 3 * tasks]], "label int")
        placed = rows.repartition(tasks, "label").select(F.spark_partition_id().alias("task")).collect()
        assert Counter(row.task for row in placed) == dict.fromkeys(range(tasks), 3)


def test_a_parcel_holds_the_records_of_one_shard_and_they_come_out_in_order() -> None:
    chance = np.random.default_rng(1)
    offsets = chance.permutation(1000)
    records = {
        "label": pa.array(offsets % 3 * 7, pa.int32()),
        "kind": pa.array(np.where(offsets % 100 == 0, 0, 1), pa.int32()),
        "key": pa.array([None if each % 10 == 0 else b"T%d" % each for each in offsets], pa.binary()),
        "value": pa.array([None if each % 11 == 0 else bytes([each % 256]) for each in offsets], pa.binary()),
        "partition": pa.array(offsets % 2, pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
    }
    whole = pa.record_batch(records)
    parcels = [row for part in pack([whole[:400], whole[400:]]) for row in part.to_pylist()]
    assert sorted({row["label"] for row in parcels}) == [0, 7, 14]
    rows = whole.to_pylist()
    for label in (0, 7, 14):
        found = unpack([row["records"] for row in parcels if row["label"] == label]).to_pylist()
        mine = [
            {name: value for name, value in row.items() if name != "label"} for row in rows if row["label"] == label
        ]
        assert found == sorted(mine, key=lambda row: (row["kind"], row["partition"], row["offset"]))
