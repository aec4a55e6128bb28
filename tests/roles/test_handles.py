"""Handles: what lies where limbs end goes along with them."""

import numpy as np
import pytest

from kinema import roles
from kinema.errors import InputError
from kinema.io import files
from kinema.math import arrays
from kinema.model.pose import Pose
from tests.assets import asset
from tests.roles.bodies import MADE, plain


def test_a_robots_feet_go_along_with_its_legs():
    character = files.load(asset("gltf/RobotExpressive.glb"), rig=False)
    skeleton = character.skeleton
    rig = roles.find(skeleton, character.clips, skins=character.skins)
    ankle, knee = rig.leg("left").joints[-1], rig.leg("left").joints[1]
    foot = skeleton.index("Foot.L")
    assert roles.handles(rig)[ankle] == (foot,)
    assert any("'Foot.L', which hangs from elsewhere" in doubt for doubt in rig.doubts)
    before = character.clips["Walking"].sample(np.linspace(0.0, 0.9, 7))
    rotations = np.array(before.rotations, np.float64)
    rotations[:, knee] = arrays.mul(rotations[:, knee], arrays.from_axis_angle((1.0, 0.0, 0.0), 0.4))
    after = Pose.of(before.translations.astype(np.float64), arrays.unit(rotations), before.scales.astype(np.float64))
    moved = roles.take_along(rig, before, after)
    was, now = skeleton.world(before).astype(np.float64), skeleton.world(moved)
    together = np.linalg.inv(was[:, ankle]) @ was[:, foot]
    np.testing.assert_allclose(now[:, ankle] @ together, now[:, foot], rtol=1e-3, atol=1e-3)  # It is scaled by 100.
    others = np.setdiff1d(np.arange(len(skeleton)), skeleton.below([foot, *sum(roles.handles(rig).values(), ())]))
    np.testing.assert_allclose(skeleton.world(after)[:, others], now[:, others], atol=1e-9)


def test_handles_of_an_animators_rig():
    character = files.load(asset("gltf/KayKit_Knight.glb"), rig=False)
    rig = roles.find(character.skeleton, character.clips, skins=character.skins)
    names = character.skeleton.names
    found = {names[end]: [names[j] for j in joints] for end, joints in roles.handles(rig).items()}
    assert found["foot.l"] == ["heelIK.l", "IK-foot.l"]
    assert found["wrist.r"] == ["handIK.r"]
    assert not rig.doubts  # No skin follows them.


def test_nothing_to_take_along():
    character = plain(MADE["humanoid"]()).character
    rig = roles.find(character.skeleton)
    poses = character.clips["walk"].sample(np.linspace(0.0, 1.0, 3))
    assert roles.handles(rig) == {}
    for now, was in zip(roles.take_along(rig, poses, poses).arrays(), poses.arrays(), strict=True):
        np.testing.assert_allclose(now, was, atol=1e-6)
    with pytest.raises(InputError, match="as many poses"):
        roles.take_along(rig, poses, poses[0])


def test_ankles_of_a_robot_rotate_as_its_feet_do():
    """Its shins end in joints that are not animated: they would rotate with the shins, while the feet stay flat."""
    character = files.load(asset("gltf/RobotExpressive.glb"))
    rig, poses = character.rig, character.clips["Walking"].sample(np.linspace(0.0, 0.9, 30))
    before, after = (rig.skeleton.world(each) for each in (poses, roles.with_rotated_ends(rig, poses)))
    for leg in rig.legs:
        end = int(leg.joints[-1])
        foot = roles.handles(rig)[end][0]
        np.testing.assert_allclose(after[:, end, :3, 3], before[:, end, :3, 3], atol=1e-5)
        seen = []
        for world, joint in ((before, end), (after, end), (before, foot)):
            axes = world[:, joint, :3, :3].astype(np.float64)
            rotation = arrays.from_matrix(axes / np.linalg.norm(axes, axis=-2, keepdims=True))
            seen.append(arrays.mul(rotation, arrays.conj(rotation[:1])))
        assert np.degrees(arrays.angle_between(seen[0], seen[2])).max() > 20.0
        assert np.degrees(arrays.angle_between(seen[1], seen[2])).max() < 0.1


def test_ankles_with_feet_of_their_own_stay():
    character = files.load(asset("gltf/Fox.glb"))
    poses = character.clips["Walk"].sample(np.linspace(0.0, 0.5, 5))
    assert roles.with_rotated_ends(character.rig, poses) is poses
