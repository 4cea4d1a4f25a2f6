"""Where the demo's notifications go: to the console, to a file, and as webhooks to the receiver that comes with it."""

import base64
import os
import secrets
from pathlib import Path
from typing import Any

from local_stack.answers import ask, get
from local_stack.errors import StackError
from local_stack.ports import HOST

HOOK = "Test receiver"
FILE = "alerts.txt"
CHANNELS: list[dict[str, Any]] = [
    {"name": "Console", "kind": "console"},
    {"name": "File", "kind": "file", "file": FILE},
]
# Critical ones at once; of the rest one a minute and kind, so that 200 trucks are no flood.
RULES: list[dict[str, Any]] = [
    {"name": "Critical at once", "position": 10, "severities": ["critical"], "last": True},
    {"name": "Everything else", "position": 1000, "catch_all": True}
    | {"group_by": ["kind"], "group_wait_s": 5, "group_interval_s": 60},
]


def new_secret(path: Path) -> None:
    """As Standard Webhooks writes it; readable by its owner alone."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as opened:
        opened.write("whsec_" + base64.b64encode(secrets.token_bytes(24)).decode() + "\n")


def set_up(port: int, key: str, receiver_port: int, secret: str, *, first: bool) -> None:
    """Channels and rules on the first run; later only the receiver's port. What somebody has removed stays away."""
    url = f"http://{HOST}:{receiver_port}/"
    hook = {"name": HOOK, "kind": "webhook", "url": url, "secret": secret}
    if not first:
        known = get(port, "/api/channels", key) or {"items": []}
        for each in known["items"]:
            if each["name"] == HOOK and not each["target"].startswith(url):
                write("PUT", port, f"/api/channels/{each['channel_id']}", key, hook | {"enabled": each["enabled"]})
        return
    ids = [write("POST", port, "/api/channels", key, each)["channel_id"] for each in [*CHANNELS, hook]]
    for each in RULES:
        write("POST", port, "/api/rules", key, each | {"channel_ids": ids})


def write(method: str, port: int, path: str, key: str, body: Any) -> Any:
    answer = ask(method, port, path, key, body)
    if answer is None:
        raise StackError(f"The dashboard did not take the demo's notifications ({method} {path}); its log says why.")
    return answer
