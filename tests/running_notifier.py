"""`python -m notifier` as a process with a store of its own, and what is published for it."""

import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.models import Alert, AlertKind
from schemas.topics import TRUCKS_ALERTS
from store import channels, deliveries, rules
from store.engine import Store
from store.sealing import Sealer, read_sealing_key
from tests.running import Running


class RunningNotifier(Running):
    """Impatient, and allowed to reach this machine."""

    def __init__(self, servers: str, folder: Path, store_url: str, **settings: str) -> None:
        key_file = folder / "sealing.key"
        self.sealer = Sealer(read_sealing_key(key_file))
        self.store = Store(store_url, process="test")
        usual = {
            "NOTIFIER_BOOTSTRAP_SERVERS": servers,
            "NOTIFIER_STORE_URL": store_url,
            "NOTIFIER_SEALING_KEY_FILE": str(key_file),
            "NOTIFIER_FILES_DIR": str(folder / "files"),
            "NOTIFIER_ALLOWED_RANGES": "127.0.0.0/8",
            "NOTIFIER_ALLOW_HTTP": "true",
            "NOTIFIER_RETRY_S": "0.2,0.3,4",
            "NOTIFIER_TIMEOUT_S": "1",
            "NOTIFIER_LEASE_S": "3",
            "NOTIFIER_CIRCUIT_S": "0.5",
        }
        super().__init__("notifier", folder / "notifier.log", usual | settings, told=folder / "told")

    def add(self, kind: str, config: dict[str, Any], name: str = "") -> str:
        """A channel that gets everything."""
        wanted = channels.Wanted(name or kind, kind, config)
        channel_id: str = channels.add(self.store, self.sealer, wanted, who="test", at_ms=0).channel_id
        rules.add(self.store, rules.Rule(name="all", channel_ids=[channel_id]), who="test", at_ms=0)
        return channel_id

    def told(self) -> str:
        return self._told.read_text()

    def channel(self, channel_id: str) -> Any:
        return channels.one(self.store, channel_id)

    def states(self, channel_id: str) -> dict[str, int]:
        counted = deliveries.counts(self.store).items()
        return {state: number for (channel, state), number in counted if channel == channel_id}


def alert_record(truck_id: str, start_time: datetime | None = None) -> tuple[str, bytes]:
    """(alert_id, value) as the judge writes it."""
    alert = Alert(
        alert_id=uuid.uuid4().hex,
        revision=0,
        status="raised",
        kind=AlertKind.GEOFENCE_ENTER,
        severity="warning",
        truck_id=truck_id,
        fence_id="depot",
        start_time=start_time or datetime.now(UTC),
        end_time=None,
        lat=41.5,
        lon=-87.25,
        explanation={},
    )
    return alert.alert_id, alert.model_dump_json().encode()


def publish(producer: Any, value: bytes) -> str:
    """Where the record lies: topic/partition/offset."""
    at = producer.send(TRUCKS_ALERTS.name, key=b"truck-7", value=value).get(timeout=20)
    return f"{at.topic}/{at.partition}/{at.offset}"
