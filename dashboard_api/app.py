"""The application: view, routes and page in one, with the feed beside it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from dashboard_api.errors import SecurityHeaders, shape_errors
from dashboard_api.health import Health
from dashboard_api.routes import api_routes, health_routes
from dashboard_api.view import View

STATIC = Path(__file__).parent / "static"


class Running(Protocol):
    """Something that starts and stops with the application: the feed."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


def make_app(
    view: View, health: Health, feed: Running | None = None, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if feed:
            feed.start()
        yield
        if feed:
            feed.stop()

    # The generated documentation pages load scripts from elsewhere, so only the document itself is served.
    app = FastAPI(title="Trucks GPS", version="0.1.0", docs_url=None, redoc_url=None, lifespan=lifespan)
    app.add_middleware(SecurityHeaders)
    shape_errors(app)
    app.include_router(api_routes(view, health, now))
    app.include_router(health_routes(health))
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    return app
