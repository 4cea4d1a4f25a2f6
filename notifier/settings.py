"""What the operator can set: environment variables `NOTIFIER_*` or flags."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Sends notifications about alerts to the channels that the rules name."""

    model_config = SettingsConfigDict(
        env_prefix="NOTIFIER_", frozen=True, cli_kebab_case=True, cli_prog_name="python -m notifier"
    )

    bootstrap_servers: Annotated[str, Field(min_length=1)] = Field(
        default="localhost:9092", description="Kafka brokers, host:port, separated by commas."
    )
    store_url: str = Field(
        default="sqlite:///.data/dashboard.db", description="The store; the same as the dashboard's."
    )
    sealing_key_file: Path = Field(
        default=Path(".data/sealing.key"), description="Seals the channels' secrets; the same as the dashboard's."
    )
    files_dir: Path = Field(default=Path(".data/notifications"), description="Where file channels write.")
    page_url: str = Field(
        default="http://127.0.0.1:8000", description="The dashboard's address, for links in messages."
    )
    allowed_ranges: str = Field(
        default="", description="Private address ranges that channels may reach, separated by commas."
    )
    allow_http: bool = Field(default=False, description="Send webhooks also without TLS.")
    retry_s: str = Field(
        default="5,300,1800,7200,18000,36000,50400,72000,86400",
        description="Seconds between the tries of a delivery, separated by commas.",
    )
    timeout_s: float = Field(default=15, gt=0, le=60, description="A try takes at most so long, answer included.")
    lease_s: float = Field(
        default=60, gt=0, description="A delivery whose sender died is taken up again after so long."
    )
    lane_size: int = Field(default=4, ge=1, le=32, description="So many deliveries of a channel at a time.")
    circuit_failures: int = Field(
        default=5, ge=1, description="After so many failures in a row a channel is left alone."
    )
    circuit_s: float = Field(default=30, gt=0, description="For so long at first; then twice as long, up to 5 minutes.")
    max_age_s: int = Field(default=900, ge=1, description="Alerts that are older are recorded and not sent.")
    wake_s: int = Field(default=180, ge=0, description="After an outage of the feed a silent truck has so long.")
    keep_days: int = Field(default=30, ge=1, description="Deliveries are kept so long.")

    @model_validator(mode="after")
    def _usable(self) -> Self:
        self.ranges()
        if not self.retry_ms() or min(self.retry_ms()) < 0:
            raise ValueError("retry_s is a list of seconds, such as 5,300,1800")
        if self.lease_s < 3 * self.timeout_s:
            raise ValueError("lease_s is at least three times timeout_s")
        return self

    def ranges(self) -> list[IPv4Network | IPv6Network]:
        return [ip_network(each.strip()) for each in self.allowed_ranges.split(",") if each.strip()]

    def retry_ms(self) -> list[int]:
        return [round(float(each) * 1000) for each in self.retry_s.split(",") if each.strip()]
