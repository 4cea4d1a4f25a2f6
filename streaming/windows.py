"""The windows queries: Spark's own event-time windows over what the judge derived.

`windows` shows results as they grow (update mode), `windows_final` writes each window once more when the watermark has
passed it (append mode). A judged row may come twice; it is dropped before it is counted.
"""

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from schemas.models import JudgedFixes, Record
from streaming.kafka import in_tasks

FIX_NAME = ["truck_id", "event_time", "prev_event_time_ms"]
SQL_TYPES = {"string": "string", "number": "double", "integer": "bigint", "boolean": "boolean"}


def sql_schema(model: type[Record]) -> str:
    """The Spark schema of a record, from the contract."""
    return ", ".join(f"{name} {_sql_type(field)}" for name, field in model.model_json_schema()["properties"].items())


def _sql_type(schema: dict[str, Any]) -> str:
    schema = schema.get("anyOf", [schema])[0]
    if schema["type"] == "array":
        return f"array<{_sql_type(schema['items'])}>"
    return "timestamp" if schema.get("format") == "date-time" else SQL_TYPES[schema["type"]]


def window_rows(records: DataFrame, tasks: int, watermark_s: int, *, final: bool) -> DataFrame:
    """Rows for `trucks_windows` from the records of `trucks_judged`."""
    columns = F.from_json(F.col("value").cast("string"), sql_schema(JudgedFixes))
    judged = (
        in_tasks(records, tasks)
        .select(columns.alias("fixes"))
        .select(F.inline(F.arrays_zip(*(f"fixes.{name}" for name in JudgedFixes.model_fields))))
        .withColumn("event_time", F.timestamp_millis("event_time_ms"))
        .withWatermark("event_time", f"{watermark_s} seconds")
        .dropDuplicates(FIX_NAME)
    )
    return _as_rows(_sums(judged.select("*", F.explode(_frames()).alias("frame"))), final=final)


def _frames() -> Column:
    """Each fix counts three times: for its truck's minute and five minutes, and for the fleet's minute."""
    return F.array(_frame(F.col("truck_id"), 60), _frame(F.col("truck_id"), 300), _frame(F.lit(None), 60))


def _frame(truck_id: Column, length_s: int) -> Column:
    return F.struct(truck_id.cast("string").alias("truck_id"), F.lit(length_s).alias("length_s"))


def _sums(framed: DataFrame) -> DataFrame:
    # Spark allows one window per query and forgets state by it: minutes are summed within their five minutes.
    five_minutes = F.window("event_time", "5 minutes")
    minute_start = F.date_trunc("minute", "event_time")
    position = F.struct("lat", "lon")
    return framed.groupBy(
        five_minutes.alias("window"),
        F.col("frame.truck_id").alias("truck_id"),
        F.col("frame.length_s").alias("length_s"),
        F.when(F.col("frame.length_s") == 60, minute_start).alias("minute_start"),
    ).agg(
        F.sum("fixes").alias("fixes"),
        F.sum("speed_fixes").alias("speed_fixes"),
        F.sum("speed_sum_kmh").alias("speed_sum_kmh"),
        F.max("speed_kmh").alias("speed_top_kmh"),
        F.sum("distance_m").alias("distance_m"),
        F.sum("moving_s").alias("moving_s"),
        F.sum("idle_s").alias("idle_s"),
        F.sum("active_trucks").alias("active_trucks"),
        F.min_by(position, "event_time").alias("first"),
        F.max_by(position, "event_time").alias("last"),
    )


def _as_rows(sums: DataFrame, *, final: bool) -> DataFrame:
    of_truck = F.col("truck_id").isNotNull()
    scope = F.when(of_truck, "truck").otherwise("fleet")
    start = F.coalesce("minute_start", "window.start")
    known_speeds = F.col("speed_fixes") > 0
    window = F.struct(
        scope.alias("scope"),
        "truck_id",
        _moment(start).alias("window_start"),
        _moment(F.timestamp_seconds(F.unix_timestamp(start) + F.col("length_s"))).alias("window_end"),
        "length_s",
        "fixes",
        F.when(known_speeds, F.round(F.col("speed_sum_kmh") / F.col("speed_fixes"), 2)).alias("speed_avg_kmh"),
        "speed_top_kmh",
        F.round("distance_m", 3).alias("distance_m"),
        F.round("moving_s", 3).alias("moving_s"),
        F.round("idle_s", 3).alias("idle_s"),
        F.when(of_truck, F.col("first.lat")).alias("first_lat"),
        F.when(of_truck, F.col("first.lon")).alias("first_lon"),
        F.when(of_truck, F.col("last.lat")).alias("last_lat"),
        F.when(of_truck, F.col("last.lon")).alias("last_lon"),
        F.when(~of_truck, F.col("active_trucks")).alias("active_trucks"),
        F.lit(final).alias("final"),
    )
    key = F.concat_ws("/", scope, F.coalesce("truck_id", F.lit("")), "length_s", _moment(start))
    return sums.select(key.alias("key"), F.to_json(window, {"ignoreNullFields": "false"}).alias("value"))


def _moment(moment: Column) -> Column:
    return F.date_format(moment, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
