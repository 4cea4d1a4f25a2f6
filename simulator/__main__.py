"""`python -m simulator`: drive the fleet until told to stop."""

import logging
import signal
import sys
import threading
from datetime import UTC, datetime

from pydantic import ValidationError
from pydantic_settings import CliApp

from schemas.topics import TRUCKS, TRUCKS_GPS
from simulator.drive import drive, register, report
from simulator.fleet import fixes, registry
from simulator.publish import Outbox, StartError, connect
from simulator.settings import Settings

FLUSH_TIMEOUT_S = 10.0
SIGNALS = {signal.SIGTERM, signal.SIGINT}
log = logging.getLogger("simulator")


def stop_on_signal() -> threading.Event:
    """Set by SIGTERM or SIGINT.

    A thread of its own waits for them: a handler in the main thread could deadlock on the lock inside the event.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    stop = threading.Event()

    def wait() -> None:
        signal.sigwait(SIGNALS)
        stop.set()

    threading.Thread(target=wait, name="signals", daemon=True).start()
    return stop


def run(settings: Settings, stop: threading.Event) -> int:
    """Drive until `stop`; the exit code is 0 if every record was acknowledged."""
    outbox = Outbox(connect(settings.bootstrap_servers, (TRUCKS, TRUCKS_GPS)), stop=stop)
    telling = threading.Thread(
        target=report, args=(outbox,), kwargs={"interval_s": settings.interval_s, "stop": stop}, daemon=True
    )
    telling.start()
    log.info("%d trucks, a fix each %g s, to %s", settings.trucks, settings.interval_s, settings.bootstrap_servers)
    register(registry(trucks=settings.trucks, seed=settings.seed), outbox)
    start_time = settings.start_time or datetime.now(UTC)
    fleet = fixes(trucks=settings.trucks, interval_s=settings.interval_s, seed=settings.seed, start_time=start_time)
    drive(fleet, outbox, now=lambda: datetime.now(UTC), stop=stop)
    end = outbox.close(FLUSH_TIMEOUT_S)
    log.info(
        "stopped: %d sent, %d acknowledged, %d failed, %d unanswered",
        *(end.sent, end.acknowledged, end.failed, end.waiting),
    )
    return 0 if end.acknowledged == end.sent else 1


def read_settings() -> Settings:
    try:
        return CliApp.run(Settings)
    except ValidationError as error:
        wrong = [f"{each['loc'][0]}={each['input']}: {each['msg']}" for each in error.errors()]
        raise SystemExit("\n".join(wrong)) from error


def main() -> int:
    settings = read_settings()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # kafka-python logs every attempt to reconnect; the summary says the same once per interval.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    stop = stop_on_signal()
    try:
        return run(settings, stop)
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
