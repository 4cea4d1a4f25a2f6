"""Which ports of this machine are taken, and which are free."""

import socket

HOST = "127.0.0.1"


def is_taken(port: int) -> bool:
    with socket.socket() as asking:
        asking.settimeout(1)
        # Asked first: macOS lets a second program bind a port on one address that another holds on all.
        if asking.connect_ex((HOST, port)) == 0:
            return True
    with socket.socket() as binding:
        binding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            binding.bind((HOST, port))
        except OSError:
            return True
    return False


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on; all are held until the last is known, so no two are the same."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()
