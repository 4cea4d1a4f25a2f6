"""`python -m dashboard_api`: serve the dashboard until told to stop."""

import signal
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread

import uvicorn
from fastapi import FastAPI
from pydantic_settings import CliApp

from dashboard_api.access import Access, read_admin_key
from dashboard_api.app import Running, make_app
from dashboard_api.feed import Feed
from dashboard_api.forgetting import Forgetting
from dashboard_api.health import Health
from dashboard_api.hub import Hub
from dashboard_api.intake import Intake
from dashboard_api.logs import log_as_json
from dashboard_api.metrics import Metrics
from dashboard_api.outbox import Outbox
from dashboard_api.parts import Parts
from dashboard_api.settings import Settings
from dashboard_api.tracks import HOUR_S
from dashboard_api.view import TrackView, View
from schemas.models import TruckState
from store.engine import Store, StoreError
from store.intake import Batch
from store.moments import as_ms
from store.sealing import Sealer, read_sealing_key


def main() -> int:
    settings = CliApp.run(Settings)
    log_as_json(settings.log_level)
    metrics = Metrics()
    try:
        store = Store(settings.store_url, metrics.stored)
        admin_key = read_admin_key(settings.admin_key_file)
        sealer = Sealer(read_sealing_key(settings.sealing_key_file))
    except (StoreError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    serve(settings, Kept(store, admin_key, sealer), metrics)
    store.close()
    return 0


@dataclass(frozen=True)
class Kept:
    """What survives this process."""

    store: Store
    admin_key: str
    sealer: Sealer


def serve(settings: Settings, kept: Kept, metrics: Metrics) -> None:
    stopping = Event()
    server = uvicorn.Server(
        uvicorn.Config(
            wire(settings, kept, metrics, stopping),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
            # A frame does not get smaller, and deflating it for every client took forty times as long.
            ws_per_message_deflate=False,
            ws_max_size=65_536,
        )
    )

    def stop(_signal: int, _frame: object) -> None:
        server.should_exit = True

    # Uvicorn raises the signal again once it has shut down; caught here, the process ends with exit code 0.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    watch = Thread(target=announce_end, args=(server, stopping), daemon=True)
    watch.start()
    server.run()


def announce_end(server: uvicorn.Server, stopping: Event) -> None:
    """Uvicorn waits for open streams to end before it says a word to the application."""
    while not server.should_exit:
        time.sleep(0.2)
    stopping.set()


def wire(settings: Settings, kept: Kept, metrics: Metrics, stopping: Event) -> FastAPI:
    store = kept.store
    health, tracks = Health(), Health()

    def heard(state: TruckState) -> None:
        # What is read again at the start says nothing about delay.
        if health.rebuilt:
            metrics.heard(state)

    def took_in(batch: Batch) -> None:
        metrics.took_in(batch.alerts, batch.visits)
        hub.alerts_stored()

    brokers, view = settings.bootstrap_servers, View(heard)
    hub = Hub(view, store, now_ms, stopping.is_set)
    outbox = Outbox(brokers, store, health, now_ms)
    feeds = [Feed(brokers, view, health), Feed(brokers, TrackView(view), tracks, past_s=HOUR_S)]
    metrics.watch(view, health)
    parts = Parts(
        view=view,
        health=health,
        store=store,
        access=Access(store, kept.admin_key, now_ms),
        now=now,
        sealer=kept.sealer,
        fence_changed=outbox.look,
        alert_changed=hub.alerts_stored,
    )
    forgetting = Forgetting(store, health, now_ms, settings.keep_days)
    threads: list[Running] = [*feeds, Intake(brokers, store, health, now_ms, took_in), outbox, forgetting]
    per_s = settings.requests_per_s
    return make_app(parts, hub, metrics, threads=threads, tracks=tracks, requests_per_s=per_s)


def now() -> datetime:
    return datetime.now(UTC)


def now_ms() -> int:
    return as_ms(now())


if __name__ == "__main__":
    sys.exit(main())
