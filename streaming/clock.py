"""The stream's clock: a tick in the topic `clock` once a second, while the judge has caught up with `trucks_gps`.

Being records, ticks are part of the judge's input: a batch that is run again sees the same time.
"""

import threading
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from pyspark.sql.streaming.query import StreamingQuery

from schemas.models import Tick
from schemas.topics import CLOCK, TRUCKS_GPS
from streaming.judge import FEED, HEARD
from streaming.progress import lag_of

TICK_S = 1.0


class Ticker:
    """Ticks until it is left."""

    def __init__(self, judge: StreamingQuery, bootstrap_servers: str, heard_time: datetime | None) -> None:
        self._judge = judge
        self._heard_time = heard_time
        self._told_time = datetime.min.replace(tzinfo=UTC)
        self._producer = KafkaProducer(bootstrap_servers=bootstrap_servers.split(","))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clock", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(timeout=5)
        self._producer.close(timeout=2)

    def _run(self) -> None:
        while not self._stop.wait(TICK_S) and self._judge.isActive:
            now = datetime.now(UTC)
            clock_time = self._known_time(now)
            if clock_time is not None and self._heard_time is not None and clock_time > self._told_time:
                self._told_time = clock_time
                tick = Tick(clock_time=clock_time, heard_time=self._heard_time)
                self._producer.send(CLOCK.name, value=tick.model_dump_json().encode())

    def _known_time(self, now: datetime) -> datetime | None:
        """Up to when everything has been judged, or None while there is a backlog."""
        progress: Any = self._judge.lastProgress
        if progress is not None:
            heard = progress["observedMetrics"].get(FEED, {})
            self._hear(heard[HEARD] if heard else None)
            began_time = datetime.fromisoformat(progress["timestamp"])
            if began_time > self._told_time:
                behind = sum(
                    lag_of(source) for source in progress["sources"] if TRUCKS_GPS.name in source["description"]
                )
                return began_time if not behind else None
        status = self._judge.status
        idle = not status["isDataAvailable"] and not status["isTriggerActive"]
        return now - timedelta(seconds=2 * TICK_S) if idle else None

    def _hear(self, said: str | None) -> None:
        """Spark reports the time in its session's zone, which is UTC; None: no record in that batch."""
        if said is not None:
            heard_time = datetime.fromisoformat(said).replace(tzinfo=UTC)
            self._heard_time = max(self._heard_time or heard_time, heard_time)


def newest_record_time(bootstrap_servers: str) -> datetime | None:
    """Kafka's record time of the newest record of any truck; None where there is none yet."""
    consumer: Any = KafkaConsumer(bootstrap_servers=bootstrap_servers.split(","), enable_auto_commit=False)
    try:
        partitions = [TopicPartition(TRUCKS_GPS.name, each) for each in consumer.partitions_for_topic(TRUCKS_GPS.name)]
        starts, ends = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
        filled = [each for each in partitions if ends[each] > starts[each]]
        consumer.assign(filled)
        for each in filled:
            consumer.seek(each, ends[each] - 1)
        newest: dict[TopicPartition, int] = {}
        while len(newest) < len(filled) and (arrived := consumer.poll(timeout_ms=5000)):
            newest |= {each: max(record.timestamp for record in records) for each, records in arrived.items()}
    finally:
        consumer.close()
    return datetime.fromtimestamp(max(newest.values()) / 1000, UTC) if newest else None
