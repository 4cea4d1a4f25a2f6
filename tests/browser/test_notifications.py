"""The page of notifications, with the real API, the real notifier and real receivers."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kafka import KafkaProducer
from playwright.sync_api import Locator, Page, expect

from notifier.wording import link
from schemas.models import Alert
from tests.browser.conftest import OpenPage
from tests.browser.dashboard import Publisher, alert, now, state
from tests.browser.test_accessibility import faults
from tests.eventually import eventually
from tests.receivers import Refusing, closing
from tests.running_api import RunningApi
from tests.running_notifier import RunningNotifier, alert_record, publish

SECTIONS = ["deliveries", "channels", "rules", "silences"]
PHONE = {"width": 390, "height": 844}


class Desk(RunningApi):
    """What `open_page` asks of a dashboard."""

    def login_link(self, role: str = "dispatcher") -> str:
        return self.url + str(self.request("POST", "/api/links", json={"role": role}).json()["path"])


@pytest.fixture(scope="module")
def dashboard(own_kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """With a store of its own, which the notifier shares."""
    folder = tmp_path_factory.mktemp("notifications")
    # Only what this module publishes is told: what other tests have published is older than that.
    url = f"sqlite:///{folder / 'store.db'}"
    notifier = RunningNotifier(own_kafka, folder, url, NOTIFIER_RETRY_S="0.2,0.3", NOTIFIER_CIRCUIT_S="6")
    with Desk(own_kafka, folder, url) as desk:
        notifier.start()
        # Its console is the first channel.
        eventually(lambda: desk.get("/api/channels").json()["total"] == 1)
        yield desk
        assert notifier.stop() == 0, notifier.output
    notifier.store.close()


@pytest.fixture
def producer(own_kafka: str) -> Iterator[Any]:
    make: Any = KafkaProducer
    made = make(bootstrap_servers=own_kafka, acks="all")
    yield made
    made.close()


@pytest.fixture
def receiver() -> Iterator[Refusing]:
    made = Refusing(200)
    with closing(made):
        yield made


@pytest.fixture
def channel(dashboard: Desk, receiver: Refusing) -> dict[str, Any]:
    """A webhook with a name of its own, made by way of the API, as all tests share the store."""
    draft = {"name": f"Hook {time.time_ns()}", "kind": "webhook", "url": receiver.url, "secret": receiver.secret}
    made: dict[str, Any] = dashboard.request("POST", "/api/channels", json=draft).json()
    return made


OpenSection = Callable[..., Page]


@pytest.fixture
def open_section(open_page: OpenPage, dashboard: Desk) -> OpenSection:
    def opened(section: str, role: str = "admin", **more: Any) -> Page:
        page = open_page(role=role, **more)
        page.goto(f"{dashboard.url}/static/notifications.html#{section}")
        expect(page.get_by_test_id("main")).to_have_attribute("data-section", section.partition("&")[0])
        return page

    return opened


def card(page: Page, kind: str, text: str) -> Locator:
    return page.get_by_test_id(kind).filter(has_text=text)


def said(page: Page, text: str) -> None:
    expect(page.get_by_test_id("said")).to_contain_text(text, timeout=20_000)


def test_the_map_leads_to_the_notifications_and_back(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_test_id("to-notifications").click()
    expect(page.get_by_test_id("main")).to_have_attribute("data-section", "deliveries")
    page.get_by_test_id("to-fleet").click()
    expect(page.get_by_test_id("map")).to_be_visible()


def test_the_link_of_a_message_shows_the_truck_at_the_place_of_its_alert(
    open_page: OpenPage, publisher: Publisher
) -> None:
    publisher.put("trucks_state", "link-1", state("link-1", now(), lat=41.5, lon=-87.25))
    publisher.flush()
    told = Alert.model_validate(alert("linked", now(), truck_id="link-1", lat=41.51, lon=-87.26))
    page = open_page(link(told, "").removeprefix("/"))
    expect(page.get_by_test_id("truck-panel")).to_contain_text("link-1")
    eventually(lambda: "at=41.51,-87.26,12" in page.evaluate("location.hash.replaceAll('0,', ',')"))


def test_a_webhook_is_added_and_a_test_arrives_signed_with_the_secret_that_was_shown(
    open_section: OpenSection, receiver: Refusing, expected_errors: set[str]
) -> None:
    expected_errors.add("status of 422")
    page = open_section("channels")
    page.get_by_test_id("add").click()
    page.get_by_test_id("field-name").fill("Night shift")
    page.get_by_test_id("field-url").fill("nowhere")
    page.get_by_test_id("save").click()
    expect(page.get_by_test_id("form-error")).to_contain_text("https://host/path")
    page.get_by_test_id("field-url").fill(receiver.url)
    page.get_by_test_id("save").click()
    receiver.secret = str(page.get_by_test_id("secret").text_content())
    page.get_by_test_id("save").click()
    expect(page.get_by_test_id("dialog")).to_have_count(0)
    shown = card(page, "channel", "Night shift")
    expect(shown).to_contain_text("nothing sent yet")
    shown.get_by_test_id("test").click()
    said(page, "has arrived")
    expect(shown.get_by_test_id("circuit")).to_have_text("works")
    expect(shown).to_contain_text("1 delivered")
    assert [body["type"] for _, _, body in receiver.heard] == ["alert.test"]
    shown.get_by_test_id("remove").click()
    page.get_by_test_id("save").click()
    expect(shown).to_have_count(0)


def test_a_channel_that_fails_says_why_and_its_dead_letter_is_sent_again(
    open_section: OpenSection, receiver: Refusing, channel: dict[str, Any]
) -> None:
    receiver.status = 503
    page = open_section("channels")
    shown = card(page, "channel", channel["name"])
    shown.get_by_test_id("test").click()
    said(page, "the receiver answered 503")
    expect(shown.get_by_test_id("last-error")).to_contain_text("the receiver answered 503")
    shown.get_by_text("1 dead").click(timeout=20_000)
    dead = page.get_by_test_id("delivery")
    expect(dead).to_have_count(1)
    expect(dead.get_by_test_id("state")).to_have_text("dead letter")
    expect(dead.get_by_test_id("why")).to_have_text("the receiver answered 503")
    receiver.status = 200
    page.get_by_test_id("resend-dead").click()
    page.get_by_test_id("save").click()
    said(page, "1 are on their way again")
    eventually(lambda: len(receiver.heard) == 1)
    expect(dead).to_have_count(0)
    page.get_by_test_id("field-state").select_option("delivered")
    expect(page.get_by_test_id("delivery")).to_have_count(1)
    page.get_by_test_id("resend").click()
    eventually(lambda: len(receiver.heard) == 2)
    assert len({webhook_id for webhook_id, _, _ in receiver.heard}) == 1


def test_a_circuit_that_is_open_is_shown_until_the_receiver_is_well_again(
    open_section: OpenSection, dashboard: Desk, receiver: Refusing, channel: dict[str, Any]
) -> None:
    receiver.status = 500
    for _ in range(4):
        dashboard.request("POST", f"/api/channels/{channel['channel_id']}/test")
    page = open_section("channels")
    shown = card(page, "channel", channel["name"]).get_by_test_id("circuit")
    expect(shown).to_have_attribute("class", "state bad", timeout=20_000)
    receiver.status = 200
    dashboard.request("POST", f"/api/channels/{channel['channel_id']}/test")
    expect(shown).to_have_text("works", timeout=20_000)


def test_a_rule_sends_an_alert_to_its_channel_and_the_log_shows_all_of_that_alert(
    open_section: OpenSection, receiver: Refusing, channel: dict[str, Any], producer: Any
) -> None:
    page = open_section("rules")
    page.get_by_test_id("add").click()
    page.get_by_test_id("field-name").fill("Yard at night")
    page.get_by_label(channel["name"]).check()
    page.get_by_test_id("where").locator("summary").click()
    page.get_by_test_id("field-truck_ids").fill("page-truck, page-other")
    page.get_by_test_id("save").click()
    shown = card(page, "rule", "Yard at night")
    expect(shown.get_by_test_id("summary")).to_contain_text(f"trucks page-truck, page-other → {channel['name']}")
    publish(producer, alert_record("not-meant")[1])
    alert_id, value = alert_record("page-truck")
    publish(producer, value)
    eventually(lambda: len(receiver.heard) == 1)
    page.get_by_role("link", name="Deliveries").click()
    delivered = card(page, "delivery", "page-truck · enters a fence · depot")
    expect(delivered.get_by_test_id("state")).to_have_text("delivered")
    delivered.get_by_test_id("of-alert").click()
    expect(page.get_by_test_id("total")).to_have_text("1 delivery")
    assert alert_id in page.url
    page.get_by_role("link", name="Rules").click()
    shown.get_by_test_id("change").click()
    page.get_by_test_id("field-truck_ids").fill("page-other")
    page.get_by_test_id("save").click()
    expect(shown.get_by_test_id("summary")).to_contain_text("trucks page-other")
    shown.get_by_test_id("remove").click()
    page.get_by_test_id("save").click()
    expect(shown).to_have_count(0)


def test_a_silence_holds_an_alert_back_with_its_reason_until_somebody_ends_it(
    open_section: OpenSection, dashboard: Desk, receiver: Refusing, channel: dict[str, Any], producer: Any
) -> None:
    rule = {"name": "quiet", "channel_ids": [channel["channel_id"]], "truck_ids": ["quiet-truck"]}
    dashboard.request("POST", "/api/rules", json=rule)
    page = open_section("silences", role="dispatcher")
    page.get_by_test_id("add").click()
    page.get_by_test_id("field-truck_id").fill("quiet-truck")
    page.get_by_test_id("field-why").fill("in the workshop")
    page.get_by_test_id("save").click()
    shown = card(page, "silence", "truck quiet-truck")
    expect(shown).to_contain_text("in the workshop")
    publish(producer, alert_record("quiet-truck")[1])
    page.get_by_role("link", name="Deliveries").click()
    held = card(page, "delivery", "quiet-truck")
    expect(held.get_by_test_id("state")).to_have_text("held back", timeout=20_000)
    expect(held.get_by_test_id("why")).to_contain_text("in the workshop")
    page.get_by_role("link", name="Silences").click()
    shown.get_by_test_id("end").click()
    page.get_by_test_id("save").click()
    expect(shown).to_have_count(0)
    publish(producer, alert_record("quiet-truck")[1])
    eventually(lambda: len(receiver.heard) == 1)


def test_a_new_secret_is_shown_once_and_both_sign(
    open_section: OpenSection, receiver: Refusing, channel: dict[str, Any]
) -> None:
    page = open_section("channels")
    shown = card(page, "channel", channel["name"])
    shown.get_by_test_id("rotate").click()
    page.get_by_test_id("save").click()
    assert str(page.get_by_test_id("secret").text_content()).startswith("whsec_")
    page.get_by_role("button", name="Done").click()
    shown.get_by_test_id("test").click()
    said(page, "has arrived")
    assert [len(each.split()) for each in receiver.signatures] == [2]


@pytest.mark.parametrize("role", ["viewer", "dispatcher"])
def test_who_may_not_change_something_is_offered_no_button_for_it(
    open_section: OpenSection, channel: dict[str, Any], role: str
) -> None:
    page = open_section("channels", role=role)
    expect(card(page, "channel", channel["name"])).to_be_visible()
    for section in ("channels", "rules"):
        page.get_by_role("link", name=section.capitalize()).click()
        expect(page.get_by_test_id("main")).to_have_attribute("data-section", section)
        expect(page.get_by_test_id("main").get_by_role("button")).to_have_count(0)
    page.get_by_role("link", name="Silences").click()
    expect(page.get_by_test_id("add")).to_have_count(0 if role == "viewer" else 1)


def test_a_channel_is_added_with_the_keyboard_alone(open_section: OpenSection) -> None:
    page = open_section("channels")
    page.get_by_test_id("add").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("field-name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("dialog")).to_have_count(0)
    expect(page.get_by_test_id("add")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    page.keyboard.type("File")
    page.keyboard.press("Tab")
    page.keyboard.type("keyboard.txt")
    page.keyboard.press("Enter")
    expect(card(page, "channel", "By keyboard")).to_contain_text("keyboard.txt")


def test_on_a_phone_nothing_is_wider_than_the_screen(open_section: OpenSection, channel: dict[str, Any]) -> None:
    page = open_section("channels", **PHONE)
    for section in SECTIONS:
        page.get_by_role("link", name=section.capitalize()).click()
        expect(page.get_by_test_id("main")).to_have_attribute("data-section", section)
        if section != "deliveries":
            page.get_by_test_id("add").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        if section != "deliveries":
            assert page.get_by_test_id("dialog").evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
            page.get_by_test_id("cancel").click()


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_no_section_and_no_form_has_a_serious_fault(
    open_section: OpenSection, dashboard: Desk, channel: dict[str, Any], receiver: Refusing, theme: str
) -> None:
    receiver.status = 500
    dashboard.request("POST", f"/api/channels/{channel['channel_id']}/test")
    rule = {"name": "night", "channel_ids": [channel["channel_id"]], "truck_ids": ["nobody"]}
    dashboard.request("POST", "/api/rules", json=rule)
    page = open_section("channels", theme=theme)
    wrong = []
    for section in SECTIONS:
        page.get_by_role("link", name=section.capitalize()).click()
        expect(page.get_by_test_id("main")).to_have_attribute("data-section", section)
        wrong += [f"{section}: {fault}" for fault in faults(page)]
        if section == "deliveries":
            continue
        page.get_by_test_id("add").click()
        page.get_by_test_id("dialog").locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        wrong += [f"{section}, form: {fault}" for fault in faults(page)]
        page.get_by_test_id("cancel").click()
    assert wrong == []


def test_a_receiver_is_named_without_its_secret_path(open_section: OpenSection, channel: dict[str, Any]) -> None:
    page = open_section("channels")
    expect(card(page, "channel", channel["name"])).to_contain_text("http://127.0.0.1:")
    assert "/hook" not in page.content()
