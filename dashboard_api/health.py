"""Whether the dashboard's parts work, as their threads see them."""

from dataclasses import dataclass, field


@dataclass
class Health:
    """Each field is written by one thread alone; everyone may read."""

    connected: bool = False
    rebuilt: bool = False
    trouble: str = "not connected yet"
    # How much of what was in Kafka at the start has been read.
    records_read: int = 0
    records_to_read: int = 0
    # Part → why it does not work; empty when it does.
    troubles: dict[str, str] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        return self.connected and self.rebuilt and not any(self.troubles.values())

    @property
    def progress(self) -> str:
        share = 100 * self.records_read // max(1, self.records_to_read)
        return f"read {self.records_read:,} of {self.records_to_read:,} records ({share} %)"
