"""Fixes a second of the judge, against Spark reading and parsing the same topic, and against one truck a key."""

import json
import math
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import shapely
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from benchmarks.fleet import Fleet, publish
from schemas.models import Fix
from schemas.topics import CLOCK, FENCES, TRUCKS_GPS, TRUCKS_JUDGED, TRUCKS_WINDOWS
from streaming.judge import judge_records
from streaming.kafka import in_tasks, read_topic, write_rows
from streaming.rows import JUDGED_ROWS
from streaming.rules import Rules
from streaming.settings import Settings
from streaming.windows import sql_schema, window_rows

TRUCKS, FENCES_COUNT = 10_000, 1_000
# (name, fixes a batch, seconds to warm up, batches to measure). Java gets faster for long: all have the same time.
LOADS = (("live, 1 fix a truck", TRUCKS, 25, 7), ("backlog, 50 fixes a truck", 50 * TRUCKS, 5, 3))
# So many live batches are there; a query that is done with its warming-up sooner is measured then.
LIVE_BATCHES = 200


def table(session: SparkSession, settings: Settings, folder: Path) -> list[str]:
    fleet = Fleet(TRUCKS, FENCES_COUNT)
    publish(settings.bootstrap_servers, FENCES.name, ((key, value, 0) for key, value in fleet.fence_records()))
    publish(settings.bootstrap_servers, TRUCKS_GPS.name, fleet.fix_records(LIVE_BATCHES))
    shapes = [shapely.from_geojson(json.dumps(json.loads(value)["geometry"])) for _, value in fleet.fence_records()]
    lines = ["| load | query | fixes/s | of reading and parsing |", "| --- | --- | --- | --- |"]
    for load, size, warm_s, count in LOADS:
        found: dict[str, float] = {}
        for name, start in queries(session, shapes).items():
            own = settings.model_copy(
                update={"max_fixes_per_batch": size, "checkpoint_dir": folder / f"{size}-{len(found)}"}
            )
            found[name] = rate(session, start, own, warm_s=warm_s, count=count)
        base = found["read and parse"]
        lines += [f"| {load} | {name} | {each:,.0f} | {each / base:.0%} |" for name, each in found.items()]
        faster = found["judge, all detectors"] / found["one truck a key, enter and exit only"]
        lines.append(f"| {load} | judge against one truck a key | {faster:.1f} x | |")
    return lines


Start = Callable[[Settings], StreamingQuery]


def queries(session: SparkSession, shapes: list[shapely.Geometry]) -> dict[str, Start]:
    def fixes(own: Settings) -> DataFrame:
        return in_tasks(read_topic(session, TRUCKS_GPS, own), own.source_partitions)

    def judge(own: Settings) -> StreamingQuery:
        gps, fences, clock = (read_topic(session, topic, own) for topic in (TRUCKS_GPS, FENCES, CLOCK))
        judged = judge_records(gps, fences, clock, own.shards, own.source_partitions, Rules())
        return write_rows(judged, "judge", own).outputMode("update").start()

    def judge_and_windows(own: Settings) -> StreamingQuery:
        records = read_topic(session, TRUCKS_JUDGED, own, JUDGED_ROWS)
        rows = window_rows(records, own.source_partitions, 3600, final=False)
        write_rows(rows, "windows", own).option("topic", TRUCKS_WINDOWS.name).outputMode("update").start()
        return judge(own)

    def parse(own: Settings) -> StreamingQuery:
        parsed = (
            fixes(own).select(F.from_json(F.col("value").cast("string"), sql_schema(Fix)).alias("fix")).select("fix.*")
        )
        return parsed.writeStream.format("noop").option("checkpointLocation", str(own.checkpoint_dir / "parse")).start()

    def by_truck(own: Settings) -> StreamingQuery:
        parsed = (
            fixes(own).select(F.from_json(F.col("value").cast("string"), sql_schema(Fix)).alias("fix")).select("fix.*")
        )
        told = parsed.groupBy("truck_id").transformWithState(
            OneTruck(shapes), "truck_id string, fence int, enters boolean", "Update", "None"
        )
        path = str(own.checkpoint_dir / "by_truck")
        return told.writeStream.format("noop").option("checkpointLocation", path).outputMode("update").start()

    return {
        "read and parse": parse,
        "judge, all detectors": judge,
        "judge, with the windows beside it": judge_and_windows,
        "one truck a key, enter and exit only": by_truck,
    }


class OneTruck(StatefulProcessor):
    """The textbook form, for comparison: a key for each truck, one fix at a time."""

    def __init__(self, shapes: list[shapely.Geometry]) -> None:
        self.shapes = shapes

    def init(self, handle: Any) -> None:
        self.tree = shapely.STRtree(self.shapes)
        self.inside = handle.getValueState("inside", "fences array<int>")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803
        known = self.inside.get()
        before = set(known[0] if known else ())
        for row in sorted(rows, key=lambda each: each.event_time):
            now = set(self.tree.query(shapely.Point(row.lon, row.lat), predicate="intersects").tolist())
            for fence in sorted(before ^ now):
                yield Row(truck_id=key[0], fence=int(fence), enters=fence in now)
            before = now
        self.inside.update((sorted(map(int, before)),))

    def close(self) -> None:
        pass


def rate(session: SparkSession, start: Start, own: Settings, *, warm_s: float, count: int) -> float:
    """Fixes a second of a whole batch, the median of `count` batches after the warming-up, which is one at least."""
    query = start(own)
    rates: dict[int, float] = {}
    most = LIVE_BATCHES * TRUCKS // own.max_fixes_per_batch - count
    warm_until, measured_from = math.inf, math.inf
    try:
        while query.isActive and len([batch for batch in rates if batch >= measured_from]) < count:
            time.sleep(0.1)
            progress = query.lastProgress
            if progress is None or progress["numInputRows"] < own.max_fixes_per_batch * 0.9:
                continue
            batch = progress["batchId"]
            rates[batch] = progress["numInputRows"] / progress["durationMs"]["triggerExecution"] * 1000
            warm_until = min(warm_until, time.monotonic() + warm_s)
            if time.monotonic() > warm_until or batch >= most:
                measured_from = min(measured_from, batch + 1)
    finally:
        for each in session.streams.active:
            each.stop()
    return statistics.median(rate for batch, rate in rates.items() if batch >= measured_from)
