"""What Prometheus is told."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dashboard_api.errors import METHODS
from dashboard_api.health import Health
from dashboard_api.view import View
from schemas.models import Alert, TruckState, Visit

FAST_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
DELAY_S = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self.registry = CollectorRegistry()
        self._now_s = now_s
        self._http = Histogram(
            "trucks_http_seconds",
            "Time to answer",
            ["method", "route", "status"],
            registry=self.registry,
            buckets=FAST_S,
        )
        self.store = Histogram(
            "trucks_store_seconds", "Time of a transaction", ["what"], registry=self.registry, buckets=FAST_S
        )
        self.delay = Histogram(
            "trucks_delay_seconds",
            "From Kafka's record time of a fix to its state in this process",
            registry=self.registry,
            buckets=DELAY_S,
        )
        self.alerts = Counter(
            "trucks_alerts", "Revisions of alerts that were stored", ["kind", "status"], registry=self.registry
        )
        self.visits = Counter("trucks_visits", "Revisions of visits that were stored", registry=self.registry)
        self.clients = Gauge("trucks_clients", "Clients of the live stream", ["way"], registry=self.registry)
        # Looking one up by its labels takes longer than all the rest of a measurement.
        self._answered: dict[tuple[str, str, int], Histogram] = {}
        for way in ("sse", "websocket"):
            self.clients.labels(way)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """What nobody can answer to counts as one method: strangers may make up any."""
        asked = (method if method in METHODS else "other", route, status)
        found = self._answered.get(asked)
        if found is None:
            found = self._answered[asked] = self._http.labels(*asked)
        found.observe(seconds)

    def stored(self, what: str, seconds: float) -> None:
        self.store.labels(what).observe(seconds)

    def took_in(self, alerts: Iterable[Alert], visits: Iterable[Visit]) -> None:
        for alert in alerts:
            self.alerts.labels(alert.kind, alert.status).inc()
        self.visits.inc(len(list(visits)))

    def heard(self, state: TruckState) -> None:
        self.delay.observe(max(0.0, self._now_s() - state.received_time.timestamp()))

    @contextmanager
    def client(self, way: str) -> Iterator[None]:
        self.clients.labels(way).inc()
        try:
            yield
        finally:
            self.clients.labels(way).dec()

    def watch(self, view: View, health: Health) -> None:
        self.registry.register(Watched(view, health))

    def text(self) -> bytes:
        return generate_latest(self.registry)


class Watched(Collector):
    """Looked up when Prometheus asks: what the view and the threads know."""

    def __init__(self, view: View, health: Health) -> None:
        self._view = view
        self._health = health

    def collect(self) -> Iterator[Metric]:
        yield from self._queries()
        yield family("trucks_known", "Trucks by status", "status", self._view.by_status())
        rejected: dict[str, float] = {}
        outcomes = dict.fromkeys(("input", "judged", "duplicate", "late"), 0.0)
        for shard in self._view.counts():
            for reason, count in shard.rejected.items():
                rejected[reason] = rejected.get(reason, 0) + count
            for name in outcomes:
                outcomes[name] += getattr(shard, name)
        yield family("trucks_rejects", "Rejected records since the beginning", "reason", rejected)
        yield family("trucks_records", "What became of the records since the beginning", "outcome", outcomes)
        parts = {"kafka": self._health.connected, "view": self._health.rebuilt}
        parts |= {name: not why for name, why in self._health.troubles.items()}
        yield family("trucks_part_ready", "Whether a part of the API works", "part", parts)

    def _queries(self) -> Iterator[Metric]:
        queries = self._view.queries()
        for name, about in (
            ("input_rows_per_s", "Records read per second"),
            ("lag", "Records that wait in the topic"),
            ("batch_ms", "Time of the last batch"),
            ("state_rows", "Rows of state"),
        ):
            values = {query.query: float(getattr(query, name) or 0) for query in queries}
            yield family(f"trucks_query_{name}", about, "query", values)


def family(name: str, about: str, label: str, values: dict[str, float] | dict[str, int] | dict[str, bool]) -> Metric:
    made = GaugeMetricFamily(name, about, labels=[label])
    for value, number in values.items():
        made.add_metric([str(value)], float(number))
    return made
