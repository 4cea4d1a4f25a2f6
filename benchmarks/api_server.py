"""`python -m benchmarks.api_server PORT TRUCKS`: the product with a made-up fleet; or with a file, a bare route."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
import uvicorn
from cryptography.fernet import Fernet
from fastapi import FastAPI, Response

from dashboard_api.access import Access
from dashboard_api.answers import TRUCK_EXAMPLE, WINDOW_EXAMPLE
from dashboard_api.app import make_app
from dashboard_api.health import Health
from dashboard_api.hub import Hub
from dashboard_api.metrics import Metrics
from dashboard_api.parts import Parts
from dashboard_api.view import Position, View
from dashboard_api.windows import TRUCK_HISTORY
from schemas.models import Truck, TruckState, Window
from store.engine import Store
from store.moments import as_ms
from store.sealing import Sealer

KEY = "tg_file_" + "b" * 43


def now() -> datetime:
    return datetime.now(UTC)


def now_ms() -> int:
    return as_ms(now())


def fill(view: View, trucks: int) -> None:
    """A newest state and a name for each truck, spread over the US."""
    chance = np.random.default_rng(1)
    places = zip(chance.uniform(25, 49, trucks).tolist(), chance.uniform(-124, -67, trucks).tolist(), strict=True)
    example = TruckState.model_validate(TRUCK_EXAMPLE)
    for number, (lat, lon) in enumerate(places):
        truck_id = f"truck-{number:06}"
        state = example.model_copy(update={"truck_id": truck_id, "lat": lat, "lon": lon, "event_time": now()})
        view.fleet.put(state)
        view.fleet.name(Truck(truck_id=truck_id, name=f"Wind {number}", plate=f"IL {number}", driver="Ana Flores"))


def fill_history(view: View, trucks: int) -> None:
    """As if each truck had an hour of positions and all windows: every byte that the view keeps for them is touched."""
    for slot in range(trucks):
        view.put_positions([Position(view.fleet.ids[slot], round(now().timestamp() * 1000), 40.0, -90.0, 80.0)])
    for block in view.tracks.blocks:
        for column in (block.lat, block.lon, block.second, block.speed):
            column.fill(1)
    window = Window.model_validate(WINDOW_EXAMPLE | {"scope": "truck", "truck_id": "t"})
    for length_s in TRUCK_HISTORY:
        view.truck_windows.put(trucks - 1, window.model_copy(update={"length_s": length_s}))
        for rows in view.truck_windows.blocks[length_s]:
            rows["fixes"].fill(1)


def memory_mb(trucks: int) -> float:
    process = psutil.Process()
    view = View()
    before = process.memory_info().rss
    fill(view, trucks)
    # The hub takes note once a second.
    view.fleet.changed = set()
    fill_history(view, trucks)
    # What was asked for is remembered.
    view.fleet.ordered(np.arange(trucks))
    for slot in range(trucks):
        view.fleet.fragment(slot)
    return (process.memory_info().rss - before) / 1e6


def product(view: View, store: Store) -> FastAPI:
    health = Health(connected=True, rebuilt=True, trouble="")
    parts = Parts(view, health, store, Access(store, KEY, now_ms), now, Sealer(Fernet.generate_key()))
    return make_app(parts, Hub(view, store, now_ms), Metrics(), requests_per_s=1e9)


def serve(port: int, make: Callable[[Store], FastAPI]) -> None:
    with TemporaryDirectory() as folder:
        app = make(Store(f"sqlite:///{folder}/store.db"))
        uvicorn.run(app, port=port, log_config=None, access_log=False, ws_per_message_deflate=False)


def bare(path: Path) -> FastAPI:
    app, content = FastAPI(), path.read_bytes()

    @app.get("/bare")
    async def answer() -> Response:
        return Response(content, media_type="application/json")

    return app


def main() -> None:
    port, what = int(sys.argv[1]), sys.argv[2]
    if not what.isdigit():
        return serve(port, lambda _: bare(Path(what)))
    view = View()
    fill(view, int(what))
    return serve(port, lambda store: product(view, store))


if __name__ == "__main__":
    main()
