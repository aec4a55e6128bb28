"""The pictures of docs/playground.md: `python -m tests.e2e.pictures` takes them anew. Look at them, then keep them."""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.assets import asset
from tests.e2e.browser import FLAGS, Tab, chromium, playground

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
COLOURS = 256
"""Of a saved picture: enough that no banding is seen."""

DESK, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 780}


def planar(tab):
    """Sprites on the limbs, the rope, a tentacle, and a target in the hand."""
    tab.control("sprites").check()
    tab.control("rope").check()
    handle = tab.handle("3")
    tab.page.mouse.move(handle["x"], handle["y"])
    tab.page.mouse.down()
    tab.page.mouse.up()
    tab.control("bones").fill("9")
    tab.page.keyboard.press("Enter")
    tab.control("length_1").fill("30")
    tab.page.keyboard.press("Enter")
    tab.control("length_2").fill("27")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_timeout(1500)
    for name, aside, down in (("0", -30, 10), ("2", 60, -120), ("3", 30, 110), ("4", -20, -40)):
        handle = tab.handle(name)
        tab.page.mouse.move(handle["x"], handle["y"])
        tab.page.mouse.down()
        tab.page.mouse.move(handle["x"] + aside, handle["y"] + down, steps=3)
        if name != "4":
            tab.page.mouse.up()
    tab.settle()


def sorted_some(tab):
    """Until the arm carries its third ball."""
    tab.wait("state.balls.filter((ball) => ball.sorted).length >= 2 && state.carried >= 0")


def a_while(tab):
    tab.page.wait_for_timeout(4000)


def walking(tab):
    """On the course, its clip as it was behind it, one hand up."""
    tab.wait("state.drawn")
    tab.control("show").select_option("both")
    tab.wait("state.time > 3.2 && state.ghost")
    tab.control("pause").click()
    tab.page.wait_for_timeout(1000)
    handle = tab.handle("hand left")
    tab.drag("hand left", handle["x"] + 40, handle["y"] - 150)
    tab.page.mouse.move(20, 300)
    tab.page.wait_for_timeout(700)


def crowd(tab):
    """Characters around the target, from nearby."""
    tab.wait("state.levels.some((count) => count > 0)")
    tab.page.mouse.move(480, 420)
    for _ in range(4):
        tab.page.mouse.wheel(0, -240)
        tab.page.wait_for_timeout(400)
    tab.page.wait_for_timeout(3000)


def a_guest(tab):
    """A character from a file, with its roles."""
    tab.wait("state.drawn")
    tab.page.get_by_test_id("file").set_input_files(asset("gltf/KayKit_Knight.glb"))
    tab.wait("state.name === 'KayKit_Knight' && state.drawn")
    tab.control("bones").check()
    tab.page.wait_for_timeout(4000)


SHOTS = [
    ("playground_planar", "planar", DESK, "light", planar),
    ("playground_arm", "arm", DESK, "light", sorted_some),
    ("playground_character", "character", DESK, "light", walking),
    ("playground_guest", "character", DESK, "dark", a_guest),
    ("playground_creature", "creature", DESK, "light", a_while),
    ("playground_crowd", "crowd", DESK, "light", crowd),
    ("playground_lab", "lab", DESK, "dark", a_while),
    ("playground_phone", "planar", PHONE, "light", a_while),
]


def kept(png, path):
    """Save a screenshot as a small file: with a palette."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, kmeans=1).save(path, optimize=True)


def main(*wanted):
    """Those that are named, or all of them."""
    with sync_playwright() as playwright, playground() as served:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for name, scene, viewport, scheme, prepare in (shot for shot in SHOTS if not wanted or shot[0] in wanted):
            context = browser.new_context(viewport=viewport, color_scheme=scheme)
            tab = Tab(context, served.address, scene)
            prepare(tab)
            tab.rest()
            kept(tab.page.screenshot(), FOLDER / f"{name}.png")
            print(name, tab.complaints)
            context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
