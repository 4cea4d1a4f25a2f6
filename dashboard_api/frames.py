"""The binary frame of the live stream: where every truck is, in columns, 12 bytes a truck."""

import struct

import numpy as np

from dashboard_api.fleet import Fleet

# magic, version, flags, count, reserved, time in epoch ms, sequence: little-endian, 32 bytes.
HEADER = struct.Struct("<4sHHIIQQ")
MAGIC = b"TGPS"
VERSION = 1


def encode(fleet: Fleet, *, now_ms: int, sequence: int) -> bytes:
    """Header, then lon and lat (i32, millionths of a degree), heading/2, speed in km/h, status, age in s (u8 each).

    255 is an unknown heading or speed, a slot without a state, and an age of 255 s or more. Row n is slot n.
    """
    count = len(fleet)
    column = {name: fleet.columns[name][:count] for name in ("lon_e6", "lat_e6", "heading_u8", "speed_u8", "status")}
    age_s = (now_ms - fleet.columns["event_ms"][:count]) // 1000
    header = HEADER.pack(MAGIC, VERSION, 0, count, 0, now_ms, sequence)
    columns = [each.tobytes() for each in column.values()]
    return b"".join([header, *columns, np.clip(age_s, 0, 255).astype(np.uint8).tobytes()])
