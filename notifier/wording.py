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
LINK_ZOOM = 12
# Since when it lasts, as the explanation has it.
SINCE = ("entered_time", "standing_since_time", "last_record_time")
AT_ONCE = (AlertKind.GEOFENCE_DWELL, AlertKind.IDLE, AlertKind.SILENT, AlertKind.FEED_SILENT)
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
        # The alert itself knows one that has been deleted.
        "fence": fence.name if fence else alert.explanation.get("fence_name"),
        "place": city.words if city else None,
        "zone": zone,
    }


def notice(what: str, told: Told, page_url: str) -> Notice:
    if what == "test":
        return Notice("Test from trucks-gps", "This is a test: the channel works.")
    if len(told) == 1:
        alert, known = told[0]
        return Notice(title(alert, known, what), "\n".join(lines(alert, known, page_url)))
    shown = [f"- {item(alert, known, what)}" for alert, known in told[:MOST_LINES]]
    more = [f"and {len(told) - MOST_LINES} more"] if len(told) > MOST_LINES else []
    return Notice(heading(told, what), "\n".join([*shown, *more, f"{page_url}/#panel=alerts"]))


def heading(told: Told, what: str) -> str:
    """How many, and what it is where all are alike: `Still: 12 alerts: stands idle`."""
    kinds = {(alert.kind, alert.status) for alert, _ in told}
    still = "Still: " if what == "repeat" else ""
    if len(kinds) > 1:
        return f"{still}{len(told)} alerts"
    [(kind, status)] = kinds
    fences = {known.get("fence") or alert.fence_id or "a fence" for alert, known in told}
    taken_back = "Taken back: " if status == "retracted" else ""
    fence = fences.pop() if len(fences) == 1 else "a fence"
    return f"{taken_back}{still}{len(told)} alerts: {WHAT[kind][status == 'cleared'].format(fence=fence)}"


def item(alert: Alert, known: dict[str, Any], what: str) -> str:
    lasted = duration(alert)
    parts = [title(alert, known, what), known.get("place"), when(alert.start_time, known)]
    return ", ".join(each for each in [*parts, words_for(lasted) if lasted is not None else None] if each)


def link(alert: Alert, page_url: str) -> str:
    """To the alert on the map: its truck is chosen, its place is in the middle."""
    parts = {"truck": alert.truck_id, "alert": alert.alert_id}
    if alert.lat is not None and alert.lon is not None:
        parts["at"] = f"{alert.lat:.5f},{alert.lon:.5f},{LINK_ZOOM}"
    return f"{page_url}/#" + "&".join(f"{name}={quote(value, safe=',')}" for name, value in parts.items() if value)


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
    return [each for each in [*found, link(alert, page_url)] if each]


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
    since = next((alert.explanation[each] for each in SINCE if alert.explanation.get(each)), None)
    began = datetime.fromisoformat(since) if isinstance(since, str) else alert.start_time
    if alert.kind == AlertKind.GEOFENCE_EXIT:
        return (alert.start_time - began).total_seconds() if isinstance(since, str) else None
    if alert.end_time is not None:
        return (alert.end_time - began).total_seconds()
    known = alert.kind in AT_ONCE and isinstance(since, str)
    return (alert.start_time - began).total_seconds() if known else None


def words_for(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
