"""Signals that end the demo, and one demo per data folder."""

import fcntl
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from local_stack.errors import StackError

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_signals() -> None:
    for each in ENDING:
        signal.signal(each, raise_interrupt)


def raise_interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (the signature is given)
    raise KeyboardInterrupt


def ignore_signals() -> None:
    """While stopping: a second Ctrl-C would leave behind what is not stopped yet. Every wait there is bounded."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)


@contextmanager
def only_one(data: Path) -> Iterator[None]:
    data.mkdir(parents=True, exist_ok=True)
    with (data / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StackError(f"Another demo is running on {data}: stop it first, or set DATA_DIR.") from error
        yield
