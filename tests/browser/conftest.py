"""A broker of its own, a dashboard over it, and a browser that forgives nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from local_stack.broker import Cluster
from local_stack.jars import JarStore
from local_stack.topics import make_topics
from tests.browser.chromium import NAMES, find_chromium, launch
from tests.browser.dashboard import Dashboard, Publisher


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Not longer than the package: Playwright holds an event loop of this thread, and other tests run their own."""
    program = find_chromium()
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on the PATH")
    with sync_playwright() as playwright, launch(playwright, program) as browser:
        yield browser


@pytest.fixture(scope="package")
def own_kafka(java_home: Path, jars: JarStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Not the shared broker: trucks of other tests would stand on the map."""
    folder = tmp_path_factory.mktemp("browser")
    with Cluster(java_home=java_home, jars=jars.broker, data=folder / "data", logs=folder / "logs") as cluster:
        make_topics(cluster.bootstrap_servers)
        yield cluster.bootstrap_servers


@pytest.fixture(scope="package")
def dashboard(own_kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """One for all tests: each has trucks of its own, in a place of its own."""
    with Dashboard(own_kafka, tmp_path_factory.mktemp("api") / "dashboard.log") as dashboard:
        dashboard.wait_until_ready()
        yield dashboard


@pytest.fixture
def publisher(own_kafka: str) -> Iterator[Publisher]:
    with Publisher(own_kafka) as publisher:
        yield publisher


OpenPage = Callable[..., Page]


@pytest.fixture
def expected_errors() -> set[str]:
    """What a test provokes: the browser reports every refusal in the console, also one that the page explains."""
    return set()


@pytest.fixture
def open_page(browser: Browser, dashboard: Dashboard, expected_errors: set[str]) -> Iterator[OpenPage]:
    """Opens the page. A console error, an exception or a request to another host fails the test."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error" and not any(each in message.text for each in expected_errors):
            wrong.append(f"{message.text} {message.location}")

    def opened(
        hash: str = "",
        role: str | None = "dispatcher",
        width: int = 1366,
        height: int = 768,
        theme: Literal["dark", "light"] = "dark",
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", color_scheme=theme
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(dashboard.url) else wrong.append(asked.url))
        page.goto(dashboard.login_link(role) if role else dashboard.url)
        if hash:
            page.goto(f"{dashboard.url}/{hash}")
            page.reload()
        expect(page.get_by_test_id("connection")).not_to_have_attribute("data-state", "loading")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page()
