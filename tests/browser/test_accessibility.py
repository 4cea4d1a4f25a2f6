"""What axe-core finds wrong with the page, for people who do not see it or do not see it well."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard import Publisher, alert, now, state

VIEWS = ["#panel=alerts", "#panel=trucks", "#panel=fences", "#panel=fleet", "#panel=health", "#truck=axe-1&follow=1"]


def faults(page: Page) -> list[str]:
    """One line per serious or critical fault: the rule and where it is broken."""
    found = Axe().run(page).response["violations"]
    grave = [each for each in found if each["impact"] in ("serious", "critical")]
    return [f"{each['id']}: {node['html']}: {node['failureSummary']}" for each in grave for node in each["nodes"]]


def faults_while_drawing(page: Page) -> list[str]:
    page.get_by_test_id("draw-polygon").click()
    box = page.get_by_test_id("map").bounding_box()
    assert box is not None
    for x, y in ((300, 300), (400, 300), (350, 400)):
        page.mouse.click(box["x"] + x, box["y"] + y)
    found = faults(page)
    page.keyboard.press("Enter")
    page.get_by_test_id("fence-more").locator("summary").click()
    return found + faults(page)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_no_panel_has_a_serious_fault(open_page: OpenPage, publisher: Publisher, theme: str) -> None:
    publisher.put("trucks_state", "axe-1", state("axe-1", now(), lat=41.0, lon=-75.0))
    for severity in ("info", "warning", "critical"):
        publisher.put("trucks_alerts", f"axe-{severity}", alert(f"axe-{severity}", now(), severity=severity))
    publisher.flush()
    wrong = []
    for view in VIEWS:
        page = open_page(view, theme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.get_by_test_id("open-alerts")).to_be_visible()
        wrong += [f"{view} {fault}" for fault in faults(page)]
        if view == "#panel=fences":
            wrong += [f"drawing {fault}" for fault in faults_while_drawing(page)]
    page.keyboard.press("?")
    expect(page.get_by_test_id("help-dialog")).to_be_visible()
    assert wrong + faults(page) == []
