"""Sends each fix when its time has come, and says once per interval how that goes."""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from datetime import datetime

from schemas.models import Fix, Truck, as_rfc3339
from schemas.topics import TRUCKS, TRUCKS_GPS
from simulator.publish import Outbox, Tally

log = logging.getLogger(__name__)


def as_json(fix: Fix) -> str:
    """The fix as `trucks_gps` carries it: fields without a value are left out."""
    fields = fix.model_dump(exclude_none=True)
    if fix.event_time is not None:
        fields["event_time"] = as_rfc3339(fix.event_time)
    return json.dumps(fields, separators=(",", ":"))


def register(trucks: Iterable[Truck], outbox: Outbox) -> None:
    for truck in trucks:
        outbox.send(TRUCKS, key=truck.truck_id, value=truck.model_dump_json())


def drive(fixes: Iterable[Fix], outbox: Outbox, *, now: Callable[[], datetime], stop: threading.Event) -> None:
    """Send the fixes as they come due. After a pause it catches up: a late fix still carries its own event time."""
    for fix in fixes:
        due = fix.event_time or now()
        if stop.wait(max(0.0, (due - now()).total_seconds())):
            return
        if not outbox.send(TRUCKS_GPS, key=fix.truck_id, value=as_json(fix)):
            return


def report(outbox: Outbox, *, interval_s: float, stop: threading.Event) -> None:
    """One line per interval until told to stop; a thread's work, so that it speaks while the fleet waits."""
    before = outbox.tally()
    while not stop.wait(interval_s):
        after = outbox.tally()
        log.info(summary(before, after))
        before = after


def summary(before: Tally, after: Tally) -> str:
    acknowledged = after.acknowledged - before.acknowledged
    line = f"{after.sent - before.sent} sent, {acknowledged} acknowledged, {after.failed - before.failed} failed"
    if after.last_error:
        line += f" ({after.last_error})"
    if before.waiting and not acknowledged:
        line += f"; Kafka does not answer, {after.waiting} wait, still trying"
    return line
