"""How one leg is bent, from records alone."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.model.pose import Pose
from kinema.stages.legs import leg_solver
from kinema.stages.legs.ground_contact import PLANTED, SWINGING
from kinema.stages.legs.leg_solver import (
    LegSolver,
    bend_leg,
    knee_axis,
    part_of_the_way,
    placed_share,
    weighted,
)
from kinema.stages.legs.pelvis import FOOT_TARGET
from kinema.stages.stage import Crowd, StageState
from tests.compiled import plain_python_only

pytestmark = plain_python_only
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def about(degrees, moved=1.0):
    """What a knee bends about whose bend in the clip, so large, is about z, and about x at rest; the share of z."""
    bend = math.radians(degrees)
    axis = knee_axis(X, (0.0, 1.0, 0.0), (math.sin(bend), -math.cos(bend), 0.0), moved)
    return abs(axis[2])


def test_a_knee_that_is_nearly_straight_bends_about_the_axis_of_the_rest_pose():
    assert about(0.0) == 0.0
    assert 0.3 < about(5.0) < 0.9
    assert about(12.0) == pytest.approx(1.0)
    assert about(2.0) < 0.4


def test_a_leg_that_is_hardly_moved_keeps_the_axis_of_its_clip():
    assert about(2.0, moved=0.2) == pytest.approx(1.0)


def test_a_knee_that_is_overstretched_a_little_bends_the_usual_way():
    bend = math.radians(15.0)
    axis = knee_axis(X, (0.0, 1.0, 0.0), (0.0, -math.cos(bend), math.sin(bend)), 1.0)
    assert axis[0] > 0.9


def column(x, y, z):
    return (X, (0.0, 1.0, 0.0), Z, (x, y, z))


def bent(degrees):
    """The axis that a leg remembers after it was bent so far in its clip, about z."""
    axis, bend = np.array(X), math.radians(degrees)
    ankle = column(0.5 * math.sin(bend), 0.5 - 0.5 * math.cos(bend), 0.0)
    bend_leg(column(0.0, 1.0, 0.0), column(0.0, 0.5, 0.0), ankle, (0.0, 0.2, 0.0), axis, False)
    return axis


def test_a_leg_remembers_the_axis_of_a_clear_bend():
    np.testing.assert_allclose(bent(14.0), X)
    assert abs(bent(26.0)[2]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("moved", "least", "most"), [(0.0002, 5.0, math.inf), (0.0004, 0.45, 1.2), (0.0016, 0.1, 0.24)]
)
def test_an_ankle_that_is_moved_by_a_thousandth_of_its_leg_bends_it_the_usual_way(moved, least, most):
    """A knee that the clip bends by two degrees about z: how it is bent more about that, beside about the usual x."""
    axis, bend = np.array(X), math.radians(2.0)
    ankle = column(0.5 * math.sin(bend), 0.5 - 0.5 * math.cos(bend), 0.0)
    target = tuple(np.add(ankle[3], (0.0, moved, 0.0)))
    _, knee = bend_leg(column(0.0, 1.0, 0.0), column(0.0, 0.5, 0.0), ankle, target, axis, False)
    assert least < abs(knee[2]) / max(abs(knee[0]), 1e-12) < most


def test_weights():
    assert part_of_the_way((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 0.25)[0] == 0.5
    assert weighted((0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0), 0.0) == (0.0, 0.0, 0.0, 1.0)
    assert weighted((0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0), 1.0) == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(("away", "share"), [(0.12, 0.0), (0.185, 0.5), (0.25, 1.0)])
def test_a_swinging_leg_that_lies_folded_up_is_left_as_it_is(away, share):
    world = np.zeros((2, 12))
    world[1, 7] = -away
    leg, pose = SimpleNamespace(length=1.0, thigh=0, ankle=1), SimpleNamespace(world=world)
    assert placed_share(leg, SWINGING, pose) == pytest.approx(share, abs=0.05)
    assert placed_share(leg, PLANTED, pose) == 1.0


def rest_axis(degrees):
    """The axis of a left knee that is bent aside by so many degrees at rest, in its own space."""
    person = humanoid()
    skeleton, leg = person.skeleton, person.rig.legs[0]
    turned = skeleton.rest.rotations.astype(np.float64)
    turned[leg.joints[1]] = (0.0, 0.0, math.sin(math.radians(degrees) / 2), math.cos(math.radians(degrees) / 2))
    turned[leg.joints[0]] = (0.0, 0.0, 0.0, 1.0)
    rest = km.Pose(skeleton.rest.translations.astype(np.float64), turned)
    other = km.Skeleton(skeleton.names, skeleton.parents.tolist(), rest)
    rig = replace(person.rig, skeleton=other, stance=None)
    solver = LegSolver(Crowd(km.Character(other, rig=rig), 1, np.float64))
    return solver.states.axis[0, 0]


def test_a_knee_that_is_straight_at_rest_bends_forwards_and_one_that_is_bent_as_it_is_bent():
    assert abs(rest_axis(5.0)[0]) > 0.9
    assert abs(rest_axis(12.0)[2]) > 0.9


# --- inside limits ----------------------------------------------------------------------------------------------------

ANKLE_AT = (0.0, 0.3, 0.1)


@dataclass(frozen=True, kw_only=True)
class Turn(km.Stage):
    """Bring a foot to a place with its toes down by an angle, inside joint limits."""

    angle: float = 0.0

    def start(self, crowd):
        return TurnState(self, crowd)


class TurnState(StageState):
    def __init__(self, settings, crowd):
        self.solver, cosine, sine = LegSolver(crowd, inside=True), math.cos(settings.angle), math.sin(settings.angle)
        self.targets = FOOT_TARGET.zeros((1, 1), crowd.precision)
        self.targets.contact[:], self.targets.ankle[:] = PLANTED, ANKLE_AT
        self.targets.rotation[:] = math.sin(settings.angle / 2), 0.0, 0.0, math.cos(settings.angle / 2)
        down = np.array(((1.0, 0.0, 0.0), (0.0, cosine, -sine), (0.0, sine, cosine)))
        self.ball = self.solver.records.chains["ball"][0]  # From the toe joint.
        self.targets.ball[:] = ANKLE_AT + down @ (TO_TOE + self.ball)

    def update(self, context):
        self.solver.solve(context, self.targets)

    def reset(self, rows):
        pass


TO_TOE = np.array((0.0, -0.07, 0.15))


def ball_off(degrees):
    """How far the ball of a foot is from where it belongs, metres, whose ankle rotates by 10 degrees at most."""
    at = np.array(((0, 1, 0), (0, 1, 0), (0, 0.55, 0.1), (0, 0.1, 0), (0, 0.03, 0.15)), float)
    rest = Pose(np.diff(at, axis=0, prepend=0.0), np.tile((0.0, 0.0, 0.0, 1.0), (5, 1)))
    limits = {"ankle": km.Hinge((1.0, 0.0, 0.0), -math.radians(10.0), math.radians(10.0))}
    skeleton = km.Skeleton(["hips", "thigh", "shin", "ankle", "toe"], [-1, 0, 1, 2, 3], rest, limits)
    rig = km.Rig(
        skeleton=skeleton, hips="hips", legs=[km.Leg(name="leg", joints=("thigh", "shin", "ankle"), toe="toe")]
    )
    animator = km.Animator(km.Character(skeleton, {}, rig), [Turn(angle=math.radians(degrees))])
    toe, state = animator.update(0.0, rest).world[4], animator["turn"]
    return np.linalg.norm(toe[:3, :3] @ state.ball + toe[:3, 3] - state.targets.ball[0, 0])


def test_where_an_ankle_meets_its_limit_the_ball_of_the_foot_stays_and_the_ankle_moves():
    assert ball_off(45.0) < 1e-4
    assert ball_off(60.0) < 1e-4


def test_an_ankle_does_not_move_by_more_than_three_twentieths_of_its_leg_for_that():
    assert ball_off(90.0) > 0.1


@plain_python_only
def test_an_ankle_at_its_limit_is_solved_three_times_again(monkeypatch):
    solved, solve = [], leg_solver.rotate_inside
    monkeypatch.setattr(leg_solver, "rotate_inside", lambda *given: solved.append(given) or solve(*given))
    ball_off(45.0)
    assert len(solved) == 1 + 3
