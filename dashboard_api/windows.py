"""The newest windows of the fleet and of each truck, in bounded memory."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from schemas.models import Window

FLEET_HISTORY = timedelta(hours=2)
TRUCK_HISTORY = 15


@dataclass(frozen=True, slots=True)
class Kept:
    """A window as its record holds it. The JSON takes a fraction of the memory of the object."""

    start: datetime
    final: bool
    value: bytes


class Windows:
    """Windows by (scope, truck, length); within one, by record key.

    A later record replaces an earlier one, but nothing replaces a final one except a final one: a Spark job that was
    killed writes its last batch again.
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str | None, int], dict[str, Kept]] = {}

    def put(self, key: str, value: bytes) -> None:
        window = Window.model_validate_json(value)
        group = self._groups.setdefault((window.scope, window.truck_id, window.length_s), {})
        if key in group and group[key].final and not window.final:
            return
        group[key] = Kept(window.window_start, window.final, value)
        if window.scope == "fleet":
            _forget_old(group)
        elif len(group) > TRUCK_HISTORY:
            del group[min(group, key=lambda each: group[each].start)]

    def remove(self, key: str) -> None:
        for group in self._groups.values():
            group.pop(key, None)

    def newest(self, scope: str, truck_id: str | None, length_s: int | None, limit: int) -> tuple[list[Window], int]:
        """The newest windows first, and how many there are."""
        lengths = [60, 300] if length_s is None else [length_s]
        kept = [each for length in lengths for each in self._groups.get((scope, truck_id, length), {}).values()]
        kept.sort(key=lambda each: each.start, reverse=True)
        return [Window.model_validate_json(each.value) for each in kept[:limit]], len(kept)


def _forget_old(group: dict[str, Kept]) -> None:
    oldest = max(kept.start for kept in group.values()) - FLEET_HISTORY
    for key in [key for key, kept in group.items() if kept.start <= oldest]:
        del group[key]
