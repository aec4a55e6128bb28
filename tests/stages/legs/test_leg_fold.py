"""Legs of more than two bones: all joints bend in the same proportion, and none comes to bend the other way.

The table of their shapes knows how far they rotate.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.compile.jit import batch
from kinema.compile.records import kernel_views
from kinema.math import arrays
from kinema.math.rows import load3
from kinema.model.pose import Pose
from kinema.model.rig import Leg, Rig
from kinema.model.skeleton import Skeleton
from kinema.stages.legs import leg_fold
from kinema.stages.legs.leg_solver import LegSolver
from kinema.stages.legs.pelvis import FOOT_TARGET
from kinema.stages.stage import StageState
from kinema.stages.walk.leg_shapes import LEG_SHAPES, fill_shapes, leg_rotation
from tests.compiled import plain_python_only

LENGTHS = (0.3, 0.35, 0.25, 0.2)
"""Metres of the bones from hip to ankle: thigh, shank, hock, pastern."""


def leg_positions(bends):
    """(5, 3): the joints of a leg in a plane, from the hip down, each bent by some degrees to alternating sides."""
    angle, points = np.radians(-10.0), [np.array((0.0, 1.2, 0.0))]
    for k, length in enumerate(LENGTHS):
        points.append(points[-1] + length * np.array((0.0, -np.cos(angle), np.sin(angle))))
        if k < len(bends):
            angle += np.radians(bends[k]) * (-1) ** k
    return np.array(points)


def animal(bends):
    """A body on one such leg."""
    at = np.concatenate((((0.0, 1.2, 0.0),), leg_positions(bends), ((0.0, 0.0, 0.05),)))
    parents = [-1, 0, 1, 2, 3, 4, 5]
    offsets = np.array([at[j] - (at[p] if p >= 0 else 0.0) for j, p in enumerate(parents)])
    rest = Pose(offsets, np.tile((0.0, 0.0, 0.0, 1.0), (len(parents), 1)))
    skeleton = Skeleton(["body", "thigh", "shank", "hock", "pastern", "ankle", "toe"], parents, rest)
    leg = Leg(name="leg", joints=("thigh", "shank", "hock", "pastern", "ankle"))
    return skeleton, Rig(skeleton=skeleton, hips="body", legs=[leg])


def bends_of(points):
    """Degrees of every joint between hip and ankle, positive to the side it was built to."""
    bones = arrays.unit(np.diff(points, axis=0))
    crossed = np.cross(bones[:-1], bones[1:])[:, 0] * -1
    return np.degrees(np.arctan2(crossed, (bones[:-1] * bones[1:]).sum(axis=-1))) * (-1.0) ** np.arange(len(bones) - 1)


@dataclass(frozen=True, kw_only=True)
class Ankle(km.Stage):
    """Bring the only ankle to a target."""

    target: tuple = (0.0, 0.0, 0.0)

    def start(self, crowd):
        return AnkleState(self, crowd)


class AnkleState(StageState):
    def __init__(self, settings, crowd):
        self.solver = LegSolver(crowd)
        self.targets = FOOT_TARGET.zeros((1, 1), crowd.precision)
        self.targets.ankle[:] = settings.target
        self.targets.rotation[:] = (0.0, 0.0, 0.0, 1.0)

    def update(self, context):
        self.solver.solve(context, self.targets)

    def reset(self, rows):
        pass


def solved(bends, target, weight=1.0):
    """(5, 3): the joints of the leg from hip to ankle, once the ankle was brought to a target."""
    skeleton, rig = animal(bends)
    character = km.Character(name="animal", skeleton=skeleton, rig=rig)
    animator = km.Animator(character, [Ankle(target=tuple(target), weight=weight)])
    return animator.update(0.0, skeleton.rest).world[1:6, :3, 3]


def towards(bends, share, angle=0.0):
    """A target at a share of the way from hip to ankle, rotated about the hip by some radians in the leg's plane."""
    points = leg_positions(bends)
    y, z = (points[-1] - points[0])[1:] * share
    cosine, sine = np.cos(angle), np.sin(angle)
    return points[0] + (0.0, cosine * y - sine * z, sine * y + cosine * z)


BENDS = st.tuples(*[st.floats(8.0, 60.0)] * 3)


@given(BENDS, st.floats(0.75, 1.02), st.floats(-0.5, 0.5))
def test_the_ankle_arrives_and_all_bends_change_in_one_proportion(bends, share, angle):
    target = towards(bends, share, angle)
    straight = np.linalg.norm(target - leg_positions(bends)[0]) > 0.98 * sum(LENGTHS)
    points = solved(bends, target)
    np.testing.assert_allclose(np.linalg.norm(np.diff(points, axis=0), axis=-1), LENGTHS, atol=1e-5)
    if straight:
        return
    assert np.linalg.norm(points[-1] - target) < 1e-4
    ratios = np.tan(np.radians(bends_of(points)) / 2) / np.tan(np.radians(bends) / 2)
    np.testing.assert_allclose(ratios, ratios.mean(), rtol=2e-3)
    assert (bends_of(points) > 0.0).all()


def test_a_joint_that_is_straight_stays_straight():
    bends = (35.0, 0.0, 25.0)
    points = solved(bends, towards(bends, 0.9))
    assert abs(bends_of(points)[1]) < 0.5
    assert bends_of(points)[0] > 38.0


@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def test_a_leg_that_is_straight_in_all_joints_bends_at_its_knee(share):
    bends = (0.0, 0.0, 0.0)
    target = towards(bends, share)
    points = solved(bends, target)
    assert np.linalg.norm(points[-1] - target) < 1e-4


def test_small_steps_of_the_target_are_small_steps_of_every_joint():
    """Through the whole range, also where one joint passes through straight in the clip."""
    shapes = [
        solved((40.0, middle, 25.0), towards((40.0, 10.0, 25.0), 0.93)) for middle in np.linspace(20.0, -20.0, 41)
    ]
    assert np.abs(np.diff(shapes, axis=0)).max() < 0.02


def test_by_half_its_weight_the_ankle_goes_half_the_way():
    bends = (30.0, 40.0, 20.0)
    target, start = towards(bends, 0.85), leg_positions(bends)[-1]
    points = solved(bends, target, weight=0.5)
    np.testing.assert_allclose(points[-1], (start + target) / 2, atol=1e-4)


@pytest.mark.parametrize(("bend", "together"), [(3.3, False), (4.3, True)])
def test_a_leg_bent_by_less_than_four_degrees_bends_at_its_knee_alone(bend, together):
    """Were all bends doubled, its ankle would come nearer by less than a thousandth of its length: it is straight."""
    bends = (bend,) * 3
    found = bends_of(solved(bends, towards(bends, 0.98)))
    assert (found.min() > 20.0) == together


@plain_python_only
def test_a_fold_that_does_not_arrive_ends_after_sixteen_passes(monkeypatch):
    """As where the joints do not move."""
    passes = []
    monkeypatch.setattr(leg_fold, "update_path", lambda path, first, last, pose: passes.append(last))
    solved((40.0, 30.0, 25.0), towards((40.0, 30.0, 25.0), 0.8))
    assert len(passes) == 16


@plain_python_only
def test_bends_grow_by_three_tenths_in_a_pass_at_most(monkeypatch):
    shares, more = [], leg_fold.bend_more
    monkeypatch.setattr(leg_fold, "bend_more", lambda bend, share: shares.append(share) or more(bend, share))
    solved((10.0, 12.0, 8.0), towards((10.0, 12.0, 8.0), 0.6))
    assert max(shares) == pytest.approx(0.3, abs=0.01)


@plain_python_only
@pytest.mark.parametrize(("off", "folds"), [(1.5e-6, False), (3e-6, True)])
def test_an_ankle_is_at_its_distance_within_two_millionths_of_its_leg(monkeypatch, off, folds):
    bends, shares, more = (40.0, 30.0, 25.0), [], leg_fold.bend_more
    monkeypatch.setattr(leg_fold, "bend_more", lambda bend, share: shares.append(share) or more(bend, share))
    distance = np.linalg.norm(leg_positions(bends)[-1] - leg_positions(bends)[0])
    solved(bends, towards(bends, 1.0 - off * sum(LENGTHS) / distance))
    assert bool(shares) == folds


# --- the table of shapes ----------------------------------------------------------------------------------------------


@batch
def rotate_legs(legs, ways, out):
    """out: (N,), how far the joints of each leg rotate between two ways from hip to ankle, (N, 2, 3)."""
    for i in range(out.size):
        out[i] = leg_rotation(legs[i], load3(ways[i, 0]), load3(ways[i, 1]), ways[i, 0, 0] * 0.0)


def rotation_by_table(joints, before, after):
    """Radians, of the joint of a leg that rotates most."""
    shapes, out = LEG_SHAPES.zeros(1, np.float64), np.zeros(1)
    fill_shapes(shapes[0], joints)
    rotate_legs(*kernel_views(shapes), np.array(((before, after),)), out)
    return out[0]


def rotation_of(bones, rest):
    """The smallest rotation of a bone from how it stands: for a leg in a plane, that of its joint."""
    return np.arctan2(np.linalg.norm(np.cross(rest, bones)), rest @ bones)


@given(BENDS, st.floats(0.4, 0.9), st.floats(-0.07, 0.07), st.floats(-0.6, 0.6))
def test_the_table_knows_how_far_the_joints_of_a_leg_rotate(bends, first, more, angle):
    """Against the leg as it is solved: the largest rotation of thigh, ankle, and of every joint between them."""
    before, after = towards(bends, first), towards(bends, first + more, angle)
    hip = leg_positions(bends)[0]
    points = [solved(bends, target) for target in (before, after)]
    bones = [arrays.unit(np.diff(at, axis=0)) for at in points]
    ends = [rotation_of(bones[1][k], bones[0][k]) for k in (0, -1)]
    between = np.abs(np.radians(bends_of(points[1]) - bends_of(points[0]))).max()
    found = rotation_by_table(leg_positions(bends), before - hip, after - hip)
    actual = max(*ends, between)
    assert actual - 0.02 < found < 1.1 * actual + 0.02  # Joints take turns in being the fastest one.


def test_a_leg_that_stands_straight_bends_at_its_middle():
    joints = np.array(((0.0, 1.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.0)))
    found = rotation_by_table(joints, (0.0, -0.99, 0.0), (0.0, -0.5, 0.0))
    knees = [2.0 * np.arccos(distance) for distance in (0.99, 0.5)]
    assert found == pytest.approx(knees[1] - knees[0], abs=0.05)
