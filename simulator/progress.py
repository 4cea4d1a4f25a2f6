"""How far long work has come: a bar on a terminal, plain lines elsewhere."""

import logging
import sys
import time
from types import TracebackType
from typing import Self

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from simulator.stream import Sent

LINE_EVERY_S = 10.0
log = logging.getLogger("simulator")


class Progress:
    """Counts the records of one piece of work; it is over when one is sent that belongs to `until_ms` or later."""

    def __init__(self, title: str, *, total: int, until_ms: float = float("inf")) -> None:
        self._title, self._total, self._until_ms = title, total, until_ms
        self._done = 0
        self._told_s = time.monotonic()
        self._bar = tqdm(total=total, desc=title, unit="fix", leave=False, disable=not sys.stderr.isatty())
        self._logs = logging_redirect_tqdm()
        self._over = False

    def __enter__(self) -> Self:
        self._logs.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()
        self._logs.__exit__(kind, error, at)

    def count(self, record: Sent) -> None:
        if self._over:
            return
        self._done += 1
        self._bar.update()
        if record.send_ms >= self._until_ms:
            self._end()
        elif self._bar.disable and time.monotonic() - self._told_s > LINE_EVERY_S:
            self._told_s = time.monotonic()
            log.info("%s: %d of about %d fixes", self._title, self._done, self._total)

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._bar.close()
            log.info("%s: %d fixes", self._title, self._done)
