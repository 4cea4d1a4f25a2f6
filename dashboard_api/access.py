"""Who may do what: roles, keys, one-time links. Deny by default: what no line below allows, nobody but an admin may."""

import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock

from store import keys
from store.engine import Store

COOKIE = "trucks_gps_key"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
PUBLIC = ("/", "/healthz", "/readyz", "/login", "/openapi.json")
# What a viewer may read, by how its path begins.
READS = (
    *("/api/alerts", "/api/channels", "/api/deliveries", "/api/fences", "/api/live", "/api/map/", "/api/me"),
    *("/api/pipeline", "/api/rejects", "/api/rules", "/api/silences", "/api/stats", "/api/trucks", "/api/visits"),
    *("/api/windows", "/metrics"),
)
WRITES = ("/api/alerts/", "/api/fences", "/api/silences", "/api/deliveries")
FILE_KEY_ID = "file"
TRUST_MS = 5_000
LINK_MS = 10 * 60_000
SESSION_MS = 30 * 24 * 60 * 60_000
MOST_REMEMBERED = 10_000


class Role(StrEnum):
    """Each may do what those before it may."""

    VIEWER = "viewer"
    DISPATCHER = "dispatcher"
    ADMIN = "admin"

    def allows(self, needed: "Role") -> bool:
        return RANK[self] >= RANK[needed]


RANK = {role: rank for rank, role in enumerate(Role)}


@dataclass(frozen=True)
class Who:
    """Who asks. `label` is what the audit log says."""

    key_id: str
    name: str
    role: Role

    @property
    def label(self) -> str:
        return f"{self.name} ({self.key_id})"


ADMIN = Who(FILE_KEY_ID, "admin", Role.ADMIN)


def needed_role(method: str, path: str) -> Role | None:
    """The whole policy; None is for everyone."""
    if method in SAFE_METHODS:
        if path in PUBLIC or path.startswith("/static/"):
            return None
        return Role.VIEWER if path.startswith(READS) else Role.ADMIN
    if path == "/api/session":
        return Role.VIEWER
    return Role.DISPATCHER if path.startswith(WRITES) else Role.ADMIN


class Access:
    """Knows keys and links. A key that was found is trusted for five seconds before the store is asked again."""

    def __init__(self, store: Store, admin_key: str, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._admin_key = admin_key.encode()
        self._now_ms = now_ms
        self._lock = Lock()
        self._remembered: dict[str, tuple[Who, int]] = {}
        self._links: dict[str, tuple[Role, int]] = {}

    def recall(self, key: str) -> tuple[Who | None, bool]:
        """Whose it is as far as is remembered, and whether that may be trusted without asking the store."""
        if hmac.compare_digest(key.encode(), self._admin_key):
            return ADMIN, True
        who, until_ms = self._remembered.get(keys.hashed(key), (None, 0))
        return who, until_ms > self._now_ms()

    def find(self, key: str) -> Who | None:
        row = keys.find(self._store, key, self._now_ms())
        with self._lock:
            if row is None:
                self._remembered.pop(keys.hashed(key), None)
                return None
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            who = Who(row.key_id, row.name, Role(row.role))
            until_ms = self._now_ms() + TRUST_MS
            self._remembered[keys.hashed(key)] = (who, min(until_ms, row.expires_ms or until_ms))
        return who

    def forget(self) -> None:
        """A key was revoked: ask the store about every one again."""
        with self._lock:
            self._remembered.clear()

    def make_link(self, role: Role) -> str:
        """A token that opens one browser session within ten minutes."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            now_ms = self._now_ms()
            self._links = {each: link for each, link in self._links.items() if link[1] > now_ms}
            self._links[token] = (role, now_ms + LINK_MS)
        return token

    def redeem(self, token: str) -> str | None:
        """The key of a new browser session; None where the token was used, is too old or was never made."""
        with self._lock:
            role, until_ms = self._links.pop(token, (Role.VIEWER, 0))
        now_ms = self._now_ms()
        if until_ms <= now_ms:
            return None
        wanted = keys.Wanted("browser", role, now_ms + SESSION_MS)
        return keys.make(self._store, wanted, who="login link", at_ms=now_ms)[0]


def read_admin_key(path: Path) -> str:
    """The key in the file; a file that is missing is made, readable by its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as opened:
            opened.write(f"{keys.PREFIX}_file_{secrets.token_urlsafe(32)}\n")
    except FileExistsError:
        pass
    key = path.read_text().strip()
    if len(key) < 32:
        raise ValueError(f"The key in {path} has fewer than 32 characters; delete the file, and a good one is made.")
    return key
