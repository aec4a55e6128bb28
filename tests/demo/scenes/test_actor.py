"""Characters on a stage: their size, their precision, how their clips get ahead."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, quadruped
from kinema.demo.scenes.actor import Actor, in_single_precision, joints_by_role, joints_of
from kinema.demo.scenes.character import CharacterScene
from kinema.errors import InputError
from kinema.math import arrays
from tests.assets import asset


def test_the_person_has_the_size_of_a_person():
    actor = Actor(humanoid())
    assert actor.size == pytest.approx(1.0, abs=1e-3)
    assert 1.7 < actor.extent < 1.8
    assert Actor(quadruped()).size < 1


def test_single_precision_changes_nothing_but_the_numbers_width():
    loaded = km.load(asset("gltf/RiggedFigure.glb"))
    single = in_single_precision(loaded)
    assert single.skeleton.rest.precision == np.float32
    assert loaded.skeleton.rest.precision == np.float64
    assert single.skeleton.names == loaded.skeleton.names
    assert single.rig.legs == loaded.rig.legs
    worlds = [one.skeleton.world(next(iter(one.clips.values())).sample(0.4)) for one in (single, loaded)]
    assert np.abs(worlds[0] - worlds[1]).max() < 1e-5
    person = humanoid()
    assert in_single_precision(person) is person


@pytest.mark.parametrize("clip", ["walk", "run"])
def test_ours_travel_by_their_root(clip):
    motion = Actor(humanoid(), root="root").motion(clip)
    assert motion.extract
    assert motion.speed == 0.0
    assert np.allclose(motion.ahead, (0, 0, 1), atol=1e-6)


def test_standing_characters_do_not_travel():
    actor = Actor(humanoid())
    assert not actor.motion("idle").extract
    assert not actor.motion(None).extract


def test_the_root_motion_of_a_recording_is_extracted():
    actor = Actor(km.load(asset("bvh/cmu_02_01.bvh")), file="walk.bvh")
    motion = actor.motion(next(iter(actor.character.clips)))
    assert motion.extract
    assert abs(np.linalg.norm(motion.ahead) - 1) < 1e-6


@pytest.mark.parametrize("up", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)])
def test_any_up_axis_gives_an_upright_character_facing_ahead(up):
    forward = (0.0, 1.0, 0.0) if up[1] == 0 else (0.0, 0.0, -1.0)
    character = humanoid()
    actor = Actor(replace(character, rig=replace(character.rig, up=up, forward=forward)))
    rotation = actor.upright(actor.motion(None))
    assert np.allclose(arrays.rotate(rotation, np.array(up)), (0, 1, 0), atol=1e-6)
    assert np.allclose(arrays.rotate(rotation, np.array(forward)), (0, 0, 1), atol=1e-6)


def test_long_names_are_shown_short_and_all_different():
    clip = humanoid().clips["idle"]
    names = [f"{'a very long name of a clip ' * 4}{n}" for n in range(3)]
    actor = Actor(replace(humanoid(), clips={name: replace(clip, name=name) for name in names}))
    assert list(actor.clips.values()) == names
    assert all(len(shown) <= 48 for shown in actor.clips)


def test_sizes_that_no_float_has_room_for_are_refused():
    character = humanoid()
    skeleton = character.skeleton
    rest = replace(skeleton.rest, translations=skeleton.rest.translations * np.float32(1e-7))
    tiny = km.Character(km.Skeleton(skeleton.names, skeleton.parents.tolist(), rest), name="mite")
    with pytest.raises(InputError, match="mite"):
        Actor(tiny)


def test_roles_name_every_joint_that_has_one():
    rig = humanoid().rig
    roles = joints_by_role(rig)
    assert {"hips", "spine", "neck", "head", "eyes", "arms.left", "legs.right"} <= set(roles)
    assert len(roles["arms.left"]) == 4 + 15
    assert set(joints_of(rig)) >= {rig.hips, rig.head}


@pytest.mark.parametrize("take", ["cmu/cmu_09_01", "cmu/cmu_111_03", "bandai/dataset-1_bye_active_001"])
def test_the_middle_of_a_capture_is_in_its_body_wherever_its_rest_pose_lies(take):
    path = asset(f"bvh/{take}.bvh")
    scene = CharacterScene()
    scene.be_still()
    scene.receive(path.name, path.read_bytes())
    scene.step(1 / 60)
    joints = scene.walker.world[scene.walker.actor.roles, :3, 3]
    low, high = joints.min(axis=0), joints.max(axis=0)
    share = (scene.walker.middle - low) / (high - low)
    assert ((share > 0.3) & (share < 0.7)).all()
