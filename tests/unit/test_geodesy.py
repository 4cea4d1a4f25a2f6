"""Metres on the ellipsoid, and how far the plane around a point may be trusted."""

import numpy as np

from streaming.geodesy import PLANE_M, PLANE_REACH_M, PLANE_SHARE, WGS84, edge_m, plane_edge_m, within_m
from tests.alert_oracle import to_edge_m

CHANCE = np.random.default_rng(7)


def edges(count: int, nearest_m: float, farthest_m: float) -> tuple[np.ndarray, ...]:
    """Points anywhere, and edges of 10 m to 100 km that begin somewhere around them."""
    lat, lon = CHANCE.uniform(-80, 80, count), CHANCE.uniform(-180, 180, count)
    apart_m = np.exp(CHANCE.uniform(np.log(nearest_m), np.log(farthest_m), count))
    length_m = np.exp(CHANCE.uniform(np.log(10), np.log(100_000), count))
    start_lon, start_lat, _ = WGS84.fwd(lon, lat, CHANCE.uniform(0, 360, count), apart_m)
    end_lon, end_lat, _ = WGS84.fwd(start_lon, start_lat, CHANCE.uniform(0, 360, count), length_m)
    return lat, lon, start_lat, start_lon, end_lat, end_lon


def test_the_plane_is_never_more_wrong_than_it_is_said_to_be() -> None:
    lat, lon, *ends = edges(20_000, 1, PLANE_REACH_M)
    args = lat, lon, (ends[0], ends[1]), (ends[2], ends[3])
    plane_m, exact_m = plane_edge_m(*args), edge_m(*args)
    # Half of what is allowed, so that the other half is room.
    assert np.all(np.abs(plane_m - exact_m) <= PLANE_SHARE / 2 * np.maximum(plane_m, exact_m) + PLANE_M)


def test_an_edge_is_as_far_away_as_the_oracle_finds() -> None:
    lat, lon, *ends = edges(100, 1, 20_000)
    found_m = edge_m(lat, lon, (ends[0], ends[1]), (ends[2], ends[3]))
    for i in range(100):
        expected_m = to_edge_m((lat[i], lon[i]), (ends[0][i], ends[1][i]), (ends[2][i], ends[3][i]))
        assert abs(found_m[i] - expected_m) < 1e-3 + 1e-6 * expected_m


def test_the_shortcut_gives_the_exact_answer_right_at_the_limit() -> None:
    lat, lon, *ends = edges(2_000, 10, 20_000)
    args = lat, lon, (ends[0], ends[1]), (ends[2], ends[3])
    exact_m = edge_m(*args)
    assert within_m(*args, exact_m * (1 + 1e-9)).all()
    assert not within_m(*args, exact_m * (1 - 1e-6)).any()
