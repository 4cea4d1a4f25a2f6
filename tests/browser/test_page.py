"""The page in a real browser, over the real API and a real broker."""

import math
import re
from datetime import timedelta
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard import Dashboard, Publisher, alert, now, reject, state, this_minute, window
from tests.eventually import eventually

TRUCK = "truck-0001"

# The middle of all pixels that are not transparent, in CSS pixels of the map, and how many there are.
PIXELS = """() => {
  const canvas = document.querySelector("[data-testid=trucks-canvas]");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let [count, x, y, green] = [0, 0, 0, 0];
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 128) continue;
    count += 1; x += (i / 4) % canvas.width; y += Math.floor(i / 4 / canvas.width);
    if (data[i + 1] > data[i] + 40 && data[i + 1] > data[i + 2] + 20) green += 1;
  }
  const ratio = window.devicePixelRatio;
  return { count, green, x: x / count / ratio, y: y / count / ratio };
}"""


# How many green pixels a picture has.
GREEN = """async (png) => {
  const picture = await createImageBitmap(new Blob([Uint8Array.from(png)], { type: "image/png" }));
  const pen = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  pen.drawImage(picture, 0, 0);
  const { data } = pen.getImageData(0, 0, picture.width, picture.height);
  let green = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 1] > data[i] + 40 && data[i + 1] > data[i + 2] + 20) green += 1;
  return green;
}"""


def pixels(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(PIXELS)
    return found


def green_on_the_screen(page: Page) -> int:
    """What a person sees: a truck could be on its canvas and yet be covered by another."""
    found: int = page.evaluate(GREEN, list(page.get_by_test_id("map").screenshot()))
    return found


def publish(publisher: Publisher, truck_id: str = TRUCK, **changes: Any) -> None:
    publisher.put("trucks_state", truck_id, state(truck_id, now(), **changes))
    publisher.flush()


def raise_alert(publisher: Publisher, alert_id: str, **changes: Any) -> None:
    publisher.put("trucks_alerts", alert_id, alert(alert_id, now(), **changes))
    publisher.flush()


def row(page: Page, alert_id: str) -> Locator:
    return page.locator(f"[data-alert={alert_id}]")


def pixels_off_centre(page: Page, *, lat: float, lon: float) -> float:
    """How far a place is from the middle of the map. The camera of the address rests on whole pixels."""
    camera = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('at')")
    camera_lat, camera_lon, zoom = (float(part) for part in camera.split(","))
    across = (lon - camera_lon) / 360
    down = (mercator(lat) - mercator(camera_lat)) / (2 * math.pi)
    return math.hypot(across, down) * 256 * math.pow(2, zoom)


def mercator(lat: float) -> float:
    return math.asinh(math.tan(math.radians(lat)))


def test_a_truck_appears_moves_and_opens_its_panel(open_page: OpenPage, publisher: Publisher) -> None:
    truck = {"truck_id": TRUCK, "name": "Prairie Wind", "plate": "IL 482 913", "driver": "Ana Flores"}
    publisher.put("trucks", TRUCK, truck)
    publish(publisher, lat=39.0, lon=-98.0)
    page = open_page("#at=39,-97.5,8")
    first = eventually(lambda: (seen := pixels(page))["green"] > 20 and seen)
    assert green_on_the_screen(page) > 20
    expect(page.get_by_test_id("connection")).to_have_attribute("data-state", "live")

    publish(publisher, lat=39.0, lon=-97.5)
    moved = eventually(lambda: (seen := pixels(page))["x"] > first["x"] + 50 and seen)
    assert abs(moved["y"] - first["y"]) < 3

    box = page.get_by_test_id("map").bounding_box()
    assert box is not None
    page.get_by_test_id("map").click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(page.get_by_test_id("truck-panel")).to_contain_text("Prairie Wind")
    expect(page.get_by_test_id("truck-driver")).to_have_text("Ana Flores")
    expect(page.get_by_test_id("truck-plate")).to_have_text("IL 482 913")
    expect(page.get_by_test_id("truck-speed")).to_have_text("88.0 km/h")
    expect(page.get_by_test_id("truck-heading")).to_have_text("90° E")
    expect(page.get_by_test_id("truck-age")).to_contain_text(" s ago")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("truck-panel")).to_be_hidden()


def test_chips_filter_map_and_list_together(open_page: OpenPage, publisher: Publisher) -> None:
    publish(publisher, "chip-1", lat=45.0, lon=-110.0)
    publish(publisher, "chip-2", lat=45.1, lon=-110.1, status="idle")
    page = open_page("#at=45,-110,9&panel=trucks&q=chip-")
    canvas, rows = page.get_by_test_id("trucks-canvas"), page.get_by_test_id("truck-row").locator("visible=true")
    expect(rows).to_have_count(2)
    expect(canvas).to_have_attribute("data-count", "2")
    page.get_by_test_id("status-idle").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("chip-2")
    expect(canvas).to_have_attribute("data-count", "1")
    assert eventually(lambda: pixels(page)["green"] == 0)
    page.get_by_test_id("status-all").click()
    expect(canvas).to_have_attribute("data-count", "2")


def test_a_truck_is_found_by_its_driver_and_followed_by_keyboard_alone(page: Page, publisher: Publisher) -> None:
    publisher.put("trucks", "kb-1", {"truck_id": "kb-1", "name": "Silver Fox", "plate": "NV 1", "driver": "Zoe Quill"})
    publish(publisher, "kb-1", lat=36.0, lon=-115.0)
    expect(page.get_by_test_id("status-moving")).not_to_contain_text("0moving")
    page.keyboard.press("/")
    page.keyboard.type("zoe q")
    expect(page.get_by_test_id("truck-row").locator("visible=true")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("truck-panel")).to_contain_text("Silver Fox")
    page.keyboard.press("Escape")
    page.get_by_test_id("tab-alerts").focus()
    page.keyboard.press("f")
    expect(page.get_by_test_id("following")).to_contain_text("kb-1")
    publish(publisher, "kb-1", lat=37.0, lon=-116.0)
    eventually(lambda: pixels_off_centre(page, lat=37.0, lon=-116.0) < 1)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("following")).to_be_hidden()


def test_an_alert_shows_within_a_second_and_its_acknowledgement_everywhere(
    open_page: OpenPage, publisher: Publisher
) -> None:
    here, there = open_page(), open_page()
    publish(publisher, "al-1", lat=33.0, lon=-90.0)
    raise_alert(publisher, "ack-1", truck_id="al-1", severity="critical")
    expect(row(here, "ack-1")).to_be_visible(timeout=1000)
    expect(row(here, "ack-1")).to_contain_text("121.3 km/h where 110.0 km/h are allowed.")
    expect(here.get_by_test_id("toast")).to_contain_text("al-1")
    expect(row(there, "ack-1")).to_be_visible()
    row(here, "ack-1").get_by_test_id("acknowledge").click()
    expect(row(here, "ack-1")).to_be_hidden()
    expect(row(there, "ack-1")).to_be_hidden()
    here.reload()
    here.get_by_test_id("alerts-all").check()
    expect(row(here, "ack-1")).to_contain_text("acknowledged by")


def test_a_link_restores_camera_truck_and_filters(open_page: OpenPage, publisher: Publisher) -> None:
    publish(publisher, "link-1", lat=44.0, lon=-100.0)
    first = open_page("#at=44,-100,10&truck=link-1&show=moving,alert&panel=trucks")
    expect(first.get_by_test_id("truck-panel")).to_contain_text("link-1")
    expect(first.get_by_test_id("status-moving")).to_have_attribute("aria-pressed", "true")
    expect(first.get_by_test_id("status-idle")).to_have_attribute("aria-pressed", "false")
    expect(first.get_by_test_id("trucks-canvas")).to_have_attribute("data-count", "1")
    first.get_by_test_id("status-alert").click()
    expect(first).to_have_url(re.compile(r"at=44(\.0+)?,-100(\.0+)?,10&truck=link-1&show=moving&"))


def test_a_page_that_was_cut_off_says_so_and_catches_up(
    page: Page, publisher: Publisher, dashboard: Dashboard, expected_errors: set[str]
) -> None:
    expected_errors.add("ERR_CONNECTION_REFUSED")
    raise_alert(publisher, "before-1")
    expect(row(page, "before-1")).to_be_visible()
    dashboard.stop()
    expect(page.get_by_test_id("connection")).to_have_attribute("data-state", "reconnecting")
    expect(page.get_by_test_id("notice")).to_contain_text("The server does not answer")
    for number in range(3):
        raise_alert(publisher, f"missed-{number}")
    dashboard.start()
    dashboard.wait_until_ready()
    for number in range(3):
        expect(row(page, f"missed-{number}")).to_be_visible(timeout=20_000)
    expect(page.get_by_test_id("connection")).not_to_have_attribute("data-state", "reconnecting")


def test_a_viewer_sees_alerts_but_cannot_acknowledge(open_page: OpenPage, publisher: Publisher) -> None:
    raise_alert(publisher, "view-1")
    page = open_page(role="viewer")
    expect(row(page, "view-1")).to_be_visible()
    expect(page.get_by_test_id("acknowledge")).to_have_count(0)
    expect(page.get_by_test_id("acknowledge-many")).to_have_count(0)


def test_a_stranger_is_told_how_to_sign_in_and_sees_nothing(open_page: OpenPage, expected_errors: set[str]) -> None:
    expected_errors |= {"status of 401", "Unexpected response code: 403"}
    page = open_page(role=None)
    expect(page.get_by_test_id("notice")).to_contain_text("Open a login link")
    expect(page.get_by_test_id("no-alerts")).to_have_text("Nothing to show: not signed in.")
    expect(page.get_by_test_id("trucks-canvas")).to_have_attribute("data-count", "0")


def test_a_phone_shows_map_and_panels_without_scrolling_sideways(open_page: OpenPage) -> None:
    page = open_page(width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_test_id("tab-health").click()
    expect(page.get_by_test_id("health-lag")).to_be_visible()
    expect(page.get_by_test_id("map")).to_be_visible()


def test_a_phone_cuts_no_truck_id_and_keeps_an_alert_short(open_page: OpenPage, publisher: Publisher) -> None:
    publish(publisher, "truck-00042", lat=46.0, lon=-96.0)
    raise_alert(publisher, "phone-1", truck_id="truck-00042")
    page = open_page("#q=truck-00042", width=390, height=844)
    settle, link = (
        row(page, "phone-1").get_by_test_id("acknowledge"),
        row(page, "phone-1").get_by_test_id("alert-truck"),
    )
    expect(settle).to_be_visible()
    beside, truck = settle.bounding_box(), link.bounding_box()
    assert beside is not None
    assert truck is not None
    assert beside["y"] < truck["y"] + truck["height"]
    page.get_by_test_id("tab-trucks").click()
    name = page.locator("[data-truck=truck-00042] .id")
    expect(name).to_be_visible()
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth")


def test_the_windows_of_the_fleet_and_of_a_truck_show_with_their_numbers(
    open_page: OpenPage, publisher: Publisher
) -> None:
    publish(publisher, "win-1", lat=47.0, lon=-120.0)
    not_over = this_minute() + timedelta(minutes=1)
    publisher.put("trucks_windows", *window(not_over, moving_s=60.0, idle_s=0.0, speed_avg_kmh=1.0))
    for minutes_ago in (2, 1):
        start = this_minute() - timedelta(minutes=minutes_ago)
        publisher.put("trucks_windows", *window(start, moving_s=5040.0, idle_s=780.0, speed_avg_kmh=64.0))
        publisher.put("trucks_windows", *window(start, "win-1", distance_m=1234.0, speed_avg_kmh=74.0))
    publisher.flush()
    page = open_page("#panel=fleet")
    label = re.compile("moving now 84 trucks, idle now 13 trucks")
    expect(page.get_by_test_id("fleet-status").get_by_role("img", name=label)).to_be_visible(timeout=12_000)
    expect(page.get_by_label("average now 64 km/h")).to_be_visible()
    page = open_page("#truck=win-1")
    expect(page.get_by_test_id("truck-windows")).to_contain_text("1.2 km, on average 74.0 km/h")


def test_rejects_are_counted_and_explained_as_text(page: Page, publisher: Publisher) -> None:
    publisher.put("trucks_rejects", TRUCK, reject(7, now(), truck_id="<b>x</b>"))
    publisher.put("trucks_windows", *window(this_minute() - timedelta(minutes=1)))
    publisher.flush()
    page.get_by_test_id("tab-health").click()
    page.get_by_test_id("show-rejects").click()
    expect(page.get_by_test_id("rejects-total")).to_have_text("1 record so far", timeout=12_000)
    expect(page.get_by_test_id("rejects")).to_contain_text("bad lat <b>x</b>")


def test_new_trucks_never_move_the_camera(open_page: OpenPage, publisher: Publisher) -> None:
    page = open_page("#at=30,-95,8")
    pane = page.locator(".leaflet-map-pane").get_attribute("style")
    publish(publisher, "far", lat=30.1, lon=-95.1)
    expect(page.get_by_test_id("trucks-canvas")).to_have_attribute("data-count", "1")
    assert page.locator(".leaflet-map-pane").get_attribute("style") == pane
