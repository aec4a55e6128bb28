"""One server and one browser for all end-to-end tests; every test has its own page."""

import pytest

from tests.e2e.browser import FLAGS, Tab, chromium, playground


@pytest.fixture(scope="session")
def served():
    chromium()
    with playground() as one:
        yield one


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield one
        one.close()


@pytest.fixture
def open_tab(browser, served):
    """Opens a scene in a page of its own. What it complained about on its console fails the test."""
    contexts, tabs = [], []

    def opened(scene, address=None, **options):
        options = {"viewport": {"width": 900, "height": 560}, "reduced_motion": "reduce"} | options
        contexts.append(browser.new_context(**options))
        tabs.append(Tab(contexts[-1], address or served.address, scene))
        return tabs[-1]

    yield opened
    complaints = [complaint for tab in tabs for complaint in tab.complaints]
    for context in contexts:
        context.close()
    assert not complaints
