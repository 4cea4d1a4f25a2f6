"""The live stream: server-sent events for everyone, and a WebSocket with binary frames for the map."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Header, HTTPException, Query, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from dashboard_api.hub import Hub
from dashboard_api.listening import Listener, Wanted
from dashboard_api.metrics import Metrics
from dashboard_api.parts import Asker, Id
from dashboard_api.routes.params import errors
from schemas.models import AlertKind, Severity

ALIVE_S = 15.0
MOST_CLIENTS = 2000
TOO_MANY = "Too many clients listen already."
RESET = msgspec.json.encode(
    {"message": "What came since is too much or unknown: read /api/alerts and go on from here."}
)
STREAM_EXAMPLE = 'id: 3f2a9c01-17\nevent: alert\ndata: {"id":"3f2a9c01-17","change":"revision","alert":{}}\n\n'
Several = Annotated[list[Id], Field(max_length=100, description="May be given several times.")]


class LiveFilter(BaseModel):
    model_config = ConfigDict(extra="ignore")
    events: list[Literal["alerts", "states", "windows"]] = Field(
        default=["alerts", "states", "windows"], description="May be given several times.", max_length=3
    )
    truck_id: Several = []
    fence_id: Several = []
    kind: list[AlertKind] = Field(default=[], max_length=20)
    severity: list[Severity] = Field(default=[], max_length=3)

    def wanted(self) -> Wanted:
        return Wanted(self.events, set(self.truck_id), set(self.fence_id), set(self.kind), set(self.severity))


def live_routes(hub: Hub, metrics: Metrics) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["live"], responses=errors(401, 403, 422, 429, 503))

    @router.get(
        "/live",
        summary="Alerts, changed trucks and windows as server-sent events",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"example": STREAM_EXAMPLE}}}},
    )
    async def events(
        who: Asker,
        asked: Annotated[LiveFilter, Query()],
        last_event_id: Annotated[str | None, Header(max_length=200, description="Goes on after this alert.")] = None,
    ) -> StreamingResponse:
        refuse_too_many(hub)
        seq, unknown = begin_at(hub, last_event_id)
        stream = event_stream(Listener(hub, asked.wanted(), seq, who.key_id), unknown, metrics)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    @router.websocket("/live/socket")
    async def socket(
        websocket: WebSocket, asked: Annotated[LiveFilter, Query()], after: Annotated[str | None, Query()] = None
    ) -> None:
        await websocket.accept()
        if hub.clients >= MOST_CLIENTS:
            await websocket.close(1013, TOO_MANY)
            return
        with metrics.client("websocket"):
            seq, unknown = begin_at(hub, after)
            await serve_socket(websocket, Listener(hub, asked.wanted(), seq, websocket.state.who.key_id), unknown)

    return router


def refuse_too_many(hub: Hub) -> None:
    if hub.clients >= MOST_CLIENTS:
        raise HTTPException(503, TOO_MANY, {"Retry-After": "30"})


def begin_at(hub: Hub, event_id: str | None) -> tuple[int, bool]:
    """Where to go on after that event, and whether the client must be told that it cannot be said what it missed."""
    if event_id is None:
        return hub.head, False
    store_id, _, number = event_id.rpartition("-")
    known = store_id == hub.store.store_id and number.isascii() and number.isdigit() and int(number) <= hub.head
    return (int(number), False) if known else (hub.head, True)


def event(name: str, data: bytes, event_id: str = "") -> bytes:
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {name}\ndata: ".encode() + data + b"\n\n"


async def event_stream(listener: Listener, unknown: bool, metrics: Metrics) -> AsyncIterator[bytes]:
    hub, wanted = listener.hub, listener.wanted
    with metrics.client("sse"), listener:
        yield event("reset" if unknown else "hello", RESET if unknown else b"{}", listener.event_id)
        while listener.goes_on:
            news = hub.news
            if "alerts" in wanted.events:
                async for change in listener.changes():
                    data = RESET if change is None else change.json
                    yield event("reset" if change is None else "alert", data, listener.event_id)
            if "windows" in wanted.events:
                for window in listener.windows():
                    yield event("window", window)
            if states := listener.states():
                yield event("states", states)
            if listener.behind:
                # Everybody else, and new alerts, come between two pieces of a large fleet.
                await asyncio.sleep(0)
            elif not await heard(news):
                yield b": alive\n\n"


async def heard(news: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(ALIVE_S):
            await news.wait()
    except TimeoutError:
        return False
    return True


async def serve_socket(websocket: WebSocket, listener: Listener, unknown: bool) -> None:
    """Two tasks: one tells, the other notices that the client has gone."""
    listener.hub.frame_listeners += 1
    teller = asyncio.create_task(tell(websocket, listener, unknown))
    try:
        while True:
            await websocket.receive_text()
    except (WebSocketDisconnect, RuntimeError, KeyError):
        pass
    finally:
        listener.hub.frame_listeners -= 1
        teller.cancel()
        await asyncio.gather(teller, return_exceptions=True)


async def tell(websocket: WebSocket, listener: Listener, unknown: bool) -> None:
    hub = listener.hub
    slots, tick = 0, -1
    with listener:
        await tell_message(websocket, {"type": "reset" if unknown else "hello", "id": listener.event_id})
        while listener.goes_on:
            news = hub.news
            await tell_news(websocket, listener)
            if "states" in listener.wanted.events and hub.sequence != tick and hub.frame:
                # Newest wins: what came while the last frame was on its way is never sent.
                tick, frame, count = hub.sequence, hub.frame, hub.frame_count
                if count > slots:
                    await websocket.send_text(slot_table(hub, slots, count))
                    slots = count
                await websocket.send_bytes(frame)
            await heard(news)
    await websocket.close(1001 if hub.closed else 1008)


async def tell_message(websocket: WebSocket, message: dict[str, Any]) -> None:
    await websocket.send_text(msgspec.json.encode(message).decode())


async def tell_news(websocket: WebSocket, listener: Listener) -> None:
    async for change in listener.changes():
        if change is None:
            await tell_message(websocket, {"type": "reset", "id": listener.event_id})
        else:
            await websocket.send_text(f'{{"type":"alert",{change.json.decode()[1:]}')
    for window in listener.windows():
        await websocket.send_text(f'{{"type":"window",{window.decode()[1:]}')


def slot_table(hub: Hub, first: int, count: int) -> str:
    """Slots are only ever added: what a client has of the table stays true."""
    with hub.view.lock:
        ids = hub.view.fleet.ids[first:count]
    return msgspec.json.encode({"type": "slots", "first": first, "ids": ids}).decode()
