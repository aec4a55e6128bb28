"""The timeline by mouse: clips, time, speed, a loop range, stored poses."""

import numpy as np
import pytest

import kinema as km


@pytest.fixture
def tab(open_tab):
    one = open_tab("character", viewport={"width": 1100, "height": 640}, reduced_motion="no-preference")
    one.wait("state.drawn && state.surface")
    return one


def move_to(tab, slider, value):
    """Move a slider of the timeline, as a pointer does."""
    tab.control(slider).evaluate(
        "(input, value) => { input.valueAsNumber = value; input.dispatchEvent(new Event('input')); }", value
    )


def joint(tab, name):
    return np.array(tab.state["joints"][name])


def test_time_is_scrubbed_undone_and_repeated_in_a_range(tab):
    box = tab.control("time").bounding_box()
    tab.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    tab.wait("state.paused && Math.abs(state.clock - 0.5) < 0.06")
    move_to(tab, "time", 0.8)
    tab.wait("Math.abs(state.clock - 0.8) < 0.01")
    tab.page.wait_for_timeout(1100)  # Longer than what counts as one movement of a slider.
    move_to(tab, "time", 0.2)
    tab.wait("Math.abs(state.clock - 0.2) < 0.01")
    tab.page.keyboard.press("Control+z")
    tab.wait("Math.abs(state.clock - 0.8) < 0.01")
    move_to(tab, "loop_start", 0.3)
    move_to(tab, "loop_end", 0.5)
    tab.wait("state.controls.loop_start === 0.3 && state.controls.loop_end === 0.5")
    tab.page.keyboard.press("Space")
    tab.wait("!state.paused && state.clock >= 0.28 && state.clock <= 0.55")
    for _ in range(10):
        assert 0.28 <= tab.state["clock"] <= 0.56
        tab.page.wait_for_timeout(60)


def test_clip_and_speed_are_chosen_here(tab):
    tab.control("clip").select_option("run")
    tab.wait("state.controls.clip === 'run'")
    tab.control("speed").select_option("0.5")
    tab.wait("state.controls.speed === 0.5")
    assert "/" in tab.page.locator("#timeline output").inner_text()
    tab.page.keyboard.press("Control+z")
    tab.wait("state.controls.speed === 1")
    tab.page.keyboard.press("Control+z")
    tab.wait("state.controls.clip === 'walk'")
    tab.control("scene-planar").click()
    tab.wait("state.scene === 'planar' && state.chains.length > 0")
    assert tab.control("timeline").is_hidden()


def test_poses_are_stored_mirrored_played_and_downloaded(tab, tmp_path):
    tab.control("pause").click()
    tab.wait("state.paused")
    hand = tab.handle("hand left")
    tab.drag("hand left", hand["x"] + 60, hand["y"] - 140)
    tab.page.wait_for_timeout(900)
    with tab.page.expect_download() as download:
        tab.control("pose_file").click()
    download.value.save_as(tmp_path / "pose.glb")
    assert download.value.suggested_filename == "humanoid_pose.glb"
    clips = km.load(tmp_path / "pose.glb", rig=False).clips
    assert [clip.duration for clip in clips.values()] == [0.0]
    tab.control("store").click()
    tab.control("pose-0").wait_for()
    raised = joint(tab, "hips") - joint(tab, "hand_l")
    assert raised[1] > 50
    tab.control("mirror_pose").click()
    tab.control("pose-1").wait_for()
    tab.page.wait_for_timeout(900)
    assert (joint(tab, "hips") - joint(tab, "hand_r"))[1] > 50
    assert tab.state["taken"] == []
    assert "url" in tab.control("pose-0").evaluate("(pose) => pose.style.backgroundImage")
    tab.control("pose-0").click()
    tab.page.wait_for_timeout(900)
    assert abs((joint(tab, "hips") - joint(tab, "hand_l"))[1] - raised[1]) < 8
    tab.control("play-poses").click()
    tab.wait("!state.paused && state.controls.clip === 'poses'")
    tab.wait("state.joints.hips[1] - state.joints.hand_r[1] > 50")
    tab.control("remove-pose-1").click(force=True)
    tab.control("pose-1").wait_for(state="detached")
    tab.page.keyboard.press("Control+z")
    tab.control("pose-1").wait_for()


@pytest.mark.smoke
def test_a_pose_of_the_library_is_shown_and_laid_over_the_walk(tab):
    assert tab.control("library").locator("option").count() == 1 + 20
    tab.control("library").select_option("Hands up")
    tab.control("pose-0").wait_for()
    tab.wait("state.paused && state.controls.clip === 'poses'")
    tab.wait("state.joints.head[1] - state.joints.hand_l[1] > 15 && state.joints.head[1] - state.joints.hand_r[1] > 15")
    assert tab.control("library").input_value() == "Choose one"
    assert "url" in tab.control("pose-0").evaluate("(pose) => pose.style.backgroundImage")
    tab.control("library").select_option("Squat")
    tab.control("pose-1").wait_for()
    tab.control("lay-0").click()
    tab.wait("state.controls.clip === 'walk' && !state.paused")
    tab.wait("state.joints.head[1] - state.joints.hand_l[1] > 10")
