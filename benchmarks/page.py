"""`python -m benchmarks.page`: how smooth the page is in a real browser without a GPU. Prints a markdown table.

The real page and the real API process, with a fleet of which every truck moves once a second.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from threading import Thread

import httpx
import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.api import answers
from benchmarks.api_server import KEY, fill, now_ms, product
from benchmarks.api_server import serve as serve_app
from dashboard_api.fleet import STATUSES
from dashboard_api.view import View
from local_stack.ports import free_ports
from schemas.models import Status
from tests.browser.chromium import find_chromium, launch

FLEETS = (10_000, 100_000)
OPENINGS = 3
WATCHED_S = 8
MOVED_S = 4
STEP_DEG_E6 = 300
SHARES = {Status.MOVING: 0.7, Status.IDLE: 0.12, Status.STOPPED: 0.1, Status.SILENT: 0.08}

# When the first trucks were on the canvas; how long the page's own measures took; when pictures were made.
LISTEN = """
window.measured = { frame: [], draw: [], pictures: [] };
new PerformanceObserver((list) => {
  for (const { name, duration } of list.getEntries()) window.measured[name]?.push(duration);
}).observe({ type: "measure", buffered: true });
const look = (time) => {
  const drawn = document.querySelector(".trucks-canvas")?.dataset.count ?? 0;
  if (drawn > 0) window.measured.first ??= performance.now();
  window.measured.pictures.push(time);
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


@dataclass(frozen=True)
class Smoothness:
    fps: float
    longest_ms: float

    def __str__(self) -> str:
        return f"{self.fps:.0f} fps, longest pause {self.longest_ms:.0f} ms"


def serve(port: int, trucks: int) -> None:
    view = View()
    fill(view, trucks)
    chance = np.random.default_rng(2)
    codes = [STATUSES.index(status) for status in SHARES]
    view.fleet.columns["status"][:trucks] = chance.choice(codes, trucks, p=list(SHARES.values()))
    view.fleet.columns["heading_u8"][:trucks] = chance.integers(0, 180, trucks)
    view.fleet.changed = set()
    Thread(target=drive, args=(view, trucks), daemon=True).start()
    serve_app(port, lambda store: product(view, store))


def drive(view: View, trucks: int) -> None:
    while True:
        columns = view.fleet.columns
        angle = columns["heading_u8"][:trucks] * (np.pi / 90)
        columns["lat_e6"][:trucks] += (STEP_DEG_E6 * np.cos(angle)).astype(np.int32)
        columns["lon_e6"][:trucks] += (STEP_DEG_E6 * np.sin(angle)).astype(np.int32)
        columns["event_ms"][:trucks] = now_ms() - 1000
        time.sleep(1)


@contextmanager
def serving(trucks: int) -> Iterator[str]:
    port = free_ports(1)[0]
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.page", str(port), str(trucks)])
    try:
        while process.poll() is None and not answers(port, "/api/me"):
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def open_page(browser: Browser, url: str, address: str = "") -> Page:
    """With nothing in its cache."""
    made = httpx.post(f"{url}/api/links", json={"role": "dispatcher"}, headers={"Authorization": f"Bearer {KEY}"})
    context = browser.new_context(viewport={"width": 1366, "height": 768}, color_scheme="dark", bypass_csp=True)
    page = context.new_page()
    page.goto(url + str(made.json()["path"]))
    page.close()
    page = context.new_page()
    page.add_init_script(LISTEN)
    page.goto(f"{url}/{address}")
    page.wait_for_function("window.measured.first")
    return page


def smoothness(page: Page, act: Callable[[float], None]) -> Smoothness:
    page.evaluate("window.measured.pictures.length = 0")
    began = time.perf_counter()
    while (passed_s := time.perf_counter() - began) < MOVED_S:
        act(passed_s)
    times: list[float] = page.evaluate("window.measured.pictures")
    gaps = [after - before for before, after in pairwise(times)]
    return Smoothness(1000 * len(gaps) / (times[-1] - times[0]), max(gaps))


def drag(page: Page) -> Smoothness:
    x, y = 470, 400
    page.mouse.move(x, y)
    page.mouse.down()

    def act(passed_s: float) -> None:
        page.mouse.move(x + 250 * np.sin(2 * passed_s), y + 120 * np.sin(3 * passed_s))
        time.sleep(0.008)

    found = smoothness(page, act)
    page.mouse.up()
    return found


def zoom(page: Page) -> Smoothness:
    page.mouse.move(470, 400)

    def act(passed_s: float) -> None:
        page.mouse.wheel(0, -120 if passed_s % 2 < 1 else 120)
        time.sleep(0.1)

    return smoothness(page, act)


def milliseconds(times: list[float]) -> str:
    return f"{statistics.median(times):.1f} ms, at most {max(times):.1f}"


def rows(browser: Browser, trucks: int) -> Iterator[tuple[str, str]]:
    with serving(trucks) as url:
        opened = []
        for _ in range(OPENINGS):
            page = open_page(browser, url)
            opened.append(page.evaluate("window.measured.first"))
            page.context.close()
        yield "first trucks drawn after opening", milliseconds(opened)
        for what, address in (("", ""), (", list of trucks open", "#panel=trucks")):
            page = open_page(browser, url, address)
            page.wait_for_timeout(1000 * WATCHED_S)
            yield f"a frame applied{what}", milliseconds(page.evaluate("window.measured.frame"))
            yield f"the map's trucks redrawn{what}", milliseconds(page.evaluate("window.measured.draw"))
            yield f"dragging the map{what}", str(drag(page))
            yield f"zooming{what}", str(zoom(page))
            page.context.close()


def table() -> list[str]:
    program = find_chromium()
    if program is None:
        return ["Not measured: no Chromium is on the PATH."]
    with sync_playwright() as playwright, launch(playwright, program) as browser:
        columns = [dict(rows(browser, trucks)) for trucks in FLEETS]
    head = ["| | " + " | ".join(f"{trucks:,} trucks" for trucks in FLEETS) + " |", "|---|" + "---|" * len(FLEETS)]
    return head + [f"| {name} | " + " | ".join(column[name] for column in columns) + " |" for name in columns[0]]


def main() -> None:
    if len(sys.argv) > 1:
        serve(int(sys.argv[1]), int(sys.argv[2]))
    else:
        print("\n".join(table()))


if __name__ == "__main__":
    main()
