"""What goes wrong between a truck and Kafka: each thing as often as its rate says, and as it does in life."""

import itertools
from collections import defaultdict
from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest

from schemas.models import Fix, Reason
from simulator.chance import Luck
from simulator.faults import Fault, Faults, Reports
from simulator.fleet import Positions
from simulator.garble import GARBLES
from simulator.geodesy import M_PER_DEG
from simulator.rates import PRESETS, Rates
from simulator.stream import Sent, Stream
from streaming.decode import decode
from streaming.rules import Rules

START = datetime(2026, 1, 1, 15, tzinfo=UTC)
RULES = Rules(
    horizon_ms=600_000,
    future_ms=120_000,
    max_fix_bytes=16_384,
    jump_kmh=200,
    moving_kmh=3,
    idle_ms=300_000,
    gap_ms=120_000,
)
MANY = 40_000
RATE = 0.1


def many_positions() -> Positions:
    """Each of another truck, which has just left and drives somewhere in the country."""
    luck, number = Luck(99), np.arange(1, MANY + 1)
    lat, lon = luck.between(30, 48, "lat", number), luck.between(-120, -70, "lon", number)
    return Positions(
        number=number,
        time_ms=1_767_225_600_000 + luck.pick(86_400_000, "time", number),
        lat=lat,
        lon=lon,
        speed_kmh=np.full(MANY, 80.0),
        heading_deg=np.zeros(MANY),
        trip=np.ones(MANY, dtype=np.int64),
        since_departure_s=np.full(MANY, 10.0),
    )


def reported(rates: Rates) -> Reports:
    faults = Faults(rates=rates, interval_ms=20_000, luck=Luck(1))
    positions = many_positions()
    return faults.reports(positions, seq=np.arange(MANY), after_tunnel=faults.is_hidden(positions))


def records(rates: Rates, *, trucks: int = 30, hours: float = 3) -> list[Sent]:
    stream = Stream(trucks=trucks, interval_s=20, seed=1, start_time=START, rates=rates)
    end_ms = START.timestamp() * 1000 + hours * 3_600_000
    return list(itertools.takewhile(lambda record: record.send_ms < end_ms, stream))


@pytest.mark.parametrize(
    ("rate", "fault", "share"),
    [
        ("outlier_rate", Fault.OUTLIER, RATE),
        ("cold_start_rate", Fault.COLD_START, RATE),
        ("tunnel_rate", Fault.TUNNEL, RATE),
        ("clock_offset_rate", Fault.CLOCK, RATE),
        ("clock_wrong_rate", Fault.CLOCK, RATE),
        # A lost connection lasts 8.5 of 30 minutes on average.
        ("offline_rate", Fault.STORED, RATE * 8.5 / 30),
        ("duplicate_rate", Fault.DUPLICATE, RATE),
        ("out_of_order_rate", Fault.OUT_OF_ORDER, RATE),
        ("late_rate", Fault.LATE, RATE),
        ("garbled_rate", Fault.GARBLED, RATE),
    ],
)
def test_each_fault_appears_at_its_rate_and_brings_no_other(rate: str, fault: Fault, share: float) -> None:
    seen = reported(replace(PRESETS["calm"], **{rate: RATE})).faults
    assert np.mean(seen[:MANY] > 0 if fault != Fault.DUPLICATE else seen == fault) == pytest.approx(share, rel=0.1)
    assert set(np.unique(seen)) == {0, fault}


def test_every_rate_is_tested_and_none_is_set_in_calm() -> None:
    names = {each.name for each in fields(Rates)} - {"noise_m"}
    assert all(getattr(PRESETS["calm"], name) == 0 for name in names)
    for name in names:
        assert getattr(PRESETS["hostile"], name) > getattr(PRESETS["realistic"], name) >= 0


def test_a_tunnel_hides_the_trucks_and_the_first_fix_after_it_is_poor() -> None:
    newest: dict[str, tuple[int | None, int]] = {}
    exits = 0
    for record in records(Rates(tunnel_rate=0.05)):
        seq, before_ms = newest.get(record.truck_id, (-1, record.send_ms))
        assert seq is not None
        assert record.seq == seq + 1, "what was not measured has no number"
        if seq >= 0:
            assert (record.classes == ("tunnel",)) == (record.send_ms - before_ms > 20_000)
        exits += record.classes == ("tunnel",)
        newest[record.truck_id] = (record.seq, record.send_ms)
    assert exits > 30


def test_a_receiver_states_its_error_and_outliers_are_50_to_200_m_off() -> None:
    seen, truth = reported(Rates(outlier_rate=RATE)), many_positions()
    north_m = (seen.lat - truth.lat) * M_PER_DEG
    east_m = (seen.lon - truth.lon) * M_PER_DEG * np.cos(np.radians(truth.lat))
    off_m, outlier = np.hypot(north_m, east_m), seen.faults > 0
    assert 49 < off_m[outlier].min() < 60
    assert 190 < off_m[outlier].max() < 201
    assert np.all((seen.accuracy_m >= 0.89 * off_m)[outlier])
    assert np.median(off_m[~outlier]) < 4
    assert np.mean(off_m[~outlier] < 2 * seen.accuracy_m[~outlier]) > 0.9


def test_clocks_are_off_by_seconds_or_an_hour_and_the_same_for_ever() -> None:
    truth = many_positions()
    off_s = (reported(Rates(clock_offset_rate=RATE)).event_ms - truth.time_ms) / 1000
    assert 15 < np.abs(off_s).max() <= 20
    wrong_s = (reported(Rates(clock_wrong_rate=RATE)).event_ms - truth.time_ms) / 1000
    assert set(np.unique(wrong_s)) == {-3600, 0, 3600}
    offsets = defaultdict(set)
    for record in records(PRESETS["hostile"], hours=0.5):
        if "garbled" not in record.classes and "clock" in record.classes:
            fix = Fix.model_validate_json(record.value)
            assert fix.event_time is not None
            assert fix.seq is not None
            offsets[record.truck_id].add(round(fix.event_time.timestamp() % 20, 3))
    assert all(len(phases) == 1 for phases in offsets.values())


def test_a_truck_that_was_offline_delivers_all_it_stored_in_one_burst_and_in_order() -> None:
    bursts: dict[tuple[str, int], list[int | None]] = defaultdict(list)
    everything = defaultdict(list)
    for record in records(Rates(offline_rate=1.0)):
        everything[record.truck_id].append(record.seq)
        if record.classes == ("stored",):
            bursts[record.truck_id, record.send_ms].append(record.seq)
    lengths = [len(burst) for burst in bursts.values()]
    assert len(lengths) > 100
    assert max(lengths) > 40
    for sequence in everything.values():
        assert sequence == list(range(len(sequence))), "nothing is lost, and nothing overtakes"


def test_what_is_out_of_order_arrives_after_its_successors_and_within_nine_minutes() -> None:
    newest: dict[str, int] = defaultdict(lambda: -1)
    overtaken = []
    for record in records(Rates(out_of_order_rate=0.05)):
        assert record.seq is not None
        if record.classes == ("out_of_order",):
            overtaken.append(newest[record.truck_id] - record.seq)
        newest[record.truck_id] = max(newest[record.truck_id], record.seq)
    assert len(overtaken) > 500
    assert max(overtaken) <= 27
    assert np.mean(np.array(overtaken) > 0) > 0.9, "unless the successor is held back as well"


def test_a_duplicate_has_the_same_bytes_as_its_first() -> None:
    first: dict[tuple[str, int | None], bytes] = {}
    again = 0
    for record in records(Rates(duplicate_rate=0.05)):
        if "duplicate" in record.classes:
            again += 1
            assert first[record.truck_id, record.seq] == record.value
        first.setdefault((record.truck_id, record.seq), record.value)
    assert again > 500


def test_every_garbled_record_is_rejected_and_no_other() -> None:
    seen = records(replace(PRESETS["hostile"], clock_wrong_rate=0, garbled_rate=0.05), trucks=20)
    rows = [(record.truck_id.encode(), record.value, record.send_ms) for record in seen]
    keys, values, received_ms = zip(*rows, strict=True)
    decoded = decode(keys, values, np.array(received_ms), RULES)
    garbled = {at for at, record in enumerate(seen) if "garbled" in record.classes}
    assert decoded.rejected.keys() == garbled
    assert set(decoded.rejected.values()) == {Reason.NOT_JSON, Reason.EMPTY, Reason.BAD_LAT, Reason.NULL_ISLAND}
    assert len(GARBLES) == 6
