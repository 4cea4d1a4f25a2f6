"""How much a caller may ask: requests per second, and bytes in a body."""

import time
from collections.abc import Callable

MOST_CALLERS = 10_000


class Limiter:
    """A bucket per caller: it holds `burst` requests and refills at `per_s`."""

    def __init__(self, per_s: float, burst: float, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock_s = clock_s
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait_s(self, caller: str) -> float:
        """0 where the request may pass, else how long to wait."""
        now_s = self._clock_s()
        left, seen_s = self._buckets.get(caller, (self._burst, now_s))
        left = min(self._burst, left + (now_s - seen_s) * self._per_s)
        if len(self._buckets) >= MOST_CALLERS:
            self._buckets.clear()
        passes = left >= 1
        self._buckets[caller] = (left - 1 if passes else left, now_s)
        return 0.0 if passes else (1 - left) / self._per_s
