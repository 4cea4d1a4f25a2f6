"""Everything a fleet sends, in the order in which it reaches the network."""

from collections.abc import Iterator
from datetime import datetime

import msgspec
import numpy as np

from simulator.chance import Luck
from simulator.faults import Fault, Faults, Reports
from simulator.fleet import Fleet, Positions, truck_id
from simulator.garble import GARBLES
from simulator.rates import Rates


class Message(msgspec.Struct, gc=False):
    """A fix as `trucks_gps` carries it."""

    truck_id: str
    lat: float
    lon: float
    event_time: str
    speed_kmh: float
    heading_deg: float
    accuracy_m: float
    seq: int


class Sent(msgspec.Struct, frozen=True, gc=False):
    """A record for `trucks_gps`, when it is due, and what the ledger says of it."""

    truck_id: str
    value: bytes
    send_ms: int
    event_time: str
    seq: int | None
    classes: tuple[str, ...]


CLASSES = [
    tuple(str(fault.name).lower() for fault in Fault if bits & fault) or ("good",) for bits in range(2 * Fault.GARBLED)
]
ENCODER = msgspec.json.Encoder()


class Stream:
    """The records of a fleet with its faults, for ever. The same arguments give the same bytes in the same order."""

    def __init__(self, *, trucks: int, interval_s: float, seed: int, start_time: datetime, rates: Rates) -> None:
        start_ms = round(start_time.timestamp() * 1000)
        self._fleet = Fleet(trucks=trucks, interval_s=interval_s, seed=seed, start_ms=start_ms)
        self._faults = Faults(rates=rates, interval_ms=self._fleet.interval_ms, luck=Luck(seed))
        self._ids = [truck_id(number) for number in range(trucks + 1)]
        self._next_seq = np.zeros(trucks + 1, dtype=np.int64)
        self._was_hidden = np.zeros(trucks + 1, dtype=np.bool_)

    def __iter__(self) -> Iterator[Sent]:
        held: Reports | None = None
        for until_ms, positions in self._fleet.positions():
            reports = self._measured(positions)
            held = held.with_(reports) if held is not None else reports
            due = held.send_ms < until_ms
            yield from self._records(in_order(held.only(due)))
            held = held.only(~due)

    def _measured(self, positions: Positions) -> Reports:
        """What receivers make of the positions that they can see; each such fix gets its truck's next number."""
        hidden = self._faults.is_hidden(positions)
        after_tunnel = self._was_hidden[positions.number][~hidden]
        self._was_hidden[positions.number] = hidden
        seen = positions.only(~hidden)
        seq = self._next_seq[seen.number]
        self._next_seq[seen.number] += 1
        return self._faults.reports(seen, seq=seq, after_tunnel=after_tunnel)

    def _records(self, reports: Reports) -> Iterator[Sent]:
        """Rounded to what a receiver gives: 0.1 m, 0.1 km/h, 0.1 degrees."""
        moments = np.datetime_as_string(reports.event_ms.astype("datetime64[ms]")).tolist()
        columns = zip(
            reports.number.tolist(),
            np.round(reports.lat, 6).tolist(),
            np.round(reports.lon, 6).tolist(),
            moments,
            np.round(reports.speed_kmh, 1).tolist(),
            (np.round(reports.heading_deg, 1) % 360).tolist(),
            np.round(reports.accuracy_m, 1).tolist(),
            reports.seq.tolist(),
            reports.send_ms.tolist(),
            reports.faults.tolist(),
            reports.garble.tolist(),
            strict=True,
        )
        for number, lat, lon, moment, speed, heading, accuracy, seq, send_ms, faults, garble in columns:
            truck, event_time = self._ids[number], f"{moment}Z"
            value = ENCODER.encode(Message(truck, lat, lon, event_time, speed, heading, accuracy, seq))
            if garble >= 0:
                value = GARBLES[garble](value)
            yield Sent(truck, value, send_ms, event_time, seq, CLASSES[faults])


def in_order(reports: Reports) -> Reports:
    """By the time of sending; what a truck sends at one moment by the time of measuring."""
    return reports.only(
        np.lexsort((reports.faults & Fault.DUPLICATE, reports.time_ms, reports.number, reports.send_ms))
    )
