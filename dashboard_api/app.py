"""The application: gate, routes and page in one, with the threads beside it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dashboard_api.access import COOKIE, needed_role
from dashboard_api.errors import shape_errors
from dashboard_api.gate import Gate
from dashboard_api.health import Health
from dashboard_api.hub import Hub
from dashboard_api.metrics import Metrics
from dashboard_api.observe import Observe
from dashboard_api.parts import Parts
from dashboard_api.routes.alerts import alert_routes
from dashboard_api.routes.basemap import basemap_routes
from dashboard_api.routes.channels import channel_routes
from dashboard_api.routes.deliveries import delivery_routes
from dashboard_api.routes.fences import fence_routes
from dashboard_api.routes.fleet import TruckList, fleet_routes
from dashboard_api.routes.health import health_routes
from dashboard_api.routes.keys import key_routes, login_route
from dashboard_api.routes.live import live_routes
from dashboard_api.routes.params import errors
from dashboard_api.routes.rules import rule_routes
from dashboard_api.routes.silences import silence_routes
from dashboard_api.routes.visits import visit_routes

STATIC = Path(__file__).parent / "static"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Running(Protocol):
    """Something that starts and stops with the application: the feed, the intake, the outbox."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


class Ahead:
    """Answers for the path that is asked for more than all others before FastAPI's own layers begin.

    The route of the same path behind it is there for the OpenAPI document, and for other methods.
    """

    def __init__(self, app: ASGIApp, path: str, answer: ASGIApp) -> None:
        self.path = path
        self._app = app
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == self.path and scope["method"] in ("GET", "HEAD"):
            # Routes name themselves so; the metrics ask for the name.
            scope["route"] = self
            await self._answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def make_app(  # noqa: PLR0913 (each is given by name)
    parts: Parts,
    hub: Hub,
    metrics: Metrics,
    *,
    threads: Sequence[Running] = (),
    tracks: Health | None = None,
    requests_per_s: float = 200.0,
) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await hub.start()
        for thread in threads:
            thread.start()
        yield
        for thread in threads:
            thread.stop()
        await hub.stop()

    # The generated documentation pages load scripts from elsewhere, so only the document itself is served.
    app = FastAPI(
        title="Trucks GPS",
        version="0.1.0",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        # Metrics are at /metrics; nothing goes to anybody else because of a variable in the environment.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.router.redirect_slashes = False
    # The last one added is the outermost.
    app.add_middleware(Ahead, path="/api/trucks", answer=TruckList(parts))
    app.add_middleware(Gate, access=parts.access, per_s=requests_per_s)
    app.add_middleware(Observe, metrics=metrics)
    shape_errors(app)
    for routes in (fleet_routes, alert_routes, visit_routes, fence_routes, silence_routes, key_routes, login_route):
        app.include_router(routes(parts))
    app.include_router(basemap_routes())
    for routes in (channel_routes, rule_routes, delivery_routes):
        app.include_router(routes(parts))
    app.include_router(live_routes(hub, metrics))
    app.include_router(health_routes(parts.health, tracks))
    add_page(app)
    add_metrics(app, metrics)
    describe_access(app)
    return app


def add_page(app: FastAPI) -> None:
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


def add_metrics(app: FastAPI, metrics: Metrics) -> None:
    text: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}, **errors(401, 403, 429)}

    @app.get("/metrics", summary="For Prometheus", tags=["health"], response_class=Response, responses=text)
    def prometheus() -> Response:
        return Response(metrics.text(), media_type=PROMETHEUS)


def describe_access(app: FastAPI) -> None:
    """Write into the OpenAPI document what the gate asks of each route."""
    make = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = make()
            document["components"]["securitySchemes"] = {
                "key": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            }
            for path, operations in document["paths"].items():
                for method, operation in operations.items():
                    role = needed_role(method.upper(), path)
                    operation["security"] = [{"key": []}, {"session": []}] if role else []
                    operation["description"] = f"{operation.get('description', '')}\n\nRole: {role or 'none'}".strip()
        return app.openapi_schema or {}

    app.openapi = described  # type: ignore[method-assign]
