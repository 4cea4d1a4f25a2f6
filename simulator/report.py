"""Says once per interval what became of the records."""

import logging
import threading

from simulator.publish import Outbox, Tally

log = logging.getLogger("simulator")


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
