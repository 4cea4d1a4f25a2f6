"""The thread that forgets what is older than the operator wants to keep."""

from collections.abc import Callable

from dashboard_api.health import Health
from dashboard_api.worker import Worker
from store import retention
from store.engine import Store

DAY_MS = 24 * 60 * 60 * 1000
LOOK_S = 3600.0
# Between two transactions: those who answer people come first.
PAUSE_S = 0.1


class Forgetting(Worker):
    def __init__(self, store: Store, health: Health, now_ms: Callable[[], int], keep_days: int) -> None:
        super().__init__("retention", health)
        self._store = store
        self._now_ms = now_ms
        self._keep_ms = keep_days * DAY_MS

    def work(self) -> None:
        while not self._stopping.is_set():
            forgot = retention.forget(self._store, self._now_ms() - self._keep_ms)
            self._works()
            self._stopping.wait(PAUSE_S if forgot else LOOK_S)
