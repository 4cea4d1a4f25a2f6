"""A small HTTP load generator: keep-alive connections, one request after the other on each."""

import asyncio
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    requests_per_s: float
    p99_ms: float


async def _ask(host: str, port: int, request: bytes, until: float, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        while time.perf_counter() < until:
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            times.append(time.perf_counter() - began)
    finally:
        writer.close()


async def _run(port: int, request: bytes, seconds: float, connections: int) -> Load:
    times: list[float] = []
    began = time.perf_counter()
    asking = [_ask("127.0.0.1", port, request, began + seconds, times) for _ in range(connections)]
    await asyncio.gather(*asking)
    times.sort()
    return Load(len(times) / (time.perf_counter() - began), 1000 * times[int(0.99 * len(times))])


def run(port: int, path: str, key: str, *, seconds: float = 2.0, connections: int = 8) -> Load:
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    return asyncio.run(_run(port, request, seconds, connections))
