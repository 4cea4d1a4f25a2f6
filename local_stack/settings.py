"""What the operator can set for the demo: environment variables without a prefix."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from local_stack.paths import DATA


class Settings(BaseSettings):
    """The demo on one machine."""

    model_config = SettingsConfigDict(frozen=True)

    # The environment speaks text, and a Literal takes it literally.
    brokers: Annotated[Literal[1, 3], BeforeValidator(int)] = Field(
        default=1, description="Kafka brokers; 3 keep every record three times."
    )
    kafka_port: int = Field(default=9092, ge=1, le=65533, description="First broker's port; where taken, a free one.")
    dashboard_port: int = Field(default=8000, ge=1, le=65535, description="The dashboard's port.")
    receiver_port: int = Field(
        default=8001, ge=1, le=65535, description="Port of the receiver of webhooks; where taken, a free one."
    )
    trucks: int = Field(default=200, ge=1, description="Simulated trucks.")
    data_dir: Path = Field(default=DATA, description="Where topics, checkpoints and logs are kept.")
