"""Rigs: roles as joints, soles on the floor, axes of joints; and characters, which hold them together."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Leg, Rig
from kinema.model.skeleton import Skeleton
from tests import naive
from tests.stages.bodies import STRANGE, person
from tests.stages.symmetric_person import person as walker
from tests.standing_rig import make_rig

SKELETON = make_rig().skeleton
LEG = {"name": "left", "joints": ("thigh_l", "shin_l", "ankle_l"), "toe": "toe_l"}


# --- roles -----------------------------------------------------------------------------------------------------


def test_roles_given_by_name_are_kept_as_indices():
    skeleton = person().skeleton
    rig = Rig(
        skeleton=skeleton,
        hips="hips",
        spine=["spine", 2],
        neck=["neck"],
        head="head",
        eyes=("eye_l", "eye_r"),
        arms=[
            Arm(
                name="left",
                joints=["upper_l", "fore_l", "hand_l"],
                shoulder="shoulder_l",
                fingers=[["hand_l"], ["fore_l", "hand_l"]],
            )
        ],
        tails=[["spine", "chest", "head"]],
    )
    index = skeleton.index
    assert (rig.hips, rig.spine, rig.neck, rig.head) == (0, (1, 2), (index("neck"),), index("head"))
    assert rig.eyes == (index("eye_l"), index("eye_r"))
    assert rig.tails == ((1, 2, index("head")),)
    arm = rig.arm("left")
    assert arm.joints == skeleton.chain("upper_l", "hand_l")
    assert arm.shoulder == index("shoulder_l")
    assert arm.fingers == ((index("hand_l"),), (index("fore_l"), index("hand_l")))
    assert Rig(skeleton=skeleton).hips == 0
    assert Rig(skeleton=skeleton).head is None


def test_joints_may_be_left_out_of_a_limb():
    arm = person().rig.arm("right")
    assert [person().skeleton.names[j] for j in arm.joints] == ["upper_r", "fore_r", "hand_r"]  # twist_r is between.


def test_directions_are_made_unit_and_forward_is_across_up():
    rig = Rig(skeleton=SKELETON, up=(0, 0, 5), forward=(3, 0, 4))
    np.testing.assert_allclose((rig.up, rig.forward), ((0, 0, 1), (1, 0, 0)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"skeleton": "person"}, "skeleton must be a Skeleton, got str"),
        ({"hips": "hipz"}, "there is no joint 'hipz'; did you mean 'hips'"),
        ({"spine": ["nobody"]}, "there is no joint 'nobody'"),
        ({"head": 99}, "there is no joint 99"),
        ({"floor": np.nan}, "floor is nan"),
        ({"up": (0, 0, 0)}, "up is the zero vector"),
        ({"up": (1, 2, 3), "forward": (2, 4, 6)}, "forward runs along up"),
        ({"tails": [["hips"]]}, r"tails\[0\] has 1 joint; it needs at least 2"),
        ({"legs": ["leg"]}, r"legs\[0\] is 'leg'; allowed is Leg\(name=..., joints=...\)"),
        ({"arms": [Leg(**LEG)]}, r"arms\[0\] is Leg\(.*; allowed is Arm"),
        ({"legs": [Leg(**LEG | {"joints": ("thigh_l", "ankle_l")})]}, "leg 'left' has 2 joints; it needs at least 3"),
        (
            {"legs": [Leg(**LEG | {"joints": ("thigh_l", "ankle_l", "shin_l")})]},
            "leg 'left': 'shin_l' is not below 'ankle_l'; joints run down a branch",
        ),
        ({"legs": [Leg(**LEG | {"toe": "toe_r"})]}, "leg 'left': 'toe_r' is not below 'ankle_l'"),
        ({"legs": [Leg(**LEG | {"toe": "ankle_l"})]}, "leg 'left': 'ankle_l' is not below 'ankle_l'"),
        ({"legs": [Leg(**LEG, sole=np.inf)]}, "leg 'left': sole is inf"),
        ({"legs": [Leg(**LEG), Leg(**LEG)]}, r"legs\[1\] is called 'left', as another one is"),
        ({"arms": [Arm(name="a", joints=("arm", "forearm", "hand"), shoulder="toe_l")]}, "'arm' is not below 'toe_l'"),
        (
            {"arms": [Arm(name="a", joints=("arm", "forearm", "hand"), fingers=[["hand", "arm"]])]},
            "arm 'a': finger: 'arm' is not below 'hand'",
        ),
    ],
)
def test_bad_roles_are_named(change, message):
    with pytest.raises(InputError, match=message):
        Rig(**{"skeleton": SKELETON} | change)


def test_limbs_are_found_by_name():
    rig = make_rig()
    assert rig.leg("right") is rig.legs[1]
    assert rig.arm("left") is rig.arms[0]
    with pytest.raises(InputError, match="there is no leg 'middle'; there are 'left', 'right'"):
        rig.leg("middle")
    with pytest.raises(InputError, match="there is no arm 'left'; there are none"):
        Rig(skeleton=SKELETON).arm("left")


# --- soles -----------------------------------------------------------------------------------------------------


def sole(rig, leg):
    """(3, 3): heel, ball and tip at rest, in the character's space."""
    world = rig.skeleton.rest_world
    return np.array([(world[j] @ np.append(p, 1))[:3] for j, p in zip(*rig.sole_points(leg), strict=True)])


@pytest.mark.parametrize("turned", [False, True])
def test_at_rest_the_sole_lies_on_the_floor(turned):
    rig = make_rig(turned)
    for leg, x in zip(rig.legs, (0.2, -0.2), strict=True):
        np.testing.assert_allclose(sole(rig, leg), [(x, 0, -0.05), (x, 0, 0.15), (x, 0, 0.2)], atol=1e-12)
        np.testing.assert_allclose((leg.sole, leg.toe_sole, leg.heel, leg.tip), (0.1, 0.03, 0.05, 0.2), atol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_without_toes_the_sole_is_a_point_below_the_ankle(turned):
    rig = make_rig(turned, toes=False)
    for leg, x in zip(rig.legs, (0.2, -0.2), strict=True):
        np.testing.assert_allclose(sole(rig, leg), [(x, 0, 0)] * 3, atol=1e-12)
    # Under a root with a scale, and with a length given, ahead as the character faces.
    rig = walker().rig
    rig = replace(rig, legs=[replace(leg, heel=0.1, tip=0.2) for leg in rig.legs])
    np.testing.assert_allclose(sole(rig, rig.leg("left")), [(0.1, 0, -0.1), (0.1, 0, 0.15), (0.1, 0, 0.2)], atol=1e-12)


def test_lengths_that_are_given_count():
    rig = make_rig(sole=0.12, toe_sole=0.05, heel=0.07, tip=0.3)
    np.testing.assert_allclose(sole(rig, rig.legs[0]), [(0.2, -0.02, -0.07), (0.2, -0.02, 0.15), (0.2, -0.02, 0.3)])
    lower = replace(make_rig(), floor=-0.5, legs=[Leg(**LEG)])
    np.testing.assert_allclose(sole(lower, lower.legs[0])[:, 1], -0.5, atol=1e-12)


def test_a_foot_rotated_outwards_is_measured_along_itself():
    rotation = naive.quat_from_axis_angle((0, 1, 0), 1.0)
    rest, ankle = SKELETON.rest, SKELETON.index("ankle_l")
    rotations = rest.rotations.copy()
    rotations[ankle] = rotation
    skeleton = Skeleton(SKELETON.names, SKELETON.parents, Pose(rest.translations, rotations))
    rig = Rig(skeleton=skeleton, legs=[Leg(**LEG)])
    ahead = naive.quat_rotate(rotation, (0, 0, 1))
    under = np.array([0.2, 0, 0])
    expected = [under - 0.05 * ahead, under + 0.15 * ahead, under + 0.2 * ahead]
    np.testing.assert_allclose(sole(rig, rig.legs[0]), expected, atol=1e-12)


# --- axes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "character", [person(), walker(), *STRANGE], ids=["person", "walker", "scaled", "mirrored chest", "mirrored head"]
)
def test_rotating_about_own_axes_rotates_about_the_characters_axes(character):
    rig, skeleton = character.rig, character.skeleton
    axis, angle = naive.unit((1, -2, 3)), 0.8
    for joint in range(len(skeleton)):
        own = arrays.rotate(arrays.conj(rig.own_axes(joint)), axis)
        rotations = skeleton.rest.rotations.copy()
        rotations[joint] = naive.quat_mul(rotations[joint], naive.quat_from_axis_angle(own, angle))
        after = skeleton.world(Pose(skeleton.rest.translations, rotations, skeleton.rest.scales))[joint, :3, :3]
        expected = naive.quat_to_matrix(naive.quat_from_axis_angle(axis, angle)) @ skeleton.rest_world[joint, :3, :3]
        np.testing.assert_allclose(after, expected, atol=1e-12 * np.abs(expected).max())


def test_a_collapsed_joint_has_axes_all_the_same():
    rest = Pose(np.zeros((2, 3)), [(0, 0, 0, 1)] * 2, [(1, 1, 1), (0, 0, 0)])
    rig = Rig(skeleton=Skeleton(["a", "b"], [-1, 0], rest))
    assert np.isfinite(rig.own_axes("b")).all()


# --- characters ------------------------------------------------------------------------------------------------


def test_a_character_holds_what_belongs_together():
    character = km.Character(SKELETON, rig=make_rig())
    assert character.clips == {}
    assert character.skins == ()
    assert character.name == "character"
    with pytest.raises(InputError, match=r"rig is made for another skeleton: Skeleton\(12 joints"):
        km.Character(person().skeleton, rig=make_rig())
    with pytest.raises(InputError, match="skeleton must be a Skeleton, got list"):
        km.Character([])


def test_leg_length_is_the_mean_of_the_legs_or_half_the_height():
    person = humanoid()
    leg = person.rig.legs[0]
    assert person.rig.leg_length == pytest.approx(person.skeleton.length(leg.joints))
    height = np.ptp(person.skeleton.rest_world[:, 1, 3])
    assert Rig(skeleton=person.skeleton, hips="hips").leg_length == pytest.approx(height / 2)
