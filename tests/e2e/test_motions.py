"""A motion dropped onto a character: beside it in step, mapped by click, downloaded; several files at once."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import samples
from tests.assets import asset

ROOM = {"width": 1280, "height": 720}
WALK, FIGURE = asset("bvh/cmu_02_01.bvh"), asset("gltf/RiggedFigure.glb")


@pytest.mark.smoke
def test_my_mocap_goes_onto_the_character_and_is_downloaded(open_tab, tmp_path):
    tab = open_tab("character", viewport=ROOM)
    tab.wait("state.drawn && state.complete")
    tab.control("file").set_input_files(WALK)
    tab.page.get_by_role("button", name="Put it on Person").click()
    tab.wait("state.name === 'humanoid' && state.motion === 'cmu_02_01.bvh' && state.drawn && state.surface")
    state = tab.wait("state.beside > 20 && state.standing.length === 4")
    assert state["controls"]["clip"] == "cmu_02_01"
    tab.control("mapping").click()
    tab.control("follow-upper_arm_l").select_option("")
    tab.page.locator("#mapping-sheet details [data-testid=follow-upper_arm_l]").wait_for(state="attached")
    tab.page.get_by_text("Joints that follow none").click()
    assert tab.control("follow-upper_arm_l").input_value() == ""
    tab.control("follow-upper_arm_l").select_option("LeftArm")
    tab.wait("document.querySelector('[data-testid=follow-upper_arm_l]').value === 'LeftArm'")
    tab.page.get_by_role("button", name="Close").click()
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="Download clip as GLB").click()
    download.value.save_as(tmp_path / "mine.glb")
    person = km.load(tmp_path / "mine.glb")
    assert list(person.clips.values())[-1].duration == pytest.approx(2.86, abs=0.1)
    tab.page.reload()
    tab.wait("state.motion === 'cmu_02_01.bvh' && state.drawn && state.beside > 20")


@pytest.mark.parametrize("mine", [None, "KayKit_Knight"])
def test_a_motion_comes_back_once_after_a_reload(open_tab, mine):
    tab = open_tab("character", viewport=ROOM)
    tab.wait("state.drawn && state.complete")
    if mine:
        tab.control("file").set_input_files(asset(f"gltf/{mine}.glb"))
        tab.wait(f"state.name === '{mine}' && state.drawn")
    tab.control("file").set_input_files(WALK)
    tab.page.get_by_role("button", name=f"Put it on {mine or 'Person'}").click()
    tab.wait(
        f"state.name === '{mine or 'humanoid'}' && state.motion === 'cmu_02_01.bvh' && state.drawn && state.surface"
    )
    tab.control("store").click(timeout=8000)
    tab.page.locator("[data-testid=clip] option[value=poses]").wait_for(state="attached")
    clips = tab.control("clip").locator("option").all_inner_texts()
    files: list[str] = []
    tab.page.on("request", lambda request: files.append(request.url) if request.method == "POST" else None)
    tab.page.reload()
    tab.wait("state.motion === 'cmu_02_01.bvh' && state.drawn && state.beside > 20")
    tab.page.wait_for_timeout(1000)
    assert tab.control("clip").locator("option").all_inner_texts() == clips
    assert len(files) == (2 if mine else 1)


def test_joints_are_mapped_by_clicking_them_on_both_bodies(open_tab):
    tab = open_tab("character", viewport=ROOM)
    tab.wait("state.drawn && state.complete")
    tab.control("file").set_input_files(WALK)
    tab.page.get_by_role("button", name="Put it on Person").click()
    tab.wait("state.motion === 'cmu_02_01.bvh' && state.drawn && state.beside > 20")
    tab.control("click-joints").click()
    own, other = tab.control("dot-forearm_l"), tab.control("follow-RightForeArm")
    colours = [each.evaluate("dot => dot.style.background") for each in (own, tab.control("follow-LeftForeArm"))]
    assert colours[0] == colours[1]
    at = tab.state["joints"]["forearm_l"]
    box = own.bounding_box()
    assert np.hypot(box["x"] + box["width"] / 2 - at[0], box["y"] + box["height"] / 2 - at[1]) < 4
    own.dispatch_event("click")
    assert "followed" in tab.control("follow-LeftForeArm").get_attribute("class")
    other.dispatch_event("click")
    tab.control("dot-forearm_l").dispatch_event("click")
    tab.wait("document.querySelector('[data-testid=follow-RightForeArm]').className === 'followed'")
    tab.control("click-joints").click()
    assert tab.control("joint-dots").is_hidden()


def test_points_go_onto_the_character_that_is_shown(open_tab, tmp_path):
    (tmp_path / "me.json").write_bytes(b"".join(samples.webcam()))
    tab = open_tab("character", viewport=ROOM)
    tab.wait("state.drawn && state.complete")
    tab.control("file").set_input_files(FIGURE)
    tab.wait("state.name === 'RiggedFigure' && state.drawn")
    tab.control("file").set_input_files(tmp_path / "me.json")
    tab.wait("state.name === 'RiggedFigure' && state.motion === 'me.json' && state.beside > 10")
    tab.control("character").select_option("humanoid")
    tab.wait("state.name === 'humanoid' && state.motion === null && state.drawn")
    tab.control("webcam").click()
    tab.wait("state.motion === 'kinema_webcam.json' && state.beside > 10")


def test_both_bodies_walk_in_step(open_tab):
    tab = open_tab("character", viewport=ROOM, reduced_motion="no-preference")
    tab.wait("state.drawn && state.complete")
    tab.control("file").set_input_files(WALK)
    tab.page.get_by_role("button", name="Put it on Person").click()
    tab.wait("state.beside > 20 && state.standing.length === 4")
    tab.control("ground").select_option("level")
    tab.wait("state.controls.ground === 'level'")
    same = []
    for _ in range(25):
        tab.page.wait_for_timeout(120)
        own, other = np.array(tab.state["standing"])[[0, 1]], np.array(tab.state["standing"])[[2, 3]]
        same.append(own == other)
    assert np.mean(same) > 0.6


def test_six_files_at_once_are_a_character_and_its_motions(open_tab):
    tab = open_tab("lab", viewport=ROOM)
    takes = sorted((asset("bvh/cmu_02_01.bvh").parent / "cmu").glob("*.bvh"))[:5]
    tab.control("file").set_input_files([*takes, FIGURE])
    tab.wait("state.scene === 'character' && state.name === 'RiggedFigure' && state.drawn")
    tab.control("notice").get_by_text("5 motions of 5 put on RiggedFigure.glb").wait_for()
    for take in takes:
        tab.control("clip").locator("option").filter(has_text=take.stem[:20]).first.wait_for(state="attached")
    tab.wait("state.motion === last", last=takes[-1].name)


def test_two_characters_at_once_ask_which_one_moves(open_tab):
    tab = open_tab("character", viewport=ROOM)
    tab.wait("state.drawn")
    tab.control("file").set_input_files([FIGURE, asset("gltf/CesiumMan.glb")])
    tab.control("choice-sheet").get_by_role("button", name="RiggedFigure.glb").click()
    tab.wait("state.name === 'RiggedFigure' && state.motion === 'CesiumMan.glb'")
