"""Whether the dashboard's parts work, as the feed sees them."""

from dataclasses import dataclass


@dataclass
class Health:
    """Written by the feed's thread alone; everyone may read."""

    connected: bool = False
    rebuilt: bool = False
    trouble: str = "not connected yet"

    @property
    def ready(self) -> bool:
        return self.connected and self.rebuilt
