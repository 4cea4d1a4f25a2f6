"""The numbers that judge a fix and raise an alert. Everything below `judge` takes them from here, not from settings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    horizon_ms: int = 600_000
    future_ms: int = 120_000
    max_fix_bytes: int = 16_384
    jump_kmh: float = 200.0
    moving_kmh: float = 3.0
    idle_ms: int = 300_000
    gap_ms: int = 120_000
    accuracy_max_m: float = 100.0
    enter_confirm_fixes: int = 1
    exit_confirm_fixes: int = 1
    exit_buffer_m: float = 0.0
    speed_limit_kmh: float = 110.0
    overspeed_confirm_fixes: int = 1
    idle_m: float = 50.0
    silent_ms: int = 120_000
    feed_silent_ms: int = 60_000
