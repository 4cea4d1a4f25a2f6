"""The page in a real browser, over the real API and a real broker."""

from datetime import timedelta
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.dashboard import Publisher, now, reject, state, this_minute, window
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


def publish(publisher: Publisher, **changes: Any) -> None:
    publisher.put("trucks_state", TRUCK, state(TRUCK, now(), **changes))
    publisher.flush()


def test_a_truck_appears_moves_and_opens_its_panel(page: Page, publisher: Publisher) -> None:
    truck = {"truck_id": TRUCK, "name": "Prairie Wind", "plate": "IL 482 913", "driver": "Ana Flores"}
    publisher.put("trucks", TRUCK, truck)
    publish(publisher, lat=39.0, lon=-98.0)
    first = eventually(lambda: (seen := pixels(page))["green"] > 20 and seen)
    assert green_on_the_screen(page) > 20
    expect(page.get_by_test_id("status-moving")).to_contain_text("1")
    expect(page.get_by_test_id("connection")).to_have_attribute("data-state", "live")

    publish(publisher, lat=39.0, lon=-88.0)
    moved = eventually(lambda: (seen := pixels(page))["x"] > first["x"] + 50 and seen)
    assert abs(moved["y"] - first["y"]) < 3

    page.get_by_test_id("map").click(position={"x": moved["x"], "y": moved["y"]})
    expect(page.get_by_test_id("truck-panel")).to_contain_text("Prairie Wind")
    expect(page.get_by_test_id("truck-driver")).to_have_text("Ana Flores")
    expect(page.get_by_test_id("truck-plate")).to_have_text("IL 482 913")
    expect(page.get_by_test_id("truck-speed")).to_have_text("88.0 km/h")
    expect(page.get_by_test_id("truck-heading")).to_have_text("90° E")
    expect(page.get_by_test_id("truck-age")).to_contain_text(" s ago")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("truck-panel")).to_be_hidden()


def test_the_windows_table_fills_and_a_window_becomes_final(page: Page, publisher: Publisher) -> None:
    minute = this_minute()
    for minutes in (3, 2):
        publisher.put("trucks_windows", *window(minute - timedelta(minutes=minutes)))
    publisher.put("trucks_windows", *window(minute - timedelta(minutes=1), fixes=4321, final=False))
    publisher.flush()
    rows = page.get_by_test_id("fleet-windows").get_by_test_id("window")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("4,321")
    expect(rows.first).to_contain_text("open")
    publisher.put("trucks_windows", *window(minute - timedelta(minutes=1), fixes=5000))
    publisher.flush()
    expect(rows.first).to_contain_text("5,000")
    expect(rows.first).to_contain_text("118.8")


def test_rejects_are_counted_and_explained_as_text(page: Page, publisher: Publisher) -> None:
    publisher.put("trucks_rejects", TRUCK, reject(7, now(), truck_id="<b>x</b>"))
    publisher.flush()
    expect(page.get_by_test_id("rejects-total")).to_have_text("1 record so far")
    expect(page.get_by_test_id("rejects")).to_contain_text("bad lat <b>x</b>")


def test_new_trucks_never_move_the_camera(page: Page, publisher: Publisher) -> None:
    # Not green, so what is seen is this state and not an earlier one of the same truck.
    publish(publisher, lat=30.0, lon=-95.0, status="idle")
    before = eventually(lambda: (seen := pixels(page))["count"] > 20 and seen["green"] == 0 and seen)
    pane = page.locator(".leaflet-map-pane").get_attribute("style")
    publisher.put("trucks_state", "far", state("far", now(), lat=64.8, lon=-147.7))
    publisher.flush()
    expect(page.get_by_test_id("status-all")).to_contain_text("2")
    assert page.locator(".leaflet-map-pane").get_attribute("style") == pane
    assert abs(pixels(page)["x"] - before["x"]) < 1
