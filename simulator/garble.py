"""Ways in which a record's bytes can arrive spoilt; none of them is a fix any more."""

from collections.abc import Callable


def cut(value: bytes) -> bytes:
    return value[: len(value) // 2]


def hit(value: bytes) -> bytes:
    """One byte is wrong; no text in UTF-8 has it."""
    middle = len(value) // 2
    return value[:middle] + b"\xff" + value[middle + 1 :]


def emptied(_value: bytes) -> bytes:
    return b""


def off_the_earth(value: bytes) -> bytes:
    return value.replace(b'"lat":', b'"lat":9', 1)


def zeroed(value: bytes) -> bytes:
    """A receiver without a position that reports (0, 0)."""
    head, _, rest = value.partition(b'"lat":')
    return head + b'"lat":0.0,"lon":0.0' + rest[rest.index(b',"event_time"') :]


def raw(_value: bytes) -> bytes:
    """What the receiver itself says, passed on unread."""
    return b"$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A"


GARBLES: tuple[Callable[[bytes], bytes], ...] = (cut, hit, emptied, off_the_earth, zeroed, raw)
