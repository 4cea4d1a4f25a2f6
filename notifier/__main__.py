"""`python -m notifier`: send notifications until told to stop."""

import logging
import os
import signal
import sys
import threading
from datetime import UTC, datetime

from pydantic import ValidationError
from pydantic_settings import CliApp

from notifier import webhook
from notifier.consume import Intake, StartError, connect
from notifier.lanes import Lanes, Tries
from notifier.planner import Limits
from notifier.senders import Around
from notifier.settings import Settings
from store import channels, rules, sending
from store.engine import Store, StoreError
from store.moments import as_ms
from store.sealing import Sealer, read_sealing_key

SIGNALS = {signal.SIGTERM, signal.SIGINT}


def stop_on_signal() -> threading.Event:
    """Set by SIGTERM or SIGINT.

    By way of a pipe and a thread: a handler in the main thread could deadlock on the lock inside the event. The signals
    are not blocked instead, as the threads that numpy started before would still take them, and end the process.
    """
    stop = threading.Event()
    reading, writing = os.pipe()
    for each in SIGNALS:
        signal.signal(each, lambda _signal, _frame: os.write(writing, b"."))

    def wait() -> None:
        os.read(reading, 1)
        stop.set()

    threading.Thread(target=wait, name="signals", daemon=True).start()
    return stop


def read_settings() -> Settings:
    try:
        return CliApp.run(Settings)
    except ValidationError as error:
        wrong = [f"{each['loc'][0]}={each['input']}: {each['msg']}" for each in error.errors()]
        raise SystemExit("\n".join(wrong)) from error


def main() -> int:
    settings = read_settings()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    stop = stop_on_signal()
    try:
        store = Store(settings.store_url, process="notifier")
        sealer = Sealer(read_sealing_key(settings.sealing_key_file))
        consumer, places = connect(settings.bootstrap_servers)
    except (StartError, StoreError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    lanes = make_lanes(settings, store, sealer)
    if not store.is_postgresql:
        # The lock file says that no other notifier lives; with PostgreSQL the leases tell.
        sending.release(store, now_ms())
    add_first_channel(store, sealer, now_ms())
    sender = threading.Thread(target=lanes.run, args=(stop,), name="lanes")
    sender.start()
    limits = Limits(settings.max_age_s * 1000, settings.wake_s * 1000)
    try:
        Intake(consumer, places, store, limits, settings.keep_days, now_ms, lanes.wake.set).run(stop)
    finally:
        stop.set()
        sender.join()
        store.close()
    return 0


def make_lanes(settings: Settings, store: Store, sealer: Sealer) -> Lanes:
    limits = webhook.Limits(settings.timeout_s, settings.allow_http, settings.ranges())
    tries = Tries(
        retry_ms=settings.retry_ms(),
        lease_ms=round(settings.lease_s * 1000),
        lane_size=settings.lane_size,
        circuit_failures=settings.circuit_failures,
        circuit_ms=round(settings.circuit_s * 1000),
    )
    around = Around(limits, settings.files_dir, settings.page_url.rstrip("/"))
    return Lanes(store, sealer, around, tries, now_ms)


def add_first_channel(store: Store, sealer: Sealer, at_ms: int) -> None:
    """A new store tells everything on the console, until somebody says otherwise."""
    if channels.known(store) or rules.known(store):
        return
    wanted = channels.Wanted("Console", "console", {})
    row = channels.add(store, sealer, wanted, who="notifier", at_ms=at_ms)
    rule = rules.Rule(name="Everything else", position=1000, catch_all=True, channel_ids=[row.channel_id])
    rules.add(store, rule, who="notifier", at_ms=at_ms)


def now_ms() -> int:
    return as_ms(datetime.now(UTC))


if __name__ == "__main__":
    sys.exit(main())
