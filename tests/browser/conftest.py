"""A broker of its own, a dashboard over it, and a browser that forgives nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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


@pytest.fixture
def dashboard(own_kafka: str, tmp_path: Path) -> Iterator[Dashboard]:
    with Dashboard(own_kafka, tmp_path / "dashboard.log") as dashboard:
        dashboard.wait_until_ready()
        yield dashboard


@pytest.fixture
def publisher(own_kafka: str) -> Iterator[Publisher]:
    with Publisher(own_kafka) as publisher:
        yield publisher


@pytest.fixture
def page(browser: Browser, dashboard: Dashboard) -> Iterator[Page]:
    """The open page. A console error, an exception or a request to another host fails the test."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(dashboard.url) else wrong.append(asked.url))
    page.goto(dashboard.login_link())
    yield page
    context.close()
    assert wrong == []
