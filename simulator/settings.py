"""What the operator can set: environment variables `SIMULATOR_*` or flags."""

from typing import Annotated

from pydantic import AwareDatetime, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Drives a fleet of trucks across the contiguous United States and publishes its fixes to Kafka."""

    model_config = SettingsConfigDict(
        env_prefix="SIMULATOR_",
        env_ignore_empty=True,
        frozen=True,
        cli_kebab_case=True,
        cli_hide_none_type=True,
        cli_prog_name="python -m simulator",
    )

    bootstrap_servers: Annotated[str, Field(min_length=1)] = Field(
        default="localhost:9092", description="Kafka brokers, host:port, separated by commas."
    )
    trucks: Annotated[int, Field(ge=1, le=100_000)] = Field(default=200, description="How many trucks drive.")
    interval_s: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = Field(
        default=20.0, description="Seconds between two fixes of a truck."
    )
    seed: int = Field(default=1, description="The same seed gives the same trucks on the same routes.")
    start_time: AwareDatetime | None = Field(
        default=None, description="Event time of the first fix, RFC 3339 with a zone; empty: now."
    )
