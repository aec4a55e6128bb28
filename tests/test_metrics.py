"""Figures of quality: hand-made sequences whose every figure is known beforehand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema import metrics
from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.math import arrays
from kinema.metrics.balance import distance_inside
from kinema.metrics.capsules import segment_distance
from kinema.model.pose import Pose
from kinema.model.rig import Leg, Rig
from kinema.model.skeleton import Skeleton
from tests import problems
from tests.assets import asset
from tests.standing_rig import ANKLE, HAND, HIPS, SHIN, THIGH, TOE, Slope, make_rig

DT = 1 / 60

RIG = make_rig()
LEG = RIG.skeleton.length(RIG.legs[0].joints)


def still(frames, rig=RIG):
    """(F, J, 4, 4): standing at rest."""
    return np.array(np.broadcast_to(rig.skeleton.rest_world, (frames, len(rig.skeleton), 4, 4)))


def moved(world, shift):
    """The whole character moved by (F, 3)."""
    world = world.copy()
    world[..., :3, 3] += np.asarray(shift)[:, np.newaxis]
    return world


def about(axis, angle):
    q = arrays.from_axis_angle(np.array(axis, float), angle)
    m = np.eye(4)
    m[:3, :3] = arrays.to_matrix(q)
    return m


def planted(frames, left=True, right=True):
    return np.tile((left, right), (frames, 1))


def measure(world, ground=None, stands=None, **more):
    stands = planted(world.shape[0]) if stands is None else stands
    return metrics.measure(RIG, world, ground or Slope(), DT, planted=stands, **more)


# --- soles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [False, True])
def test_at_rest_the_soles_lie_on_the_floor(turned):
    rig = make_rig(turned)
    points = metrics.sole_points(rig, still(1, rig))[0]
    heel, ball, tip = points[0]
    np.testing.assert_allclose(heel, (0.2, 0, -0.05), atol=1e-12)
    np.testing.assert_allclose(ball, (0.2, 0, 0.15), atol=1e-12)
    np.testing.assert_allclose(tip, (0.2, 0, 0.2), atol=1e-12)
    np.testing.assert_allclose(points[1], points[0] * (-1, 1, 1), atol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_the_heel_follows_the_ankle_and_the_ball_and_tip_follow_the_toe(turned):
    rig = make_rig(turned)
    world = still(1, rig)
    # The heel lifts by turning the whole foot about the ball; the toes then lie flat again.
    ball = np.array((0.2, 0.0, 0.15))
    rotation = about((1, 0, 0), 0.5)
    rotation[:3, 3] = ball - rotation[:3, :3] @ ball
    world[0, ANKLE] = rotation @ world[0, ANKLE]
    heel, ball_now, tip = metrics.sole_points(rig, world)[0, 0]
    np.testing.assert_allclose(heel, rotation[:3, :3] @ (0.2, 0, -0.05) + rotation[:3, 3], atol=1e-12)
    assert heel[1] > 0.09
    np.testing.assert_allclose(ball_now, ball, atol=1e-12)
    np.testing.assert_allclose(tip, (0.2, 0, 0.2), atol=1e-12)


def test_a_toe_that_moves_takes_ball_and_tip_along():
    world = still(2)
    world[1, TOE, :3, 3] += (0.01, 0.02, 0.03)
    rest, after = metrics.sole_points(RIG, world)[:, 0]
    np.testing.assert_allclose(after - rest, [(0, 0, 0), (0.01, 0.02, 0.03), (0.01, 0.02, 0.03)], atol=1e-12)


def test_without_toes_the_whole_sole_follows_the_ankle():
    rig = make_rig(toes=False, heel=0.05, tip=0.2)
    world = still(1, rig)
    world[0, TOE, :3, 3] += 5.0
    points = metrics.sole_points(rig, world)[0, 0]
    np.testing.assert_allclose(points, [(0.2, 0, -0.05), (0.2, 0, 0.15), (0.2, 0, 0.2)], atol=1e-12)
    bare = metrics.sole_points(make_rig(toes=False), world)[0, 0]
    np.testing.assert_allclose(bare, [(0.2, 0, 0)] * 3, atol=1e-12)


def test_a_foot_rotated_outwards_has_its_heel_behind_it():
    names = ("hips", "thigh", "shin", "ankle", "toe")
    at = np.array([(0, 1, 0), (0, 0.9, 0), (0, 0.5, 0.02), (0, 0.1, 0), (0.1, 0.05, 0.1)], float)
    offsets = np.diff(at, axis=0, prepend=0)
    skeleton = Skeleton(names, (-1, 0, 1, 2, 3), Pose(offsets, np.tile((0.0, 0, 0, 1), (5, 1))))
    leg = Leg(name="only", joints=names[1:4], toe="toe", heel=0.03, tip=0.2)
    heel, _, tip = metrics.sole_points(Rig(skeleton=skeleton, legs=[leg]), skeleton.rest_world[np.newaxis])[0, 0]
    out = np.array((1, 0, 1)) / np.sqrt(2)
    np.testing.assert_allclose(heel, -0.03 * out, atol=1e-12)
    np.testing.assert_allclose(tip, 0.2 * out, atol=1e-12)


# --- above and below the ground --------------------------------------------------------------------------------


def test_a_sole_below_flat_ground():
    found = measure(moved(still(4), [(0, 0, 0), (0, -0.015, 0), (0, 0.01, 0), (0, -0.002, 0)]))
    np.testing.assert_allclose(found.penetration, [[0, 0], [0.015] * 2, [0, 0], [0.002] * 2], atol=1e-12)
    np.testing.assert_allclose(found.hover, [[0, 0], [0, 0], [0.01] * 2, [0, 0]], atol=1e-12)
    assert found.worst_penetration == pytest.approx(0.015)
    assert found.worst_hover == pytest.approx(0.01)
    assert found.no_ground == 0


def test_a_sole_below_a_slope():
    """Laid along a slope of 20 degrees and pushed 1.5 cm under it, along up: every point is as deep."""
    slope = np.radians(20)
    world = about((1, 0, 0), -slope) @ still(1)
    assert measure(world, Slope(slope)).worst_penetration == pytest.approx(0, abs=1e-12)
    pushed = measure(moved(world, [(0, -0.015, 0)]), Slope(slope))
    np.testing.assert_allclose(pushed.penetration, 0.015, atol=1e-12)


def test_a_flat_sole_on_a_slope_is_as_deep_as_its_tip():
    slope = np.radians(20)
    world = moved(still(1), [(0, np.tan(slope) * 0.15, 0)])  # The ball touches.
    found = measure(world, Slope(slope))
    np.testing.assert_allclose(found.penetration, np.tan(slope) * 0.05, atol=1e-12)
    np.testing.assert_allclose(found.hover, 0, atol=1e-12)


def test_a_foot_in_the_air_does_not_hover():
    world = moved(still(3), [(0, 0.2, 0)] * 3)
    found = measure(world, stands=planted(3, left=False))
    np.testing.assert_allclose(found.hover, [[0, 0.2]] * 3, atol=1e-12)


def test_soles_over_a_hole_are_left_out_and_counted():
    world = moved(still(5), np.linspace((0, -0.02, 0), (0.4, -0.02, 0), 5))
    found = measure(world, Slope(edge=0.15))
    np.testing.assert_array_equal(found.missed, [[3, 0]] * 4 + [[3, 3]])
    assert found.no_ground == 18
    assert (found.penetration[:, 0] == 0).all()
    assert (found.slide[:, 0] == 0).all()
    assert (found.hover[:, 0] == 0).all()
    np.testing.assert_allclose(found.penetration[:4, 1], 0.02, atol=1e-12)
    assert found.worst_slide == pytest.approx(0.3)


def test_a_sole_deep_below_the_ground_is_below_it():
    """Deeper than ground is looked for from above, but no deeper than the sole could be under a ceiling."""
    found = measure(moved(still(1), [(0, -1.2 * LEG, 0)]))
    assert found.no_ground == 0
    np.testing.assert_allclose(found.penetration, 1.2 * LEG, atol=1e-12)
    assert measure(moved(still(1), [(0, -2.0 * LEG, 0)])).no_ground == 6


def test_a_sole_half_over_an_edge_is_measured_where_there_is_ground():
    class Ledge(Slope):
        def cast(self, origins, directions, max_distance):
            hits = super().cast(origins, directions, max_distance)
            return hits._replace(hit=hits.hit & (origins[:, 2] < 0.1))

    found = measure(moved(still(1), [(0, -0.01, 0)]), Ledge())
    np.testing.assert_array_equal(found.missed, [[2, 2]])
    np.testing.assert_allclose(found.penetration, 0.01, atol=1e-12)


# --- sliding ---------------------------------------------------------------------------------------------------


def test_a_foot_that_slides_three_centimetres():
    shift = np.zeros((10, 3))
    shift[:, 0] = np.linspace(0, 0.03, 10)
    found = measure(moved(still(10), shift))
    assert found.worst_slide == pytest.approx(0.03)
    assert found.worst_path == pytest.approx(0.03)
    np.testing.assert_allclose(found.slide[:, 0], shift[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.steps.slide, [0.03, 0.03])


def test_to_and_fro_adds_up_on_the_path_only():
    shift = np.zeros((5, 3))
    shift[:, 2] = 0, 0.02, -0.01, 0.01, 0
    found = measure(moved(still(5), shift))
    assert found.worst_slide == pytest.approx(0.02)
    assert found.worst_path == pytest.approx(0.02 + 0.03 + 0.02 + 0.01)


def test_sliding_down_a_slope_is_measured_along_it_and_lifting_off_it_is_not():
    slope = np.radians(20)
    world = about((1, 0, 0), -slope) @ still(2)
    along, off = np.array((0, np.sin(slope), np.cos(slope))), np.array((0, np.cos(slope), -np.sin(slope)))
    found = measure(moved(world, [(0, 0, 0), -0.03 * along]), Slope(slope))
    assert found.worst_slide == pytest.approx(0.03)
    found = measure(moved(world, [(0, 0, 0), 0.03 * off]), Slope(slope))
    assert found.worst_slide == pytest.approx(0, abs=1e-9)


def test_only_what_happens_while_planted_counts_and_each_step_counts_anew():
    shift = np.zeros((9, 3))
    shift[:, 0] = 0, 0.01, 0.5, 1.0, 1.0, 1.02, 1.02, 3.0, 3.0
    stands = np.zeros((9, 2), bool)
    stands[[0, 1, 3, 4, 5, 6, 8], 0] = True
    found = measure(moved(still(9), shift), stands=stands)
    np.testing.assert_allclose(found.slide[:, 0], [0, 0.01, 0, 0, 0, 0.02, 0.02, 0, 0], atol=1e-12)
    steps = found.steps
    np.testing.assert_array_equal(steps.start, [0, 3, 8])
    np.testing.assert_array_equal(steps.stop, [2, 7, 9])
    np.testing.assert_array_equal(steps.leg, [0, 0, 0])
    np.testing.assert_allclose(steps.slide, [0.01, 0.02, 0], atol=1e-12)
    np.testing.assert_allclose(steps.path, [0.01, 0.02, 0], atol=1e-12)
    assert (found.slide[:, 1] == 0).all()


def rolling(frames, pivots):
    """The left foot turning about one point of its sole after another, by up to 30 degrees each."""
    world = still(frames * len(pivots))
    position = np.eye(4)
    at = 0
    for pivot, angle in pivots:
        start = position
        for share in np.linspace(0, 1, frames):
            rotation = about((1, 0, 0), angle * share)
            rotation[:3, 3] = np.array(pivot) - rotation[:3, :3] @ pivot
            position = rotation @ start
            world[at, [ANKLE, TOE]] = position @ RIG.skeleton.rest_world[[ANKLE, TOE]]
            at += 1
    return world


def test_rolling_from_heel_to_tip_is_not_sliding():
    heel, tip = (0.2, 0, -0.05), (0.2, 0, 0.2)
    world = rolling(12, [(heel, -0.5), (heel, 0.5), (tip, 0.5)])
    found = measure(world, stands=planted(len(world), right=False))
    assert found.worst_slide < 1e-4  # A point that lifts still touches for its first four millimetres.
    # The ball alone, which swings through the air, does move along the ground by more than a centimetre.
    ball = metrics.sole_points(RIG, world)[:, 0, 1, 2]
    assert np.ptp(ball) > 0.01


def test_a_foot_that_swivels_on_its_ball_drags_its_heel():
    ball = np.array((0.2, 0, 0.15))
    world = still(10)
    for frame, angle in enumerate(np.linspace(0, 1, 10)):
        rotation = about((0, 1, 0), angle)
        rotation[:3, 3] = ball - rotation[:3, :3] @ ball
        world[frame, [ANKLE, TOE]] = rotation @ world[frame, [ANKLE, TOE]]
    found = measure(world)
    assert found.worst_slide == pytest.approx(2 * 0.2 * np.sin(0.5), rel=0.02)  # A chord of the heel's circle.
    assert found.worst_yaw == pytest.approx(1.0)


def test_a_foot_that_swivels_on_its_ball_with_the_heel_raised_does_not_slide():
    ball = np.array((0.2, 0, 0.15))
    world = still(10)
    world[:, TOE] = RIG.skeleton.rest_world[TOE]
    for frame, angle in enumerate(np.linspace(0, 1, 10)):
        rotation = about((0, 1, 0), angle)
        rotation[:3, 3] = ball - rotation[:3, :3] @ ball
        world[frame, [ANKLE, TOE]] = rotation @ world[frame, [ANKLE, TOE]]
        world[frame, ANKLE, 1, 3] += 0.05
    found = measure(world)
    tip = 2 * 0.05 * np.sin(0.5)
    assert found.worst_slide == pytest.approx(tip, rel=0.02)
    assert found.worst_yaw == 0


@pytest.mark.parametrize("toes", [(0.1, 0.1), (0.1, 0.0)], ids=["in the air", "landing"])
def test_what_does_not_touch_does_not_hold(toes):
    """The heel slides on the ground; the toes stay where they are, but they were not on it."""
    world = still(2)
    world[:, TOE, 1, 3] += toes
    world[1, ANKLE, 2, 3] += 0.03
    assert measure(world).worst_slide == pytest.approx(0.03)


# --- plants ----------------------------------------------------------------------------------------------------


def walking(frames=120, speed=1.2, lift=0.12, period=60):
    """Feet that stand for half a period and swing for the other, exactly; and which foot stands when."""
    world, stands = still(frames), np.zeros((frames, 2), bool)
    for foot, joints in enumerate(([ANKLE, TOE], [ANKLE + 4, TOE + 4])):
        for frame in range(frames):
            phase = (frame / period + foot / 2) % 1.0
            stride = speed * period * DT
            swing = max(phase - 0.5, 0.0) * 2
            ahead = (np.floor(frame / period + foot / 2) + swing) * stride
            world[frame, joints, 2, 3] += ahead
            world[frame, joints, 1, 3] += lift * np.sin(np.pi * swing)
            stands[frame, foot] = phase < 0.5
    return world, stands


def test_plants_are_found_where_the_feet_stand():
    world, stands = walking()
    found = metrics.planted_from(RIG, world, DT)
    # The frame in which a foot lands or leaves may be taken for either.
    near = np.zeros_like(stands)
    for foot in range(2):
        for change in np.flatnonzero(np.diff(stands[:, foot])):
            near[max(change - 1, 0) : change + 3, foot] = True
    assert (found == stands)[~near].all()
    assert metrics.measure(RIG, world, Slope(), DT).worst_slide < 0.01


def test_plants_are_found_over_a_ground_and_on_the_spot():
    world, _ = walking()
    expected = metrics.planted_from(RIG, world, DT)
    raised = moved(world, np.tile((0, 0.3, 0), (len(world), 1)))
    assert not metrics.planted_from(RIG, raised, DT).any()
    np.testing.assert_array_equal(metrics.planted_from(RIG, raised, DT, ground=Slope(height=0.3)), expected)
    assert not metrics.planted_from(RIG, raised, DT, ground=Slope(height=0.3, edge=-9.0)).any()
    travel = np.array((0, 0, 1.2))
    on_the_spot = moved(world, -travel * DT * np.arange(len(world))[:, np.newaxis])
    assert not metrics.planted_from(RIG, on_the_spot, DT).any()
    np.testing.assert_array_equal(metrics.planted_from(RIG, on_the_spot, DT, travel=travel), expected)


def test_short_gaps_and_short_plants_are_noise():
    world = still(60)
    world[20, [ANKLE, TOE], 1, 3] += 0.5  # A blink in the left foot's plant.
    world[:, [ANKLE + 4, TOE + 4], 1, 3] += 0.5
    world[40:43, [ANKLE + 4, TOE + 4], 1, 3] -= 0.5  # A touch of the right foot.
    found = metrics.planted_from(RIG, world, DT)
    assert found[:, 0].all()
    assert not found[:, 1].any()
    exact = metrics.planted_from(RIG, world, DT, shortest=0.0)
    assert not exact[19:22, 0].any()
    assert exact[41, 1]


def test_one_frame_stands_still():
    assert metrics.planted_from(RIG, still(1), DT).all()


def test_plants_come_from_the_reference():
    """A foot that skates fast would not pass for planted by itself; where the clip stood still, it counts."""
    shift = np.zeros((30, 3))
    shift[:, 0] = np.linspace(0, 1.5, 30)
    skating = moved(still(30), shift)
    assert metrics.measure(RIG, skating, Slope(), DT).worst_slide == 0
    assert metrics.measure(RIG, skating, Slope(), DT, reference=still(30)).worst_slide == pytest.approx(1.5)


@pytest.mark.slow_uncompiled
def test_the_steps_of_a_captured_walk():
    """A walk of three seconds: left, right, left, right, each for two thirds of a second, without a flipped knee."""
    character = km.load(asset("bvh/cmu_02_01.bvh"), rig=False)
    skeleton, clip = character.skeleton, character.clips["cmu_02_01"]
    legs = [
        Leg(name=side, joints=(f"{side}UpLeg", f"{side}Leg", f"{side}Foot"), toe=f"{side}ToeBase")
        for side in ("Left", "Right")
    ]
    rig = Rig(skeleton=skeleton, hips="Hips", legs=legs, floor=skeleton.rest_world[:, 1, 3].min())
    step = 1 / 120
    world = skeleton.world(clip.sample(np.arange(step, clip.duration, step)))  # The first frame is the rest pose.
    floor = np.percentile(metrics.sole_points(rig, world)[..., 1].min(axis=-1), 5)
    found = metrics.measure(rig, world, Slope(height=floor), step)
    whole = (found.steps.start > 0) & (found.steps.stop < len(world)) & (found.steps.stop - found.steps.start > 30)
    order = np.argsort(found.steps.start[whole])
    assert found.steps.leg[whole][order].tolist() == [0, 1, 0, 1]
    seconds = (found.steps.stop - found.steps.start)[whole] * step
    assert (seconds > 0.5).all()
    assert (seconds < 0.75).all()
    assert found.knee_flips == 0
    size = skeleton.length(rig.legs[0].joints)
    assert 0.005 * size < found.worst_slide < 0.08 * size  # Captured feet slide a little: markers are not soles.


# --- turning ---------------------------------------------------------------------------------------------------


def turning(angles, joint="shin_l", rig=RIG):
    """Poses at rest but for one joint, rotated about its own x by angles."""
    rest = rig.skeleton.rest
    rotations = np.tile(rest.rotations, (len(angles), 1, 1))
    at = rig.skeleton.index(joint)
    rotations[:, at] = arrays.mul(rotations[:, at], arrays.from_axis_angle(np.array((1.0, 0, 0)), np.asarray(angles)))
    return Pose(np.tile(rest.translations, (len(angles), 1, 1)), rotations)


@pytest.mark.parametrize("turned", [False, True])
def test_rotations_from_poses_and_from_matrices(turned):
    rig = make_rig(turned)
    pose = turning([0, 0.1, 0.1, -0.2, 3.0], rig=rig)
    expected = np.zeros((4, len(rig.skeleton)))
    expected[:, SHIN] = 0.1, 0, 0.3, 2 * np.pi - 3.2  # The shorter way.
    np.testing.assert_allclose(metrics.rotation_steps(rig.skeleton, pose), expected, atol=1e-7)
    np.testing.assert_allclose(metrics.rotation_steps(rig.skeleton, rig.skeleton.world(pose)), expected, atol=1e-7)


def test_rotations_of_a_scaled_and_mirrored_character():
    pose = turning([0, 0.1, 0.3])
    for scale in ((2, 2, 2), (-1, 1, 1), (0, 0, 0)):
        world = np.diag((*scale, 1.0)) @ RIG.skeleton.world(pose)
        found = metrics.rotation_steps(RIG.skeleton, world)
        assert np.isfinite(found).all()
        if all(scale):
            np.testing.assert_allclose(found[:, SHIN], [0.1, 0.2], atol=1e-7)


def test_a_rotation_beyond_that_of_the_reference():
    reference, after = turning([0, 0.1, 0.2, 0.3]), turning([0, 0.1, 0.45, 0.5])
    found = measure(after, reference=reference)
    assert found.worst_rotation == pytest.approx(0.35)
    assert found.worst_beyond == pytest.approx(0.25)
    assert found.rotation[SHIN] == found.worst_rotation
    assert (np.delete(found.rotation, SHIN) < 1e-9).all()
    same = measure(reference, reference=RIG.skeleton.world(reference))
    assert same.worst_rotation == pytest.approx(0.1)
    assert same.worst_beyond == pytest.approx(0, abs=1e-7)


def with_knees(ahead):
    """Standing, the left knee so far ahead of the line from hip to ankle."""
    world = still(len(ahead))
    world[:, SHIN, 2, 3] = ahead
    return world


@pytest.mark.parametrize(
    ("ahead", "flips"),
    [
        ([0.1, 0.1, 0.1, 0.1], []),
        ([0.1, 0.1, -0.1, -0.1], [2]),
        ([0.1, 0.1, -0.1, 0.1], [2, 3]),
        ([0.1, 0.0, -0.1, -0.1], [2]),  # Through straight: noticed when it bends again.
        ([0.1, 0.02, -0.02, 0.02], []),  # Not clearly bent.
        ([-0.02, 0.1, 0.1, 0.2], []),
    ],
)
def test_knee_flips(ahead, flips):
    found = measure(with_knees(ahead))
    np.testing.assert_array_equal(np.flatnonzero(found.flips[:, 0]), flips)
    assert found.knee_flips == len(flips)


def test_a_body_that_turns_round_takes_its_knees_along():
    world = with_knees([0.1] * 8)
    for frame in range(8):
        world[frame] = about((0, 1, 0), frame * 2.0) @ world[frame]
    assert measure(world).knee_flips == 0
    world = with_knees([0.1, 0.1])
    world[1, HIPS] = about((0, 1, 0), np.pi) @ world[1, HIPS]  # Only the hips turn: both knees are behind them now.
    assert measure(world).knee_flips == 2


def test_a_leg_of_length_zero_has_no_knee_flips():
    world = still(3)
    world[:, [THIGH, SHIN, ANKLE], :3, 3] = 0.0
    assert measure(world).knee_flips == 0


# --- moving ----------------------------------------------------------------------------------------------------


def test_jerk_of_a_cubic_is_its_third_derivative():
    t = np.arange(50) * DT
    positions = np.stack((t**3, 2 * t**2 + t, np.ones_like(t)), axis=-1)
    assert metrics.jerk(positions, DT) == pytest.approx(6.0, rel=1e-6)
    assert metrics.jerk(np.stack((positions, positions * 2), axis=1), DT) == pytest.approx([6.0, 12.0], rel=1e-6)
    assert metrics.jerk(positions[:3], DT) == 0.0


def test_jerk_of_feet_and_hands():
    world = still(30)
    world[:, HAND, 0, 3] += (np.arange(30) * DT) ** 3
    found = measure(world)
    assert found.jerk.shape == (3,)
    np.testing.assert_allclose(found.jerk, [0, 0, 6.0], rtol=1e-6, atol=1e-6)
    assert found.worst_jerk == found.jerk[2]


def test_reach_error():
    target = np.tile((0.8, 1.4, 0.0), (3, 1))
    target[1] += (0.03, 0, 0.04)
    found = measure(still(3), targets={"hand": target, ANKLE: still(3)[:, ANKLE, :3, 3]})
    np.testing.assert_allclose(found.reach, [[0, 0], [0.05, 0], [0, 0]], atol=1e-12)
    assert found.worst_reach == pytest.approx(0.05)
    assert measure(still(3), targets={"hand": (0.8, 1.4, 2.0)}).reach == pytest.approx(np.full((3, 1), 2.0))


# --- all of it -------------------------------------------------------------------------------------------------


def test_a_crowd_is_many_characters():
    world, stands = walking(40)
    shift = np.zeros((40, 3))
    shift[:, 0] = np.linspace(0, 0.2, 40)
    one, two = world, moved(world, shift)
    both = np.stack((one, two), axis=1)
    crowd = metrics.measure(RIG, both, Slope(), DT, planted=np.stack((stands, stands), axis=1), reference=both)
    for i, alone in enumerate((one, two)):
        single = metrics.measure(RIG, alone, Slope(), DT, planted=stands, reference=alone)
        for name in ("penetration", "hover", "missed", "slide", "path", "flips"):
            np.testing.assert_array_equal(getattr(crowd, name)[:, i], getattr(single, name))
        for name in ("rotation", "beyond", "jerk"):
            np.testing.assert_array_equal(getattr(crowd, name)[i], getattr(single, name))
        mine = crowd.steps.character == i
        for name in ("leg", "start", "stop", "slide", "path"):
            np.testing.assert_array_equal(getattr(crowd.steps, name)[mine], getattr(single.steps, name))
    assert set(crowd.steps.character) == {0, 1}
    found = metrics.planted_from(RIG, both, DT)
    np.testing.assert_array_equal(found[:, 0], metrics.planted_from(RIG, one, DT))


def test_the_table_has_what_was_measured():
    world = with_knees([0.1, 0.1, -0.1, -0.1])
    rows = {name: (value, unit) for name, value, unit in measure(world).table()}
    assert rows["knee flips"] == (1.0, "count")
    assert "the same beyond the reference" not in rows
    assert "farthest from a target" not in rows
    pose = turning([0, np.radians(5), 0])
    rows = {
        name: (value, unit)
        for name, value, unit in measure(pose, reference=pose, targets={"hand": np.zeros((3, 3))}).table()
    }
    assert rows["largest rotation of a joint in 1/60 s"] == (pytest.approx(5.0), "deg")
    assert rows["the same beyond the reference"] == (pytest.approx(0.0), "deg")
    assert rows["farthest from a target"] == (pytest.approx(np.hypot(0.8, 1.4)), "m")
    assert all(np.isfinite(value) for value, _ in rows.values())


def test_float32_matrices_are_taken():
    found = measure(still(3).astype(np.float32))
    assert found.worst_penetration == pytest.approx(0, abs=1e-6)
    assert found.penetration.dtype == np.float64


def test_a_rig_without_legs_or_arms():
    rig = Rig(skeleton=RIG.skeleton)
    found = metrics.measure(rig, still(5), Slope(), DT)
    assert found.penetration.shape == (5, 0)
    assert found.jerk.shape == (0,)
    assert found.worst_penetration == 0
    assert found.steps.slide.size == 0
    assert all(np.isfinite(value) for _, value, _ in found.table())


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-100, 1e-12, 1.0, 1e12, 1e100]), st.integers(1, 6))
def test_finite_in_finite_out(seed, size, frames):
    rng = np.random.default_rng(seed)
    world = np.zeros((frames, 2, len(RIG.skeleton), 4, 4))
    world[..., :3, :] = rng.uniform(-size, size, (*world.shape[:-2], 3, 4)) * rng.integers(0, 2, (3, 4))
    world[..., 3, 3] = 1
    reference = world[::-1].copy()
    stands = rng.random((frames, 2, 2)) < 0.7
    before = world.copy()
    found = metrics.measure(
        RIG,
        world,
        Slope(0.3, edge=size / 2),
        DT,
        planted=stands,
        reference=reference,
        targets={"hand": world[..., 0, 0, :3]},
    )
    assert all(np.isfinite(value) for _, value, _ in found.table())
    for array in (found.penetration, found.hover, found.slide, found.path, found.rotation, found.beyond, found.jerk):
        assert np.isfinite(array).all()
        assert (array >= 0).all()
    assert np.isfinite(found.reach).all()
    assert (found.slide <= found.path * (1 + 1e-9)).all()
    np.testing.assert_array_equal(world, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"world": still(3)[0]}, r"world must have shape \(frames, \.\.\., 12, 4, 4\), got \(12, 4, 4\)"),
        ({"world": still(3)[:, :5]}, "world must have shape"),
        ({"world": still(0)}, "world must have shape"),
        ({"world": RIG.skeleton.rest}, "world must have shape"),
        ({"world": np.where(np.arange(3)[:, None, None, None] == 1, np.nan, still(3))}, r"world\[1, 0, 0, 0\] is nan"),
        ({"dt": 0.0}, "dt"),
        ({"dt": np.inf}, "dt"),
        ({"planted": np.ones((3, 2))}, r"planted must be true or false of shape \(3, 2\); got float64 \(3, 2\)"),
        ({"planted": np.ones((4, 2), bool)}, r"planted must be .* got bool \(4, 2\)"),
        ({"reference": still(4)}, "reference must have the shape of world"),
        ({"targets": {"nose": np.zeros((3, 3))}}, "there is no joint 'nose'"),
        ({"targets": {"hand": np.zeros((4, 3))}}, "batch shapes do not match"),
        ({"targets": {"hand": np.zeros((2, 3, 3))}}, r"targets\['hand'\] must have shape \(3, 3\), got \(2, 3, 3\)"),
        ({"targets": {"hand": np.full((3, 3), np.inf)}}, r"targets\[0, 0\] is inf"),
    ],
)
def test_wrong_input_is_named(change, message):
    given_input = {"rig": RIG, "world": still(3), "ground": Slope(), "dt": DT} | change
    with pytest.raises(InputError, match=message):
        metrics.measure(**given_input)


def test_one_pose_is_not_a_motion():
    with pytest.raises(InputError, match="motion is one pose"):
        metrics.rotation_steps(RIG.skeleton, RIG.skeleton.rest)


# --- balance and self-intersection -----------------------------------------------------------------------------


def frames_at_rest(character):
    return km.Pose(*(array[np.newaxis].astype(float) for array in character.skeleton.rest.arrays()))


def test_a_person_at_rest_stands_on_two_feet_and_falls_off_one():
    character = humanoid()
    pose = frames_at_rest(character)
    assert 0.01 < metrics.balance(character.rig, pose)[0] < 0.3
    assert metrics.balance(character.rig, pose, planted=[[True, False]])[0] < 0
    assert metrics.balance(character.rig, pose, planted=[[False, False]])[0] == -np.inf


def test_the_balance_is_that_of_the_solver():
    character = humanoid()
    body, feet = km.FullBody(character), [km.Effector(f"{side}_foot", pin=True) for side in ("left", "right")]
    hand = km.Effector("left_hand", (0.3, 1.0, 0.6))
    pose, report = body.solve(frames_at_rest(character), [hand, *feet])
    np.testing.assert_allclose(metrics.balance(character.rig, pose), report.balance, atol=1e-6)


@pytest.mark.parametrize(
    ("at", "inside"), [((0.5, 0.5), 0.5), ((0.9, 0.5), 0.1), ((1.5, 0.5), -0.5), ((2.0, 2.0), -np.sqrt(2)), ((0, 0), 0)]
)
def test_distances_inside_a_square(at, inside):
    square = np.array([(0.0, 0.0), (1, 0), (1, 1), (0, 1), (0.5, 0.2)])
    found = distance_inside(square, np.ones(5, bool), np.array(at, float))
    assert found == pytest.approx(inside, abs=1e-12)


def test_a_hand_through_the_chest_is_found():
    character = humanoid()
    pose = frames_at_rest(character)
    assert metrics.self_intersection(character, pose)[0] == 0
    body = km.FullBody(character, root="fixed", mobility={"chest": 0.0})
    chest = character.skeleton.rest_world[body.joint("chest"), :3, 3]
    inside, _ = body.solve(pose, [km.Effector("left_hand", chest + (-0.15, -0.05, 0.0))])
    assert metrics.self_intersection(character, inside)[0] > 0.02


def test_capsules_are_as_thick_as_the_skin():
    capsules = metrics.capsules_of(humanoid())
    radius = dict(zip(capsules.names, capsules.radii, strict=True))
    assert 0.02 < radius["left_forearm"] < 0.08
    assert 0.04 < radius["left_thigh"] < 0.15


def test_distances_of_segments():
    rng = problems.generator(11)
    ends = rng.normal(size=(4, 50, 3))
    share = np.linspace(0, 1, 201)[:, np.newaxis, np.newaxis]
    first, second = (a + (b - a) * share for a, b in ((ends[0], ends[1]), (ends[2], ends[3])))
    gap = np.linalg.norm(first[:, np.newaxis] - second[np.newaxis], axis=-1).min(axis=(0, 1))
    np.testing.assert_allclose(segment_distance(*ends), gap, atol=0.02)
    assert (segment_distance(*ends) <= gap + 1e-12).all()
