"""Limbs that bend the other way, and stored poses over a part of a clip."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo.characters.humanoid import humanoid
from kinema.demo.scenes.limb_bends import LimbBends
from kinema.demo.scenes.pose_layers import PoseLayer, PoseLayers, bend_other_way, own_joints
from kinema.demo.scenes.registry import scene
from kinema.errors import InputError

PERSON = humanoid()
BENDS = LimbBends(PERSON)


@given(st.floats(0.0, 1.0), st.integers(0, len(BENDS.limbs) - 1))
def test_a_limb_bends_the_other_way_and_its_end_stays(time, which):
    limb, skeleton = BENDS.limbs[which], PERSON.skeleton
    pose = PERSON.clips["walk"].sample(time)
    changed = bend_other_way(skeleton, pose, limb.joints)
    before, after = skeleton.world(pose), skeleton.world(changed)
    assert np.abs(after[limb.joints[2]] - before[limb.joints[2]]).max() < 1e-5
    bend, other = BENDS.degrees(before)[which], BENDS.degrees(after)[which]
    assert other == pytest.approx(-bend, abs=0.1)
    upper = [np.linalg.norm(w[limb.joints[1], :3, 3] - w[limb.joints[0], :3, 3]) for w in (before, after)]
    assert upper[0] == pytest.approx(upper[1], abs=1e-5)
    again = skeleton.world(bend_other_way(skeleton, changed, limb.joints))
    assert np.abs(again - before).max() < 1e-4


def test_a_straight_limb_stays_as_it_is():
    skeleton, limb = PERSON.skeleton, BENDS.limbs[0].joints
    pose = skeleton.rest.copy()
    lower = skeleton.world(pose)[limb[2], :3, 3] - skeleton.world(pose)[limb[1], :3, 3]
    pose.translations[limb[2]] = np.linalg.norm(lower) * pose.translations[limb[1]] / 0.4
    changed = skeleton.world(bend_other_way(skeleton, pose, limb))
    assert np.isfinite(changed).all()


@given(st.floats(0.0, 2.0), st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_a_layer_comes_and_goes_within_its_span(start, end, time):
    layer = PoseLayer(PERSON.skeleton.rest, np.arange(3), start, end)
    weight = float(layer.weight(time, 2.0))
    assert 0.0 <= weight <= 1.0
    inside = start <= time <= end if start <= end else time >= start or time <= end
    if not inside and abs(start - end) % 2.0 > 1e-9:
        assert weight < 1e-6
    middle = (start + ((end - start) % 2.0 or 2.0) / 2) % 2.0
    assert float(layer.weight(middle, 2.0)) > 0.99


def test_a_stored_pose_over_a_walk_raises_the_hand_and_leaves_the_legs():
    character = scene("character", seed=1)
    for _ in range(20):
        character.step(1 / 60)
    hand = character.walker.held.grips["hand left"]
    head = PERSON.skeleton.index("head")
    character.paused = True
    at = hand.position(character.walker.world) - character.walker.frame.transform[:3, 3]
    character.drag("hand left", at + (0.2, 0.9, 0.1))
    for _ in range(60):
        character.settle(1 / 60)
    character.set("store", None)
    character.key("Backspace", (0, 0, 0))
    character.paused = False
    for _ in range(90):
        character.step(1 / 60)
    character.layer(0, (0.1, 0.9))
    raised, legs = [], []
    for _ in range(60):
        character.step(1 / 60)
        walker = character.walker
        raised.append((walker.time, walker.world[hand.joint, 1, 3] - walker.world[head, 1, 3]))
        legs.append(max(error / walker.actor.size for error in walker.errors()))
    inside = [height for time, height in raised if 0.4 < time < 0.6]
    outside = [height for time, height in raised if time < 0.1 or time > 0.92]
    assert min(inside) > 0.0 > -0.5 > max(outside)
    assert max(legs) < 0.01
    state = character.kept()
    other = scene("character", seed=1)
    other.restore(state)
    assert other.description()["layers"] == [[0.1, 0.9]]
    other.layer(0, None)
    assert other.description()["layers"] == [None]
    with pytest.raises(InputError, match="no stored pose 2"):
        other.layer(1, (0.0, 1.0))
    with pytest.raises(InputError, match="lasts"):
        other.layer(0, (0.5, 0.5))


def test_own_joints_leave_out_hips_and_legs():
    pose, skeleton = PERSON.clips["walk"].sample(0.3), PERSON.skeleton
    assert {skeleton.names[j] for j in own_joints(pose, pose, PERSON.rig)}.isdisjoint({"hips", "foot_l", "upper_leg_r"})
    changed = pose.copy()
    changed.rotations[skeleton.index("hand_l")] = (1.0, 0.0, 0.0, 0.0)
    changed.rotations[skeleton.index("foot_l")] = (1.0, 0.0, 0.0, 0.0)
    assert own_joints(changed, pose, PERSON.rig) == [skeleton.index("hand_l")]


def test_a_bend_is_kept_undone_and_baked():
    from kinema.demo.scenes.baked_walk import baked_file
    from kinema.io.files import load_bytes

    character = scene("character", seed=1)
    character.set("ground", "level")
    character.bend("foot left")
    for _ in range(70):
        character.step(1 / 60)
        assert character.frame()["bends"][0, 0] < 1.0
    other = scene("character", seed=1)
    other.restore(character.kept())
    assert other.walker.layers.bent.keys() == {"knee left"}
    character.bend("knee left")
    assert not character.walker.layers.bent
    baked = load_bytes(baked_file(other.walker), "walk.glb")
    clip = list(baked.clips.values())[-1]
    bends = LimbBends(baked)
    joints = [baked.skeleton.names.index(PERSON.skeleton.names[j]) for j in BENDS.limbs[0].joints]
    row = next(i for i, limb in enumerate(bends.limbs) if list(limb.joints) == joints)
    degrees = [bends.degrees(baked.skeleton.world(clip.sample(t)))[row] for t in np.linspace(0, clip.duration, 20)]
    assert max(degrees) < 2.0
    assert min(degrees) < -20.0


def test_nothing_is_laid_over_by_default():
    assert not PoseLayers(PERSON.skeleton)
