"""How the queries read from and write to Kafka."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from schemas.topics import Topic
from streaming.settings import Settings


def read_topic(session: SparkSession, topic: Topic, settings: Settings) -> DataFrame:
    records = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", settings.bootstrap_servers)
        .option("subscribe", topic.name)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", settings.max_fixes_per_batch)
        # Spark asks for the ends of a partition after each read, and that question queues behind a fetch that waits for
        # new records: half a second for each partition with Kafka's default.
        .option("kafka.fetch.max.wait.ms", 10)
        # A topic that lost records we have not read is a fault to look at, not to skip.
        .option("failOnDataLoss", "true")
        .load()
    )
    return records.coalesce(settings.source_partitions) if settings.source_partitions else records


def write_rows(rows: DataFrame, name: str, settings: Settings) -> DataStreamWriter:
    """`rows` has a value and a key, and a topic unless the caller names one."""
    return (
        rows.writeStream.format("kafka")
        .queryName(name)
        .option("kafka.bootstrap.servers", settings.bootstrap_servers)
        .option("kafka.compression.type", "lz4")
        .option("checkpointLocation", str(settings.checkpoint_dir.resolve() / name))
    )
