"""The numbers that judge a fix. Everything below `judge` takes them from here and reads no settings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    horizon_ms: int
    future_ms: int
    max_fix_bytes: int
    jump_kmh: float
    moving_kmh: float
    idle_ms: int
    gap_ms: int
