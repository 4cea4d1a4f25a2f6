"""Takes the README's pictures of a running demo: `.venv/bin/python -m tests.browser.screenshot LINK`.

`make link` prints a link. Into another folder: name it as second argument.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import find_chromium, launch

README = Path(__file__).parents[2] / "docs"
LAPTOP = {"viewport": {"width": 1366, "height": 768}}
PHONE = {"viewport": {"width": 390, "height": 844}}
NEAR = "#at=41.6,-87.9,8"


def nothing(_: Page) -> None:
    pass


def choose_a_moving_truck(page: Page) -> None:
    page.get_by_test_id("status-moving").click()
    page.get_by_test_id("truck-row").nth(3).click()
    page.get_by_test_id("status-all").click()
    # Windows and a trail come with time; what a young demo has is shown.
    expect(page.get_by_test_id("truck-speed")).to_be_visible()
    page.wait_for_timeout(1500)


def open_a_fence(page: Page) -> None:
    page.get_by_test_id("fence-search").fill("depot")
    page.get_by_test_id("fence-row").first.click()
    page.wait_for_timeout(1500)


def wait_for_charts(page: Page) -> None:
    expect(page.locator(".chart canvas").first).to_be_visible(timeout=180_000)


VIEWS: dict[str, tuple[str, str, dict[str, Any], Callable[[Page], None]]] = {
    "dashboard": ("", "dark", LAPTOP, nothing),
    "light": ("", "light", LAPTOP, nothing),
    "truck": (f"{NEAR}&panel=trucks", "dark", LAPTOP, choose_a_moving_truck),
    "fence": ("#panel=fences", "light", LAPTOP, open_a_fence),
    "fleet": ("#panel=fleet", "dark", LAPTOP, wait_for_charts),
    "phone": ("", "dark", PHONE, nothing),
}


class Camera:
    """One login, for as many pages as are looked at."""

    def __init__(self, browser: Browser, link: str) -> None:
        self._browser = browser
        context = browser.new_context()
        page = context.new_page()
        page.goto(link)
        self._url = page.url.split("#")[0]
        self._login = context.storage_state()

    def take(self, picture: Path, address: str, theme: Any, look: dict[str, Any], act: Callable[[Page], None]) -> None:
        usual = {"color_scheme": theme, "timezone_id": "UTC", "reduced_motion": "reduce"}
        context = self._browser.new_context(storage_state=self._login, **(usual | look))
        page = context.new_page()
        page.goto(self._url + address)
        expect(page.get_by_test_id("connection")).to_have_attribute("data-state", "live", timeout=30_000)
        expect(page.get_by_test_id("trucks-canvas")).not_to_have_attribute("data-count", "0")
        page.wait_for_load_state("networkidle")
        act(page)
        page.screenshot(path=picture)
        context.close()


def main(link: str, folder: Path = README) -> None:
    program = find_chromium()
    if program is None:
        sys.exit("No Chromium is on the PATH; install one, for example: apt install chromium")
    with sync_playwright() as playwright, launch(playwright, program) as browser:
        camera = Camera(browser, link)
        for name, view in VIEWS.items():
            camera.take(folder / f"{name}.png", *view)


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:3]))
