"""What the operator can set: environment variables `DASHBOARD_*` or flags."""

from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

BROKER = r"(\[[0-9A-Fa-f:]+\]|[^\s,:]+):\d{1,5}"


class Settings(BaseSettings):
    """The dashboard: HTTP API and web page over the fleet's Kafka topics."""

    model_config = SettingsConfigDict(
        env_prefix="DASHBOARD_", frozen=True, cli_kebab_case=True, cli_prog_name="python -m dashboard_api"
    )

    bootstrap_servers: Annotated[str, Field(pattern=rf"^{BROKER}(,{BROKER})*$")] = Field(
        default="localhost:9092", description="Kafka brokers, host:port, separated by commas."
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 for every interface.")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8000, description="Port to listen on; 0 picks one.")
    store_url: str = Field(
        default="sqlite:///.data/dashboard.db", description="The store: sqlite:///FILE or postgresql://USER@HOST/NAME."
    )
    admin_key_file: Path = Field(
        default=Path(".data/admin.key"), description="The first admin's key; made when missing, mode 600."
    )
    sealing_key_file: Path = Field(
        default=Path(".data/sealing.key"), description="Seals the channels' secrets; made when missing, mode 600."
    )
    requests_per_s: float = Field(default=200, gt=0, description="So many requests per second may one key send.")
    keep_days: Annotated[int, Field(ge=1)] = Field(
        default=90, description="Days to keep alerts and visits that are over, and the audit log."
    )
    log_level: str = Field(default="INFO", pattern="^(DEBUG|INFO|WARNING|ERROR)$", description="How much to log.")
