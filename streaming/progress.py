"""Tells how the queries are doing: a record in the topic `pipeline`, and a line in the log now and then."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from kafka import KafkaProducer
from pyspark.sql.streaming.listener import StreamingQueryListener

from schemas.models import QueryProgress
from schemas.topics import PIPELINE

log = logging.getLogger("streaming")


class ProgressListener(StreamingQueryListener):
    """Spark never commits offsets to Kafka, so lag and pace are published here."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._producer = KafkaProducer(bootstrap_servers=bootstrap_servers.split(","))

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        log.info("query %s started", event.name)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        progress = as_record(json.loads(event.progress.json))
        self._producer.send(
            PIPELINE.name, key=f"query/{progress.query}".encode(), value=progress.model_dump_json().encode()
        )

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        log.info("query ended%s", f": {event.exception}" if event.exception else "")


def as_record(progress: dict[str, Any]) -> QueryProgress:
    """The part of Spark's report that a person wants to see."""
    watermark = progress.get("eventTime", {}).get("watermark", "1970")
    operators = progress.get("stateOperators", [])
    return QueryProgress(
        query=progress["name"],
        batch=progress["batchId"],
        measured_time=datetime.now(UTC),
        input_rows=progress["numInputRows"],
        input_rows_per_s=progress.get("inputRowsPerSecond"),
        batch_ms=progress["durationMs"].get("triggerExecution", 0),
        watermark=None if watermark.startswith("1970") else datetime.fromisoformat(watermark),
        state_rows=sum(operator["numRowsTotal"] for operator in operators),
        late_rows=sum(operator.get("numRowsDroppedByWatermark", 0) for operator in operators),
        lag=sum(lag_of(source) for source in progress["sources"]),
    )


def lag_of(source: dict[str, Any]) -> int:
    """Records of a source that were there when the batch began, and are not in it."""
    latest, done = source.get("latestOffset"), source.get("endOffset")
    if not isinstance(latest, dict) or not isinstance(done, dict):
        return 0
    return sum(
        offset - done.get(topic, {}).get(partition, 0)
        for topic, partitions in latest.items()
        for partition, offset in partitions.items()
    )
