"""How often what goes wrong, and the presets."""

from dataclasses import dataclass
from typing import Literal

Preset = Literal["calm", "realistic", "hostile"]


@dataclass(frozen=True)
class Rates:
    """Shares between 0 and 1, of what each line says; calm by default."""

    noise_m: float = 3.0
    """Usual error of a position, in metres."""
    outlier_rate: float = 0.0
    """Fixes that are 50 to 200 m off."""
    cold_start_rate: float = 0.0
    """Departures after which the receiver needs a minute to find its position."""
    tunnel_rate: float = 0.0
    """Squares of about 2 km that hide the sky from every truck on the road there."""
    clock_offset_rate: float = 0.0
    """Trucks whose clock is off by up to 20 s."""
    clock_wrong_rate: float = 0.0
    """Trucks whose clock is off by an hour."""
    offline_rate: float = 0.0
    """Half hours in which a truck loses its connection for some minutes and then delivers what it stored."""
    duplicate_rate: float = 0.0
    """Fixes that are sent twice."""
    out_of_order_rate: float = 0.0
    """Fixes that arrive after later ones of the same truck, at most 9 min late."""
    late_rate: float = 0.0
    """Fixes that arrive 11 to 60 min late."""
    garbled_rate: float = 0.0
    """Records whose bytes cannot be understood."""


PRESETS: dict[Preset, Rates] = {
    "calm": Rates(),
    "realistic": Rates(
        outlier_rate=0.005,
        cold_start_rate=0.3,
        tunnel_rate=0.005,
        clock_offset_rate=0.1,
        offline_rate=0.02,
        duplicate_rate=0.002,
        out_of_order_rate=0.002,
        late_rate=0.0002,
        garbled_rate=0.0001,
    ),
    "hostile": Rates(
        noise_m=6.0,
        outlier_rate=0.03,
        cold_start_rate=0.9,
        tunnel_rate=0.05,
        clock_offset_rate=0.4,
        clock_wrong_rate=0.02,
        offline_rate=0.25,
        duplicate_rate=0.05,
        out_of_order_rate=0.05,
        late_rate=0.01,
        garbled_rate=0.01,
    ),
}
