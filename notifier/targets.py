"""Where a channel may connect to: public addresses, and those that an admin allows. Checked when connecting."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
NAT64 = IPv6Network("64:ff9b::/96")


class Forbidden(OSError):  # noqa: N818 (said of the target)
    """The target's address is none that a channel may reach."""


def inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for: mapped, 6to4, Teredo, NAT64."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


def permitted(text: str, allowed: Sequence[Network]) -> bool:
    address = inner(ip_address(text.partition("%")[0]))
    if any(address.version == each.version and address in each for each in allowed):
        return True
    # `is_global` is false for private, loopback, link-local, carrier-grade and reserved ones.
    return address.is_global and not address.is_multicast


def resolve(host: str, port: int, allowed: Sequence[Network]) -> list[str]:
    """The host's addresses, all of them permitted: a name that also leads inside is not trusted at all."""
    found = dict.fromkeys(str(each[4][0]) for each in REAL_GETADDRINFO(host, port, type=socket.SOCK_STREAM))
    for address in found:
        if not permitted(address, allowed):
            raise Forbidden(f"{address} is not a public address; an admin can allow its range")
    return list(found)


@dataclass(frozen=True)
class Guard:
    """`forbidden`: what was asked for in vain, as a library may keep that to itself."""

    allowed: Sequence[Network]
    forbidden: list[Forbidden] = field(default_factory=list)


REAL_GETADDRINFO = socket.getaddrinfo
# Not of the thread: Apprise sends in threads of its own, to which it hands on the context.
_guard: ContextVar[Guard | None] = ContextVar("guard", default=None)


def _getaddrinfo(host: Any, port: Any, *more: Any, **named: Any) -> Any:
    answer = REAL_GETADDRINFO(host, port, *more, **named)
    guard = _guard.get()
    for each in answer:
        if guard is not None and not permitted(str(each[4][0]), guard.allowed):
            guard.forbidden.append(Forbidden(f"{each[4][0]} is not a public address; an admin can allow its range"))
            raise guard.forbidden[-1]
    return answer


@contextmanager
def guarded(allowed: Sequence[Network]) -> Iterator[list[Forbidden]]:
    """Every name that any library looks up here in order to connect is checked; what was checked is used."""
    socket.getaddrinfo = _getaddrinfo
    guard = Guard(allowed)
    before = _guard.set(guard)
    try:
        yield guard.forbidden
    finally:
        _guard.reset(before)
