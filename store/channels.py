"""Channels: where notifications go. What is secret about one is sealed; its circuit is open while it fails."""

import base64
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Row, delete, insert, select, update

from store import audit
from store.engine import Store
from store.notify_tables import CHANNELS, DELIVERIES
from store.sealing import Sealer

ENV = "env:"
ROTATION_MS = 24 * 60 * 60_000
OPEN_STATES = ("pending", "sending")


@dataclass(frozen=True)
class Wanted:
    """What a channel is to be; `config`: url and secrets (webhook), url (apprise), file (file)."""

    name: str
    kind: str
    config: dict[str, Any]
    enabled: bool = True


def new_secret() -> str:
    """As Standard Webhooks writes it."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


def shown_target(kind: str, config: dict[str, Any]) -> str:
    """Paths, queries and, with Apprise, even hosts hold tokens: they are not shown; the name of a variable is."""
    url = str(config.get("url", ""))
    if url.startswith(ENV):
        return url
    if kind == "webhook":
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}/…"
    if kind == "apprise":
        return f"{url.partition('://')[0]}://…"
    return str(config.get("file", "")) if kind == "file" else "standard output"


def add(store: Store, sealer: Sealer, wanted: Wanted, *, who: str, at_ms: int) -> Row[Any]:
    channel_id = secrets.token_hex(6)
    row = _row(sealer, wanted, at_ms) | {"channel_id": channel_id}
    with store.write() as connection:
        connection.execute(insert(CHANNELS).values(row))
        audit.note(connection, who=who, action="channel_added", subject=channel_id, at_ms=at_ms, **_shown(wanted))
        return _found(connection, channel_id)


def change(  # noqa: PLR0913 (the last two are given by name)
    store: Store, sealer: Sealer, channel_id: str, wanted: Wanted, *, who: str, at_ms: int
) -> Row[Any] | None:
    """A channel that is set anew starts with a closed circuit."""
    with store.write() as connection:
        changed = connection.execute(_named(channel_id).values(_row(sealer, wanted, at_ms)))
        if changed.rowcount == 0:
            return None
        if not wanted.enabled:
            end_open(connection, channel_id, "the channel was disabled")
        audit.note(connection, who=who, action="channel_changed", subject=channel_id, at_ms=at_ms, **_shown(wanted))
        return _found(connection, channel_id)


def rotate(store: Store, sealer: Sealer, channel_id: str, *, who: str, at_ms: int) -> str | None:
    """A new secret; for a day the one before signs too. None where there is no such webhook."""
    with store.write() as connection:
        row = _find(connection, channel_id)
        if row is None or row.kind != "webhook":
            return None
        config, secret = sealer.open(row.sealed), new_secret()
        config |= {"secrets": [secret, config["secrets"][0]], "previous_until_ms": at_ms + ROTATION_MS}
        connection.execute(_named(channel_id).values(sealed=sealer.seal(config), changed_ms=at_ms))
        audit.note(connection, who=who, action="channel_rotated", subject=channel_id, at_ms=at_ms)
        return secret


def remove(store: Store, channel_id: str, *, who: str, at_ms: int) -> bool:
    with store.write() as connection:
        if connection.execute(delete(CHANNELS).where(CHANNELS.c.channel_id == channel_id)).rowcount == 0:
            return False
        end_open(connection, channel_id, "the channel was removed")
        audit.note(connection, who=who, action="channel_removed", subject=channel_id, at_ms=at_ms)
        return True


def known(store: Store) -> Sequence[Row[Any]]:
    with store.read() as connection:
        return connection.execute(select(CHANNELS).order_by(CHANNELS.c.name, CHANNELS.c.channel_id)).all()


def one(store: Store, channel_id: str) -> Row[Any] | None:
    with store.read() as connection:
        return _find(connection, channel_id)


def circuit(row: Row[Any], at_ms: int) -> str:
    """`open`: it failed too often and is left alone; `paused`: it asked for that; `half_open`: one delivery may try."""
    if row.open_until_ms is None:
        return "closed"
    if row.open_until_ms <= at_ms:
        return "half_open"
    return "open" if row.failures else "paused"


def end_open(connection: Connection, channel_id: str, reason: str) -> None:
    waiting = (DELIVERIES.c.channel_id == channel_id, DELIVERIES.c.state.in_(OPEN_STATES))
    connection.execute(update(DELIVERIES).where(*waiting).values(state="dead", reason=reason))


def _row(sealer: Sealer, wanted: Wanted, at_ms: int) -> dict[str, Any]:
    target = wanted.config.get("url") or wanted.config.get("file") or ""
    return {
        "name": wanted.name,
        "kind": wanted.kind,
        "target": shown_target(wanted.kind, wanted.config),
        "sealed": sealer.seal(wanted.config),
        "target_hash": sealer.hash(f"{wanted.kind} {target}"),
        "enabled": wanted.enabled,
        "disabled_reason": None if wanted.enabled else "disabled by an admin",
        "failures": 0,
        "open_until_ms": None,
        "last_error": None,
        "changed_ms": at_ms,
    }


def _named(channel_id: str) -> Any:
    return update(CHANNELS).where(CHANNELS.c.channel_id == channel_id)


def _find(connection: Connection, channel_id: str) -> Row[Any] | None:
    return connection.execute(select(CHANNELS).where(CHANNELS.c.channel_id == channel_id)).one_or_none()


def _found(connection: Connection, channel_id: str) -> Row[Any]:
    return connection.execute(select(CHANNELS).where(CHANNELS.c.channel_id == channel_id)).one()


def _shown(wanted: Wanted) -> dict[str, Any]:
    """For the audit log."""
    target = shown_target(wanted.kind, wanted.config)
    return {"name": wanted.name, "kind": wanted.kind, "target": target, "enabled": wanted.enabled}
