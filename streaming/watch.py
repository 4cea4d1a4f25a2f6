"""What the detectors remember of a truck and of each fence it is in or about to enter, and what they find."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from schemas.models import Cause
from streaming.places import Version

NEVER = np.iinfo(np.int64).min // 2

# One truck: its last accurate fix, an overspeed run and a standing run (each NEVER where there is none).
WATCH = np.dtype(
    [
        ("t", np.int64),
        ("lat", np.float64),
        ("lon", np.float64),
        ("accuracy_m", np.float64),
        ("over_fixes", np.int32),
        ("over_t", np.int64),
        ("over_lat", np.float64),
        ("over_lon", np.float64),
        ("over_kmh", np.float64),
        ("over_top_kmh", np.float64),
        ("over_limit_kmh", np.float64),
        ("over_fence", np.int32),
        ("stand_t", np.int64),
        ("stand_lat", np.float64),
        ("stand_lon", np.float64),
        ("flaps", np.int32),
    ]
)

# One truck and one fence: inside, or outside with `run_fixes` fixes towards a change. A truck that is plainly outside
# of a fence has no row. `run_*` is the first fix of the run, `prev_*` the fix before it, `last_*` the last one inside.
PAIR = np.dtype(
    [
        ("truck", np.int32),
        ("fence", np.int32),
        ("inside", np.bool_),
        ("cause", np.int8),
        ("run_fixes", np.int32),
        *(
            (f"{name}_{field}", np.int64 if field == "t" else np.float64)
            for name in ("run", "prev", "enter", "last")
            for field in ("t", "lat", "lon")
        ),
    ]
)
Watches = NDArray[np.void]
Pairs = NDArray[np.void]


class Opened(IntEnum):
    """How a visit began, as a pair stores it."""

    DRIVING = 0
    FIRST_FIX = 1
    FENCE_CREATED = 2
    FENCE_EDITED = 3

    @property
    def cause(self) -> Cause | None:
        return CAUSES[self]


CAUSES = {
    Opened.DRIVING: None,
    Opened.FIRST_FIX: Cause.FIRST_FIX,
    Opened.FENCE_CREATED: Cause.FENCE_CREATED,
    Opened.FENCE_EDITED: Cause.FENCE_EDITED,
}


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a truck was at a moment; NEVER: nowhere known."""

    t: int
    lat: float
    lon: float


@dataclass(frozen=True, slots=True)
class Stay:
    """A visit that is open at the end, or was closed. `*_at`: the moment on the timeline that decided it."""

    truck: int
    fence: int
    enter: Spot
    before: Spot
    opened: Opened
    opened_at: int
    last: Spot
    exit: Spot | None = None
    exit_cause: Cause | None = None
    closed_at: int = NEVER


@dataclass(frozen=True, slots=True)
class Crossing:
    truck: int
    fence: int
    version: Version
    before: Spot
    after: Spot


@dataclass(frozen=True, slots=True)
class Overspeed:
    truck: int
    fence: int
    first: Spot
    raised_at: int
    speed_kmh: float
    limit_kmh: float
    top_kmh: float
    end_t: int | None = None
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A truck that stood long enough to be idle; `end_t` None while it still stands."""

    truck: int
    first: Spot
    end_t: int | None = None


def unknown(count: int) -> Watches:
    """Trucks that were never seen."""
    watches = np.zeros(count, WATCH)
    for name in ("t", "over_t", "stand_t"):
        watches[name] = NEVER
    watches["over_fence"] = -1
    return watches
