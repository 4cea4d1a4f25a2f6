"""From where a truck truly is to what its receiver, its clock and its connection make of it. Pure, over columns."""

from dataclasses import dataclass, fields
from enum import IntFlag
from typing import Self

import numpy as np

from simulator.chance import Luck
from simulator.columns import Bools, Floats, Ints
from simulator.fleet import Positions
from simulator.garble import GARBLES
from simulator.geodesy import Places, moved
from simulator.rates import Rates

OUTLIER_M = (50.0, 200.0)
COLD_S, COLD_M = 60.0, (30.0, 120.0)
AFTER_TUNNEL_M = (20.0, 60.0)
TUNNEL_SQUARES_PER_DEG = 50
TUNNEL_KMH = 30.0
CLOCK_OFFSET_MS, CLOCK_WRONG_MS = 20_000.0, 3_600_000
OFFLINE_BLOCK_MS = 30 * 60_000
OFFLINE_START_SHARE, OFFLINE_MS = 0.4, (2 * 60_000.0, 15 * 60_000.0)
OUT_OF_ORDER_INTERVALS, OUT_OF_ORDER_MAX_MS = (1.2, 6.0), 9 * 60_000.0
LATE_MS = (11 * 60_000.0, 60 * 60_000.0)
AGAIN_MS = (0.0, 60_000.0)


class Fault(IntFlag):
    """The classes of a record; none of them is `good`."""

    OUTLIER = 1
    COLD_START = 2
    TUNNEL = 4
    CLOCK = 8
    STORED = 16
    DUPLICATE = 32
    OUT_OF_ORDER = 64
    LATE = 128
    GARBLED = 256


@dataclass(frozen=True)
class Reports:
    """What trucks report; one entry per record. `send_ms` is when it reaches the network, by the true clock."""

    number: Ints
    seq: Ints
    time_ms: Ints
    event_ms: Ints
    send_ms: Ints
    lat: Floats
    lon: Floats
    speed_kmh: Floats
    heading_deg: Floats
    accuracy_m: Floats
    faults: Ints
    garble: Ints
    """Which of the ways to spoil the bytes, -1 for none."""

    def only(self, chosen: Bools | Ints) -> Self:
        return type(self)(**{each.name: getattr(self, each.name)[chosen] for each in fields(self)})

    def with_(self, other: Self) -> Self:
        return type(self)(
            **{n: np.concatenate([getattr(self, n), getattr(other, n)]) for n in (each.name for each in fields(self))}
        )


@dataclass(frozen=True)
class Faults:
    """Everything that happens between a truck and Kafka, by rates, interval and luck alone."""

    rates: Rates
    interval_ms: int
    luck: Luck

    def is_hidden(self, positions: Positions) -> Bools:
        """In a tunnel: there is no fix. Squares of the map, so that every truck that passes is hidden."""
        square = [np.floor(each * TUNNEL_SQUARES_PER_DEG).astype(np.int64) for each in (positions.lat, positions.lon)]
        tunnel = self.luck.share("tunnel", *square) < self.rates.tunnel_rate
        return np.asarray(tunnel & (positions.speed_kmh > TUNNEL_KMH))

    def reports(self, seen: Positions, *, seq: Ints, after_tunnel: Bools) -> Reports:
        """Of positions that a receiver could measure: what is sent, and when; duplicates come last."""
        places, accuracy_m, faults = self._received(seen, after_tunnel)
        offset_ms = self._clock_offset_ms(seen)
        send_ms, delays = self._sent(seen)
        garbled = self._happens(self.rates.garbled_rate, "garbled", seen)
        garble = np.where(garbled, self.luck.pick(len(GARBLES), "garble", seen.number, seen.time_ms), -1)
        faults |= delays | Fault.CLOCK * (offset_ms != 0) | Fault.GARBLED * garbled
        speed_kmh = seen.speed_kmh + 0.4 * self.luck.bell("speed", seen.number, seen.time_ms)
        once = Reports(
            number=seen.number,
            seq=seq,
            time_ms=seen.time_ms,
            event_ms=seen.time_ms + offset_ms,
            send_ms=send_ms,
            lat=places.lat,
            lon=places.lon,
            speed_kmh=np.where(seen.speed_kmh > 0, np.maximum(speed_kmh, 0), 0.0),
            heading_deg=seen.heading_deg,
            accuracy_m=accuracy_m,
            faults=faults,
            garble=garble,
        )
        return once.with_(self._again(once))

    def _happens(self, rate: float, purpose: str, seen: Positions | Reports) -> Bools:
        return np.asarray(self.luck.share(purpose, seen.number, seen.time_ms) < rate)

    def _received(self, seen: Positions, after_tunnel: Bools) -> tuple[Places, Floats, Ints]:
        """Positions with their error, the accuracy that the receiver states, and why it is poor."""
        keys = (seen.number, seen.time_ms)
        outlier = self._happens(self.rates.outlier_rate, "outlier", seen)
        cold = seen.since_departure_s < COLD_S
        cold &= self.luck.share("cold", seen.number, seen.trip) < self.rates.cold_start_rate
        off_m = np.abs(self.luck.bell("noise", *keys)) * self.rates.noise_m
        warming = 1 - np.clip(seen.since_departure_s / COLD_S, 0, 0.8)
        off_m = np.where(cold, self.luck.between(*COLD_M, "cold", *keys) * warming, off_m)
        off_m = np.where(after_tunnel, self.luck.between(*AFTER_TUNNEL_M, "after tunnel", *keys), off_m)
        off_m = np.where(outlier, self.luck.between(*OUTLIER_M, "outlier/m", *keys), off_m)
        places = moved(
            Places(lat=seen.lat, lon=seen.lon), heading_deg=self.luck.between(0, 360, "off", *keys), by_m=off_m
        )
        poor = outlier | cold | after_tunnel
        usual_m = self.rates.noise_m * self.luck.between(1, 3, "accuracy", *keys)
        accuracy_m = np.where(poor, off_m * self.luck.between(0.9, 1.4, "accuracy", *keys), usual_m)
        faults = Fault.OUTLIER * outlier | Fault.COLD_START * cold | Fault.TUNNEL * after_tunnel
        return places, accuracy_m, np.asarray(faults, dtype=np.int64)

    def _clock_offset_ms(self, seen: Positions) -> Ints:
        """Each truck's own, for ever."""
        kind = self.luck.share("clock", seen.number)
        ahead = self.luck.between(-1, 1, "clock/ahead", seen.number)
        wrong = kind < self.rates.clock_wrong_rate
        off = kind > 1 - self.rates.clock_offset_rate
        offset_ms = np.where(off, ahead * CLOCK_OFFSET_MS, 0.0)
        return np.where(wrong, np.sign(ahead) * CLOCK_WRONG_MS, offset_ms).astype(np.int64)

    def _sent(self, seen: Positions) -> tuple[Ints, Ints]:
        """When each fix leaves the truck, and as which fault. What was stored leaves in order, all at once."""
        keys = (seen.number, seen.time_ms)
        back_ms = self._back_online_ms(seen)
        stored = back_ms > seen.time_ms
        behind = ~stored & self._happens(self.rates.out_of_order_rate, "out of order", seen)
        late = ~stored & ~behind & self._happens(self.rates.late_rate, "late", seen)
        some_ms = self.interval_ms * self.luck.between(*OUT_OF_ORDER_INTERVALS, "behind", *keys)
        delay_ms = np.where(behind, np.minimum(some_ms, OUT_OF_ORDER_MAX_MS), 0.0)
        delay_ms = np.where(late, self.luck.between(*LATE_MS, "late/ms", *keys), delay_ms)
        send_ms = np.where(stored, back_ms, seen.time_ms + delay_ms.astype(np.int64))
        return send_ms, Fault.STORED * stored | Fault.OUT_OF_ORDER * behind | Fault.LATE * late

    def _back_online_ms(self, seen: Positions) -> Ints:
        """When the connection that is lost now will be back; 0 for a truck that is connected.

        Time is cut into half hours, each truck's shifted by its own phase; each may hold one outage.
        """
        phase_ms = self.luck.pick(OFFLINE_BLOCK_MS, "offline/phase", seen.number)
        block, into_ms = np.divmod(seen.time_ms + phase_ms, OFFLINE_BLOCK_MS)
        keys = (seen.number, block)
        start_ms = self.luck.between(0, OFFLINE_START_SHARE * OFFLINE_BLOCK_MS, "offline/start", *keys)
        end_ms = (start_ms + self.luck.between(*OFFLINE_MS, "offline/length", *keys)).astype(np.int64)
        lost = (
            (self.luck.share("offline", *keys) < self.rates.offline_rate) & (start_ms <= into_ms) & (into_ms < end_ms)
        )
        return np.where(lost, block * OFFLINE_BLOCK_MS - phase_ms + end_ms, 0)

    def _again(self, once: Reports) -> Reports:
        repeated = once.only(self._happens(self.rates.duplicate_rate, "duplicate", once))
        later_ms = self.luck.between(*AGAIN_MS, "again", repeated.number, repeated.time_ms).astype(np.int64)
        changed = {"send_ms": repeated.send_ms + later_ms, "faults": repeated.faults | Fault.DUPLICATE}
        return Reports(**{**vars(repeated), **changed})
