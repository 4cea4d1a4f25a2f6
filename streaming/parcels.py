"""Records on their way to their shard, packed: Python is handed a row at a time, and there every row has its price."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

# The workers that pack start sooner for what they need not load.
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARCEL_SCHEMA = "label int, records binary"
# Every number of tasks up to 8 divides it, and many larger ones.
SPREAD = 840


def labels_of(session: "SparkSession", shards: int) -> list[int]:
    """The value that stands for each shard in Spark's grouping: their hashes fill all tasks evenly, 0 to 3 would not.

    They depend on the number of shards alone, as state is kept under them.
    """
    candidates = 16 * (SPREAD + shards)
    asked = f"SELECT transform(sequence(0, {candidates}), each -> pmod(hash(each), {SPREAD})) AS places"
    found: dict[int, list[int]] = {}
    for label, place in enumerate(session.sql(asked).collect()[0].places):
        found.setdefault(place, []).append(label)
    return [found[number % SPREAD][number // SPREAD] for number in range(shards)]


def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One parcel for each shard in a batch of records."""
    for batch in batches:
        label_of_row = batch.column("label").to_numpy()
        records = batch.drop_columns(["label"])
        for label in np.unique(label_of_row):
            part = records.filter(pa.array(label_of_row == label))
            yield pa.record_batch({"label": pa.array([label], pa.int32()), "records": [_bytes(part)]})


def unpack(parcels: Iterable[bytes]) -> pa.Table:
    """The records of all parcels, in order of kind, partition and offset."""
    tables = [pa.ipc.open_stream(parcel).read_all() for parcel in parcels]
    return pa.concat_tables(tables).sort_by([(name, "ascending") for name in ("kind", "partition", "offset")])


def _bytes(records: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, records.schema) as stream:
        stream.write_batch(records)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed
