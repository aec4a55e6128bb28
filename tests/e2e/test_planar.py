"""The first seed's playground, by mouse and keyboard."""

import numpy as np
import pytest

from tests.demo.scripts import run


def distance(a, b):
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))


@pytest.mark.smoke
def test_dragging_a_target_brings_the_end_to_the_pointer(open_tab):
    tab = open_tab("planar")
    for name, aside, down in (("0", 40, 120), ("3", -60, 90)):
        root = tab.state["chains"][int(name)]["joints"][0]
        to = (root[0] + aside, root[1] + down)
        tab.drag(name, *to)
        chain = tab.state["chains"][int(name)]
        assert distance(chain["joints"][-1], to) < 1.0
        assert distance(chain["target"], to) < 1.0
        assert chain["reached"]


def test_a_target_out_of_reach_is_pointed_at(open_tab):
    tab = open_tab("planar")
    root = np.array(tab.state["chains"][2]["joints"][0])
    to = root + np.array((0.0, 230.0))  # Still on the stage: handles do not leave it.
    tab.drag("2", *to)
    chain = tab.state["chains"][2]
    assert not chain["reached"]
    along = np.array(chain["joints"][-1]) - root
    assert abs(along[0]) < 1.0
    assert along[1] > 0


def test_twenty_pixels_are_near_enough_and_more_are_not(open_tab):
    tab = open_tab("planar")
    start = tab.handle("1")
    for aside, grabbed in ((27, False), (17, True)):
        before = tab.state["chains"][1]["target"]
        tab.page.mouse.move(start["x"] + aside, start["y"])
        tab.page.mouse.down()
        tab.page.mouse.move(start["x"] + aside, start["y"] - 40)
        tab.page.mouse.up()
        tab.settle()
        assert (distance(tab.state["chains"][1]["target"], before) > 5) == grabbed


def test_a_wandering_target_is_grabbed_where_it_was_seen(open_tab):
    tab = open_tab("planar", reduced_motion="no-preference")
    seen = tab.handle("2")
    tab.page.wait_for_timeout(150)
    tab.page.mouse.move(seen["x"], seen["y"])
    tab.page.mouse.down()
    tab.page.mouse.move(seen["x"] + 5, seen["y"] - 40, steps=2)
    tab.page.mouse.up()
    tab.settle()
    assert distance(tab.state["chains"][2]["target"], (seen["x"] + 5, seen["y"] - 40)) < 1.0


def test_n_adds_a_chain_at_the_pointer_and_backspace_removes_it(open_tab):
    tab = open_tab("planar")
    tab.page.mouse.move(300, 300)
    tab.page.keyboard.press("n")
    state = tab.wait("state.chains.length === 6")
    scale = state["scale"]  # The stage is smaller than the scene: a pixel of the scene is less on this screen.
    added = state["chains"][5]
    assert distance(added["joints"][0], (300, 300)) < 1.0
    assert distance(added["target"], (300 + 150 * scale, 300)) < 1.0
    tab.page.keyboard.press("Backspace")
    assert tab.wait("state.chains.length === 5")["chains"][4]["joints"] == state["chains"][4]["joints"]


def test_mirror_bends_the_knees_to_their_targets(open_tab):
    tab = open_tab("planar")
    root = tab.state["chains"][1]["joints"][0]
    tab.drag("1", root[0] - 60, root[1] + 70)

    def side():
        (rx, ry), (kx, ky), (ex, ey) = tab.state["chains"][1]["joints"]
        return np.sign((ex - rx) * (ky - ry) - (ey - ry) * (kx - rx))

    before = side()
    tab.control("mirror").check()
    tab.wait("state.controls.mirror")
    tab.settle()
    assert side() == -before
    tab.control("mirror").uncheck()
    tab.wait("!state.controls.mirror")
    tab.settle()
    assert side() == before


def test_sprites_more_bones_and_a_rope(open_tab):
    tab = open_tab("planar")
    tab.control("sprites").check()
    tab.control("rope").check()
    state = tab.wait("state.rope.length === 25 && state.draggables.length === 6")
    end = state["rope"][-1]
    tab.control("bones").fill("9")
    tab.page.keyboard.press("Enter")
    tab.wait("state.chains[0].joints.length === 10")
    tab.drag("rope", end[0] + 60, end[1] + 20)
    assert distance(tab.state["rope"][-1], (end[0] + 60, end[1] + 20)) < 1.0


def test_the_rope_of_the_page_is_in_its_script(open_tab):
    tab = open_tab("planar")
    tab.control("rope").check()
    end = tab.wait("state.rope.length === 25")["rope"][-1]
    tab.drag("rope", end[0] + 60, end[1] + 20)
    tab.control("pause").click()
    tab.page.wait_for_timeout(500)
    rope = np.array(tab.state["rope"])
    box, scale = tab.page.locator("#stage canvas").bounding_box(), tab.state["scale"]
    middle = np.array((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    copied = middle + run(tab.copied_script())["rope"] * scale
    assert np.abs(copied - rope).max() < 1.0, "pixels"


def test_the_keyboard_moves_a_target(open_tab):
    tab = open_tab("planar")
    before = tab.state["chains"][0]["target"]
    tab.page.locator("#stage canvas").focus()
    tab.page.keyboard.press("]")
    tab.page.keyboard.press("ArrowUp")
    tab.settle()
    after = tab.state["chains"][0]["target"]
    assert after[0] == pytest.approx(before[0], abs=0.5)
    assert before[1] - after[1] == pytest.approx(12, abs=0.5)


def test_two_tabs_do_not_disturb_each_other(open_tab):
    one, other = open_tab("planar"), open_tab("planar")
    before = other.state["chains"]
    one.page.keyboard.press("n")
    one.wait("state.chains.length === 6")
    other.settle()
    assert other.state["chains"] == before


def test_touch(open_tab):
    tab = open_tab("planar", has_touch=True, viewport={"width": 390, "height": 700})
    handle, root = tab.handle("0"), tab.state["chains"][0]["joints"][0]
    to = (root[0] + 20, root[1] + 40)
    for kind, (x, y) in (("down", (handle["x"], handle["y"])), ("move", to), ("up", to)):
        tab.page.locator("#stage").dispatch_event(
            f"pointer{kind}", {"clientX": x, "clientY": y, "pointerId": 1, "pointerType": "touch", "button": 0}
        )
    tab.settle()
    assert distance(tab.state["chains"][0]["joints"][-1], to) < 1.0


def test_ground_is_drawn_with_a_finger_and_the_walker_goes_over_it(open_tab):
    tab = open_tab("planar", has_touch=True, reduced_motion="no-preference")
    tab.control("walker").check()
    tab.wait("state.ground.length > 10")
    first = tab.state["ground"]
    box = tab.page.locator("#stage").bounding_box()
    left, right, y = box["x"] + 0.3 * box["width"], box["x"] + 0.7 * box["width"], box["y"] + 0.72 * box["height"]
    tab.touch("Start", (left, y))
    for step in range(1, 11):
        tab.touch("Move", (left + (right - left) * step / 10, y))
    tab.touch("End")
    state = tab.wait(
        "state.ground.filter(([x, at]) => x > left && x < right && Math.abs(at - y) < 3).length > 20",
        left=left,
        right=right,
        y=y,
    )
    assert state["ground"][0] == first[0]
    tab.wait("Math.abs(state.walker[10][0] - x) > 30", x=state["walker"][10][0])
    tab.page.reload()
    tab.wait(
        "state.ground.filter(([x, at]) => x > left && x < right && Math.abs(at - y) < 3).length > 20",
        left=left,
        right=right,
        y=y,
    )
    tab.control("undo").click()
    tab.wait("Math.abs(state.ground[30][1] - before) < 1", before=first[30][1])
