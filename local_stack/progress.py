"""One line per step: what is being done, and how long it took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def step(what: str) -> Iterator[None]:
    began = time.monotonic()
    print(f"{what} ... ", end="", flush=True)
    try:
        yield
    except BaseException:
        print("not done", flush=True)
        raise
    print(f"{time.monotonic() - began:.1f} s", flush=True)
