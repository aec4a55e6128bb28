"""The first two minutes of somebody new: what they see first, what tells them what to do, and what they can read."""

import numpy as np
import pytest

from tests.demo.scripts import run

DESK = {"width": 1280, "height": 720}


def test_the_first_scene_is_a_character_and_says_which_hand_to_grab(open_tab):
    tab = open_tab("")
    assert tab.state["scene"] == "character"
    tab.wait("state.drawn")
    hint = tab.control("hint")
    hint.wait_for()
    assert hint.inner_text() == "Grab this hand and pull"
    handle, box = tab.handle("hand left"), tab.page.locator("#hint i").bounding_box()
    assert abs(box["x"] + box["width"] / 2 - handle["x"]) < 4
    assert abs(box["y"] + box["height"] / 2 - handle["y"]) < 4
    tab.drag("hand left", handle["x"] + 10, handle["y"] - 40)
    assert hint.is_hidden()
    tab.page.reload()
    tab.wait("state.tick > 2 && state.drawn")
    tab.page.wait_for_timeout(300)
    assert hint.is_hidden()  # They know.


@pytest.mark.parametrize("width", [390, 1280])
def test_the_hint_is_inside_the_stage(open_tab, width):
    tab = open_tab("character", viewport={"width": width, "height": 760})
    hint = tab.control("hint")
    hint.wait_for()
    tab.page.wait_for_timeout(300)
    stage, bubble = tab.page.locator("#stage").bounding_box(), hint.bounding_box()
    assert stage["x"] <= bubble["x"]
    assert bubble["x"] + bubble["width"] <= stage["x"] + stage["width"]


@pytest.mark.parametrize("scene", ["character", "lab"])
def test_charts_are_whole_on_a_small_screen(open_tab, scene):
    tab = open_tab(scene, viewport=DESK)
    footer = tab.page.locator("footer").bounding_box()["y"]
    for chart in tab.page.locator("#side .uplot").all():
        box = chart.bounding_box()
        assert box["height"] > 100
        assert box["y"] + box["height"] <= footer


def test_controls_have_headings_and_plain_names(open_tab):
    tab = open_tab("character", viewport=DESK)
    titles = tab.page.locator("#controls .lil-gui .title:visible").all_inner_texts()
    assert titles == ["Walk", "Pose", "Download", "Show", "How much each part does", "Pictures and films"]
    assert tab.control("character").locator("option").all_inner_texts() == ["Person", "Fox", "Spider"]
    tab.control("character").select_option("quadruped")
    tab.wait("state.name === 'quadruped'")


def test_every_role_has_a_colour_of_its_own(open_tab):
    tab = open_tab("character", viewport=DESK)
    tab.control("bones").check()
    tab.wait("state.controls.bones")
    colours = [dot.evaluate("dot => dot.style.background") for dot in tab.page.locator(".roles i").all()]
    assert len(colours) >= 9
    assert len(set(colours)) == len(colours)


def test_the_plane_fills_a_large_window(open_tab):
    tab = open_tab("planar", viewport={"width": 1920, "height": 1080})
    xs = [x for chain in tab.state["chains"] for x, _ in chain["joints"]]
    assert max(xs) - min(xs) > 0.6 * tab.page.locator("#stage").bounding_box()["width"]


def side(chain):
    (rx, ry), (kx, ky), (ex, ey) = chain["joints"]
    return np.sign((ex - rx) * (ky - ry) - (ey - ry) * (kx - rx))


def test_a_knee_bends_the_other_way_by_switch_by_key_and_in_the_script(open_tab):
    tab = open_tab("planar", viewport=DESK)
    start = tab.handle("1")
    tab.drag("1", start["x"] + 10, start["y"] - 10)
    before = [side(chain) for chain in tab.state["chains"]]
    tab.control("flip").check()
    tab.wait("state.controls.flip")
    tab.settle()
    after = [side(chain) for chain in tab.state["chains"]]
    assert after == [before[0], -before[1], *before[2:]]
    joints = run(tab.copied_script())["joints"]
    assert [side({"joints": rows}) for rows in joints] == after
    tab.control("close-script").click()
    assert tab.control("script-sheet").is_hidden()
    tab.page.keyboard.press("b")
    tab.wait("!state.controls.flip")


def test_keys_are_shown_and_can_be_pressed_without_a_keyboard(open_tab):
    tab = open_tab("planar", viewport={"width": 390, "height": 844}, has_touch=True)
    button = tab.control("key-n")
    assert button.inner_text() == "New leg"
    assert button.bounding_box()["height"] >= 44
    button.tap()
    tab.wait("state.chains.length === 6")
    tab.control("key-Backspace").tap()
    tab.wait("state.chains.length === 5")
    tab.control("key-m").tap()
    tab.wait("state.controls.mirror")
