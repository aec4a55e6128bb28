"""The character's scene, without a screen."""

import json

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.demo.scenes.actor import Actor
from kinema.demo.scenes.baked_walk import baked_file
from kinema.demo.scenes.character import OURS, CharacterScene
from kinema.demo.scenes.grounds import NAMES, round_of
from kinema.errors import InputError
from kinema.math import arrays
from tests.assets import asset


def walked(scene, seconds):
    for _ in range(round(seconds * 60)):
        scene.step(1 / 60)
    return scene


def joint(scene, name):
    """Where a joint is; "hips": that of the rig."""
    walker = scene.walker
    index = walker.character.rig.hips if name == "hips" else walker.character.skeleton.index(name)
    return walker.world[index, :3, 3].copy()


def run_script(scene):
    found = {}
    exec(compile(scene.python().replace("print(", "(lambda *_: None)("), "script", "exec"), found)
    return found["world"]


@pytest.mark.parametrize("who", OURS)
def test_it_walks_by_itself_and_stays_on_its_way(who, request):
    if who == "quadruped":
        reason = "a leg of the fox falls 1.4 cm short of its ground on the way"
        request.applymarker(pytest.mark.xfail(reason=reason))
    scene = CharacterScene()
    scene.set("character", who)
    start, size = joint(scene, "hips"), scene.walker.actor.size
    walked(scene, 3.0)
    hips, spot = joint(scene, "hips"), round_of("course").at(scene.walker.way)
    assert np.linalg.norm(hips - start) > 0.8 * size
    assert np.hypot(hips[0] / size - spot.x, hips[2] / size - spot.z) < 0.15
    assert scene.status().error < 0.01
    assert scene.status().total == len(scene.walker.character.rig.legs)


def test_a_hand_that_is_taken_goes_along():
    scene = CharacterScene()
    scene.set("ground", "stairs")
    scene.drag("hand left", (0.35, 1.3, 0.35))
    walked(scene, 1.5)
    held = scene.walker.frame.transform[:3, 3] + (0.35, 1.3, 0.35)
    assert np.linalg.norm(joint(scene, "hand_l") - held) < 0.004
    assert scene.frame()["held"].tolist() == [1, 0, 0, 0, 0, 0]  # The elbow of a held hand has a handle, too.
    scene.set("let_go", None)
    walked(scene, 1.0)
    free = walked(CharacterScene(), 2.5)
    assert np.linalg.norm(joint(scene, "hand_l") - scene.walker.frame.transform[:3, 3] - (0.35, 1.3, 0.35)) > 0.3
    assert not scene.frame()["held"].any()
    assert len(free.frame()["handles"]) == 5


def test_a_foot_that_is_taken_is_there_and_comes_back():
    scene = CharacterScene()
    scene.be_still()
    walked(scene, 0.2)
    before = joint(scene, "foot_r")
    to = before + (0.0, 0.25, 0.2)
    scene.drag("foot right", to - scene.walker.frame.transform[:3, 3])
    walked(scene, 1.0)
    assert np.linalg.norm(joint(scene, "foot_r") - to) < 2e-3
    scene.key("Backspace", (0.0, 0.0))
    walked(scene, 1.0)
    assert np.linalg.norm(joint(scene, "foot_r") - before) < 2e-3


def test_the_head_rotates_to_the_dragged_target():
    scene = CharacterScene()
    scene.be_still()
    aside = joint(scene, "head") - scene.walker.frame.transform[:3, 3] + (1.5, 0.0, 1.0)
    scene.drag("gaze", aside)
    walked(scene, 1.5)
    index = scene.walker.character.skeleton.index("head")
    ahead = (
        scene.walker.world[index, :3, :3]
        @ np.linalg.inv(scene.walker.character.skeleton.rest_world[index, :3, :3])
        @ (0, 0, 1)
    )
    assert np.degrees(np.arctan2(ahead[0], ahead[2])) == pytest.approx(np.degrees(np.arctan2(1.5, 1.0)), abs=12)


def test_weights_take_the_stages_out():
    scene = CharacterScene()
    scene.set("show", "both")
    walked(scene, 1.5)  # On the slope.
    frame = scene.frame()
    assert np.abs(frame["world"] - frame["alone"]).max() > 0.03
    for stage in ("breathing", "feet", "body", "head", "eyes"):
        scene.set(stage, 0.0)
    walked(scene, 0.1)
    frame = scene.frame()
    assert np.abs(frame["world"] - frame["alone"]).max() < 1e-5
    assert len(scene.frame()["alone"]) == 60
    scene.set("show", "with IK")
    assert len(scene.frame()["alone"]) == 0


def test_still_is_still():
    scene = CharacterScene()
    scene.be_still()
    walked(scene, 0.5)
    before = scene.frame()["world"].copy()
    walked(scene, 1.0)
    assert np.abs(scene.frame()["world"] - before).max() < 1e-4


def test_clips_and_grounds_change_on_the_way():
    scene = CharacterScene()
    for ground in NAMES:
        scene.set("ground", ground)
        for clip in ("run", "idle"):
            scene.set("clip", clip)
            walked(scene, 0.3)
            assert np.isfinite(scene.frame()["world"]).all()
            assert scene.status().error < 0.05


def test_what_is_not_there_is_refused_or_passed_over():
    scene = CharacterScene()
    for name, value in (("ground", "moon"), ("clip", "fly"), ("character", "dragon"), ("feet", 2.0), ("wings", 1.0)):
        with pytest.raises(InputError):
            scene.set(name, value)
    scene.drag("hand middle", (0.0, 0.0, 0.0))
    scene.drop("hand middle")
    with pytest.raises(InputError):
        scene.drag("hand left", (0.0, float("nan"), 0.0))
    scene.drag("hand left", (1e30, -1e30, 1e30))
    assert np.isfinite(walked(scene, 0.2).frame()["world"]).all()


def test_the_report_round_trips_through_json():
    import json

    said = json.loads(json.dumps(CharacterScene().description()))
    roles = {role["name"]: role for role in said["roles"]}
    assert {"hips", "spine", "head", "arms.left", "legs.right"} <= set(roles)
    assert said["name"] == "humanoid"
    assert said["nodes"] == list(range(60))
    assert said["surface"]


@pytest.mark.parametrize("character", ["humanoid", "spider"])
@pytest.mark.parametrize("ground", ["course", "voxels"])
def test_the_script_computes_what_is_to_be_seen(character, ground):
    scene = CharacterScene()
    scene.set("character", character)
    scene.set("ground", ground)
    walked(scene, 0.6)
    for handle, place in (
        ("hand right", (-0.3, 1.35, 0.4)),
        ("gaze", (1.0, 1.5, 2.0)),
        ("foot left", (0.2, 0.35, 0.3)),
    ):
        scene.drag(handle, place)
    walked(scene, 0.6)
    away = np.linalg.norm(run_script(scene)[:, :3, 3] - scene.walker.world[:, :3, 3], axis=-1)
    assert away.max() < 1e-4


# --- files -------------------------------------------------------------------------------------------------------


def guest(path):
    return Actor(km.load(asset(path)), file=path.split("/")[-1])


def first_and_last(scene):
    """Run a script; returns what its first and its last frame show, and all its names."""
    text = scene.python().replace("print(", "(lambda *_: None)(")
    once, names = {}, {}
    exec(compile(text.replace("in range(60)", "in range(1)"), "script", "exec"), once)
    exec(compile(text, "script", "exec"), names)
    return once["now"], names["now"], names


@pytest.mark.parametrize("ground", ["level", "stairs"])
def test_the_script_goes_on_from_the_copied_pose_as_the_page_does(ground):
    scene = CharacterScene()
    scene.set("ground", ground)
    for _ in range(40):
        scene.step(1 / 60)
    first, last, _ = first_and_last(scene)
    assert np.abs(first[:, :3, 3] - scene.walker.world[:, :3, 3]).max() < 1e-3
    for _ in range(59):
        scene.step(1 / 60)
    assert np.abs(last[:, :3, 3] - scene.walker.world[:, :3, 3]).max() < 1e-3


def test_a_held_hand_and_a_bent_knee_travel_with_the_character_of_the_script():
    scene = CharacterScene()
    for _ in range(40):
        scene.step(1 / 60)
    hand = scene.walker.held.grips["hand left"]
    at = hand.position(scene.walker.world) - scene.walker.frame.transform[:3, 3]
    scene.drag("hand left", at + (0.1, 0.5, 0.1))
    scene.bend("foot left")
    for _ in range(30):
        scene.step(1 / 60)
    first, last, names = first_and_last(scene)
    assert np.abs(first[:, :3, 3] - scene.walker.world[:, :3, 3]).max() < 1e-3
    held = scene.walker.held.holds["hand left"].position
    transform = names["transform"]
    assert np.linalg.norm(transform[:3, 3] - scene.walker.frame.transform[:3, 3]) > 0.8, "it walks"
    wanted = transform[:3, :3] @ held + transform[:3, 3]
    assert np.linalg.norm(last[hand.joint, :3, 3] - wanted) < 5e-3
    assert scene.bends.degrees(last)[0] < 0.0


def test_the_script_of_a_borrowed_motion_retargets_it(tmp_path, monkeypatch):
    take = asset("bvh/cmu_02_01.bvh")
    scene = CharacterScene()
    scene.receive_motion(take.name, take.read_bytes())
    for _ in range(20):
        scene.step(1 / 60)
    monkeypatch.chdir(take.parent)
    first, _, _ = first_and_last(scene)
    assert np.abs(first[:, :3, 3] - scene.walker.world[:, :3, 3]).max() < 1e-3


def test_hands_of_a_borrowed_motion_touch_as_the_sliders_say():
    take = asset("bvh/cmu_02_01.bvh")
    scene = CharacterScene()
    assert "hands" not in {control.name for control in scene.controls}
    scene.receive_motion(take.name, take.read_bytes())
    assert scene.motion_shown.report.touches == (0, 0)
    scene.set("hands", 1.0)
    assert scene.motion_shown.report.touches[1] > 0
    assert "hands=1.0" in scene.python()
    scene.set("hands", 0.0)
    assert scene.motion_shown.report.touches == (0, 0)


@pytest.mark.parametrize("path", ["gltf/RiggedFigure.glb", "vrm/cryptovoxels.vrm", "bvh/cmu_02_01.bvh"])
def test_a_character_from_a_file_walks_in_its_own_unit(path):
    scene = CharacterScene()
    scene.welcome(guest(path))
    actor = scene.walker.actor
    assert scene.values["character"] == actor.label
    assert actor.character.skeleton.rest.precision == np.float32
    walked(scene, 1.0)
    rig = scene.walker.character.rig
    ankles = [scene.walker.world[leg.joints[-1], :3, 3] for leg in rig.legs]
    heights = [ankle[1] / actor.size for ankle in ankles]
    assert all(-0.05 < height < 0.6 for height in heights)
    assert len(scene.frame()["handles"]) == len(scene.description()["handles"]) == 5
    scene.set("character", "spider")
    scene.set("character", actor.label)
    assert scene.fresh().walker.actor is actor


def test_one_that_cannot_come_on_changes_nothing():
    scene = CharacterScene()
    before = scene.walker, scene.values, scene.controls
    broken = Actor(humanoid(), file="broken.glb")
    broken._motions[""] = broken._motions["walk"] = None
    with pytest.raises(AttributeError):
        scene.welcome(broken)
    assert (scene.walker, scene.values, scene.controls) == before
    assert scene.guest is None


def test_a_single_bone_keeps_its_rotation_and_nothing_else_moves(tmp_path):
    scene, other = CharacterScene(), CharacterScene()
    skeleton = scene.walker.character.skeleton
    finger, tip = skeleton.index("index_1_l"), skeleton.index("index_2_l")
    scene.set("turning", True)
    assert scene.description()["parts"][finger] == f"bone {finger}"
    turn = np.array((np.sin(0.5), 0.0, 0.0, np.cos(0.5)))
    before = skeleton.world_rotations(scene.walker.pose)[finger]
    scene.rotate(f"bone {finger}", arrays.mul(turn, before))
    for one in (scene, other):
        one.settle(1 / 60)
    turned = skeleton.world_rotations(scene.walker.pose)[finger]
    assert np.abs(turned @ arrays.mul(turn, before)) == pytest.approx(1.0, abs=1e-5)
    moved = np.linalg.norm(scene.walker.world[:, :3, 3] - other.walker.world[:, :3, 3], axis=-1)
    assert moved[tip] > 0.01
    below = {j for j, parent in enumerate(skeleton.parents) if parent in (finger, tip)}
    assert set(np.flatnonzero(moved > 1e-4).tolist()) == below
    assert [grip.handle for grip in scene._grips()][-1] == f"bone {finger}"
    walked = [scene, CharacterScene()]
    walked[1].restore(json.loads(json.dumps(scene.snapshot())))
    own = [one.walker.pose.rotations[finger].copy() for one in walked[:1]]
    for one in walked:
        for _ in range(20):
            one.step(1 / 60)
        own.append(one.walker.pose.rotations[finger])
    assert np.abs(np.array(own) @ own[0]) == pytest.approx(1.0, abs=1e-5)
    path = tmp_path / "baked.glb"
    path.write_bytes(baked_file(scene.walker))
    baked = km.load(path, rig=False)
    clip = baked.clips["walk baked"]
    assert np.abs(clip.sample(0.3).rotations[baked.skeleton.index("index_1_l")] @ own[0]) == pytest.approx(
        1.0, abs=1e-4
    )
    assert np.abs(run_script(scene) - scene.walker.world).max() < 1e-3
    assert "TurnStage" in scene.python()
    scene.release(f"bone {finger}")
    assert not scene.walker.layers.turned
    for bad in ("bone -1", "bone 9999", "bone x"):
        scene.rotate(bad, (0.0, 0.0, 0.0, 1.0))
    assert not scene.walker.layers.turned
