"""Writes down every fix that was sent: what it was, and what became of it. One line of JSON per record."""

import threading
from base64 import b64encode
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from simulator.stream import Sent

Outcome = Literal["acknowledged", "refused", "unanswered"]
ENCODER = msgspec.json.Encoder()


class LedgerError(Exception):
    """Why the ledger is not whole, as a sentence for its operator."""


class Line(msgspec.Struct, omit_defaults=True):
    """`unanswered`: given up when the simulator had to end; Kafka may have it or not."""

    truck_id: str
    seq: int | None
    event_time: str | None
    classes: tuple[str, ...]
    outcome: Outcome
    partition: int | None = None
    offset: int | None = None
    error: str | None = None
    fix: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """The record's value, unless it is garbled."""
    raw_base64: str | None = None


class Ledger:
    """Lines come in the order of the outcomes. Several threads may write; once that fails, `stop` is set."""

    def __init__(self, path: Path, *, stop: threading.Event) -> None:
        self._stop = stop
        self._lock = threading.Lock()
        self._error: OSError | None = None
        try:
            self._file = path.open("wb", buffering=1 << 16)
        except OSError as error:
            raise LedgerError(f"The ledger cannot be written: {error}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            try:
                self._file.close()
            except OSError as failure:
                self._error = self._error or failure
        if self._error is not None:
            raise LedgerError(f"The ledger cannot be written and is not whole: {self._error}.")

    def write(
        self,
        sent: Sent,
        outcome: Outcome,
        *,
        partition: int | None = None,
        offset: int | None = None,
        error: str | None = None,
    ) -> None:
        line = Line(sent.truck_id, sent.seq, sent.event_time, sent.classes, outcome, partition, offset, error)
        if "garbled" in sent.classes:
            line.raw_base64 = b64encode(sent.value).decode()
        else:
            line.fix = msgspec.Raw(sent.value)
        try:
            with self._lock:
                self._file.write(ENCODER.encode(line) + b"\n")
        except OSError as failure:
            # Told when it is closed: kafka-python, whose thread this is, would swallow it.
            self._error = failure
            self._stop.set()
