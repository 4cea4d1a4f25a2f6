"""`python -m simulator`: drive the fleet until told to stop, replay a recording, or print the fences."""

import json
import logging
import signal
import socket
import sys
import threading

from pydantic import ValidationError
from pydantic_settings import CliApp

from simulator.commands import drive, replay
from simulator.connect import StartError
from simulator.fences import feature_collection
from simulator.ledger import LedgerError
from simulator.settings import Fences, Replay, Settings

SIGNALS = {signal.SIGTERM, signal.SIGINT}
Command = Settings | Replay | Fences
COMMANDS: dict[str, type[Replay] | type[Fences]] = {"replay": Replay, "fences": Fences}


def stop_on_signal() -> threading.Event:
    """Set by SIGTERM or SIGINT.

    A thread sets it: a handler runs in the main thread, where it could deadlock on the lock inside the event. The
    signals cannot be blocked and waited for instead, as numpy's threads are there before us and do not block them.
    """
    stop = threading.Event()
    told, telling = socket.socketpair()
    telling.setblocking(False)
    signal.set_wakeup_fd(telling.detach())
    for each in SIGNALS:
        signal.signal(each, lambda _number, _frame: None)

    def wait() -> None:
        told.recv(1)
        stop.set()

    threading.Thread(target=wait, name="signals", daemon=True).start()
    return stop


def read_command(arguments: list[str]) -> Command:
    """The first word names the command; without one the fleet drives."""
    named = COMMANDS.get(arguments[0]) if arguments else None
    try:
        return CliApp.run(named, cli_args=arguments[1:]) if named else CliApp.run(Settings, cli_args=arguments)
    except ValidationError as error:
        raise SystemExit("\n".join(map(as_sentence, error.errors()))) from error


def as_sentence(wrong: object) -> str:
    assert isinstance(wrong, dict)
    message = str(wrong["msg"]).removeprefix("Value error, ")
    return f"{wrong['loc'][0]}={wrong['input']}: {message}" if wrong["loc"] else message


def main() -> int:
    command = read_command(sys.argv[1:])
    if isinstance(command, Fences):
        sys.stdout.write(json.dumps(feature_collection(), indent=1) + "\n")
        return 0
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # kafka-python logs every attempt to reconnect; the summary says the same once per interval.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    stop = stop_on_signal()
    try:
        return replay(command, stop) if isinstance(command, Replay) else drive(command, stop)
    except (StartError, LedgerError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
