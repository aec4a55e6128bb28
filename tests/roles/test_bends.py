"""Poles: knees point ahead, elbows back, and axes bend limbs further."""

import numpy as np
import pytest

from kinema import roles
from kinema.io import files
from kinema.math import arrays
from kinema.model.pose import Pose
from tests.assets import asset
from tests.roles.bodies import MADE, plain


@pytest.mark.parametrize(
    "file", ["gltf/CesiumMan.glb", "gltf/KayKit_Knight.glb", "gltf/m2m_mixamo-names.glb", "gltf/RobotExpressive.glb"]
)
def test_peoples_knees_point_ahead_and_elbows_back(file):
    character = files.load(asset(file), rig=False)
    rig = roles.find(character.skeleton, character.clips, skins=character.skins)
    for role, pole in roles.poles(rig, character.clips).items():
        ahead = np.dot(pole.direction, rig.forward)
        assert ahead > 0.8 if role.startswith("legs") else ahead < -0.8, role


@pytest.mark.parametrize("name", MADE)
def test_a_positive_rotation_about_the_axis_bends_the_limb_further(name):
    made = plain(MADE[name]()).character
    rig = roles.find(made.skeleton, made.clips, skins=made.skins)
    limbs = {f"legs.{leg.name}": leg.joints for leg in rig.legs} | {f"arms.{arm.name}": arm.joints for arm in rig.arms}
    for role, pole in roles.poles(rig).items():
        rotations = made.skeleton.rest.rotations.astype(np.float64)
        reach = []
        for angle in (0.0, 0.2):
            bent = rotations.copy()
            bent[pole.joint] = arrays.mul(rotations[pole.joint], arrays.from_axis_angle(np.array(pole.axis), angle))
            at = made.skeleton.world(
                Pose.of(
                    made.skeleton.rest.translations.astype(np.float64),
                    bent,
                    made.skeleton.rest.scales.astype(np.float64),
                )
            )[:, :3, 3]
            reach.append(np.linalg.norm(at[limbs[role][-1]] - at[limbs[role][0]]))
        assert reach[1] < reach[0], role


def test_straight_limbs_bend_as_peoples_do():
    character = files.load(asset("vrm/VRMC_vrm_expressions_isBinary_Overridden.vrm"), rig=False)
    rig = roles.find(character.skeleton)
    poles = roles.poles(rig)
    assert not any(pole.seen for pole in poles.values())
    np.testing.assert_allclose(poles["legs.left"].direction, (0, 0, 1), atol=1e-6)
    np.testing.assert_allclose(poles["arms.right"].direction, (0, 0, -1), atol=1e-6)
