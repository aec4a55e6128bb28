"""Steps of leg joints beyond the clip are spread over time; everything slower stays as it is."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet import limits
from kinema.bake.feet.limits import FASTEST_BEYOND, FASTEST_FLIP, slow_handles, spread_pops
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose

FLOOR = km.Plane()


@pytest.fixture(scope="module")
def walk():
    person = humanoid()
    return frames_of(person.rig, person.clips["walk"], BakeSettings(lock_feet=True, loops=2)).without_lead


def with_pop(walk, joint, degrees, frame):
    """The frames of the clip, with one joint rotated for five of them."""
    t, r, s = (part.copy() for part in walk.poses.arrays())
    step = arrays.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.radians(degrees)).astype(r.dtype)
    r[frame : frame + 5, joint] = arrays.mul(r[frame : frame + 5, joint], step)
    poses = Pose.of(t, r, s)
    return BakedFrames(poses, walk.transforms, walk.transforms[:, np.newaxis] @ walk.rig.skeleton.world(poses))


def beyond(walk, frames, joint):
    """(F-1,): radians from frame to frame of what is added to the clip."""
    before, after = (poses.arrays()[1][:, joint] for poses in (walk.poses, frames.poses))
    added = arrays.mul(arrays.conj(before), after)
    return arrays.angle_between(added[:-1], added[1:])


def mid_swing(walk):
    """A frame in the middle of the longest swing of the first leg."""
    held = np.flatnonzero(walk.held[:, 0])
    gap = int(np.argmax(np.diff(held)))
    return int(held[gap] + held[gap + 1]) // 2


@pytest.mark.parametrize("degrees", [30.0, 45.0])
def test_a_pop_in_the_air_is_spread_before_and_after_it(walk, degrees):
    ankle, frame = walk.rig.legs[0].joints[-1], mid_swing(walk)
    popping = with_pop(walk, ankle, degrees, frame)
    bounded = spread_pops(walk, popping, FLOOR)
    steps = beyond(walk, bounded, ankle)
    assert steps.max() <= FASTEST_BEYOND * walk.dt * 1.001
    assert beyond(walk, popping, ankle).max() > FASTEST_BEYOND * walk.dt * 1.2


def test_world_matrices_follow(walk):
    bounded = spread_pops(walk, with_pop(walk, walk.rig.legs[0].joints[-1], 45.0, mid_swing(walk)), FLOOR)
    world = walk.transforms[:, np.newaxis] @ walk.rig.skeleton.world(bounded.poses)
    np.testing.assert_allclose(bounded.world, world, atol=1e-6)


def test_a_leg_that_flips_over_is_spread_within_its_swing(walk):
    """Its foot is moved far by that. Where it is held, and all else, stays as it was."""
    thigh, frame = walk.rig.legs[0].joints[0], mid_swing(walk)
    popping = with_pop(walk, thigh, 120.0, frame)
    bounded = spread_pops(walk, popping, FLOOR)
    assert beyond(walk, popping, thigh).max() > np.radians(110)
    assert beyond(walk, bounded, thigh).max() <= FASTEST_FLIP * walk.dt * 1.001
    changed = np.flatnonzero((bounded.poses.arrays()[1] != popping.poses.arrays()[1]).any(axis=(1, 2)))
    held = np.flatnonzero(walk.held[:, 0])
    assert held[held < frame].max() < changed.min()
    assert changed.max() < held[held > frame].min()


def test_a_small_pop_that_holds_a_foot_in_place_stays_and_a_large_one_does_not(walk):
    held = np.flatnonzero(walk.held[:, 0] & np.roll(walk.held[:, 0], 6) & np.roll(walk.held[:, 0], -6))
    thigh, frame = walk.rig.legs[0].joints[0], int(held[len(held) // 2])
    small, large = (with_pop(walk, thigh, degrees, frame) for degrees in (35.0, 90.0))
    assert spread_pops(walk, small, FLOOR) is small
    bounded = spread_pops(walk, large, FLOOR)
    assert beyond(walk, bounded, thigh).max() <= FASTEST_FLIP * walk.dt * 1.001


def test_slower_motion_and_other_joints_are_left_as_they_are(walk):
    slow = with_pop(walk, walk.rig.legs[0].joints[1], 10.0, 5)
    assert spread_pops(walk, slow, FLOOR) is slow
    other = with_pop(walk, walk.rig.arms[0].joints[0], 90.0, 5)
    assert spread_pops(walk, other, FLOOR) is other


def test_a_step_beside_the_ground_is_spread_to_where_the_foot_is_higher(walk, monkeypatch):
    ankle, end = walk.rig.legs[0].joints[-1], mid_swing(walk)
    t, r, s = (part.copy() for part in walk.poses.arrays())
    angles = np.radians(np.linspace(-4.0, -40.0, 10))  # Toes down slowly, and up at once.
    toes_down = arrays.from_axis_angle(np.tile((1.0, 0.0, 0.0), (10, 1)), angles).astype(r.dtype)
    r[end - 10 : end, ankle] = arrays.mul(r[end - 10 : end, ankle], toes_down)
    poses = Pose.of(t, r, s)
    popping = BakedFrames(poses, walk.transforms, walk.transforms[:, np.newaxis] @ walk.rig.skeleton.world(poses))
    lowest = metrics.sole_points(walk.rig, popping.world)[end : end + 4, 0, :, 1].min()
    ground = km.Plane((0.0, lowest - 0.002, 0.0))

    def depths(frames):
        return metrics.penetration(metrics.soles_over(walk.rig, frames.world, ground))[:, 0]

    bounded = spread_pops(walk, popping, ground)
    assert (depths(bounded) <= np.maximum(depths(popping), 0.005 * walk.rig.leg_length) + 1e-6).all()
    assert beyond(walk, bounded, ankle).max() <= FASTEST_BEYOND * walk.dt * 1.001
    monkeypatch.setattr(limits, "SHARES", (0.0,))
    after = depths(spread_pops(walk, popping, ground))
    assert after.max() > depths(bounded)[end:].max() + 0.02, "spread after the step, toes would sink"


@pytest.mark.parametrize(("sunk", "taken"), [(0.004, 0), (0.006, 1)])
def test_a_sole_may_sink_five_thousandths_of_a_leg_for_a_spread_step(walk, sunk, taken):
    """Of two ways to spread it, the first one sinks the sole by so much, the second one does not."""
    leg, before = walk.rig.leg_length, with_pop(walk, 0, 0.0, 0)
    candidates = [replace(before, world=before.world.copy()) for _ in range(2)]
    lowest = metrics.sole_points(walk.rig, before.world)[:, 0, :, 1].min()
    candidates[0].world[..., 1, 3] -= sunk * leg
    found = limits._best(walk, before, iter(candidates), km.Plane((0.0, lowest, 0.0)), 0, 1.0)
    assert found is candidates[taken]


@pytest.mark.parametrize(("moved", "taken"), [(0.38, True), (0.42, False)])
def test_a_foot_in_the_air_is_moved_by_four_tenths_of_a_leg_at_most_for_a_spread_step(walk, monkeypatch, moved, taken):
    """Up, in one frame of a swing; other ways to spread it there are none."""
    before = with_pop(walk, 0, 0.0, 0)
    spread = replace(before, world=before.world.copy())
    spread.world[mid_swing(walk), :, 1, 3] += moved * walk.rig.leg_length

    def candidates(clip_frames, frames, leg, fastest):
        return iter([spread] if leg is walk.rig.legs[0] and fastest == FASTEST_BEYOND else [])

    monkeypatch.setattr(limits, "_candidates", candidates)
    monkeypatch.setattr(limits, "_in_swing", lambda *_: iter(()))
    assert (spread_pops(walk, before, km.Plane((0.0, -1.0, 0.0))) is spread) == taken


def test_a_handle_rotates_no_faster_than_a_joint_of_a_leg(walk, monkeypatch):
    """A handle takes the rotation of its foot at once; here the foot turns over within a frame."""
    handle, frame = int(walk.rig.head), 20
    monkeypatch.setattr(limits, "handles", lambda rig: {int(rig.legs[0].joints[-1]): (handle,)})
    popping = with_pop(walk, handle, 120.0, frame)
    steady = slow_handles(walk.rig, walk.poses, popping.poses, walk.times)
    steps = beyond(walk, replace(popping, poses=steady), handle)
    assert beyond(walk, popping, handle).max() > np.radians(119)
    assert steps.max() <= FASTEST_FLIP * walk.dt * 1.001
    far = np.abs(np.arange(len(walk.times)) - frame) > 12
    np.testing.assert_allclose(steady.arrays()[1][far], walk.poses.arrays()[1][far], atol=1e-6)
