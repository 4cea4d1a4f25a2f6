"""What the operator can set: environment variables `NOTIFIER_*` or flags."""

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Tells people about alerts: one line on the console for each."""

    model_config = SettingsConfigDict(
        env_prefix="NOTIFIER_", frozen=True, cli_kebab_case=True, cli_prog_name="python -m notifier"
    )

    bootstrap_servers: Annotated[str, Field(min_length=1)] = Field(
        default="localhost:9092", description="Kafka brokers, host:port, separated by commas."
    )
    group_id: Annotated[str, Field(min_length=1)] = Field(
        default="notifier", description="Consumer group; it remembers which alerts were told."
    )
