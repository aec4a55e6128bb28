"""Every scene on two desks and on a phone upright and sideways, light and dark, to look at.

`python -m tests.e2e.screens` writes them into build/screens.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from kinema.demo.scenes.registry import SCENES
from tests.e2e.browser import CARD, FLAGS, Tab, chromium, playground

FOLDER = Path(__file__).parents[2] / "build" / "screens"
SCREENS = {"1280x720": (1280, 720), "1920x1080": (1920, 1080), "390x844": (390, 844), "844x390": (844, 390)}
SCHEMES = ("light", "dark")
MOVES = 1500
"""Milliseconds for which a scene moves before it is paused: cameras are where they want to be."""


def main(*wanted):
    """Those whose names contain one of the words, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, playground() as served:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *CARD])
        for size in SCREENS:
            for scene in SCENES:
                names = {scheme: f"{scene}_{size}_{scheme}" for scheme in SCHEMES}
                chosen = {
                    key: name for key, name in names.items() if not wanted or any(word in name for word in wanted)
                }
                if chosen:
                    take(browser, served.address, scene, size, chosen)
        browser.close()


def take(browser, address, scene, size, names):
    """One scene at one moment in each colour scheme. names: those of the pictures by their scheme."""
    width, height = SCREENS[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=next(iter(names)), has_touch=min(width, height) < 500
    )
    tab = Tab(context, address, scene)
    tab.wait("state.complete")
    tab.page.wait_for_timeout(MOVES)
    tab.rest()
    for number, (scheme, name) in enumerate(names.items()):
        if number:
            before = tab.state["picture"]["count"]
            tab.page.emulate_media(color_scheme=scheme)
            tab.wait("state.picture.count > before && state.resting", before=before)
        tab.page.screenshot(path=FOLDER / f"{name}.png")
        print(name, tab.complaints, flush=True)
    context.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
