"""The judge: what it calls hands in the floor, crossed limbs, toes in the air and a hand on the wrong thigh."""

import numpy as np
import pytest

from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from tests.retargeting.limb_judging import limbs
from tests.retargeting.seen import Seen

PERSON = humanoid()
DT = 1 / 60
STANCE = PERSON.rig.standing_world[:, :3, 3].astype(np.float64)
STANDING = PERSON.skeleton.rest if PERSON.rig.stance is None else PERSON.rig.stance


def still(change=None):
    """The person who stands still for half a second, with one pose changed."""
    t, r, s = (array.astype(np.float64).copy() for array in STANDING.arrays())
    if change is not None:
        change(t, r)
    return Seen(PERSON, Pose.of(*(np.tile(array, (30, 1, 1)) for array in (t, r, s))))


def turned(joint, axis, degrees):
    """Rotate a joint about an axis of the character."""

    def change(t, r):
        own = PERSON.rig.own_axes(joint)
        turn = arrays.from_axis_angle(
            np.array([arrays.rotate(arrays.conj(own), np.array(axis))]), np.radians([degrees])
        )
        r[joint] = arrays.mul(r[joint], turn[0])

    return change


def judged(change, source=None):
    return limbs(still(source), still(change), DT)


def test_a_body_that_stands_still_is_as_good_as_itself():
    assert all(value == pytest.approx(0.0, abs=1e-6) for value in judged(None).values())


def test_hands_under_the_floor_sink():
    def lower(t, r):
        t[int(PERSON.rig.hips), 1] -= 2.0 * PERSON.rig.leg_length

    assert judged(lower)["hand_sink"] > 0.3


def test_hands_that_leave_the_floor_float():
    def down(t, r):
        hands = [int(joint) for arm in PERSON.rig.arms for joint in PERSON.skeleton.below([arm.joints[-1]])]
        t[int(PERSON.rig.hips), 1] -= STANCE[hands, 1].min() - PERSON.rig.floor
        feet = [leg.joints for leg in PERSON.rig.legs]
        for chain in feet:  # Legs up, or the feet would be the floor.
            turned(int(chain[0]), (1.0, 0.0, 0.0), 180.0)(t, r)

    found = limbs(still(down), still(None), DT)
    assert found["hand_float"] > 0.3


def test_legs_that_change_sides_cross():
    def across(t, r):
        for leg in PERSON.rig.legs:
            side = 1.0 if leg.name == "left" else -1.0
            turned(int(leg.joints[0]), (0.0, 0.0, 1.0), -25.0 * side)(t, r)

    found = judged(across)
    assert found["crossed"] == pytest.approx(1.0)
    assert judged(across, across)["crossed"] == 0.0, "as in the source"


def test_toes_that_point_up_from_a_flat_foot_are_seen():
    def bend(t, r):
        for leg in PERSON.rig.legs:
            turned(int(leg.toe), PERSON.rig.forward, 0.0)(t, r)
            turned(int(leg.toe), np.cross(PERSON.rig.up, PERSON.rig.forward), -35.0)(t, r)

    assert judged(bend)["toes_up"] == pytest.approx(35.0, abs=3.0)


def test_a_hand_on_the_other_thigh_is_seen():
    right = PERSON.rig.leg("right").joints
    at = {name: int(PERSON.rig.arm(name).joints[-1]) for name in ("left", "right")}
    middle = (STANCE[int(right[0])] + STANCE[int(right[1])]) / 2
    other = middle * (-1.0, 1.0, 1.0)

    def seen(point):
        """The left hand at a point: its joints are moved as they are."""
        found = still()
        hand = [int(joint) for joint in PERSON.skeleton.below([at["left"]])]
        found.at[:, hand] += point / found.leg - found.at[:, hand].mean(axis=1, keepdims=True)
        return found

    assert limbs(seen(middle), seen(other), DT)["wrong_thigh"] == pytest.approx(1.0)
    assert limbs(seen(middle), seen(middle), DT)["wrong_thigh"] == 0.0
