"""Undo, redo, releasing one handle, share links and saved sessions."""

import json

import numpy as np

from tests.assets import asset


def test_undo_and_redo_by_button_and_by_key(open_tab):
    tab = open_tab("planar")
    first = tab.state["chains"][1]["target"]
    root = tab.state["chains"][1]["joints"][0]
    tab.drag("1", root[0] + 40, root[1] + 60)
    moved = tab.state["chains"][1]["target"]
    tab.page.keyboard.press("Backspace")
    tab.wait("state.chains.length === 4")
    tab.control("undo").click()
    tab.wait("state.chains.length === 5")
    tab.page.keyboard.press("Control+z")
    tab.wait("Math.hypot(state.chains[1].target[0] - x, state.chains[1].target[1] - y) < 1", x=first[0], y=first[1])
    tab.page.keyboard.press("Control+y")
    tab.wait("Math.hypot(state.chains[1].target[0] - x, state.chains[1].target[1] - y) < 1", x=moved[0], y=moved[1])
    tab.control("redo").click()
    tab.wait("state.chains.length === 4")


def test_a_link_opens_what_is_on_the_screen(open_tab):
    tab = open_tab("planar")
    tab.page.mouse.move(200, 300)
    tab.page.keyboard.press("n")
    tab.wait("state.chains.length === 6")
    tab.control("mirror").check()
    tab.wait("state.controls.mirror")
    tab.control("share").click()
    tab.page.get_by_test_id("notice").get_by_text("link").wait_for()
    address, shown = tab.page.evaluate("location.href"), tab.state["chains"]
    assert "#planar?state=" in address
    other = open_tab(address.split("#")[1])
    state = other.wait("state.chains.length === 6 && state.controls.mirror")
    for there, here in zip(state["chains"], shown, strict=True):
        assert np.allclose(there["joints"], here["joints"], atol=0.5)


def test_a_session_is_saved_and_loaded(open_tab, tmp_path):
    tab = open_tab("planar")
    tab.page.keyboard.press("Backspace")
    tab.wait("state.chains.length === 4")
    with tab.page.expect_download() as download:
        tab.control("save").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "planar.kinema.json"
    assert json.loads(path.read_text())["scene"] == "planar"
    other = open_tab("character")
    other.page.get_by_test_id("file").set_input_files(path)
    other.wait("state.scene === 'planar' && state.chains.length === 4")


def test_a_double_click_releases_one_handle_and_keeps_the_others(open_tab):
    tab = open_tab("character")
    tab.wait("state.drawn")
    free = tab.handle("hand left")
    for name, aside in (("hand left", 30), ("hand right", -30)):
        handle = tab.handle(name)
        tab.drag(name, handle["x"] + aside, handle["y"] - 60)
    held = tab.handle("hand right")
    handle = tab.handle("hand left")
    tab.page.mouse.dblclick(handle["x"], handle["y"])  # Pinned where it was pulled to, then released.
    tab.wait("state.pinned.includes('hand left')")
    tab.page.mouse.dblclick(handle["x"], handle["y"])
    tab.wait(
        "Math.hypot(...['x', 'y'].map((c) => state.draggables.find(({ id }) => id === 'hand left')[c] - free[c])) < 25",
        free=free,
    )
    now = tab.handle("hand right")
    assert np.hypot(now["x"] - held["x"], now["y"] - held["y"]) < 3


def test_a_dropped_file_survives_a_reload_until_it_is_forgotten(open_tab):
    tab = open_tab("character")
    tab.wait("state.drawn")
    tab.page.get_by_test_id("file").set_input_files(asset("gltf/RiggedFigure.glb"))
    tab.wait("state.name === 'RiggedFigure' && state.drawn")
    tab.control("notice").get_by_text("is loaded").wait_for()
    tab.page.wait_for_timeout(300)
    tab.page.reload()
    tab.wait("state.name === 'RiggedFigure' && state.drawn")
    tab.control("forget-file").click()
    tab.wait("state.name === 'humanoid'")
    tab.page.wait_for_timeout(300)
    tab.page.reload()
    tab.wait("state.drawn && state.tick > 20")
    assert tab.state["name"] == "humanoid"


def test_a_dropped_file_is_undone(open_tab):
    tab = open_tab("character")
    tab.wait("state.drawn")
    tab.page.get_by_test_id("file").set_input_files(asset("gltf/RiggedFigure.glb"))
    tab.wait("state.name === 'RiggedFigure' && state.drawn")
    tab.page.keyboard.press("Control+z")
    tab.wait("state.name === 'humanoid'")
    tab.page.keyboard.press("Control+y")
    tab.wait("state.name === 'RiggedFigure'")
