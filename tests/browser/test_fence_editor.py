"""Fences drawn, changed and deleted by mouse in a real browser, down to the record in Kafka."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard import Dashboard, Publisher, now, state
from tests.eventually import eventually

Spot = tuple[float, float]


class FenceTopic:
    """What was written to `fences` since this was made."""

    def __init__(self, servers: str) -> None:
        make: Any = KafkaConsumer
        self.consumer = make(bootstrap_servers=servers, group_id=None)
        partitions = [TopicPartition("fences", each) for each in self.consumer.partitions_for_topic("fences")]
        self.consumer.assign(partitions)
        for each, end in self.consumer.end_offsets(partitions).items():
            self.consumer.seek(each, end)
        self._found: list[dict[str, Any]] = []

    def record(self, fence_id: str, version: int) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            for records in self.consumer.poll(timeout_ms=100).values():
                self._found += [json.loads(each.value) for each in records]
            wanted = [each for each in self._found if (each["fence_id"], each["version"]) == (fence_id, version)]
            return wanted[0] if wanted else None

        return eventually(found, timeout_s=10) or {}


@pytest.fixture
def topic(own_kafka: str) -> Iterator[FenceTopic]:
    topic = FenceTopic(own_kafka)
    yield topic
    topic.consumer.close()


def spot(page: Page, x: float, y: float) -> Spot:
    """A point of the window, as far from the middle of the map as told."""
    box = page.get_by_test_id("map").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2 + x, box["y"] + box["height"] / 2 + y


def drag(page: Page, start: Spot, end: Spot) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def draw(page: Page, kind: str, *corners: Spot) -> None:
    page.get_by_test_id(f"draw-{kind}").click()
    expect(page.get_by_test_id("fence-hint")).to_be_visible()
    for corner in corners[:-1]:
        page.mouse.click(*spot(page, *corner))
    page.mouse.dblclick(*spot(page, *corners[-1]))
    expect(page.get_by_test_id("fence-hint")).to_be_hidden()


def name_and_save(page: Page, name: str) -> None:
    page.get_by_test_id("fence-name").fill(name)
    page.get_by_test_id("fence-save").click()
    expect(page.get_by_test_id("fence-editor").get_by_role("heading")).to_have_text(name)


def saved(dashboard: Dashboard, topic: FenceTopic, name: str, version: int) -> dict[str, Any]:
    """The fence of this name, when API and topic agree on its version."""

    def found() -> dict[str, Any] | None:
        items = dashboard.get(f"/api/fences?q={name}").json()["items"]
        return items[0] if items and items[0]["version"] == version else None

    listed = eventually(found, timeout_s=10) or {}
    fence: dict[str, Any] = dashboard.get(f"/api/fences/{listed['fence_id']}").json()
    assert fence == listed == topic.record(fence["fence_id"], version)
    return fence


def delete(page: Page, dashboard: Dashboard, topic: FenceTopic, fence: dict[str, Any]) -> None:
    page.get_by_test_id("fence-delete").click()
    page.get_by_test_id("fence-delete-sure").click()
    expect(page.get_by_test_id("fences-message")).to_have_text(f"{fence['name']} is deleted.")
    assert topic.record(fence["fence_id"], fence["version"] + 1)["deleted"]
    expect(page.locator(f"[data-fence-id='{fence['fence_id']}']")).to_have_count(0)


def test_a_polygon_is_drawn_reshaped_and_deleted(open_page: OpenPage, dashboard: Dashboard, topic: FenceTopic) -> None:
    page = open_page("#at=47,-105,10&panel=fences")
    draw(page, "polygon", (-80, -80), (80, -80), (80, 80), (-80, 80))
    name_and_save(page, "Square")
    first = saved(dashboard, topic, "Square", 1)
    assert len(first["geometry"]["coordinates"][0]) == 5
    drag(page, spot(page, 80, 80), spot(page, 140, 120))
    page.get_by_test_id("fence-save").click()
    second = saved(dashboard, topic, "Square", 2)
    before, after = first["geometry"]["coordinates"][0], second["geometry"]["coordinates"][0]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, True, False, True, True]
    assert after[2][0] > before[2][0]
    assert after[2][1] < before[2][1]
    delete(page, dashboard, topic, second)


def test_a_circle_is_drawn_resized_and_deleted(open_page: OpenPage, dashboard: Dashboard, topic: FenceTopic) -> None:
    page = open_page("#at=47,-104,10&panel=fences")
    page.get_by_test_id("draw-circle").click()
    drag(page, spot(page, 0, 0), spot(page, 60, 0))
    expect(page.get_by_test_id("fence-hint")).to_be_hidden()
    name_and_save(page, "Ring")
    first = saved(dashboard, topic, "Ring", 1)
    assert first["geometry"]["coordinates"] == pytest.approx([-104, 47], abs=0.01)
    # 60 pixels at zoom 10 and 47° north.
    assert first["radius_m"] == pytest.approx(60 * 156_543 * 0.682 / 2**10, rel=0.03)
    page.get_by_test_id("fence-radius_m").fill("2500")
    page.get_by_test_id("fence-save").click()
    second = saved(dashboard, topic, "Ring", 2)
    assert second["radius_m"] == 2500
    delete(page, dashboard, topic, second)


def test_a_corridor_is_drawn_changed_and_deleted(open_page: OpenPage, dashboard: Dashboard, topic: FenceTopic) -> None:
    page = open_page("#at=47,-103,10&panel=fences")
    draw(page, "corridor", (-100, 0), (0, 40), (100, 0))
    name_and_save(page, "Way")
    first = saved(dashboard, topic, "Way", 1)
    assert len(first["geometry"]["coordinates"]) == 3
    page.get_by_test_id("fence-width_m").fill("1200")
    page.get_by_test_id("fence-speed_limit_kmh").fill("60")
    page.get_by_test_id("fence-save").click()
    second = saved(dashboard, topic, "Way", 2)
    assert (second["width_m"], second["speed_limit_kmh"]) == (1200, 60)
    assert second["geometry"] == first["geometry"]
    delete(page, dashboard, topic, second)


def test_a_polygon_that_crosses_itself_is_explained(
    open_page: OpenPage, dashboard: Dashboard, expected_errors: set[str]
) -> None:
    expected_errors.add("status of 422")
    page = open_page("#at=47,-102,10&panel=fences")
    draw(page, "polygon", (-80, -80), (80, 80), (80, -80), (-80, 80))
    page.get_by_test_id("fence-name").fill("Bow")
    page.get_by_test_id("fence-save").click()
    expect(page.locator("#fence-geometry-error")).to_contain_text("The boundary crosses itself where the map is marked")
    expect(page.locator(".handle.fault")).to_be_visible()
    assert dashboard.get("/api/fences?q=Bow").json()["total"] == 0


def test_a_change_that_another_made_first_is_explained(
    open_page: OpenPage, dashboard: Dashboard, topic: FenceTopic, expected_errors: set[str]
) -> None:
    expected_errors.add("status of 412")
    here, there = (open_page("#at=47,-101,10&panel=fences") for _ in range(2))
    draw(here, "polygon", (-80, -80), (80, -80), (0, 80))
    name_and_save(here, "Shared")
    saved(dashboard, topic, "Shared", 1)
    there.get_by_test_id("fence-row").filter(has_text="Shared").click()
    there.get_by_test_id("fence-speed_limit_kmh").fill("50")
    there.get_by_test_id("fence-save").click()
    saved(dashboard, topic, "Shared", 2)
    here.get_by_test_id("fence-speed_limit_kmh").fill("70")
    here.get_by_test_id("fence-save").click()
    expect(here.get_by_test_id("fence-message")).to_contain_text("Somebody else has changed this fence")
    here.get_by_test_id("fence-reload").click()
    expect(here.get_by_test_id("fence-speed_limit_kmh")).to_have_value("50")


def test_a_viewer_sees_fences_but_changes_none(open_page: OpenPage, dashboard: Dashboard, topic: FenceTopic) -> None:
    page = open_page("#at=47,-99,10&panel=fences")
    draw(page, "polygon", (-80, -80), (80, -80), (0, 80))
    name_and_save(page, "Looked at")
    seen = saved(dashboard, topic, "Looked", 1)
    page = open_page("#at=47,-99,10&panel=fences", role="viewer")
    page.get_by_test_id("fence-row").filter(has_text="Looked at").click()
    expect(page.get_by_test_id("fence-name")).to_have_value("Looked at")
    expect(page.get_by_test_id("fence-name")).to_be_disabled()
    for editing in ("draw-polygon", "fence-save", "fence-delete", "fences-import"):
        expect(page.get_by_test_id(editing)).to_have_count(0)
    expect(page.locator(".leaflet-vertex-icon")).to_have_count(0)
    drag(page, spot(page, 80, -80), spot(page, 140, -120))
    assert dashboard.get(f"/api/fences/{seen['fence_id']}").json() == seen


def test_a_fence_is_made_changed_and_deleted_by_keyboard_alone(
    open_page: OpenPage, dashboard: Dashboard, topic: FenceTopic
) -> None:
    page = open_page("#at=47,-98,10")
    page.get_by_test_id("tab-alerts").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    press_tab_until(page, "draw-corridor")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("fence-name")).to_be_focused()
    page.keyboard.type("Typed way")
    press_tab_until(page, "fence-geometry")
    page.keyboard.type("47.0, -98.1\n47.05, -98.0\n47.0, -97.9")
    expect(page.get_by_test_id("fence-measure")).to_contain_text("length 18.")
    press_tab_until(page, "fence-save")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("fence-title")).to_have_text("Typed way")
    first = saved(dashboard, topic, "Typed way", 1)
    assert first["geometry"]["coordinates"] == [[-98.1, 47.0], [-98.0, 47.05], [-97.9, 47.0]]
    press_tab_until(page, "fence-speed_limit_kmh")
    page.keyboard.type("70")
    page.keyboard.press("Enter")
    second = saved(dashboard, topic, "Typed way", 2)
    assert second["speed_limit_kmh"] == 70
    press_tab_until(page, "fence-delete")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("fences-message")).to_have_text("Typed way is deleted.")


def press_tab_until(page: Page, test_id: str) -> None:
    focused = "document.activeElement.dataset.testid"
    for _ in range(60):
        if page.evaluate(focused) == test_id:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"60 times Tab did not lead to {test_id}, but to {page.evaluate(focused)}")


def test_a_file_of_fences_is_taken_in_and_a_wrong_one_explained(
    open_page: OpenPage, dashboard: Dashboard, topic: FenceTopic, expected_errors: set[str]
) -> None:
    expected_errors.add("status of 422")
    page = open_page("#at=47,-97,10&panel=fences")
    point = {"type": "Point", "coordinates": [-97.0, 47.0]}
    features = [
        {"type": "Feature", "id": "from-file", "geometry": point, "properties": {"name": "Filed", "radius_m": 900}}
    ]
    choose_file(page, {"type": "FeatureCollection", "features": features})
    expect(page.get_by_test_id("fences-message")).to_have_text("area.geojson: 1 new fence, 0 changed.")
    assert saved(dashboard, topic, "Filed", 1)["radius_m"] == 900
    page.get_by_test_id("fence-row").filter(has_text="Filed").click()
    page.get_by_test_id("fence-history").locator("summary").click()
    expect(page.get_by_test_id("fence-history")).to_contain_text("Version 1")
    page.get_by_test_id("fence-back").click()
    choose_file(page, {"type": "FeatureCollection", "features": [features[0] | {"properties": {"name": "No radius"}}]})
    expect(page.get_by_test_id("fences-message")).to_contain_text("area.geojson is not taken in: ")


def choose_file(page: Page, content: dict[str, Any]) -> None:
    file = FilePayload(name="area.geojson", mimeType="application/geo+json", buffer=json.dumps(content).encode())
    page.get_by_test_id("fences-import").set_input_files(file)


def test_a_click_on_a_truck_in_a_fence_chooses_the_truck(open_page: OpenPage, publisher: Publisher) -> None:
    page = open_page("#at=47,-100,10&panel=fences")
    draw(page, "polygon", (-150, -150), (150, -150), (150, 150), (-150, 150))
    name_and_save(page, "Yard")
    page.get_by_test_id("fence-back").click()
    publisher.put("trucks_state", "in-yard", state("in-yard", now(), lat=47.0, lon=-100.0))
    publisher.flush()
    expect(page.get_by_test_id("trucks-canvas")).to_have_attribute("data-count", "1")
    page.mouse.click(*spot(page, 0, 0))
    expect(page.get_by_test_id("truck-panel")).to_contain_text("in-yard")
    expect(page.get_by_test_id("fence-editor")).to_be_hidden()
    page.mouse.click(*spot(page, 100, 100))
    expect(page.get_by_test_id("fence-editor").get_by_role("heading")).to_have_text("Yard")
