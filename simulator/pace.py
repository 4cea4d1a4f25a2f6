"""When a record is sent: the fleet's time against the clock on the wall."""

import math
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from simulator.progress import Progress
from simulator.publish import Outbox
from simulator.stream import Sent

SLICE_S = 0.1
"""Records that are due are sent together at most so often: a fleet of any size wakes up ten times a second."""


@dataclass(frozen=True)
class Pace:
    """`speed` times faster than the clock from `start_ms` on, which is now; infinite: all at once."""

    start_ms: int
    begun_s: float
    speed: float
    ahead: bool = False
    """Whether records may be sent before their own time has come."""

    def due_s(self, send_ms: int) -> float:
        paced_s = self.begun_s + (send_ms - self.start_ms) / 1000 / self.speed if math.isfinite(self.speed) else 0.0
        return paced_s if self.ahead else max(paced_s, send_ms / 1000)


def publish(
    records: Iterable[Sent], outbox: Outbox, pace: Pace, *, stop: threading.Event, progress: Progress | None = None
) -> None:
    """Send each record when it is due, until the records end or `stop` is set.

    After a pause it catches up: nothing is left out, and each fix carries its own event time.
    """
    now_s = time.time()
    for record in records:
        due_s = pace.due_s(record.send_ms)
        while due_s > now_s:
            if stop.wait(max(SLICE_S, min(due_s - now_s, 60.0))):
                return
            now_s = time.time()
        if not outbox.send_fix(record):
            return
        if progress is not None:
            progress.count(record)
