"""An alert in words that a dispatcher understands at a glance: what, who, where, when, how long, and a link."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from notifier.cities import near
from schemas.models import Alert, AlertKind, Fence, Truck

MOST_LINES = 20
# While it lasts, and once it is over.
WHAT = {
    AlertKind.GEOFENCE_ENTER: ("entered {fence}", "entered {fence}"),
    AlertKind.GEOFENCE_EXIT: ("left {fence}", "left {fence}"),
    AlertKind.GEOFENCE_CROSSED: ("drove through {fence}", "drove through {fence}"),
    AlertKind.GEOFENCE_DWELL: ("stays in {fence}", "stayed in {fence} and has left"),
    AlertKind.OVERSPEED: ("drives too fast", "drove too fast, and no longer does"),
    AlertKind.IDLE: ("stands idle", "stood idle, and moves again"),
    AlertKind.SILENT: ("sends no position", "sends its position again"),
    AlertKind.FEED_SILENT: ("no truck sends its position", "trucks send their positions again"),
}
Told = Sequence[tuple[Alert, dict[str, Any]]]


@dataclass(frozen=True)
class Notice:
    title: str
    text: str


def about(alert: Alert, fence: Fence | None, truck: Truck | None) -> dict[str, Any]:
    """What is known around an alert when it is planned; a later change of names does not change what was told."""
    city = None if alert.lat is None or alert.lon is None else near(lat=alert.lat, lon=alert.lon)
    zone = fence.schedule.zone if fence and fence.schedule else city.zone if city else None
    return {
        "truck": truck.name if truck else None,
        "plate": truck.plate if truck else None,
        "driver": truck.driver if truck else None,
        "fence": fence.name if fence else None,
        "place": city.words if city else None,
        "zone": zone,
    }


def notice(what: str, told: Told, page_url: str) -> Notice:
    if what == "test":
        return Notice("Test from trucks-gps", "This is a test: the channel works.")
    if len(told) == 1:
        alert, known = told[0]
        return Notice(title(alert, known, what), "\n".join(lines(alert, known, page_url)))
    shown = [f"- {title(alert, known, what)} {when(alert.start_time, known)}" for alert, known in told[:MOST_LINES]]
    more = [f"and {len(told) - MOST_LINES} more"] if len(told) > MOST_LINES else []
    return Notice(f"{len(told)} alerts", "\n".join([*shown, *more, f"{page_url}/"]))


def title(alert: Alert, known: dict[str, Any], what: str = "") -> str:
    who = known.get("truck") or alert.truck_id or ""
    words = WHAT[alert.kind][alert.status == "cleared"].format(fence=known.get("fence") or alert.fence_id or "a fence")
    sentence = f"{who} {words}".strip()
    if alert.status == "retracted":
        return f"Taken back: {sentence}"
    still = "Still: " if what == "repeat" else ""
    mark = {"critical": "CRITICAL: ", "warning": "Warning: "}.get(alert.severity, "")
    return f"{mark if alert.status == 'raised' else ''}{still}{sentence}"


def lines(alert: Alert, known: dict[str, Any], page_url: str) -> list[str]:
    found = [who(alert, known), detail(alert), where(alert, known), f"When: {when(alert.start_time, known)}"]
    if (lasted := duration(alert)) is not None:
        found.append(f"How long: {words_for(lasted)}")
    if alert.status == "retracted":
        found.append("A position that came late shows that it did not happen.")
    return [each for each in [*found, f"{page_url}/?alert={quote(alert.alert_id)}"] if each]


def who(alert: Alert, known: dict[str, Any]) -> str:
    if alert.truck_id is None:
        return ""
    named = [known.get("truck"), alert.truck_id, known.get("plate"), known.get("driver")]
    truck = " · ".join(dict.fromkeys(each for each in named[:3] if each))
    return f"Truck: {truck}" + (f", driven by {named[3]}" if named[3] else "")


def detail(alert: Alert) -> str:
    if alert.kind != AlertKind.OVERSPEED:
        return ""
    speed = alert.explanation.get("peak_kmh") or alert.explanation.get("speed_kmh")
    limit = alert.explanation.get("limit_kmh")
    return f"Speed: {speed:.0f} km/h where {limit:.0f} are allowed" if number(speed) and number(limit) else ""


def number(value: object) -> bool:
    return isinstance(value, int | float)


def where(alert: Alert, known: dict[str, Any]) -> str:
    fence = known.get("fence") or alert.fence_id
    places = [each for each in (fence, known.get("place")) if each]
    if alert.lat is not None and alert.lon is not None:
        places.append(f"{alert.lat:.5f}, {alert.lon:.5f}")
    return f"Where: {', '.join(places)}" if places else ""


def when(moment: datetime, known: dict[str, Any]) -> str:
    return moment.astimezone(ZoneInfo(known.get("zone") or "UTC")).strftime("%a %d %b %Y %H:%M %Z")


def duration(alert: Alert) -> float | None:
    """Of the episode, or of the visit that ended."""
    since = alert.explanation.get("entered_time") or alert.explanation.get("standing_since_time")
    began = datetime.fromisoformat(since) if isinstance(since, str) else alert.start_time
    if alert.kind == AlertKind.GEOFENCE_EXIT:
        return (alert.start_time - began).total_seconds() if isinstance(since, str) else None
    if alert.end_time is not None:
        return (alert.end_time - began).total_seconds()
    timed = alert.kind in (AlertKind.GEOFENCE_DWELL, AlertKind.IDLE)
    return (alert.start_time - began).total_seconds() if timed and isinstance(since, str) else None


def words_for(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
