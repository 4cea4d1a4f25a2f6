"""`python -m streaming`: reads the settings, checks what can be checked, runs the queries until told to stop."""

import logging
import signal
import sys
from types import FrameType

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from pydantic_settings import CliApp
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from schemas.topics import PIPELINE, TRUCKS_GPS, TRUCKS_JUDGED, TRUCKS_REJECTS, TRUCKS_STATE, TRUCKS_WINDOWS
from streaming.judge import judge_records
from streaming.kafka import read_topic, write_rows
from streaming.progress import ProgressListener
from streaming.rules import Rules
from streaming.session import start_session
from streaming.settings import Settings
from streaming.windows import window_rows

NEEDED = (TRUCKS_GPS, TRUCKS_JUDGED, TRUCKS_STATE, TRUCKS_WINDOWS, TRUCKS_REJECTS, PIPELINE)


def main() -> None:
    settings = CliApp.run(Settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("kafka").setLevel(logging.WARNING)
    check_topics(settings)
    check_shards(settings)
    session = start_session(settings)
    signal.signal(signal.SIGTERM, _stop)
    try:
        session.streams.addListener(ProgressListener(settings.bootstrap_servers))
        start_queries(session, settings)
        session.streams.awaitAnyTermination()
    except StreamingQueryException as failure:
        sys.exit(f"a query failed: {failure}")
    except KeyboardInterrupt:
        pass
    finally:
        for query in session.streams.active:
            query.stop()
        session.stop()


def start_queries(session: SparkSession, settings: Settings) -> None:
    rules = Rules(
        horizon_ms=settings.horizon_s * 1000,
        future_ms=settings.future_s * 1000,
        max_fix_bytes=settings.max_fix_bytes,
        jump_kmh=settings.jump_kmh,
        moving_kmh=settings.moving_kmh,
        idle_ms=settings.idle_s * 1000,
        gap_ms=settings.gap_s * 1000,
    )
    judged = judge_records(read_topic(session, TRUCKS_GPS, settings), settings.shards, rules)
    often = f"{settings.trigger_ms} milliseconds"
    write_rows(judged, "judge", settings).outputMode("update").trigger(processingTime=often).start()
    for name, mode, pause in (
        ("windows", "update", often),
        ("windows_final", "append", f"{settings.final_trigger_s} seconds"),
    ):
        records = read_topic(session, TRUCKS_JUDGED, settings)
        rows = window_rows(records, settings.watermark_s, final=mode == "append")
        writer = write_rows(rows, name, settings).option("topic", TRUCKS_WINDOWS.name)
        writer.outputMode(mode).trigger(processingTime=pause).start()


def check_topics(settings: Settings) -> None:
    try:
        consumer = KafkaConsumer(bootstrap_servers=settings.bootstrap_servers.split(","))
        missing = sorted({topic.name for topic in NEEDED} - consumer.topics())
        consumer.close()
    except KafkaError as error:
        sys.exit(
            f"no Kafka broker answers at {settings.bootstrap_servers} ({error}); start one, or set --bootstrap-servers"
        )
    if missing:
        sys.exit(f"topics are missing: {', '.join(missing)}; make them with: python -m local_stack topics")


def check_shards(settings: Settings) -> None:
    """State is kept by shard: another number of shards would look for trucks in the wrong one."""
    note = settings.checkpoint_dir / "shards"
    settings.checkpoint_dir.mkdir(parents=True, exist_ok=True)
    if not note.exists():
        note.write_text(str(settings.shards))
    elif note.read_text() != str(settings.shards):
        sys.exit(
            f"{settings.checkpoint_dir} was made with {note.read_text()} shards, not {settings.shards}:"
            " set --shards back, or start from an empty --checkpoint-dir"
        )


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
