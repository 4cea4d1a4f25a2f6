"""`python -m benchmarks.api`: how fast the API answers and tells at 100,000 trucks. Prints a markdown table."""

import http.client
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import psutil
from websockets.sync.client import connect

from benchmarks import startup
from benchmarks.api_server import KEY, fill, now_ms
from benchmarks.load import Load, run
from dashboard_api import frames
from dashboard_api.view import View
from local_stack.ports import free_ports

TRUCKS = 100_000
CLIENTS = 50
ROUNDS = 7
PATHS = {"first 100 trucks": "/api/trucks?limit=100", "bbox": "/api/trucks?limit=100&bbox=-88,41,-87,42"}


def get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={"Authorization": f"Bearer {KEY}"})
    return connection.getresponse().read()


@contextmanager
def serving(what: str, path: str) -> Iterator[tuple[int, psutil.Process]]:
    port = free_ports(1)[0]
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.api_server", str(port), what])
    try:
        while process.poll() is None and not answers(port, path):
            time.sleep(0.2)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def answers(port: int, path: str) -> bool:
    try:
        return bool(get(port, path))
    except OSError:
        return False


def compare(name: str, path: str, product_port: int) -> Iterator[str]:
    """The product and a bare route with the same bytes, in turns."""
    with TemporaryDirectory() as folder:
        content = Path(folder) / "content"
        content.write_bytes(get(product_port, path))
        with serving(str(content), "/bare") as (bare_port, _):
            ours: list[Load] = []
            bare: list[Load] = []
            for _ in range(ROUNDS):
                bare.append(run(bare_port, "/bare", KEY))
                ours.append(run(product_port, path, KEY))
    rate, bare_rate = (statistics.median(each.requests_per_s for each in loads) for loads in (ours, bare))
    # Of neighbours in time: what else the machine does slows both.
    share = statistics.median(our.requests_per_s / its.requests_per_s for our, its in zip(ours, bare, strict=True))
    p99, bare_p99 = (statistics.median(each.p99_ms for each in loads) for loads in (ours, bare))
    yield f"| {name}: requests/s | {rate:,.0f} | bare route {bare_rate:,.0f}: {100 * share:.0f} % |"
    yield f"| {name}: p99 | {p99:.1f} ms | bare route {bare_p99:.1f} ms |"


def encode_rows() -> Iterator[str]:
    view = View()
    fill(view, TRUCKS)
    took = timed(lambda: frames.encode(view.fleet, now_ms=now_ms(), sequence=1), times=50)
    yield f"| encode a frame | {1000 * took:.2f} ms | {len(frames.encode(view.fleet, now_ms=0, sequence=1)):,} bytes |"


def timed(what: Callable[[], object], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        what()
    return (time.perf_counter() - began) / times


def fan_out_rows(port: int, server: psutil.Process) -> Iterator[str]:
    def listen() -> None:
        headers = {"Authorization": f"Bearer {KEY}"}
        address = f"ws://127.0.0.1:{port}/api/live/socket"
        with connect(address, additional_headers=headers, max_size=None, compression=None) as socket:
            for message in socket:
                frames_heard.append(isinstance(message, bytes))
                if stopping:
                    return

    stopping: list[bool] = []
    frames_heard: list[bool] = []
    clients = [Thread(target=listen, daemon=True) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(5)
    seconds = 10.0
    frames_heard.clear()
    processes = (server, psutil.Process())
    before = [cpu_s(each) for each in processes]
    time.sleep(seconds)
    spent_ms = [1000 * (cpu_s(each) - then) / seconds for each, then in zip(processes, before, strict=True)]
    told = sum(frames_heard) / seconds
    stopping.append(True)
    for client in clients:
        client.join()
    yield f"| fan-out to {CLIENTS} clients, server CPU a second | {spent_ms[0]:.0f} ms | {told:.0f} frames/s read |"
    yield f"| CPU of these clients | {spent_ms[1]:.0f} ms | |"


def cpu_s(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def memory_row() -> str:
    """In a process of its own: what Python has freed does not always go back."""
    code = f"from benchmarks.api_server import memory_mb; print(memory_mb({TRUCKS}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return f"| live view with an hour of positions and all windows | {float(done.stdout):.0f} MB | at most 300 |"


def table() -> list[str]:
    return ["| what | measured | against |", "| --- | --- | --- |", *rows()]


def rows() -> Iterator[str]:
    yield from encode_rows()
    with serving(str(TRUCKS), PATHS["bbox"]) as (port, server):
        for name, path in PATHS.items():
            yield from compare(name, path, port)
        yield from fan_out_rows(port, server)
    yield memory_row()
    yield from startup.rows(TRUCKS)


if __name__ == "__main__":
    print(f"{TRUCKS:,} trucks, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("\n".join(table()))
