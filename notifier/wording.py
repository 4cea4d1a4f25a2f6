"""An alert as one line for a person: when, how bad, who, what, where."""

from schemas.models import Alert, AlertKind, as_rfc3339

WHAT = {
    AlertKind.GEOFENCE_ENTER: "entered fence {fence}",
    AlertKind.GEOFENCE_EXIT: "left fence {fence}",
    AlertKind.GEOFENCE_CROSSED: "crossed fence {fence}",
    AlertKind.GEOFENCE_DWELL: "stays in fence {fence}",
    AlertKind.OVERSPEED: "drives too fast",
    AlertKind.IDLE: "idles",
    AlertKind.SILENT: "sends no fixes",
    AlertKind.FEED_SILENT: "sends no fixes",
}


def line(alert: Alert) -> str:
    who = alert.truck_id or "the whole fleet"
    what = WHAT[alert.kind].format(fence=alert.fence_id)
    where = "" if alert.lat is None or alert.lon is None else f" at {alert.lat:.5f}, {alert.lon:.5f}"
    told = f"{as_rfc3339(alert.start_time)} {alert.severity} {alert.status}: {who} {what}{where}"
    # Whatever a record holds, it stays one line and cannot steer the terminal.
    return "".join(letter if letter.isprintable() else "?" for letter in told)
