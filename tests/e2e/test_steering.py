"""What walks is steered by keys and by a gamepad; views from all sides, and ground that does not hide it."""

import numpy as np


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


def test_ground_between_the_eye_and_the_legs_fades(open_tab):
    tab = open_tab("character", viewport={"width": 900, "height": 560})
    tab.wait("state.drawn")
    tab.control("ground").select_option("stairs")
    tab.wait("state.controls.ground === 'stairs'")
    assert not tab.state["faded"]
    tab.page.keyboard.press("1")  # From the front: the stairs that it is about to climb are between.
    tab.wait("state.faded")
    tab.control("view-side").click()
    tab.wait("!state.faded")
