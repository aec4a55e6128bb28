"""What the user has done is still there after a change of scene, a reload, a lost connection and a new server."""

import numpy as np
import pytest

from tests.assets import asset
from tests.e2e.browser import Tab, playground


def prepare(tab):
    """Choose a ground, pause, pull a hand, store a pose, and look from the side. Returns what is to be seen again."""
    tab.wait("state.drawn && state.complete")
    tab.control("ground").select_option("stairs")
    tab.wait("state.controls.ground === 'stairs'")
    tab.control("pause").click()
    tab.wait("state.paused")
    hand = tab.handle("hand left")
    tab.drag("hand left", hand["x"] + 50, hand["y"] - 90)
    tab.control("store").click()
    tab.control("pose-0").wait_for()
    tab.page.keyboard.press("2")
    tab.page.wait_for_timeout(1500)
    return seen(tab)


def seen(tab):
    state = tab.state
    return {
        "taken": state["taken"],
        "ground": state["controls"]["ground"],
        "paused": state["paused"],
        "pose": np.array(list(state["joints"].values())),
        "eye": np.subtract(state["eye"], state["middle"]),
    }


def check(tab, before):
    """Everything is as it was, and the last inputs can be undone."""
    tab.wait("state.scene === 'character' && state.drawn && state.complete && state.taken.length > 0")
    tab.control("pose-0").wait_for()
    tab.page.wait_for_timeout(1500)
    now = seen(tab)
    for part in ("taken", "ground", "paused"):
        assert now[part] == before[part]
    assert np.abs(now["eye"] - before["eye"]).max() < 0.02
    assert np.linalg.norm(now["pose"] - before["pose"], axis=1).max() < 8, "pixels"
    tab.page.keyboard.press("Control+z")
    tab.control("pose-0").wait_for(state="detached")
    tab.page.keyboard.press("Control+z")
    tab.wait("state.taken.length === 0")
    tab.page.keyboard.press("Control+y")
    tab.wait("state.taken.length === 1")


@pytest.mark.smoke
def test_a_change_of_scene_and_back_keeps_everything(open_tab):
    tab = open_tab("character")
    before = prepare(tab)
    tab.control("scene-lab").click()
    tab.wait("state.scene === 'lab' && state.complete")
    tab.control("bones").fill("5")
    tab.wait("state.controls.bones === 5")
    tab.page.go_back()
    check(tab, before)
    tab.page.go_forward()
    tab.wait("state.scene === 'lab' && state.controls.bones === 5")


SET = {
    "character": "ground",
    "creature": "ground",
    "planar": "mirror",
    "arm": "balls",
    "crowd": "count",
    "lab": "bones",
}
"""A control of each scene."""


def test_every_scene_keeps_its_controls_and_its_pause_over_scenes_and_a_reload(open_tab):
    tab = open_tab("lab")
    chosen = {}
    for scene, name in SET.items():
        tab.control(f"scene-{scene}").click()
        tab.wait(f"state.scene === '{scene}' && state.tick > 2")
        control = tab.control(name)
        if name == "ground":
            control.select_option("slope")
        elif name == "mirror":
            control.check()
        else:
            control.fill({"balls": "5", "count": "100", "bones": "5"}[name])
            tab.page.keyboard.press("Enter")
        tab.control("pause").click()
        tab.wait("state.paused")
        tab.page.wait_for_timeout(300)
        chosen[scene] = tab.state["controls"][name]
    assert list(chosen.values()) == ["slope", "slope", True, 5, 100, 5]
    for reload in (False, True):
        for scene, name in SET.items():
            tab.control(f"scene-{scene}").click()
            if reload:
                tab.page.reload()
            tab.wait(f"state.scene === '{scene}' && state.tick > 0 && state.paused")
            assert tab.state["controls"][name] == chosen[scene], scene


def test_an_input_right_before_a_change_of_scene_is_kept(open_tab):
    tab = open_tab("planar")
    tab.page.keyboard.press("Backspace")
    tab.page.keyboard.press("Backspace")
    tab.control("scene-lab").click()
    tab.wait("state.scene === 'lab'")
    tab.page.go_back()
    tab.wait("state.scene === 'planar' && state.chains.length === 3")


def test_a_reload_keeps_everything(open_tab):
    tab = open_tab("character")
    before = prepare(tab)
    tab.page.reload()
    check(tab, before)


def test_a_new_server_keeps_everything(open_tab, browser):
    with playground(port=18537) as first:
        tab = open_tab("character", address=first.address)
        before = prepare(tab)
        first.stop()
        tab.wait("!state.connected")
        with playground(port=18537):
            tab.wait("state.connected")
            check(tab, before)
            tab.complaints.clear()  # The browser's own, about a server that is gone.


def test_what_moves_is_still_where_it_was(open_tab):
    tab = open_tab("creature", reduced_motion="no-preference")
    tab.wait("state.complete && state.time > 2")
    before = np.array(tab.state["creature"])
    tab.control("scene-planar").click()
    tab.wait("state.scene === 'planar'")
    tab.page.go_back()
    tab.wait("state.scene === 'creature' && state.tick > 2")
    assert np.linalg.norm(np.array(tab.state["creature"]) - before) < 0.6


def test_a_file_comes_back_with_its_session(open_tab):
    tab = open_tab("character")
    tab.wait("state.drawn")
    tab.page.get_by_test_id("file").set_input_files(asset("gltf/RiggedFigure.glb"))
    tab.wait("state.name === 'RiggedFigure' && state.drawn")
    tab.control("ground").select_option("rocks")
    tab.wait("state.controls.ground === 'rocks'")
    tab.page.wait_for_timeout(600)
    for leave in (lambda: tab.control("scene-arm").click(), tab.page.reload):
        leave()
        tab.page.evaluate("location.hash = 'character'")
        tab.wait("state.scene === 'character' && state.name === 'RiggedFigure' && state.drawn")
        assert tab.state["controls"]["ground"] == "rocks"


def test_a_closed_tab_is_saved_and_opened_again_by_itself(open_tab):
    """Close the tab without a word; a new one goes on with the pose, the file and the undo steps."""
    tab = open_tab("character")
    tab.wait("state.drawn")
    tab.page.get_by_test_id("file").set_input_files(asset("gltf/RiggedFigure.glb"))
    tab.wait("state.name === 'RiggedFigure' && state.drawn && state.complete")
    before = prepare(tab)
    tab.page.wait_for_timeout(2500)  # Works are written once a second.
    context, address = tab.page.context, tab.page.evaluate("location.origin + '/'")
    tab.page.close()
    other = Tab(context, address, "character")
    other.wait("state.name === 'RiggedFigure' && state.drawn && state.complete && state.paused")
    other.page.get_by_test_id("notice").get_by_text("You go on where you left off").wait_for()
    check(other, before)
    other.page.get_by_role("button", name="Start anew").click()
    other.wait("state.name === 'humanoid' && state.taken.length === 0 && !state.paused && state.drawn")
    other.page.wait_for_timeout(800)
    other.page.reload()
    other.wait("state.name === 'humanoid' && state.drawn")
    other.control("recent").click()
    work = other.page.get_by_test_id("recent-work").filter(has_text="RiggedFigure.glb").first
    assert work.locator("img").evaluate("(image) => image.naturalWidth") > 100
    work.click()
    other.wait("state.name === 'RiggedFigure' && state.taken.length === 1 && state.controls.ground === 'stairs'")
    other.page.keyboard.press("Control+z")
    other.wait("state.name === 'humanoid'")
    assert not other.complaints


def test_works_of_other_scenes_and_files_stand_in_recent(open_tab):
    tab = open_tab("planar")
    tab.control("recent").click()
    tab.page.get_by_test_id("recent-sheet").get_by_text("saved here by itself").wait_for()
    tab.page.get_by_test_id("recent-sheet").get_by_text("Close").click()
    tab.page.keyboard.press("Backspace")
    tab.wait("state.chains.length === 4")
    tab.control("scene-lab").click()
    tab.wait("state.scene === 'lab' && state.complete")
    tab.control("bones").fill("5")
    tab.wait("state.controls.bones === 5")
    tab.page.wait_for_timeout(800)
    tab.control("recent").click()
    assert tab.page.get_by_test_id("recent-work").count() == 2
    tab.page.get_by_test_id("recent-work").filter(has_text="Planar").click()
    tab.wait("state.scene === 'planar' && state.chains.length === 4")
    tab.control("recent").click()
    tab.page.get_by_role("button", name="Remove Lab from this list").click()
    assert tab.page.get_by_test_id("recent-work").count() == 1


def test_a_saved_session_brings_its_file_along(open_tab, tmp_path):
    tab = open_tab("character")
    tab.wait("state.drawn")
    tab.page.get_by_test_id("file").set_input_files(asset("gltf/RiggedFigure.glb"))
    tab.wait("state.name === 'RiggedFigure' && state.drawn && state.complete")
    before = prepare(tab)
    with tab.page.expect_download() as download:
        tab.control("save").click()
    download.value.save_as(tmp_path / "mine.kinema.json")
    other = open_tab("lab")  # Another browser, which never had the file.
    other.page.get_by_test_id("file").set_input_files(tmp_path / "mine.kinema.json")
    other.wait("state.scene === 'character' && state.name === 'RiggedFigure' && state.drawn")
    other.wait("state.taken.length === 1")
    assert other.state["controls"]["ground"] == "stairs"
    assert other.state["paused"] is True
    other.page.wait_for_timeout(1500)
    assert np.linalg.norm(seen(other)["pose"] - before["pose"], axis=1).max() < 8, "pixels"


def share(tab):
    tab.control("share").click()
    tab.page.get_by_test_id("notice").get_by_text("link").wait_for()
    return tab.page.evaluate("location.href").split("#")[1]


def test_a_link_with_a_file_asks_for_it_and_then_shows_all(open_tab):
    tab = open_tab("character")
    tab.wait("state.drawn")
    tab.page.get_by_test_id("file").set_input_files(asset("gltf/RiggedFigure.glb"))
    tab.wait("state.name === 'RiggedFigure' && state.drawn")
    tab.control("ground").select_option("rocks")
    tab.wait("state.controls.ground === 'rocks'")
    link = share(tab)
    tab.page.reload()  # In the same tab the browser has the file.
    tab.wait("state.name === 'RiggedFigure' && state.controls.ground === 'rocks'")
    other = open_tab(link)
    other.page.get_by_text("This needs RiggedFigure.glb").wait_for()
    assert other.state["name"] == "humanoid"
    other.page.get_by_test_id("file").set_input_files(asset("gltf/RiggedFigure.glb"))
    other.wait("state.name === 'RiggedFigure' && state.controls.ground === 'rocks'")


def test_a_link_carries_pause_and_camera_and_is_undone(open_tab):
    tab = open_tab("character")
    before = prepare(tab)
    link = share(tab)
    other = open_tab("character")
    other.wait("state.drawn && state.complete")
    other.control("show").select_option("both")
    other.wait("state.controls.show === 'both'")
    other.page.wait_for_timeout(600)
    other.page.evaluate("(link) => { location.hash = link; }", link)
    other.wait("state.paused && state.controls.ground === 'stairs' && state.taken.length === 1")
    other.page.wait_for_timeout(1500)
    assert np.abs(seen(other)["eye"] - before["eye"]).max() < 0.02
    other.page.keyboard.press("Control+z")
    other.wait("state.controls.ground === 'course' && state.controls.show === 'both'")


@pytest.mark.parametrize("broken", ["planar?state=%%%", "planar?state=bm90IGpzb24", "nonsense", "%E0%A4%A"])
def test_a_broken_address_says_so_and_opens_nothing_over_the_users_work(open_tab, broken):
    tab = open_tab("planar")
    tab.page.keyboard.press("Backspace")
    tab.wait("state.chains.length === 4")
    tab.page.wait_for_timeout(600)
    tab.page.evaluate("(broken) => { location.hash = broken; }", broken)
    tab.control("notice").get_by_text("damaged" if "state" in broken else "There is no scene").wait_for()
    tab.wait("state.scene === 'planar' && state.chains.length === 4")
    assert tab.page.evaluate("location.hash") == "#planar"
