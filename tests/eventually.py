"""Waits for something to become true, and says what it last was when it does not."""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def eventually(check: Callable[[], Value], timeout_s: float = 30.0, interval_s: float = 0.1) -> Value:
    """Return the first truthy value of `check()`; raise with its last value or exception when time is up."""
    deadline = time.monotonic() + timeout_s
    while True:
        failure: Exception | None = None
        last: Value | None = None
        try:
            last = check()
        except Exception as error:  # noqa: BLE001 (whatever the check raises is what did not come true yet)
            failure = error
        if last:
            return last
        if time.monotonic() > deadline:
            raise AssertionError(f"not true within {timeout_s} s; last: {failure or last!r}") from failure
        time.sleep(interval_s)
