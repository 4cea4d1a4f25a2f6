"""How each kind of channel sends: webhook, Apprise, console, file."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from notifier import courier
from notifier.targets import Forbidden
from notifier.webhook import Limits, Refused, WebhookSender
from notifier.wording import Notice, notice
from store.channels import ENV
from store.sending import Claimed

# Only these may be named by a channel: not everything in the environment is meant for a receiver.
ENV_PREFIX = "NOTIFIER_SECRET_"
# What speaks to this machine rather than to a host.
LOCAL_SCHEMAS = ("dbus", "gnome", "glib", "kde", "qt", "macosx", "windows", "syslog", "file")


@dataclass(frozen=True)
class Around:
    """What every sender is given."""

    limits: Limits
    files_dir: Path
    page_url: str


@dataclass(frozen=True)
class Sender:
    """`send` returns when it was taken, else raises; it may be called by several threads at once."""

    send: Callable[[Claimed], None]
    close: Callable[[], None] = lambda: None


def make_sender(kind: str, config: dict[str, Any], around: Around, now_ms: Callable[[], int]) -> Sender:
    if kind == "webhook":
        return webhook(config, around, now_ms)
    if kind == "apprise":
        return by_apprise(config, around)
    return to_file(config, around) if kind == "file" else to_console(around)


def revealed(secret: str) -> str:
    if not secret.startswith(ENV):
        return secret
    name = secret.removeprefix(ENV)
    if not name.startswith(ENV_PREFIX) or not os.environ.get(name):
        raise Refused(f"the notifier's environment has no {name}, or its name does not begin with {ENV_PREFIX}")
    return os.environ[name]


def webhook(config: dict[str, Any], around: Around, now_ms: Callable[[], int]) -> Sender:
    sender = WebhookSender(around.limits)

    def send(claimed: Claimed) -> None:
        secrets = config["secrets"][:1]
        if config.get("previous_until_ms", 0) > now_ms():
            secrets = config["secrets"]
        body = payload(claimed, notice_of(claimed, around))
        sender.send(revealed(config["url"]), [revealed(each) for each in secrets], claimed.delivery_id, body)

    return Sender(send, sender.close)


def by_apprise(config: dict[str, Any], around: Around) -> Sender:
    def send(claimed: Claimed) -> None:
        url = revealed(config["url"])
        if url.partition("://")[0].lower() in LOCAL_SCHEMAS:
            raise Refused("this kind of address speaks to this machine alone")
        told, limits = notice_of(claimed, around), around.limits
        outcome, why = courier.send(url, told.title, told.text, limits.allowed, limits.timeout_s)
        if outcome == "forbidden":
            raise Forbidden(why)
        if outcome != "taken":
            raise Refused(why)

    return Sender(send)


def to_console(around: Around) -> Sender:
    def send(claimed: Claimed) -> None:
        sys.stdout.write(f"{one_line(notice_of(claimed, around))}\n")
        # Only a line that has left this process counts as told.
        sys.stdout.flush()

    return Sender(send)


def to_file(config: dict[str, Any], around: Around) -> Sender:
    # Only the last part: a channel writes nowhere else.
    path = around.files_dir / Path(config["file"]).name

    def send(claimed: Claimed) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as opened:
            opened.write(f"{claimed.delivery_id} {one_line(notice_of(claimed, around))}\n")

    return Sender(send)


def notice_of(claimed: Claimed, around: Around) -> Notice:
    return notice(claimed.what, claimed.alerts, around.page_url)


def one_line(told: Notice) -> str:
    """Whatever a record holds, it stays one line and cannot steer the terminal."""
    line = " | ".join([told.title, *told.text.splitlines()])
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def news(claimed: Claimed) -> str:
    """What was over before it could be told is told as such; a group may hold an end and a beginning."""
    statuses = {alert.status for alert, _ in claimed.alerts}
    if len(statuses) > 1:
        return "mixed"
    return claimed.what if claimed.what in ("repeat", "test") else statuses.pop()


def payload(claimed: Claimed, told: Notice) -> str:
    """The same bytes at every try."""
    alerts = [alert.model_dump(mode="json") | {"about": about} for alert, about in claimed.alerts]
    newest = max(alert.start_time for alert, _ in claimed.alerts)
    return json.dumps(
        {
            "type": f"alert.{news(claimed)}",
            "timestamp": newest.isoformat().replace("+00:00", "Z"),
            "data": {"title": told.title, "text": told.text, "alerts": alerts},
        },
        sort_keys=True,
    )
