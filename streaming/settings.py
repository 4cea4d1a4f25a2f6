"""What can be set for the Spark job: environment variables `STREAMING_…` or flags."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """The Spark job: judges fixes and sums windows."""

    model_config = SettingsConfigDict(env_prefix="STREAMING_", frozen=True, cli_kebab_case=True)

    bootstrap_servers: str = Field("localhost:9092", description="Kafka brokers, host:port, comma-separated.")
    master: str = Field("local[*]", description="Spark master: local[*] or spark://host:7077.")
    checkpoint_dir: Path = Field(Path(".data/checkpoints"), description="Where progress and state are kept.")
    jars_dir: Path = Field(Path(".cache/jars/spark"), description="Folder with Spark's Kafka connector.")
    shards: int = Field(4, ge=1, le=1024, description="Parts the fleet is split into; fixed once data is judged.")
    shuffle_partitions: int = Field(2, ge=1, description="Tasks per stateful step: about the number of cores.")
    source_partitions: int = Field(2, ge=0, description="Read tasks per batch; 0: one per Kafka partition.")
    max_fixes_per_batch: int = Field(200_000, ge=1, description="Bounds a batch when a backlog is caught up.")
    trigger_ms: int = Field(250, ge=0, description="Shortest time between two batches.")
    final_trigger_s: int = Field(60, ge=1, description="How often windows are looked through for final ones.")
    watermark_s: int = Field(3600, ge=0, description="How far behind the newest fix windows still count fixes.")
    horizon_s: int = Field(600, ge=0, description="How far behind its truck's newest a late fix is still judged.")
    future_s: int = Field(120, ge=0, description="How far ahead of Kafka's record time an event time may be.")
    max_fix_bytes: int = Field(16_384, ge=64, description="Larger messages are rejected as too_large.")
    jump_kmh: float = Field(200.0, gt=0, description="An implied speed above this is a jump, not a drive.")
    moving_kmh: float = Field(3.0, ge=0, description="Slower than this is standing.")
    idle_s: int = Field(300, ge=0, description="Standing for so long is idle.")
    gap_s: int = Field(120, ge=1, description="A longer time between two fixes is neither moving nor idle time.")
