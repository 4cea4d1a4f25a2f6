"""Takes the README's picture of a running demo: `.venv/bin/python -m tests.browser.screenshot`."""

import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.chromium import find_chromium, launch

PICTURE = Path(__file__).parents[2] / "docs" / "dashboard.png"


def take(url: str, picture: Path) -> None:
    program = find_chromium()
    if program is None:
        sys.exit("No Chromium is on the PATH; install one, for example: apt install chromium")
    picture.parent.mkdir(exist_ok=True)
    with sync_playwright() as playwright, launch(playwright, program) as browser:
        context = browser.new_context(
            viewport={"width": 1366, "height": 768}, reduced_motion="reduce", color_scheme="dark", timezone_id="UTC"
        )
        page = context.new_page()
        page.goto(url)
        expect(page.get_by_test_id("connection")).to_have_attribute("data-state", "live")
        expect(page.get_by_test_id("window").first).to_be_visible()
        page.screenshot(path=picture)


if __name__ == "__main__":
    take(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000", PICTURE)
