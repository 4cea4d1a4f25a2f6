"""Keys, login links, browser sessions and the audit log."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Row
from starlette.responses import RedirectResponse

from dashboard_api.access import COOKIE, LINK_MS, SESSION_MS, Role
from dashboard_api.answers import shown
from dashboard_api.parts import Asker, Parts, Text, Time
from dashboard_api.routes.params import Limit, Offset, errors
from schemas.models import Count, Moment
from store import audit, keys
from store.moments import as_ms, from_ms, maybe_from_ms

KEY_EXAMPLE: dict[str, Any] = {
    "key_id": "1a2b3c4d",
    "name": "reports",
    "role": "viewer",
    "created_time": "2026-03-02T14:05:00.000Z",
    "created_by": "admin (file)",
    "expires_time": None,
    "revoked_time": None,
}
AUDIT_EXAMPLE: dict[str, Any] = {
    "audit_id": 12,
    "at_time": "2026-03-02T14:05:00.000Z",
    "who": "admin (file)",
    "action": "fence_written",
    "subject": "depot-chicago",
    "detail": {"version": 1},
}


class KeyDraft(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"name": "reports", "role": "viewer"}})
    name: Annotated[Text, Field(min_length=1, max_length=100)]
    role: Role
    expires_time: Time | None = Field(default=None, description="Null: never.")


class KeyAnswer(BaseModel):
    model_config = shown(KEY_EXAMPLE)
    key_id: str = Field(description="The part of the key that may be known: tg_<key_id>_<secret>.")
    name: str
    role: Role
    created_time: Moment
    created_by: str
    expires_time: Moment | None
    revoked_time: Moment | None


class NewKey(KeyAnswer):
    model_config = shown(KEY_EXAMPLE | {"key": "tg_1a2b3c4d_cRGq…"})
    key: str = Field(description="Shown this one time; only its hash is kept.")


class KeyPage(BaseModel):
    items: list[KeyAnswer]
    total: Count


class LinkDraft(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"role": "dispatcher"}})
    role: Role = Role.DISPATCHER


class Link(BaseModel):
    model_config = shown({"path": "/login?token=…", "expires_time": "2026-03-02T14:15:00.000Z"})
    path: str = Field(description="Opened in a browser once, it becomes a session of 30 days.")
    expires_time: Moment


class Me(BaseModel):
    model_config = shown({"key_id": "1a2b3c4d", "name": "ana", "label": "ana (1a2b3c4d)", "role": "dispatcher"})
    key_id: str
    name: str
    label: str = Field(description="How notes, silences and the audit log name the one who asks.")
    role: Role


class AuditEntry(BaseModel):
    model_config = shown(AUDIT_EXAMPLE)
    audit_id: int
    at_time: Moment
    who: str
    action: str
    subject: str
    detail: dict[str, Any]


class AuditPage(BaseModel):
    model_config = shown({"items": [AUDIT_EXAMPLE], "total": 1})
    items: list[AuditEntry]
    total: Count


def key_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api", tags=["access"], responses=errors(401, 403, 413, 422, 429))

    @router.get("/me", summary="Who asks, and with which role")
    def me(who: Asker) -> Me:
        return Me(key_id=who.key_id, name=who.name, label=who.label, role=who.role)

    @router.get("/keys", summary="Keys and browser sessions without their secrets, newest first")
    def page(limit: Limit = 100, offset: Offset = 0) -> KeyPage:
        rows, total = keys.page(parts.store, limit=limit, offset=offset)
        return KeyPage(items=[answer(row) for row in rows], total=total)

    @router.post("/keys", status_code=201, summary="Make a key", responses=errors(400))
    def make(draft: KeyDraft, who: Asker) -> NewKey:
        expires_ms = None if draft.expires_time is None else as_ms(draft.expires_time)
        wanted = keys.Wanted(draft.name, draft.role, expires_ms)
        key, row = keys.make(parts.store, wanted, who=who.label, at_ms=parts.now_ms())
        return NewKey(**answer(row).model_dump(), key=key)

    @router.delete("/keys/{key_id}", status_code=204, summary="Revoke a key", responses=errors(404))
    def revoke(key_id: Annotated[Text, Path(max_length=100)], who: Asker) -> None:
        if not keys.revoke(parts.store, key_id, who=who.label, at_ms=parts.now_ms()):
            raise HTTPException(404, "No key that counts has this id.")
        parts.access.forget()

    @router.post("/links", status_code=201, summary="Make a link that logs a browser in once", responses=errors(400))
    def link(draft: LinkDraft) -> Link:
        token = parts.access.make_link(draft.role)
        return Link(path=f"/login?token={token}", expires_time=from_ms(parts.now_ms() + LINK_MS))

    @router.delete("/session", status_code=204, summary="Log out: the key that asks is revoked")
    def log_out(who: Asker, response: Response) -> None:
        keys.revoke(parts.store, who.key_id, who=who.label, at_ms=parts.now_ms())
        parts.access.forget()
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")

    @router.get("/audit", summary="Who changed what, newest first")
    def changes(limit: Limit = 100, offset: Offset = 0) -> AuditPage:
        found, total = audit.entries(parts.store, limit=limit, offset=offset)
        items = [AuditEntry(**each, at_time=from_ms(each["at_ms"])) for each in found]
        return AuditPage(items=items, total=total)

    return router


def login_route(parts: Parts) -> APIRouter:
    router = APIRouter()

    @router.get("/login", include_in_schema=False)
    def log_in(request: Request, token: Annotated[str, Query(max_length=100)]) -> RedirectResponse:
        key = parts.access.redeem(token)
        if key is None:
            raise HTTPException(401, "This link was used already, or is older than ten minutes: ask for a new one.")
        answer = RedirectResponse("/", status_code=303, headers={"Cache-Control": "no-store"})
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, key, max_age=SESSION_MS // 1000, httponly=True, samesite="strict", secure=secure)
        return answer

    return router


def answer(row: Row[Any]) -> KeyAnswer:
    told = {name: getattr(row, name) for name in ("key_id", "name", "role", "created_by")}
    return KeyAnswer(
        **told,
        created_time=from_ms(row.created_ms),
        expires_time=maybe_from_ms(row.expires_ms),
        revoked_time=maybe_from_ms(row.revoked_ms),
    )
