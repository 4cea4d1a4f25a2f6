"""The judge against the oracle: any arrival order, any cut into batches, the same rows."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streaming.engine import run_batch, settle
from streaming.rows import rows_of
from streaming.rules import Rules
from streaming.shard import Shard
from streaming.stored import pack_base, pack_piece, unpack
from tests.oracle import Oracle, fixes_of

RULES = Rules()
START_MS = 1_790_000_000_000
Message = tuple[str, dict[str, Any], int]


def engine_rows(
    messages: list[Message], cuts: list[int], *, fold_always: bool
) -> list[tuple[str, str, dict[str, Any]]]:
    """What the engine writes when the messages come in batches, stored and loaded between any two of them."""
    stored: list[bytes] = []
    out: list[tuple[str, str, dict[str, Any]]] = []
    bounds = [0, *sorted(cuts), len(messages)]
    for start, end in pairwise(bounds):
        cut = messages[start:end]
        if not cut:
            continue
        records = pd.DataFrame(
            {
                "key": [key.encode() for key, _, _ in cut],
                "value": [json.dumps(fix).encode() for _, fix, _ in cut],
                "partition": 0,
                "offset": range(start, end),
                "received_ms": [received for _, _, received in cut],
            }
        )
        shard = unpack(stored[0], stored[1:], RULES) if stored else Shard(RULES)
        known = len(shard.truck_ids)
        batch = run_batch(shard, records[:0], records, [], first=True)
        rows = rows_of(0, shard, batch, records[:0], records)
        if fold_always or not stored:
            settle(shard)
            stored = [pack_base(shard)]
        else:
            stored.append(pack_piece(shard, batch, known))
        for topic, key, value in rows.itertuples(index=False):
            said = json.loads(value)
            out += [(topic, key, each) for each in (fixes_of(said) if topic == "trucks_judged" else [said])]
    return out


@st.composite
def feeds(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for _ in range(draw(st.integers(1, 40))):
        truck = draw(st.sampled_from(["A", "B"]))
        seconds = draw(st.sampled_from([0, 10, 20, 21, 40, 60, 65, 119, 120, 180, 300, 400, 650, 700, 3600]))
        fix: dict[str, Any] = {
            "truck_id": truck,
            "lat": draw(st.sampled_from([50.0, 50.0001, 50.002, 50.01, 51.0])),
            "lon": draw(st.sampled_from([4.0, 4.001, 179.9999, -179.9999])),
            "event_time": str(np.datetime64(START_MS + seconds * 1000, "ms")) + "Z",
        }
        if draw(st.booleans()):
            fix["speed_kmh"] = draw(st.sampled_from([0, 2.5, 80]))
        if draw(st.booleans()):
            fix["heading_deg"] = draw(st.sampled_from([0, 90.5, 360]))
        messages.append((truck, fix, START_MS + seconds * 1000 + 1))
    return messages


def comparable(rows: list[tuple[str, str, dict[str, Any]]], topic: str) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True) for name, _, value in rows if name == topic)


def newest(rows: list[tuple[str, str, dict[str, Any]]], topic: str) -> dict[str, dict[str, Any]]:
    return {key: value for name, key, value in rows if name == topic}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(feeds(), st.lists(st.integers(0, 40), max_size=5), st.booleans())
def test_any_cut_into_batches_ends_in_what_the_oracle_says(
    feed: list[Message], cuts: list[int], fold_always: bool
) -> None:
    rows = engine_rows(feed, [min(cut, len(feed)) for cut in cuts], fold_always=fold_always)
    oracle = Oracle()
    for offset, (_, fix, received) in enumerate(feed):
        oracle.take(fix, received_ms=received, offset=offset)
    oracle.must_equal_judged([value for name, _, value in rows if name == "trucks_judged"])
    oracle.must_equal_states(newest(rows, "trucks_state"))
    counts = newest(rows, "pipeline")["counts/0"]
    assert counts["input"] == len(feed)
    assert counts["judged"] == oracle.judged
    assert counts["duplicate"] == oracle.duplicate
    assert counts["late"] == oracle.late
    assert counts["rejected"] == dict(oracle.rejected)
    assert counts["input"] == counts["judged"] + counts["duplicate"] + counts["late"] + sum(counts["rejected"].values())


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100)
@given(feeds(), st.lists(st.integers(0, 40), max_size=5))
def test_rows_do_not_depend_on_where_batches_are_cut(feed: list[Message], cuts: list[int]) -> None:
    at_once = engine_rows(feed, [], fold_always=False)
    in_parts = engine_rows(feed, [min(cut, len(feed)) for cut in cuts], fold_always=True)
    assert comparable(at_once, "trucks_judged") == comparable(in_parts, "trucks_judged")
    assert comparable(at_once, "trucks_rejects") == comparable(in_parts, "trucks_rejects")
