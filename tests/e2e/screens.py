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


def main(*wanted):
    """Those whose names contain one of the words, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, playground() as served:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *CARD])
        for size, (width, height) in SCREENS.items():
            for scheme in ("light", "dark"):
                for scene in SCENES:
                    name = f"{scene}_{size}_{scheme}"
                    if wanted and not any(word in name for word in wanted):
                        continue
                    options = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
                    context = browser.new_context(**options, has_touch=min(width, height) < 500)
                    tab = Tab(context, served.address, scene)
                    tab.wait("state.complete")
                    tab.page.wait_for_timeout(1500)
                    tab.rest()
                    tab.page.screenshot(path=FOLDER / f"{name}.png")
                    print(name, tab.complaints, flush=True)
                    context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
