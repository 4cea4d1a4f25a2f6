"""API keys: shown once, stored as a hash."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from store import audit
from store.engine import Store
from store.tables import API_KEYS

PREFIX = "tg"


@dataclass(frozen=True)
class Wanted:
    """What a key is to be."""

    name: str
    role: str
    expires_ms: int | None


def hashed(secret: str) -> str:
    """The secret has 256 random bits, so that a plain hash cannot be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()


def make(store: Store, wanted: Wanted, *, who: str, at_ms: int) -> tuple[str, Row[Any]]:
    """The key, as it is shown this one time, and its row."""
    key_id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    row = {**vars(wanted), "key_id": key_id, "secret_sha256": hashed(secret), "created_ms": at_ms, "created_by": who}
    with store.write() as connection:
        connection.execute(insert(API_KEYS).values(row))
        audit.note(connection, who=who, action="key_made", subject=key_id, at_ms=at_ms, role=wanted.role)
        made = connection.execute(select(API_KEYS).where(API_KEYS.c.key_id == key_id)).one()
    return f"{PREFIX}_{key_id}_{secret}", made


def find(store: Store, key: str, at_ms: int) -> Row[Any] | None:
    """The row of a key that is known, neither expired nor revoked."""
    prefix, _, rest = key.partition("_")
    key_id, _, secret = rest.partition("_")
    # What is no id at all may be something that a database refuses to compare.
    if prefix != PREFIX or not secret or not re.fullmatch("[0-9a-f]{8}", key_id):
        return None
    with store.read() as connection:
        row = connection.execute(select(API_KEYS).where(API_KEYS.c.key_id == key_id)).one_or_none()
    if row is None or not hmac.compare_digest(row.secret_sha256, hashed(secret)):
        return None
    expired = row.expires_ms is not None and row.expires_ms <= at_ms
    return None if expired or row.revoked_ms is not None else row


def standing(store: Store, key_ids: Iterable[str], at_ms: int) -> set[str]:
    """Those of them that are neither expired nor revoked."""
    counts = (API_KEYS.c.revoked_ms.is_(None), API_KEYS.c.expires_ms.is_(None) | (API_KEYS.c.expires_ms > at_ms))
    with store.read() as connection:
        return set(connection.scalars(select(API_KEYS.c.key_id).where(API_KEYS.c.key_id.in_(list(key_ids)), *counts)))


def page(store: Store, *, limit: int, offset: int) -> tuple[Sequence[Row[Any]], int]:
    """Keys, newest first, and how many there are."""
    newest = select(API_KEYS).order_by(API_KEYS.c.created_ms.desc(), API_KEYS.c.key_id)
    with store.read() as connection:
        total = connection.scalar(select(func.count()).select_from(API_KEYS)) or 0
        return connection.execute(newest.limit(limit).offset(offset)).all(), total


def revoke(store: Store, key_id: str, *, who: str, at_ms: int) -> bool:
    standing = (API_KEYS.c.key_id == key_id, API_KEYS.c.revoked_ms.is_(None))
    with store.write() as connection:
        if connection.execute(update(API_KEYS).where(*standing).values(revoked_ms=at_ms)).rowcount == 0:
            return False
        audit.note(connection, who=who, action="key_revoked", subject=key_id, at_ms=at_ms)
        return True
