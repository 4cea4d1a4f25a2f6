"""What the operator can set: environment variables `SIMULATOR_*` or flags."""

import re
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator
from pydantic_settings import BaseSettings, CliPositionalArg, SettingsConfigDict

from simulator.rates import PRESETS, Preset, Rates

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def span(text: Any) -> Any:
    """`24h` → 24 hours; anything else goes on to pydantic."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text) if isinstance(text, str) else None
    if not found and isinstance(text, str):
        raise ValueError("a number and s, m, h or d, such as 24h, is expected")
    return timedelta(seconds=float(found[1]) * SECONDS[found[2]]) if found else text


Span = Annotated[timedelta, BeforeValidator(span), Field(gt=timedelta(0))]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
BOOTSTRAP_SERVERS: Any = Field(
    default="localhost:9092", min_length=1, description="Kafka brokers, host:port, separated by commas."
)
LEDGER: Any = Field(default=None, description="File that gets a line per fix: its class and what became of it.")


def config(command: str) -> SettingsConfigDict:
    return SettingsConfigDict(
        env_prefix="SIMULATOR_",
        env_ignore_empty=True,
        frozen=True,
        cli_kebab_case=True,
        cli_hide_none_type=True,
        cli_prog_name=command,
    )


class Settings(BaseSettings):
    """Drives a fleet of trucks on the freeways of the United States and publishes its fixes to Kafka.

    Other commands: `python -m simulator replay FILE` publishes recorded traces, `python -m simulator fences` prints the
    fences of the simulated sites as GeoJSON; each explains itself with --help.
    """

    model_config = config("python -m simulator")

    bootstrap_servers: str = BOOTSTRAP_SERVERS
    trucks: Annotated[int, Field(ge=1, le=1_000_000)] = Field(default=200, description="How many trucks drive.")
    interval_s: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = Field(
        default=20.0, description="Seconds between two fixes of a truck."
    )
    seed: int = Field(default=1, description="The same seed gives the same trucks on the same routes.")
    start_time: AwareDatetime | None = Field(
        default=None, description="Event time of the first fix, RFC 3339 with a zone; empty: now."
    )
    speed: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=1.0,
        description="How many times faster than the clock; above 1 it starts a day ago and never runs ahead of now.",
    )
    backfill: Span | None = Field(
        default=None, description="First send the history of so long, such as 24h, as fast as Kafka takes it."
    )
    duration: Span | None = Field(
        default=None, description="End after so much of the fleet's time, such as 90m; empty: never."
    )
    ledger: Path | None = LEDGER
    preset: Preset = Field(default="realistic", description="What goes wrong: calm, realistic or hostile.")
    noise_m: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        default=None, description="Usual error of a position in metres; empty here and below: as the preset says."
    )
    outlier_rate: Share = Field(default=None, description="Share of fixes that are 50 to 200 m off.")
    cold_start_rate: Share = Field(
        default=None, description="Share of departures after which the receiver needs a minute to find its position."
    )
    tunnel_rate: Share = Field(default=None, description="Share of 2 km squares whose roads run in a tunnel.")
    clock_offset_rate: Share = Field(default=None, description="Share of trucks whose clock is up to 20 s off.")
    clock_wrong_rate: Share = Field(default=None, description="Share of trucks whose clock is an hour off.")
    offline_rate: Share = Field(
        default=None, description="Share of a truck's half hours with a lost connection; stored fixes come in a burst."
    )
    duplicate_rate: Share = Field(default=None, description="Share of fixes that are sent twice.")
    out_of_order_rate: Share = Field(default=None, description="Share of fixes that arrive up to 9 min late.")
    late_rate: Share = Field(default=None, description="Share of fixes that arrive 11 to 60 min late.")
    garbled_rate: Share = Field(default=None, description="Share of records whose bytes cannot be understood.")

    @model_validator(mode="after")
    def has_one_beginning(self) -> "Settings":
        if self.start_time is not None and self.backfill is not None:
            raise ValueError("give either start_time or backfill: both say when the first fix is measured")
        return self

    @property
    def rates(self) -> Rates:
        given = {each.name: getattr(self, each.name) for each in fields(Rates)}
        return replace(PRESETS[self.preset], **{name: rate for name, rate in given.items() if rate is not None})


class Replay(BaseSettings):
    """Publishes recorded traces to Kafka, in order of event time, or of received_time where the file has that column.

    CSV: columns truck_id, event_time, lat, lon and, where known, speed_kmh, heading_deg, accuracy_m, seq. GPX: each
    track is a truck, by its name. Rows that cannot be used are reported with their line and skipped.
    """

    model_config = config("python -m simulator replay")

    file: CliPositionalArg[Path] = Field(description="The recording: FILE.csv or FILE.gpx.")
    bootstrap_servers: str = BOOTSTRAP_SERVERS
    speed: Annotated[float, Field(gt=0)] = Field(
        default=1.0, description="1: in real time; 60: sixty times faster; inf: at once."
    )
    ledger: Path | None = LEDGER


class Fences(BaseSettings):
    """Prints the fences of the simulated sites, and some on the roads between them, as a GeoJSON FeatureCollection."""

    model_config = config("python -m simulator fences")
