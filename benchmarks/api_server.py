"""`python -m benchmarks.api_server PORT TRUCKS`: the product with a made-up fleet; or with a file, a bare route."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
import uvicorn
from fastapi import FastAPI, Response

from dashboard_api.access import Access
from dashboard_api.answers import TRUCK_EXAMPLE, WINDOW_EXAMPLE
from dashboard_api.app import make_app
from dashboard_api.health import Health
from dashboard_api.hub import Hub
from dashboard_api.metrics import Metrics
from dashboard_api.parts import Parts
from dashboard_api.store.engine import Store
from dashboard_api.store.moments import as_ms
from dashboard_api.tracks import POSITIONS
from dashboard_api.view import Position, View
from dashboard_api.windows import TRUCK_HISTORY
from schemas.models import Truck, TruckState, Window

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
    """An hour of positions and all windows of each truck: the most that the view keeps."""
    end = now()
    for number in range(trucks):
        truck_id = f"truck-{number:06}"
        for back in range(POSITIONS, 0, -1):
            view.put_position(Position(truck_id, end - timedelta(seconds=20 * back), 40.0, -90.0, 80.0))
    for length_s, count in TRUCK_HISTORY.items():
        for back in range(count):
            start = end.replace(second=0, microsecond=0) - back * timedelta(seconds=length_s)
            window = Window.model_validate(
                WINDOW_EXAMPLE | {"scope": "truck", "length_s": length_s, "window_start": start, "truck_id": "t"}
            )
            for number in range(trucks):
                view._truck_windows.put(number, window)


def memory_mb(trucks: int) -> float:
    process = psutil.Process()
    view = View()
    before = process.memory_info().rss
    fill(view, trucks)
    fill_history(view, trucks)
    return (process.memory_info().rss - before) / 1e6


def product(store: Store, trucks: int) -> FastAPI:
    view = View()
    fill(view, trucks)
    health = Health(connected=True, rebuilt=True, trouble="")
    parts = Parts(view, health, store, Access(store, KEY, now_ms), now)
    return make_app(parts, Hub(view, store, now_ms), Metrics(), requests_per_s=1e9)


def bare(path: Path) -> FastAPI:
    app, content = FastAPI(), path.read_bytes()

    @app.get("/bare")
    async def answer() -> Response:
        return Response(content, media_type="application/json")

    return app


def main() -> None:
    port, what = int(sys.argv[1]), sys.argv[2]
    with TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/store.db")
        app = product(store, int(what)) if what.isdigit() else bare(Path(what))
        uvicorn.run(app, port=port, log_config=None, access_log=False, ws_per_message_deflate=False)


if __name__ == "__main__":
    main()
