"""Middleware before every route: who asks, may they, how often, how much."""

from http.cookies import CookieError, SimpleCookie

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard_api.access import COOKIE, SAFE_METHODS, Access, Role, Who, needed_role
from dashboard_api.errors import STORE_IS_AWAY, error_answer, store_is_away
from dashboard_api.limits import Limiter

MAX_BODY_BYTES = 10_000_000
STRANGERS_PER_S, STRANGERS_BURST = 20.0, 100.0


class TooLarge(Exception):  # noqa: N818 (said of the request, not of the program)
    """The body is larger than it may be."""


class Gate:
    """Nothing passes without a key but what is public; `request.state.who` then says whose it was."""

    def __init__(self, app: ASGIApp, access: Access, per_s: float) -> None:
        self._app = app
        self._access = access
        self._known = Limiter(per_s, burst=2 * per_s)
        self._strangers = Limiter(STRANGERS_PER_S, STRANGERS_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = await self._refusal(HTTPConnection(scope))
        if refused is None:
            # Nobody reads the body of a question.
            has_body = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
            await (self._pass if has_body else self._app)(scope, receive, send)
        elif scope["type"] == "http":
            await refused(scope, receive, send)
        else:
            # Before it is accepted, a close is an answer with status 403.
            await send({"type": "websocket.close", "code": 1008, "reason": "no access"})

    async def _refusal(self, asked: HTTPConnection) -> Response | None:
        method, path = asked.scope.get("method", "GET"), asked.scope["path"]
        needed = needed_role(method, path)
        key = sent_key(asked) if needed is not None else ""
        who, is_sure = self._access.recall(key) if key else (None, True)
        caller = who.key_id if who else f"host {asked.client.host if asked.client else ''}"
        # Before the store is asked: whoever guesses keys keeps it no busier than this.
        limiter = self._known if who or needed is None else self._strangers
        if wait_s := limiter.wait_s(caller):
            headers = {"Retry-After": str(int(wait_s) + 1)}
            return error_answer(429, "too_many_requests", "Too many requests; wait a little.", path, headers)
        if needed is None:
            return None
        if not is_sure:
            try:
                who = await run_in_threadpool(self._access.find, key)
            except STORE_IS_AWAY as error:
                return store_is_away(error, path)
        return self._judge(asked.scope, who, needed)

    @staticmethod
    def _judge(scope: Scope, who: Who | None, needed: Role) -> Response | None:
        if who is None:
            message = "A key is needed: send it as `Authorization: Bearer <key>`, or open a login link in a browser."
            return error_answer(401, "unauthorized", message, scope["path"], {"WWW-Authenticate": "Bearer"})
        if not who.role.allows(needed):
            message = f"This needs the role {needed}; the key has {who.role}."
            return error_answer(403, "forbidden", message, scope["path"])
        scope.setdefault("state", {})["who"] = who
        return None

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        left = MAX_BODY_BYTES
        began = False

        async def receive_some() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge
            return message

        async def send_on(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self._app(scope, receive_some, send_on)
        except TooLarge:
            if began:
                raise
            message = f"The body is larger than {MAX_BODY_BYTES} bytes."
            answer = error_answer(413, "content_too_large", message, Request(scope).url.path, {"Connection": "close"})
            await answer(scope, receive, send)


def sent_key(asked: HTTPConnection) -> str:
    return bearer(asked) or (cookie(asked) if from_own_page(asked) else "")


def bearer(asked: HTTPConnection) -> str:
    # As it came: to read all headers for this one takes longer.
    sent = next((value for name, value in asked.scope["headers"] if name == b"authorization"), b"")
    scheme, _, key = sent.decode("latin-1").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def cookie(asked: HTTPConnection) -> str:
    try:
        found = SimpleCookie(asked.headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def from_own_page(asked: HTTPConnection) -> bool:
    """Whether a cookie may speak: browsers name the page's origin where it could be another one's."""
    origin = asked.headers.get("origin")
    if origin is None:
        return asked.scope.get("method", "GET") in SAFE_METHODS or "sec-fetch-site" not in asked.headers
    return origin.partition("://")[2] == asked.headers.get("host")
