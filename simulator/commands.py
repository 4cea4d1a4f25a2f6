"""What `python -m simulator` can be told to do, from the settings to the exit code."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import takewhile

from schemas.topics import TRUCKS, TRUCKS_GPS, Topic
from simulator.connect import StartError, connect
from simulator.fleet import registry
from simulator.ledger import Ledger
from simulator.legs import us_legs
from simulator.pace import Pace, publish
from simulator.progress import Progress
from simulator.publish import Outbox
from simulator.report import report
from simulator.settings import Replay, Settings
from simulator.stream import Sent, Stream
from simulator.traces import UnreadableError, read

FLUSH_TIMEOUT_S = 10.0
REPLAY_REPORT_S = 20.0
FAST_HISTORY = timedelta(days=1)
log = logging.getLogger("simulator")


def drive(settings: Settings, stop: threading.Event) -> int:
    """Until `stop`, or for the duration that is set."""

    def work(outbox: Outbox) -> None:
        log.info("%d trucks, a fix each %g s, to %s", settings.trucks, settings.interval_s, settings.bootstrap_servers)
        for truck in registry(trucks=settings.trucks, seed=settings.seed):
            outbox.send(TRUCKS, key=truck.truck_id, value=truck.model_dump_json().encode())
        # The map takes seconds to make; the clock starts after it.
        us_legs()
        drive_from(start_time(settings, now=datetime.now(UTC)), settings, outbox, stop)

    report_s = max(1.0, settings.interval_s)
    return sending((TRUCKS, TRUCKS_GPS), work, settings, report_s=report_s, stop=stop)


def drive_from(start: datetime, settings: Settings, outbox: Outbox, stop: threading.Event) -> None:
    """Where history is sent first, its progress is shown until it has caught up with the clock."""
    now_ms, start_ms = round(time.time() * 1000), round(start.timestamp() * 1000)
    records = fixes(settings, start)
    speed = math.inf if settings.backfill else settings.speed
    pace = Pace(start_ms=start_ms, begun_s=now_ms / 1000, speed=speed)
    if not settings.backfill:
        publish(records, outbox, pace, stop=stop)
        return
    expected = round(settings.trucks * settings.backfill.total_seconds() / settings.interval_s)
    with Progress("history", total=expected, until_ms=now_ms) as progress:
        publish(records, outbox, pace, stop=stop, progress=progress)


def start_time(settings: Settings, *, now: datetime) -> datetime:
    """When the first fix is measured."""
    if settings.start_time is not None:
        return settings.start_time
    if settings.backfill is None and settings.speed > 1:
        return now - FAST_HISTORY
    return now - (settings.backfill or timedelta(0))


def fixes(settings: Settings, start: datetime) -> Iterable[Sent]:
    """All records of the fleet that the settings describe, up to its duration."""
    records = Stream(
        trucks=settings.trucks,
        interval_s=settings.interval_s,
        seed=settings.seed,
        start_time=start,
        rates=settings.rates,
    )
    if settings.duration is None:
        return records
    end_ms = round((start + settings.duration).timestamp() * 1000)
    return takewhile(lambda record: record.send_ms < end_ms, records)


def replay(settings: Replay, stop: threading.Event) -> int:
    """A recording, once."""
    try:
        records, bad_rows = read(settings.file)
    except (OSError, UnreadableError) as error:
        raise StartError(str(error)) from error
    for bad in bad_rows:
        log.warning("%s line %d: %s; skipped", settings.file, bad.line, bad.problem)
    if not records:
        raise StartError(f"{settings.file} has no usable fix.")
    log.info("%d fixes of %s, %d rows skipped", len(records), settings.file, len(bad_rows))

    def work(outbox: Outbox) -> None:
        pace = Pace(start_ms=records[0].send_ms, begun_s=time.time(), speed=settings.speed, ahead=True)
        with Progress("replay", total=len(records)) as progress:
            publish(records, outbox, pace, stop=stop, progress=progress)

    return sending((TRUCKS_GPS,), work, settings, report_s=REPLAY_REPORT_S, stop=stop)


def sending(
    topics: tuple[Topic, ...],
    work: Callable[[Outbox], None],
    settings: Settings | Replay,
    *,
    report_s: float,
    stop: threading.Event,
) -> int:
    """Do the work with an outbox that reports and writes the ledger; the exit code is 0 if all was acknowledged."""
    with ExitStack() as closing:
        producer = connect(settings.bootstrap_servers, topics)
        ledger = closing.enter_context(Ledger(settings.ledger, stop=stop)) if settings.ledger else None
        outbox = Outbox(producer, stop=stop, ledger=ledger)
        threading.Thread(
            target=report, args=(outbox,), kwargs={"interval_s": report_s, "stop": stop}, daemon=True
        ).start()
        work(outbox)
        end = outbox.close(FLUSH_TIMEOUT_S)
    log.info(
        "stopped: %d sent, %d acknowledged, %d failed, %d unanswered",
        *(end.sent, end.acknowledged, end.failed, end.waiting),
    )
    return 0 if end.acknowledged == end.sent else 1
