"""The windows queries on real Spark, without a broker: judged rows come from files, windows stay in memory."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from schemas.models import JudgedFixes, Window
from streaming.windows import window_rows

EIGHT = datetime(2026, 3, 1, 8, tzinfo=UTC)
WATERMARK_S = 600


class Windows:
    """Both queries over one folder; what is put there is worked off before `put` returns."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self._session = session
        self._inbox = folder / "inbox"
        self._inbox.mkdir()
        self._queries = [self._start(folder, name, mode) for name, mode in (("live", "update"), ("final", "append"))]

    def _start(self, folder: Path, name: str, mode: str) -> StreamingQuery:
        records = self._session.readStream.text(str(self._inbox))
        rows = window_rows(records, 0, WATERMARK_S, final=mode == "append")
        writer = rows.writeStream.format("memory").queryName(name).outputMode(mode)
        return writer.option("checkpointLocation", str(folder / name)).start()

    def put(self, *rows: JudgedFixes) -> None:
        number = len(list(self._inbox.iterdir()))
        hidden = self._inbox.parent / "next"
        hidden.write_text("".join(row.model_dump_json() + "\n" for row in rows))
        hidden.rename(self._inbox / f"{number}.txt")
        for query in self._queries:
            query.processAllAvailable()

    def live(self) -> dict[str, dict[str, Any]]:
        return dict(self._rows("live"))

    def final(self) -> dict[str, dict[str, Any]]:
        rows = self._rows("final")
        assert len(rows) == len(dict(rows)), "a window was called final twice"
        return dict(rows)

    def _rows(self, table: str) -> list[tuple[str, dict[str, Any]]]:
        rows = [(row.key, json.loads(row.value)) for row in self._session.table(table).collect()]
        for _, value in rows:
            Window.model_validate(value)
        return rows


def judged(minutes: float, truck_id: str = "A", distance_m: float = 100.0) -> JudgedFixes:
    return JudgedFixes(
        truck_id=[truck_id],
        event_time_ms=[round((EIGHT + timedelta(minutes=minutes)).timestamp() * 1000)],
        prev_event_time_ms=[None],
        correction=[False],
        late=[False],
        jump=[False],
        lat=[40.0],
        lon=[-100.0],
        speed_kmh=[60.0],
        heading_deg=[None],
        fixes=[1],
        speed_fixes=[1],
        speed_sum_kmh=[60.0],
        distance_m=[distance_m],
        moving_s=[20.0],
        idle_s=[0.0],
        active_trucks=[1],
    )


def keys(*minutes: int, truck_id: str = "A") -> set[str]:
    """The record keys of the windows that fixes of these minutes fall into."""
    fives = {minute // 5 * 5 for minute in minutes}
    return (
        {f"truck/{truck_id}/60/2026-03-01T08:{minute:02}:00.000Z" for minute in minutes}
        | {f"truck/{truck_id}/300/2026-03-01T08:{minute:02}:00.000Z" for minute in fives}
        | {f"fleet//60/2026-03-01T08:{minute:02}:00.000Z" for minute in minutes}
    )


def test_a_window_is_final_exactly_when_the_watermark_has_passed_it(session: SparkSession, tmp_path: Path) -> None:
    windows = Windows(session, tmp_path)
    windows.put(judged(1), judged(1, "B"), judged(6))
    assert windows.live().keys() == keys(1, 6) | keys(1, truck_id="B")
    a_moment_early = (5 * 60 + WATERMARK_S - 0.001) / 60
    windows.put(judged(a_moment_early))
    assert windows.final() == {}

    windows.put(judged(15))
    assert windows.final().keys() == keys(1) | keys(1, truck_id="B")
    early = windows.final()

    # Behind the watermark: not counted. Before it: counted. A row that comes again: counted once.
    windows.put(judged(4), judged(6.5, distance_m=50.0), judged(6))
    assert windows.final() == early
    assert not (keys(4) - keys(1)) & windows.live().keys()

    windows.put(judged(20))
    final, live = windows.final(), windows.live()
    assert final.keys() == keys(1, 6) | keys(1, truck_id="B")
    assert final["truck/A/300/2026-03-01T08:05:00.000Z"]["distance_m"] == 150.0
    assert {key: live[key] | {"final": True} for key in final} == final
    assert not any(window["final"] for window in live.values())
