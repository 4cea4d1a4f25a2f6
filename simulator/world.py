"""What stays the same while trucks drive, and the time of day where they are."""

from dataclasses import dataclass

import numpy as np

from simulator.chance import Luck
from simulator.columns import Floats
from simulator.legs import Legs
from simulator.sites import Map


@dataclass(frozen=True)
class World:
    """The map, the ways, and a fleet's luck."""

    sites: Map
    legs: Legs
    luck: Luck


def share_of_day(now_s: Floats, lon: Floats) -> Floats:
    """Local solar time as a share of the day, 0.5 at noon."""
    return np.asarray((now_s / 86_400 + lon / 360.0) % 1.0)
