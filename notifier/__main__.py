"""`python -m notifier`: tell alerts until told to stop."""

import logging
import signal
import sys
import threading

from pydantic import ValidationError
from pydantic_settings import CliApp

from notifier.consume import StartError, connect, follow
from notifier.settings import Settings

SIGNALS = {signal.SIGTERM, signal.SIGINT}


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


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    # Only a line that has left this process counts as told; the commit follows.
    sys.stdout.flush()


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
        consumer = connect(settings.bootstrap_servers, settings.group_id)
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    follow(consumer, tell, stop)
    # Bounded, so that a broker that went away does not hold up the exit.
    consumer.close(timeout_ms=5_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
