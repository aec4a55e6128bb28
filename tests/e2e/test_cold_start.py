"""A machine that has compiled nothing yet: the page says what it waits for and has something to play with."""

import os

from tests.e2e.browser import playground


def test_a_cold_start_shows_what_is_compiled_how_long_and_something_alive(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path))
    with playground(port=18437) as served:
        page = browser.new_page(viewport={"width": 900, "height": 560})
        page.goto(f"{served.address}#planar")
        box = page.get_by_test_id("compiling")
        box.wait_for(timeout=60_000)
        page.get_by_text("Compiling for this machine: ").wait_for()
        page.get_by_text("Step 1 of").wait_for()
        before = page.get_by_test_id("waiting-leg").screenshot()
        page.mouse.move(500, 300)
        page.wait_for_timeout(400)
        assert page.get_by_test_id("waiting-leg").screenshot() != before
        page.close()
