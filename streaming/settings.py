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
    shards: int = Field(2, ge=1, le=1024, description="Parts the fleet is split into; fixed once data is judged.")
    shuffle_partitions: int = Field(2, ge=1, description="Tasks per stateful step: about the number of cores.")
    source_partitions: int = Field(2, ge=0, description="Read tasks per batch; 0: one per Kafka partition.")
    max_fixes_per_batch: int = Field(200_000, ge=1, description="Bounds a batch when a backlog is caught up.")
    trigger_ms: int = Field(250, ge=0, description="Shortest time between two batches.")
    windows_trigger_s: int = Field(5, ge=0, description="Shortest time between two batches of the windows.")
    final_trigger_s: int = Field(60, ge=1, description="How often windows are looked through for final ones.")
    watermark_s: int = Field(3600, ge=0, description="How far behind the newest fix windows still count fixes.")
    horizon_s: int = Field(600, ge=0, description="How far behind its truck's newest a late fix is still judged.")
    future_s: int = Field(120, ge=0, description="How far ahead of Kafka's record time an event time may be.")
    max_fix_bytes: int = Field(16_384, ge=64, description="Larger messages are rejected as too_large.")
    jump_kmh: float = Field(200.0, gt=0, description="An implied speed above this is a jump, not a drive.")
    moving_kmh: float = Field(3.0, ge=0, description="Slower than this is standing.")
    idle_s: int = Field(300, ge=0, description="Standing for so long is idle.")
    gap_s: int = Field(
        120, ge=1, description="Over a longer gap nothing is inferred: no moving or idle time, no crossing."
    )
    accuracy_max_m: float = Field(100.0, gt=0, description="A fix less accurate than this raises and ends no alert.")
    enter_confirm_fixes: int = Field(1, ge=1, description="Fixes inside a fence that make an entry.")
    exit_confirm_fixes: int = Field(1, ge=1, description="Fixes outside a fence that make an exit.")
    exit_buffer_m: float = Field(0.0, ge=0, description="How far outside a fence a truck still counts as inside.")
    speed_limit_kmh: float = Field(110.0, gt=0, description="The fleet's limit, where no fence has one.")
    overspeed_confirm_fixes: int = Field(1, ge=1, description="Fixes above the limit that make an overspeed alert.")
    idle_m: float = Field(50.0, gt=0, description="A standing truck that moves this far no longer stands.")
    silent_s: int = Field(120, ge=1, description="A truck without a fix for so long is silent.")
    feed_silent_s: int = Field(60, ge=1, description="No record from any truck for so long: one alert for the fleet.")
