"""Recorded traces: every usable row in order, every other one named with its line."""

import json
from pathlib import Path

import pytest

from simulator.traces import UnreadableError, read

CSV = """truck_id,event_time,lat,lon,speed_kmh,driver
B,2026-01-01T00:00:20Z,41.5,-87.5,80,Ann
A,2026-01-01T01:00:10+01:00,41.4,-87.4,,Bob
A,2026-01-01T00:00:05Z,91,-87.4,,Bob
A,yesterday,41.4,-87.4,,Bob
A,2026-01-01T00:00:05,41.4,-87.4,,Bob
,2026-01-01T00:00:05Z,41.4,-87.4,,Bob
A,2026-01-01T00:00:06Z,41.4
A,2026-01-01T00:00:07Z,41.4,-87.4,1,Bob,too,many
A,2026-01-01T00:00:08Z,nan,-87.4,1,Bob
"""

GPX = """<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1">
  <wpt lat="1" lon="1"><name>not a track</name></wpt>
  <trk><name>Truck 7</name><trkseg>
    <trkpt lat="41.5" lon="-87.5"><time>2026-01-01T00:00:20Z</time><speed>10</speed><course>90.5</course></trkpt>
    <trkpt lat="41.4" lon="-87.5"><time>2026-01-01T00:00:10Z</time><name>a place</name></trkpt>
    <trkpt lat="41.4" lon="-87.5"></trkpt>
  </trkseg></trk>
  <trk><trkseg><trkpt lat="41" lon="-87"><time>2026-01-01T00:00:30Z</time></trkpt></trkseg></trk>
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_csv_rows_are_sent_in_order_of_event_time_and_bad_ones_named_by_line(tmp_path: Path) -> None:
    records, bad = read(written(tmp_path, "a.csv", CSV))
    assert [json.loads(record.value) for record in records] == [
        {"truck_id": "A", "lat": 41.4, "lon": -87.4, "event_time": "2026-01-01T00:00:10.000Z"},
        {"truck_id": "B", "lat": 41.5, "lon": -87.5, "event_time": "2026-01-01T00:00:20.000Z", "speed_kmh": 80.0},
    ]
    assert [row.line for row in bad] == [4, 5, 6, 7, 8, 9, 10]
    why = [row.problem.split(":")[0] for row in bad]
    assert why == ["lat", "event_time", "event_time", "no truck_id", "no lon", "more values than columns", "lat"]


def test_a_received_time_column_gives_the_order(tmp_path: Path) -> None:
    text = (
        "truck_id,lat,lon,event_time,received_time\n"
        "A,1,2,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z\n"
        "A,1,3,2026-01-01T00:00:20Z,2026-01-01T00:00:21Z\n"
        "A,1,3,2026-01-01T00:00:20Z,soon\n"
    )
    records, bad = read(written(tmp_path, "a.csv", text))
    assert [record.event_time for record in records] == ["2026-01-01T00:00:20.000Z", "2026-01-01T00:00:00.000Z"]
    assert bad[0].problem.startswith("received_time")


def test_gpx_tracks_are_trucks_and_points_without_time_are_named_by_line(tmp_path: Path) -> None:
    records, bad = read(written(tmp_path, "trip.gpx", GPX + "</gpx>"))
    assert [record.truck_id for record in records] == ["Truck 7", "Truck 7", "trip"]
    assert json.loads(records[1].value) == {
        "truck_id": "Truck 7",
        "lat": 41.5,
        "lon": -87.5,
        "event_time": "2026-01-01T00:00:20.000Z",
        "speed_kmh": 36.0,
        "heading_deg": 90.5,
    }
    assert [(row.line, row.problem) for row in bad] == [(7, "no event_time")]


def test_a_gpx_file_that_breaks_off_gives_what_came_before(tmp_path: Path) -> None:
    records, bad = read(written(tmp_path, "trip.gpx", GPX))
    assert len(records) == 3
    assert bad[-1].line == 10
    assert "nothing after it can be read" in bad[-1].problem


def test_a_file_without_the_needed_columns_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="has no column event_time, lon; it needs truck_id"):
        read(written(tmp_path, "a.csv", "truck_id,lat\nA,1\n"))
