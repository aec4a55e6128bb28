"""What walks is steered by keys, a gamepad or a finger; views from all sides, and ground that does not hide it."""

import numpy as np
import pytest
from PIL import Image

from kinema.demo import stairs


def stand_still(tab):
    """Until the character does not move any more; a busy machine draws, and hears of a key, late."""
    for _ in range(30):
        at = tab.state["middle"]
        tab.page.wait_for_timeout(600)
        if np.linalg.norm(np.subtract(tab.state["middle"], at)) < 0.03:
            return
    raise AssertionError("it walks on and on")


def test_w_and_d_steer_the_creature_and_a_gamepad_does_too(open_tab):
    tab = open_tab("creature", viewport={"width": 760, "height": 480})
    tab.wait("state.drawn && state.feet.length === 8")
    start = tab.state["creature"]
    tab.page.keyboard.down("w")
    tab.wait("Math.hypot(state.creature[0] - start[0], state.creature[2] - start[2]) > 0.4", start=start)
    facing = tab.state["facing"]
    tab.page.keyboard.down("d")
    tab.wait("Math.abs(state.facing - facing) > 0.3", facing=facing)
    tab.page.keyboard.up("w")
    tab.page.keyboard.up("d")
    assert not tab.state["controls"]["wander"]
    tab.page.wait_for_timeout(1200)
    start = tab.state["creature"]
    tab.page.evaluate(
        """() => {
            const pad = { connected: true, axes: [0, -1], buttons: [] };
            navigator.getGamepads = () => [pad, null];
        }"""
    )
    tab.wait("Math.hypot(state.creature[0] - start[0], state.creature[2] - start[2]) > 0.3", start=start)


def test_a_walking_character_is_steered_seen_from_all_sides_and_not_hidden(open_tab):
    tab = open_tab("character", viewport={"width": 900, "height": 560}, reduced_motion="no-preference")
    tab.wait("state.drawn && state.time > 0.5")
    facing = tab.state["facing"]
    tab.page.keyboard.down("w")
    tab.page.keyboard.down("a")
    tab.wait("state.facing > facing + 0.4", facing=facing)
    tab.page.keyboard.up("a")
    tab.page.keyboard.up("w")
    stand_still(tab)
    for view, low in (("front", 0.05), ("side", 0.05), ("top", 0.9)):
        tab.control(f"view-{view}").click()
        tab.settle()
        state = tab.state
        way = np.subtract(state["eye"], state["middle"])
        way /= np.linalg.norm(way)
        ahead = np.array((np.sin(state["facing"]), 0.0, np.cos(state["facing"])))
        assert way[1] > low
        assert abs(abs(way @ ahead) - (1.0 if view == "front" else 0.0)) < 0.2
    tab.page.keyboard.press("1")
    tab.settle()
    state = tab.state
    way = np.subtract(state["eye"], state["middle"])
    assert way[1] < 0.3 * np.linalg.norm(way)
    tab.page.keyboard.press("Home")


@pytest.mark.parametrize("scene", ["creature", "character"])
def test_a_pad_steers_with_a_finger(open_tab, scene):
    tab = open_tab(scene, viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="no-preference")
    tab.wait("state.drawn && state.time > 0.5")
    box = tab.control("pad").bounding_box()
    assert min(box["width"], box["height"]) >= 44
    assert box["x"] + box["width"] <= 390
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    eye, facing = tab.state.get("eye"), tab.state["facing"]
    tab.touch("Start", middle)
    tab.touch("Move", (middle[0] - 40, middle[1] - 40))  # Ahead and to the left.
    tab.wait("state.facing > facing + 0.4", facing=facing)
    tab.touch("End")
    assert tab.page.locator("#pad i").evaluate("(knob) => knob.style.transform") == "translate(0px, 0px)"
    tab.wait("state.time > since + 1", since=tab.state["time"])
    facing = tab.state["facing"]
    tab.wait("state.time > since + 0.5", since=tab.state["time"])
    assert tab.state["facing"] == pytest.approx(facing, abs=0.05)
    assert eye is None or tab.state["following"], "a finger on the pad does not move the camera"


def test_there_is_no_pad_without_a_touch_screen_or_something_to_steer(open_tab):
    tab = open_tab("creature", viewport={"width": 760, "height": 480})
    assert tab.control("pad").is_hidden()
    tab = open_tab("planar", viewport={"width": 390, "height": 844}, has_touch=True)
    assert tab.control("pad").is_hidden()


def test_ground_between_the_eye_and_the_legs_fades(open_tab):
    tab = open_tab("character", viewport={"width": 900, "height": 560})
    tab.wait("state.drawn")
    tab.control("view-side").click()
    tab.control("ground").select_option("stairs")
    tab.wait("state.controls.ground === 'stairs'")
    tab.page.wait_for_timeout(1500)
    assert not tab.state["faded"]
    tab.page.keyboard.press("1")  # From the front: the stairs that it is about to climb are between.
    tab.wait("state.faded")
    tab.control("view-side").click()
    tab.wait("!state.faded")


def test_the_steps_that_feet_are_on_do_not_fade(open_tab):
    """In a picture without the floor, the ground beside the feet is half transparent, that below them is not."""
    tab = open_tab("character", viewport={"width": 900, "height": 560})
    tab.wait("state.drawn")
    tab.control("ground").select_option("stairs")
    tab.wait("state.controls.ground === 'stairs'")
    tab.page.keyboard.press("1")
    tab.wait("state.faded")
    tab.page.get_by_role("button", name="Pictures and films").click()
    tab.control("take_handles").click()
    tab.control("take_background").select_option("transparent")
    tab.rest()
    with tab.page.expect_download() as kept:
        tab.control("screenshot").click()
    clear = np.asarray(Image.open(kept.value.path()).convert("RGBA"))[:, :, 3]
    box, joints = tab.page.locator("#stage canvas").bounding_box(), tab.state["joints"]
    scale = clear.shape[1] / box["width"]
    lowest = max((joints["toe_l"], joints["toe_r"]), key=lambda at: at[1])
    x, y = (round(scale * (at - box[axis])) for at, axis in zip(lowest, "xy", strict=True))
    assert clear[y - 4 : y + 4, x - 4 : x + 4].min() > 250
    assert ((clear > 40) & (clear < 200)).mean() > 0.05


def test_the_eye_stays_above_the_ground(open_tab):
    tab = open_tab("character", viewport={"width": 900, "height": 560})
    tab.wait("state.drawn")
    tab.control("ground").select_option("stairs")
    tab.wait("state.controls.ground === 'stairs'")
    tab.page.keyboard.press("1")  # From the front: the stairs rise there.
    tab.settle()
    box = tab.page.locator("#stage canvas").bounding_box()
    x, y = box["x"] + box["width"] - 60, box["y"] + box["height"] - 20
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(4):
        tab.page.mouse.wheel(0, -240)
    tab.settle()
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x, y - 300, steps=6)
    tab.page.mouse.up()
    tab.settle()
    eye = tab.state["eye"]
    assert tab.state["middle"][2] + 1.0 < eye[2] < stairs().length
    assert eye[1] > float(stairs().height_and_normal(eye[0], eye[2])[0]) + 0.1


def test_a_face_is_seen_from_nearby_while_it_walks(open_tab):
    tab = open_tab("character", viewport={"width": 900, "height": 560}, reduced_motion="no-preference")
    tab.wait("state.drawn && state.time > 0.5")
    tab.page.keyboard.press("1")
    tab.settle()

    def face():
        """Position of the head on the page, and the length of the neck there, pixels."""
        joints = tab.state["joints"]
        return np.array(joints["head"]), np.hypot(*np.subtract(joints["head"], joints["neck_1"]))

    first = face()[1]
    for _ in range(40):  # How far a notch of the wheel goes depends on how many pictures there are meanwhile.
        if face()[1] > 6 * first:
            break
        tab.page.mouse.move(*face()[0])
        tab.page.mouse.wheel(0, -300)
        tab.wait("state.picture.count > count + 1", count=tab.state["picture"]["count"])
    tab.wait("state.time > since + 1.5", since=tab.state["time"])
    at, size = face()
    assert size > 4 * first
    assert tab.state["following"]
    box = tab.page.locator("#stage canvas").bounding_box()
    assert box["x"] < at[0] < box["x"] + box["width"]
    assert box["y"] < at[1] < box["y"] + box["height"]


def test_the_camera_keeps_up_where_pictures_are_slow(open_tab):
    tab = open_tab("character", viewport={"width": 900, "height": 560}, reduced_motion="no-preference")
    tab.wait("state.drawn && state.time > 0.5")
    tab.page.keyboard.press("2")
    tab.page.evaluate(
        "() => { window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 500); }"
    )
    tab.wait("state.picture.count > count + 5", count=tab.state["picture"]["count"])
    box = tab.page.locator("#stage canvas").bounding_box()
    assert tab.state["joints"]["hips"][0] == pytest.approx(box["x"] + box["width"] / 2, abs=40)
