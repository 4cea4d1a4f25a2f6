"""Channels: where notifications go. What is secret goes in and never comes out again."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator
from sqlalchemy import Row

from dashboard_api.answers import shown
from dashboard_api.parts import Asker, Parts, Text
from dashboard_api.routes.params import errors
from schemas.models import Alert, AlertKind, Count
from store import channels, deliveries
from store.engine import StoreError

DRAFT_EXAMPLE: dict[str, Any] = {"name": "Night shift", "kind": "webhook", "url": "https://example.org/hooks/alerts"}
CHANNEL_EXAMPLE: dict[str, Any] = {
    "channel_id": "0c2b7e9a415f",
    "name": "Night shift",
    "kind": "webhook",
    "target": "https://example.org/…",
    "enabled": True,
    "disabled_reason": None,
    "circuit": "closed",
    "failures": 0,
    "last_error": None,
    "deliveries": {"delivered": 12, "dead": 1},
}
VARIABLE = "env:NOTIFIER_SECRET_[A-Z0-9_]{1,64}"
SECRET = rf"^(whsec_[A-Za-z0-9+/=]{{32,128}}|{VARIABLE})$"
Url = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[\x21-\x7E]+$")]
ChannelId = Annotated[Text, Path(max_length=200)]


class ChannelDraft(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": DRAFT_EXAMPLE})
    name: Annotated[Text, Field(min_length=1, max_length=100)]
    kind: Literal["webhook", "apprise", "console", "file"]
    url: Url | None = Field(
        default=None,
        description="Of a webhook or for Apprise; also env:NOTIFIER_SECRET_…. Null, of one that exists: as it is.",
    )
    secret: Annotated[str, Field(pattern=SECRET)] | None = Field(
        default=None, description="Signs a webhook. Null: one is made, or stays as it is."
    )
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")] | None = Field(
        default=None, description="Name of the file, in the notifier's folder."
    )
    enabled: StrictBool = True

    @model_validator(mode="after")
    def _complete(self) -> "ChannelDraft":
        if self.kind == "file" and self.file is None:
            raise ValueError("a channel of kind file needs a file")
        if self.url is not None and self.url.startswith(channels.ENV):
            check_variable(self.url)
        elif self.url is not None and self.kind == "webhook":
            check_webhook(self.url)
        return self


class Channel(BaseModel):
    model_config = shown(CHANNEL_EXAMPLE)
    channel_id: str
    name: str
    kind: str
    target: str = Field(description="Where it goes, without what is secret.")
    enabled: bool
    disabled_reason: str | None
    circuit: Literal["closed", "half_open", "open", "paused"] = Field(
        description="Open: it fails, and is left alone for a while. Paused: it answered 429, and asked for that."
    )
    failures: Count = Field(description="In a row.")
    last_error: str | None
    deliveries: dict[str, Count] = Field(description="How many there are in each state.")


class NewChannel(Channel):
    model_config = shown(CHANNEL_EXAMPLE | {"secret": "whsec_…"})
    secret: str | None = Field(description="A webhook's secret, if one was made; shown this one time.")


class ChannelPage(BaseModel):
    model_config = shown({"items": [CHANNEL_EXAMPLE], "total": 1})
    items: list[Channel]
    total: Count


class Rotated(BaseModel):
    model_config = shown({"secret": "whsec_…"})
    secret: str = Field(description="Shown this one time; for a day the one before signs as well.")


class Tested(BaseModel):
    model_config = shown({"delivery_id": "msg_0c2b7e9a415f"})
    delivery_id: str = Field(description="`/api/deliveries/{delivery_id}` says what became of it.")


def check_variable(url: str) -> None:
    """Its name is shown: what is no name is not taken."""
    if not re.fullmatch(VARIABLE, url):
        raise ValueError("a variable of the notifier is named env:NOTIFIER_SECRET_…")


def check_webhook(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in urlsplit(url).netloc:
        raise ValueError("the url of a webhook is https://host/path, without a user")


@contextmanager
def readable() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise HTTPException(409, "The channel was sealed with another key: set it anew, with a secret.") from error


def channel_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api/channels", tags=["notifications"], responses=errors(401, 403, 413, 422, 429))

    def answer(row: Row[Any]) -> Channel:
        names = ("channel_id", "name", "kind", "target", "enabled", "disabled_reason", "failures", "last_error")
        counted = {state: n for (of, state), n in deliveries.counts(parts.store).items() if of == row.channel_id}
        told = {name: getattr(row, name) for name in names}
        return Channel.model_validate(told | {"circuit": channels.circuit(row, parts.now_ms()), "deliveries": counted})

    def kept(row: Row[Any], draft: ChannelDraft) -> dict[str, Any]:
        """What was set before and is not set now: the url, and what a webhook is signed with."""
        before: dict[str, Any] = {}
        wanted = (draft.url is None, draft.kind == "webhook" and draft.secret is None)
        if row.kind == draft.kind and any(wanted):
            with readable():
                before = parts.sealer.open(row.sealed)
        signing = {"secrets": [draft.secret or channels.new_secret()]} if draft.kind == "webhook" else {}
        if draft.secret is None:
            signing |= {name: before[name] for name in ("secrets", "previous_until_ms") if name in before}
        return signing | {"url": before.get("url") if draft.url is None else draft.url}

    def found(channel_id: str) -> Row[Any]:
        row = channels.one(parts.store, channel_id)
        if row is None:
            raise HTTPException(404, "No channel has this id.")
        return row

    @router.get("", summary="All channels, without their secrets")
    def page() -> ChannelPage:
        items = [answer(row) for row in channels.known(parts.store)]
        return ChannelPage(items=items, total=len(items))

    @router.post("", status_code=201, summary="Add a channel", responses=errors(400))
    def add(draft: ChannelDraft, who: Asker) -> NewChannel:
        secret = draft.secret or (channels.new_secret() if draft.kind == "webhook" else None)
        wanted = wanted_by(draft, {"url": draft.url} | ({"secrets": [secret]} if secret else {}))
        row = channels.add(parts.store, parts.sealer, wanted, who=who.label, at_ms=parts.now_ms())
        return NewChannel(**answer(row).model_dump(), secret=secret if draft.secret is None else None)

    @router.get("/{channel_id}", summary="One channel", responses=errors(404))
    def one(channel_id: ChannelId) -> Channel:
        return answer(found(channel_id))

    @router.put("/{channel_id}", summary="Set a channel anew", responses=errors(400, 404, 409))
    def change(channel_id: ChannelId, draft: ChannelDraft, who: Asker) -> Channel:
        wanted, at_ms = wanted_by(draft, kept(found(channel_id), draft)), parts.now_ms()
        changed = channels.change(parts.store, parts.sealer, channel_id, wanted, who=who.label, at_ms=at_ms)
        return answer(changed or found(channel_id))

    @router.delete("/{channel_id}", status_code=204, summary="Remove a channel", responses=errors(404))
    def remove(channel_id: ChannelId, who: Asker) -> None:
        if not channels.remove(parts.store, channel_id, who=who.label, at_ms=parts.now_ms()):
            raise HTTPException(404, "No channel has this id.")

    @router.post("/{channel_id}/rotate", summary="Give a webhook a new secret", responses=errors(404, 409))
    def rotate(channel_id: ChannelId, who: Asker) -> Rotated:
        with readable():
            secret = channels.rotate(parts.store, parts.sealer, channel_id, who=who.label, at_ms=parts.now_ms())
        if secret is None:
            raise HTTPException(404, "No webhook has this id.")
        return Rotated(secret=secret)

    @router.post("/{channel_id}/test", status_code=202, summary="Send a test", responses=errors(404, 409))
    def test(channel_id: ChannelId, who: Asker) -> Tested:
        if not found(channel_id).enabled:
            raise HTTPException(409, "The channel is disabled.")
        at_ms, alert = parts.now_ms(), test_alert(parts.now())
        return Tested(delivery_id=deliveries.add_test(parts.store, channel_id, alert, who=who.label, at_ms=at_ms))

    return router


def wanted_by(draft: ChannelDraft, config: dict[str, Any]) -> channels.Wanted:
    if draft.kind not in ("webhook", "apprise"):
        config = {"file": draft.file} if draft.kind == "file" else {}
    elif config["url"] is None:
        raise HTTPException(422, f"A channel of kind {draft.kind} needs a url.")
    return channels.Wanted(draft.name, draft.kind, config, draft.enabled)


def test_alert(now: datetime) -> Alert:
    return Alert(
        alert_id=f"test-{secrets.token_hex(8)}",
        revision=0,
        status="raised",
        kind=AlertKind.GEOFENCE_ENTER,
        severity="info",
        truck_id="test",
        fence_id=None,
        start_time=now,
        end_time=None,
        lat=None,
        lon=None,
        explanation={},
    )
