"""Where a channel may connect to: public addresses, and those that an admin allows. Checked when connecting."""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
NAT64 = IPv6Network("64:ff9b::/96")
# Nothing of the public IPv6 network lies outside.
UNICAST = IPv6Network("2000::/3")


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
    # `is_global` is false for private, loopback, link-local, carrier-grade and reserved ones, but not for all in IPv6.
    within = isinstance(address, IPv4Address) or address in UNICAST
    return within and address.is_global and not address.is_multicast


def refusal(address: str) -> str:
    return f"{address} is not a public address; an admin can allow its range"


def resolve(host: str, port: int, allowed: Sequence[Network]) -> list[str]:
    """The host's addresses, all of them permitted: a name that also leads inside is not trusted at all."""
    found = dict.fromkeys(str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    for address in found:
        if not permitted(address, allowed):
            raise Forbidden(refusal(address))
    return list(found)
