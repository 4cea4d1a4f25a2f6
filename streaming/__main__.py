"""`python -m streaming`: reads the settings, checks what can be checked, runs the queries until told to stop."""

import logging
import signal
import sys
import time
from dataclasses import fields
from threading import Event

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from pydantic_settings import CliApp
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from schemas.topics import CLOCK, FENCES, TOPICS, TRUCKS, TRUCKS_GPS, TRUCKS_JUDGED, TRUCKS_WINDOWS
from streaming.clock import Ticker, newest_record_time
from streaming.judge import judge_records
from streaming.kafka import read_topic, write_rows
from streaming.progress import ProgressListener
from streaming.rows import JUDGED_ROWS
from streaming.rules import Rules
from streaming.session import start_session
from streaming.settings import Settings
from streaming.windows import window_rows

WATCH_S = 1
FIRST_BATCH_S = 20
NEEDED = [topic for topic in TOPICS if topic != TRUCKS]


def main() -> None:
    settings = CliApp.run(Settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    for chatty in ("kafka", "py4j"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    check_topics(settings)
    check_shards(settings)
    session = start_session(settings)
    stopping = Event()
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: stopping.set())
    try:
        session.streams.addListener(ProgressListener(settings.bootstrap_servers))
        judge = start_queries(session, settings, stopping)
        with Ticker(judge, settings.bootstrap_servers, newest_record_time(settings.bootstrap_servers)):
            while not stopping.is_set() and not session.streams.awaitAnyTermination(WATCH_S):
                pass
    except StreamingQueryException as failure:
        sys.exit(f"a query failed: {failure}")
    finally:
        for query in session.streams.active:
            query.stop()
        session.stop()


def start_queries(session: SparkSession, settings: Settings, stopping: Event) -> StreamingQuery:
    """Start them all; returns the judge."""
    gps, fences, clock = (read_topic(session, topic, settings) for topic in (TRUCKS_GPS, FENCES, CLOCK))
    judged = judge_records(gps, fences, clock, settings.shards, settings.source_partitions, rules_of(settings))
    often = f"{settings.trigger_ms} milliseconds"
    judge = write_rows(judged, "judge", settings).outputMode("update").trigger(processingTime=often).start()
    wait_for_first_batch(judge, stopping)
    for name, mode, pause in (
        ("windows", "update", f"{settings.windows_trigger_s} seconds"),
        ("windows_final", "append", f"{settings.final_trigger_s} seconds"),
    ):
        records = read_topic(session, TRUCKS_JUDGED, settings, JUDGED_ROWS)
        rows = window_rows(records, settings.source_partitions, settings.watermark_s, final=mode == "append")
        writer = write_rows(rows, name, settings).option("topic", TRUCKS_WINDOWS.name)
        writer.outputMode(mode).trigger(processingTime=pause).start()
    return judge


def rules_of(settings: Settings) -> Rules:
    """Each rule is a setting; times are kept in milliseconds."""
    names = [field.name for field in fields(Rules)]
    seconds = {name: name.removesuffix("_ms") + "_s" for name in names if name.endswith("_ms")}
    times = {name: getattr(settings, setting) * 1000 for name, setting in seconds.items()}
    return Rules(**times, **{name: getattr(settings, name) for name in names if name not in seconds})


def wait_for_first_batch(judge: StreamingQuery, stopping: Event) -> None:
    """The windows have nothing new before it, and would slow it down. Not for ever: nobody may be sending yet."""
    deadline = time.monotonic() + FIRST_BATCH_S
    while judge.isActive and judge.lastProgress is None and time.monotonic() < deadline:
        if stopping.wait(0.2):
            return


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
    note, shards = settings.checkpoint_dir / "shards", f"{settings.shards} labelled shards"
    settings.checkpoint_dir.mkdir(parents=True, exist_ok=True)
    if not note.exists():
        note.write_text(shards)
    elif note.read_text() != shards:
        sys.exit(
            f"{settings.checkpoint_dir} was made with {note.read_text()}, and this would be {shards}:"
            " set --shards back, or start from an empty --checkpoint-dir"
        )


if __name__ == "__main__":
    main()
