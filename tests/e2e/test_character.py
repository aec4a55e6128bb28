"""A character by mouse: dragged, dropped on the page, downloaded."""

import base64

import numpy as np
import pytest

import kinema as km
from tests.assets import asset
from tests.demo.scripts import run
from tests.judges.programs import validator_issues


def near(tab, handle):
    """Pixels from a handle to the joint that belongs to it."""
    state = tab.state
    chain = state["chains"][[one["id"] for one in state["draggables"]].index(handle)]
    return float(np.hypot(*np.subtract(chain["joints"][0], chain["target"])))


def drop(tab, path):
    """Drop a file on the stage."""
    dropped = tab.page.evaluate_handle(
        """([name, data]) => {
            const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
            const dropped = new DataTransfer();
            dropped.items.add(new File([bytes], name));
            return dropped;
        }""",
        [path.name, base64.b64encode(path.read_bytes()).decode()],
    )
    tab.page.dispatch_event("#stage", "drop", {"dataTransfer": dropped})


@pytest.fixture
def tab(open_tab):
    one = open_tab("character")
    one.wait("state.drawn && state.surface")
    return one


@pytest.mark.smoke
def test_a_dragged_hand_and_a_dragged_foot_follow_the_pointer(tab):
    for handle, aside, up in (("hand left", 12, 45), ("foot right", -10, 30)):
        start = tab.handle(handle)
        to = (start["x"] + aside, start["y"] - up)
        tab.drag(handle, *to)
        tab.wait("state.time > since + 1", since=tab.state["time"])
        now = tab.handle(handle)
        assert np.hypot(now["x"] - to[0], now["y"] - to[1]) < 3
        assert near(tab, handle) < 3
    tab.page.keyboard.press("Backspace")
    tab.wait("state.time > since + 1", since=tab.state["time"])
    assert np.hypot(tab.handle("hand left")["y"] - (start["y"]), 0) > 20


def test_before_and_after_bones_and_other_characters(tab):
    tab.control("show").select_option("both")
    tab.wait("state.ghost")
    tab.control("bones").check()
    tab.wait("state.controls.bones")
    assert tab.page.get_by_test_id("roles").is_visible()
    tab.control("character").select_option("spider")
    tab.wait("state.name === 'spider' && state.drawn && state.surface && state.draggables.length === 9")


def test_a_dropped_file_is_posed_and_downloaded(tab, tmp_path):
    drop(tab, asset("gltf/RiggedFigure.glb"))
    state = tab.wait("state.name === 'RiggedFigure' && state.drawn")
    assert state["surface"]
    assert state["roles"]["legs.left"] > 0.5
    start = tab.handle("hand left")
    tab.drag("hand left", start["x"] - 8, start["y"] - 14)
    tab.wait("state.time > since + 1", since=tab.state["time"])
    assert near(tab, "hand left") < 4
    with tab.page.expect_download() as download:
        tab.control("baked").click()
    download.value.save_as(tmp_path / "baked.glb")
    assert download.value.suggested_filename == "RiggedFigure_baked.glb"
    assert not [issue for issue in validator_issues([tmp_path / "baked.glb"])[0] if issue[0] == 0]


def test_the_scene_goes_on_while_a_clip_is_baked(tab):
    tab.control("clip").select_option("idle")
    tab.page.evaluate(
        "() => { const box = document.getElementById('work'); window.told = [];"
        " new MutationObserver(() => window.told.push([box.textContent, window.kinema.state().tick]))"
        ".observe(box, { childList: true, subtree: true, characterData: true }); }"
    )
    with tab.page.expect_download() as download:
        tab.control("baked").click()
    assert download.value.path().read_bytes().startswith(b"glTF")
    told = tab.page.evaluate("window.told")
    assert any("Baking humanoid_baked.glb" in text for text, _ in told)
    assert told[-1][1] > told[0][1], "frames were drawn meanwhile"
    assert tab.control("work").is_hidden()


def test_a_file_that_is_none_is_refused_with_a_word(tab, tmp_path):
    (tmp_path / "broken.glb").write_bytes(b"glTF, or so it says")
    tab.page.get_by_test_id("file").set_input_files(tmp_path / "broken.glb")
    tab.page.get_by_test_id("notice").get_by_text("broken.glb:").wait_for()
    tab.complaints.clear()  # The browser itself notes that a request was refused.
    assert tab.state["name"] == "humanoid"


def test_a_file_dropped_on_another_scene_finds_its_way(open_tab):
    tab = open_tab("planar")
    drop(tab, asset("bvh/cmu_02_01.bvh"))
    state = tab.wait("state.scene === 'character' && state.name === 'cmu_02_01' && state.drawn")
    assert not state["surface"]
    assert len(state["draggables"]) == 5


@pytest.mark.parametrize("file", ["fbx/cmu_91_48.fbx", "vrm/cryptovoxels.vrm", "gltf/godot_mannequiny.glb"])
def test_other_formats_are_opened_from_any_scene(open_tab, file):
    tab = open_tab("arm")
    drop(tab, asset(file))
    stem = file.split("/")[1].split(".")[0]
    tab.wait("state.scene === 'character' && state.name === stem && state.drawn && state.complete", stem=stem)
    box = tab.page.locator("#stage canvas").first.bounding_box()
    away = np.array(list(tab.state["joints"].values())) - (box["x"], box["y"])
    inside = ((away > 0) & (away < (box["width"], box["height"]))).all(axis=1)
    assert inside.mean() > 0.95, "all but what is no part of the body, such as the place it was captured at"


@pytest.mark.parametrize("scene", ["character", "planar"])
def test_a_file_of_another_program_says_how_to_open_it(open_tab, scene, tmp_path):
    (tmp_path / "mine.blend").write_bytes(b"BLENDER-v300")
    tab = open_tab(scene)
    drop(tab, tmp_path / "mine.blend")
    tab.control("notice").get_by_text("mine.blend: such files cannot be opened here. Export it as .glb").wait_for()
    assert tab.state["scene"] == scene


def test_a_copied_script_goes_on_from_the_pose_of_the_page(tab, tmp_path):
    """A hand is held: the first update of the script has the joints that the page's own download has."""
    tab.control("pause").click()
    hand = tab.handle("hand left")
    tab.drag("hand left", hand["x"] + 40, hand["y"] - 110)
    tab.page.wait_for_timeout(1500)
    with tab.page.expect_download() as download:
        tab.control("pose_file").click()
    download.value.save_as(tmp_path / "pose.glb")
    shown = km.load(tmp_path / "pose.glb")
    (clip,) = shown.clips.values()
    wanted = shown.skeleton.world(clip.sample(0.0))[:, :3, 3]
    copied = run(tab.copied_script().replace("in range(60)", "in range(1)"))
    names = copied["character"].skeleton.names
    wanted, now = wanted[[shown.skeleton.index(name) for name in names]], copied["now"][:, :3, 3]
    apart = [np.linalg.norm(each[:, np.newaxis] - each, axis=-1) for each in (wanted, now)]
    assert apart[0][names.index("hand_l"), names.index("head")] > 0.1
    assert np.abs(apart[0] - apart[1]).max() < 1e-3, "metres"


CAPTURES = ("cmu/cmu_09_01", "cmu/cmu_37_01", "cmu_02_01", "three_pirouette", "bandai/dataset-1_bye_active_001")


def test_captures_fill_the_picture_head_included(open_tab):
    tab = open_tab("character")
    tab.wait("state.drawn")
    for n, take in enumerate(CAPTURES):
        tab.page.get_by_test_id("file").set_input_files(asset(f"bvh/{take}.bvh"))
        tab.wait("state.model === model && state.drawn && state.complete", model=n + 2)
        check_the_picture(tab)
        tab.page.keyboard.press("Home")
        check_the_picture(tab)


def check_the_picture(tab):
    """All joints are on the stage and take a third of its height at least, at any time."""
    for _ in range(2):
        tab.page.wait_for_timeout(700)
        box = tab.page.locator("#stage canvas").first.bounding_box()
        x, y = np.array(list(tab.state["joints"].values())).T
        assert x.min() > box["x"]
        assert x.max() < box["x"] + box["width"]
        assert y.min() > box["y"]
        assert y.max() < box["y"] + box["height"]
        assert np.ptp(y) > 0.3 * box["height"]


def test_a_dropped_mesh_is_the_ground_and_comes_back_with_the_page(open_tab):
    tab = open_tab("character", reduced_motion="no-preference")
    tab.wait("state.drawn")
    tab.control("file").set_input_files(asset("terrain/three_collision-world.glb"))
    tab.wait("state.controls.ground.startsWith('three_collision')")
    tab.wait("state.time > before + 1 && state.error < 0.05", before=tab.state["time"])
    tab.page.wait_for_timeout(600)  # It is kept 0.3 s after the last input.
    tab.page.reload()
    tab.wait("state.controls.ground?.startsWith('three_collision') && state.drawn")
    tab.control("undo").click()
    tab.wait("state.controls.ground === 'course'")
