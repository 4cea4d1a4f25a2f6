"""How the queries read from and write to Kafka."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from schemas.topics import Topic
from streaming.settings import Settings


def read_topic(session: SparkSession, topic: Topic, settings: Settings, fixes_per_record: int = 1) -> DataFrame:
    return (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", settings.bootstrap_servers)
        .option("subscribe", topic.name)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", max(1, settings.max_fixes_per_batch // fixes_per_record))
        # Spark asks for the ends of a partition after each read, and that question queues behind a fetch that waits for
        # new records: half a second for each partition with Kafka's default.
        .option("kafka.fetch.max.wait.ms", 10)
        # A topic that lost records we have not read is a fault to look at, not to skip.
        .option("failOnDataLoss", "true")
        .load()
    )


def in_tasks(records: DataFrame, tasks: int) -> DataFrame:
    """Read in so many tasks; 0: in one for each partition."""
    return records.coalesce(tasks) if tasks else records


def write_rows(rows: DataFrame, name: str, settings: Settings) -> DataStreamWriter:
    """`rows` has a value and a key, and a topic unless the caller names one."""
    return (
        rows.writeStream.format("kafka")
        .queryName(name)
        .option("kafka.bootstrap.servers", settings.bootstrap_servers)
        .option("kafka.compression.type", "lz4")
        # A task writes thousands of rows at once, and waits for them at its end: few requests instead of many.
        .option("kafka.linger.ms", 20)
        .option("kafka.batch.size", 256 * 1024)
        .option("checkpointLocation", str(settings.checkpoint_dir.resolve() / name))
    )
