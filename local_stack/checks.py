"""What must be true of the machine before anything starts; each sentence says what to do."""

import shutil
from pathlib import Path

import psutil

from local_stack import ports
from local_stack.errors import StackError

GB = 1024**3
LEAST_DISK_BYTES = 2 * GB
LEAST_MEMORY_BYTES = 2 * GB
MORE_MEMORY_PER_BROKER_BYTES = GB // 2


def check_port(dashboard_port: int) -> None:
    fail_on(port_problems(dashboard_port))


def check_room(data: Path, brokers: int) -> None:
    data.mkdir(parents=True, exist_ok=True)
    free_bytes = shutil.disk_usage(data).free
    fail_on(disk_problems(free_bytes, data) + memory_problems(psutil.virtual_memory().available, brokers))


def fail_on(sentences: list[str]) -> None:
    if sentences:
        raise StackError("\n".join(sentences))


def port_problems(port: int) -> list[str]:
    if not ports.is_taken(port):
        return []
    return [f"Port {port} is taken: stop what listens there, or choose another: DASHBOARD_PORT={port + 80} make demo"]


def disk_problems(free_bytes: int, folder: Path) -> list[str]:
    if free_bytes >= LEAST_DISK_BYTES:
        return []
    return [f"Only {free_bytes / GB:.1f} GB of disk are free at {folder}: free at least 2 GB, e.g. by make clean-data"]


def memory_problems(available_bytes: int, brokers: int) -> list[str]:
    least_bytes = LEAST_MEMORY_BYTES + (brokers - 1) * MORE_MEMORY_PER_BROKER_BYTES
    if available_bytes >= least_bytes:
        return []
    return [
        f"Only {available_bytes / GB:.1f} GB of memory are available: "
        f"close other programs until {least_bytes // GB} GB are."
    ]
