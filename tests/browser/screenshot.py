"""Takes the README's picture of a running demo: `.venv/bin/python -m tests.browser.screenshot LINK`.

`make link` prints a link. A folder as second argument also gets the light page, panels and a phone, to look at.
"""

import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.chromium import find_chromium, launch

README = Path(__file__).parents[2] / "docs"
PHONE = {"viewport": {"width": 390, "height": 844}}
LIGHT = {"color_scheme": "light"}
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "light": ("", LIGHT),
    "trucks": ("#panel=trucks", {}),
    "fences": ("#panel=fences", LIGHT),
    "fleet": ("#panel=fleet", {}),
    "health": ("#panel=health", LIGHT),
    "phone": ("", PHONE),
    "phone-trucks": ("#panel=trucks", PHONE | LIGHT),
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

    def take(self, picture: Path, address: str = "", **look: Any) -> None:
        usual = {"viewport": {"width": 1366, "height": 768}, "color_scheme": "dark", "timezone_id": "UTC"}
        context = self._browser.new_context(storage_state=self._login, reduced_motion="reduce", **(usual | look))
        page = context.new_page()
        page.goto(self._url + address)
        expect(page.get_by_test_id("connection")).to_have_attribute("data-state", "live", timeout=30_000)
        expect(page.get_by_test_id("trucks-canvas")).not_to_have_attribute("data-count", "0")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=picture)
        context.close()


def main(link: str, folder: Path | None = None) -> None:
    program = find_chromium()
    if program is None:
        sys.exit("No Chromium is on the PATH; install one, for example: apt install chromium")
    with sync_playwright() as playwright, launch(playwright, program) as browser:
        camera = Camera(browser, link)
        camera.take(README / "dashboard.png")
        for name, (address, look) in LOOKS.items() if folder else ():
            camera.take(Path(folder or README) / f"{name}.png", address, **look)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None)
