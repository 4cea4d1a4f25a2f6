"""Draws a day of 50 simulated trucks, for people to look at: `python -m tests.plot_simulator FOLDER`."""

import itertools
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import matplotlib as mpl
import numpy as np

from schemas.models import Fix
from simulator.fences import feature_collection
from simulator.rates import PRESETS
from simulator.roads import GRAPH, NODES
from simulator.stream import Stream

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

START = datetime(2026, 1, 1, tzinfo=UTC)
Track = dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]


def a_day(trucks: int = 50) -> list[Track]:
    """Per truck its good and noisy fixes as they were sent, in the order of sending."""
    stream = Stream(trucks=trucks, interval_s=20, seed=1, start_time=START, rates=PRESETS["realistic"])
    end_ms = (START + timedelta(days=1)).timestamp() * 1000
    fixes: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for record in itertools.takewhile(lambda record: record.send_ms < end_ms, stream):
        if "garbled" not in record.classes:
            fix = Fix.model_validate_json(record.value)
            assert fix.event_time is not None
            row = (fix.lat, fix.lon, fix.speed_kmh or 0.0, fix.event_time.timestamp(), record.send_ms / 1000)
            fixes[record.truck_id].append(row)
    names = ("lat", "lon", "speed_kmh", "event_s", "send_s")
    return [dict(zip(names, np.array(rows).T, strict=True)) for rows in fixes.values()]


def draw_map(axes: Axes, day: list[Track], box: tuple[float, float, float, float], style: str = "-") -> None:
    west, east, south, north = box
    edges = [[(NODES.lon[i], NODES.lat[i]) for i in (a, b)] for a, near in enumerate(GRAPH) for b in near if a < b]
    axes.add_collection(LineCollection(edges, colors="0.8", linewidths=0.8, zorder=0))
    for track in day:
        axes.plot(track["lon"], track["lat"], style, lw=0.8, ms=2)
    for fence in feature_collection()["features"]:
        shape = fence["geometry"]["coordinates"]
        lon, lat = np.atleast_2d(np.array(shape[0] if fence["properties"]["kind"] == "polygon" else shape)).T
        axes.plot(lon, lat, "k-" if len(lon) > 1 else "rx", lw=1, ms=4)
    axes.set(xlim=(west, east), ylim=(south, north), title=f"tracks and fences, {box}")


def draw_histogram(axes: Axes, values: list[float], bins: int | list[float], title: str, *, log: bool = False) -> None:
    axes.hist(values, bins=bins, log=log)
    axes.set_title(title)


def stays_min(day: list[Track]) -> list[float]:
    found: list[float] = []
    for track in day:
        for still, run in itertools.groupby(zip(track["speed_kmh"], track["event_s"], strict=True), lambda x: x[0] < 1):
            times = [moment for _, moment in run]
            if still:
                found.append(float(max(times) - min(times)) / 60)
    return found


def draw(folder: Path) -> Path:
    day = a_day()
    figure, axes = plt.subplots(4, 2, figsize=(18, 27))
    draw_map(axes[0, 0], day, (-125, -66, 24, 50))
    draw_map(axes[0, 1], day, (-74.35, -73.9, 40.55, 40.95), ".-")
    draw_map(axes[1, 0], day, (-74.19, -74.15, 40.73, 40.755), ".-")
    speeds = np.concatenate([track["speed_kmh"] for track in day])
    draw_histogram(axes[1, 1], list(speeds[speeds > 1]), 120, "speed while moving, km/h")
    draw_histogram(axes[2, 0], stays_min(day), list(np.arange(0.0, 640, 5)), "length of stays, min")
    gaps = np.concatenate([np.diff(track["event_s"]) for track in day])
    draw_histogram(axes[2, 1], list(gaps), list(np.arange(-300.0, 300, 5)), "s between fixes as they arrive", log=True)
    for track in day[:4]:
        axes[3, 0].plot((track["event_s"] - START.timestamp()) / 3600, track["speed_kmh"], lw=0.7)
    axes[3, 0].set_title("speed of four trucks over the day (UTC), km/h")
    moving = [(track["event_s"][track["speed_kmh"] > 1] - START.timestamp()) / 3600 for track in day]
    draw_histogram(axes[3, 1], list(np.concatenate(moving)), 96, "moving fixes by hour (UTC)")
    figure.tight_layout()
    picture = folder / "simulator_day.png"
    figure.savefig(picture, dpi=60)
    plt.close(figure)
    return picture


if __name__ == "__main__":
    print(draw(Path(sys.argv[1])))
